"""The contract of an experiment: the types that the modules of a folder `papers/KEY/NAME/` use and
declare."""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from reprise.contract.settings import Settings
from reprise.errors import RepriseError

Tables = Mapping[str, pd.DataFrame]
"""An experiment's result tables by name: tidy, one observation per row."""

BASE = "published"
"""The value of the `setting` column for the run with the experiment's own parameters."""


@dataclass(frozen=True)
class Resources:
    """What a computation needs, as its `experiment.py` declares: `RESOURCES` for an experiment in one piece,
    or `resources(params, objective)`, which returns them by task's name.

    Attributes:
        minutes: expected time on one core, or on `gpus` GPUs, of the machines in docs/performance.md.
        memory_mb: main memory.
        disk_mb: what it leaves in the cache; nets' shared views, which go at the end, do not count.
        gpus: number of GPUs that work on it together.
    """

    minutes: float = 1.0
    memory_mb: int = 1500
    disk_mb: float = 0.0
    gpus: int = 0


def together(resources: Iterable[Resources]) -> Resources:
    """What computations need that run one after another in the same job."""
    every = list(resources)
    return Resources(
        minutes=sum(each.minutes for each in every),
        memory_mb=max(each.memory_mb for each in every),
        disk_mb=sum(each.disk_mb for each in every),
        gpus=max(each.gpus for each in every),
    )


@dataclass(frozen=True)
class Task:
    """An independent piece of a long computation, declared by `tasks(params, context)` in its `compute.py`.

    Attributes:
        name: unique among the experiment's tasks, and the same in every run.
        make: computes the table; calls its argument from time to time with the fraction done, 0 to 1.
    """

    name: str
    make: Callable[[Callable[[float], None]], pd.DataFrame]


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
        id: `KEY/NAME`: `jing2022/fig04`.
        number: as the paper prints it: `Figure 4`.
        module: the module of the drawing function, which needs matplotlib, and so is imported only to draw.
        name: the drawing function's name.
    """

    id: str
    number: str
    kind: Literal["figure", "table"]
    caption: str
    experiment: str
    module: str
    name: str

    @property
    def endings(self) -> tuple[str, ...]:
        """Of the files in which it is written."""
        return ("pdf", "svg", "png") if self.kind == "figure" else ("csv", "md")

    @property
    def symbol(self) -> tuple[str, str]:
        """The drawing function's module and name."""
        return self.module, self.name

    @property
    def draw(self) -> Callable[[Tables, Any], Any]:
        """The drawing function: `(tables, params) -> Figure` for a figure, `-> DataFrame` for a table."""
        return getattr(importlib.import_module(self.module), self.name)


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
        kind: pd.concat(
            [
                tables[kind].assign(setting=name)
                for name, tables in results.items()
                if name in settings or kind in tables
            ],
            ignore_index=True,
        )
        for kind in results[BASE]
    }


def _other_losses(settings: Mapping[str, Settings], context: Context) -> dict[str, Context]:
    """The losses to compute beside the published one, each with its context."""
    # Not isinstance of TakesLosses: results do not depend on how names of losses are checked.
    names = getattr(settings.get(BASE), "objective", ())
    return {name: replace(context, setting=name, objective=name) for name in names}


def all_tasks(
    tasks: Callable[[Any, Context], list[Task]], settings: Mapping[str, Settings], context: Context
) -> list[Task]:
    """The tasks of all settings and losses, under the names that `Context.result` gives them."""
    return [
        replace(task, name=f"{named.setting}/{task.name}")
        for params, named in _runs(settings, context)
        for task in tasks(params, named)
    ]


def all_resources(
    resources: Callable[[Any, str | None], dict[str, Resources]], settings: Mapping[str, Settings]
) -> dict[str, Resources]:
    """What each of `all_tasks` needs, by its name."""
    return {
        f"{named.setting}/{task}": needs
        for params, named in _runs(settings, Context())
        for task, needs in resources(params, named.objective).items()
    }


def _runs(settings: Mapping[str, Settings], context: Context) -> list[tuple[Settings, Context]]:
    """The parameters and the context of each setting and each other loss."""
    runs = [(params, replace(context, setting=name)) for name, params in settings.items()]
    return runs + [(settings[BASE], other) for other in _other_losses(settings, context).values()]


def share_of(resources: Mapping[str, Resources], number: int, shares: int) -> list[str]:
    """The names of the tasks in one of several shares of about equal duration: tasks are assigned longest
    first, each to the share with the least to do.

    Args:
        number: index of the share, from 1.
    """
    loads = [0.0] * shares
    chosen = []
    for name, needs in sorted(resources.items(), key=lambda item: -item[1].minutes):
        least = loads.index(min(loads))
        loads[least] += needs.minutes
        if least == number - 1:
            chosen.append(name)
    return chosen
