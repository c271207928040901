"""The contract of an experiment: what a folder `papers/KEY/NAME/` must hold, and how its parts declare
themselves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from reprise.errors import RepriseError
from reprise.study.losses import TakesLosses
from reprise.study.settings import Settings

Tables = Mapping[str, pd.DataFrame]
"""An experiment's result tables by name: tidy, one observation a row."""

BASE = "published"
"""The value of the `setting` column for the run with the experiment's own parameters."""


@dataclass(frozen=True)
class Resources:
    """What running an experiment takes at most, in any tier; `RESOURCES` in its `params.py` declares others.

    Attributes:
        minutes: after which a cluster may kill it, or a share of it. The longest experiments start first.
        memory_mb: of one process.
    """

    minutes: int = 20
    memory_mb: int = 2000


@dataclass(frozen=True)
class Task:
    """An independent piece of a long computation, declared by `tasks(params, context)` in its `compute.py`.

    Attributes:
        name: unique among the experiment's tasks, and the same in every run.
        make: computes a table, and calls its argument now and then with the share that is done, 0 to 1.
        work: how long it takes, in a unit common to all tasks of the experiment.
    """

    name: str
    make: Callable[[Callable[[float], None]], pd.DataFrame]
    work: int = 1


@dataclass(frozen=True)
class Context:
    """What a computation may ask of its surroundings.

    Attributes:
        progress: called with (steps done, steps in all, what is being done).
        keep: a task to its table, which is computed once: by this process, by one beside it, or by one that
            was killed since.
        root: the checkout, under which trained models are kept (`training.models`).
        setting: which of the experiment's settings is computed.
        objective: the loss to train by instead of the published one, where one beside it is computed.
    """

    progress: Callable[[int, int, str], None] = lambda done, total, what: None
    keep: Callable[[Task], pd.DataFrame] = lambda task: task.make(lambda share: None)
    root: Path = Path()
    setting: str = BASE
    objective: str | None = None

    def result(self, task: Task) -> pd.DataFrame:
        """The table of a task of this setting."""
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
    """Runs `compute` at each of the named settings, and with each loss beside the published one; a column
    `setting` says which rows are whose. Of another loss there may be fewer tables."""
    results = {name: compute(params, replace(context, setting=name)) for name, params in settings.items()}
    for loss, of_loss in _other_losses(settings, context).items():
        try:
            results[loss] = compute(settings[BASE], of_loss)
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
    """The losses beside the published one, each with the context of its computation."""
    params = settings.get(BASE)
    names = params.objective if isinstance(params, TakesLosses) else ()
    return {name: replace(context, setting=name, objective=name) for name in names}


def all_tasks(
    tasks: Callable[[Any, Context], list[Task]], settings: Mapping[str, Settings], context: Context
) -> list[Task]:
    """The tasks of all settings and losses, by the names that `Context.result` gives them."""
    declared = [(params, replace(context, setting=name)) for name, params in settings.items()]
    declared += [(settings[BASE], of_loss) for of_loss in _other_losses(settings, context).values()]
    return [
        replace(task, name=f"{each.setting}/{task.name}")
        for params, each in declared
        for task in tasks(params, each)
    ]


def share_of(tasks: Sequence[Task], number: int, shares: int) -> list[Task]:
    """The tasks of one of several shares of about equal work: each task goes to the share that has least, the
    longest first.

    Args:
        number: of the share, from 1.
    """
    loads = [0] * shares
    chosen = []
    for task in sorted(tasks, key=lambda task: -task.work):
        least = loads.index(min(loads))
        loads[least] += task.work
        if least == number - 1:
            chosen.append(task)
    return chosen
