"""The contract of an experiment: the types that the modules of a folder `papers/KEY/NAME/` use and
declare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from reprise.errors import RepriseError
from reprise.study.losses import TakesLosses
from reprise.study.settings import Settings

Tables = Mapping[str, pd.DataFrame]
"""An experiment's result tables by name: tidy, one observation per row."""

BASE = "published"
"""The value of the `setting` column for the run with the experiment's own parameters."""


@dataclass(frozen=True)
class Resources:
    """Upper limits on the resources of an experiment in any tier; `RESOURCES` in its `params.py` overrides
    them.

    Attributes:
        minutes: time limit of the experiment, or of a share of it, on a cluster. The longest experiments
            start first.
        memory_mb: memory of one process.
    """

    minutes: int = 20
    memory_mb: int = 2000


@dataclass(frozen=True)
class Task:
    """An independent piece of a long computation, declared by `tasks(params, context)` in its `compute.py`.

    Attributes:
        name: unique among the experiment's tasks, and the same in every run.
        make: computes the table; calls its argument from time to time with the fraction done, 0 to 1.
        work: relative duration among the tasks of the experiment.
    """

    name: str
    make: Callable[[Callable[[float], None]], pd.DataFrame]
    work: int = 1


@dataclass(frozen=True)
class Context:
    """The services and settings that a computation receives.

    Attributes:
        progress: called with (steps done, total steps, description of the current step).
        keep: returns a task's table, which is computed only once, by this process or another, even if that
            one was interrupted later.
        root: the checkout, which holds the cache of trained models (`training.models`).
        setting: name of the experiment's setting to compute.
        objective: another loss to train with instead of the published one, or None.
    """

    progress: Callable[[int, int, str], None] = lambda done, total, what: None
    keep: Callable[[Task], pd.DataFrame] = lambda task: task.make(lambda share: None)
    root: Path = Path()
    setting: str = BASE
    objective: str | None = None

    def result(self, task: Task) -> pd.DataFrame:
        """The table of a task in this setting."""
        return self.keep(replace(task, name=f"{self.setting}/{task.name}"))

    def results(self, tasks: Iterable[Task]) -> list[pd.DataFrame]:
        """The table of each task."""
        return [self.result(task) for task in tasks]


@dataclass(frozen=True)
class Artifact:
    """A figure or table of a paper, under the paper's own number.

    Attributes:
        id: `KEY/NAME`, the name of the drawing function: `jing2022/fig04`.
        number: as the paper prints it: `Figure 4`.
        draw: `(tables, params) -> Figure` for a figure, `-> DataFrame` for a table.
    """

    id: str
    number: str
    kind: Literal["figure", "table"]
    caption: str
    experiment: str
    draw: Callable[[Tables, Any], Any]


def figure(number: str, *, caption: str) -> Callable[[Callable], Callable]:
    """Marks a function `(tables, params) -> matplotlib.figure.Figure` as the paper's figure `number`."""
    return _mark(number, "figure", caption)


def table(number: str, *, caption: str) -> Callable[[Callable], Callable]:
    """Marks a function `(tables, params) -> DataFrame` as the paper's table `number`."""
    return _mark(number, "table", caption)


def _mark(number: str, kind: str, caption: str) -> Callable[[Callable], Callable]:
    def mark(draw: Callable) -> Callable:
        draw.artifact = {"number": number, "kind": kind, "caption": " ".join(caption.split())}  # type: ignore[attr-defined]
        return draw

    return mark


def evaluate(
    compute: Callable[[Any, Context], dict[str, pd.DataFrame]],
    settings: Mapping[str, Settings],
    context: Context,
) -> dict[str, pd.DataFrame]:
    """Runs `compute` in each named setting, and with each other loss; the column `setting` names each row's
    setting or loss. Another loss may return fewer tables."""
    results = {name: compute(params, replace(context, setting=name)) for name, params in settings.items()}
    for loss, loss_context in _other_losses(settings, context).items():
        try:
            results[loss] = compute(settings[BASE], loss_context)
        except RepriseError as error:
            prefix = f"objective '{loss}': "
            raise RepriseError(prefix + str(error).removeprefix(prefix)) from None
    return {
        table: pd.concat(
            [
                tables[table].assign(setting=name)
                for name, tables in results.items()
                if name in settings or table in tables
            ],
            ignore_index=True,
        )
        for table in results[BASE]
    }


def _other_losses(settings: Mapping[str, Settings], context: Context) -> dict[str, Context]:
    """The losses to compute beside the published one, each with its context."""
    params = settings.get(BASE)
    names = params.objective if isinstance(params, TakesLosses) else ()
    return {name: replace(context, setting=name, objective=name) for name in names}


def all_tasks(
    tasks: Callable[[Any, Context], list[Task]], settings: Mapping[str, Settings], context: Context
) -> list[Task]:
    """The tasks of all settings and losses, under the names that `Context.result` gives them."""
    declared = [(params, replace(context, setting=name)) for name, params in settings.items()]
    declared += [(settings[BASE], other) for other in _other_losses(settings, context).values()]
    return [
        replace(task, name=f"{named.setting}/{task.name}")
        for params, named in declared
        for task in tasks(params, named)
    ]


def share_of(tasks: Sequence[Task], number: int, shares: int) -> list[Task]:
    """The tasks of one of several shares of about equal work: tasks are assigned longest first, each to the
    share with the least work.

    Args:
        number: index of the share, from 1.
    """
    loads = [0] * shares
    chosen = []
    for task in sorted(tasks, key=lambda task: -task.work):
        least = loads.index(min(loads))
        loads[least] += task.work
        if least == number - 1:
            chosen.append(task)
    return chosen
