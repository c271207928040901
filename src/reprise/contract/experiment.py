"""The contract of an experiment: the types that the modules of a folder `papers/KEY/NAME/` use and
declare."""

import importlib
import re
import traceback
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import pandas as pd

from reprise.contract.settings import Settings, field_paths, origin
from reprise.errors import RepriseError, alike, unknown

P = TypeVar("P", bound=Settings)
T = TypeVar("T", bound=Hashable)

Tables = Mapping[str, pd.DataFrame]
"""An experiment's result tables by name: tidy, one observation per row."""

PANDAS = Path(pd.__file__).parent


class NotInTablesError(RepriseError):
    """A claim or figure reads a table or column that is not there."""


class NamedTables(dict[str, pd.DataFrame]):
    """Tables, of which a missing one is named."""

    def __missing__(self, name: str) -> pd.DataFrame:
        raise NotInTablesError(str(unknown("table", name, self, f"there are: {', '.join(self)}")))


@contextmanager
def reading(reader: str, tables: Tables) -> Iterator[None]:
    """Names who reads a column that is not there, and the columns that are.

    Args:
        reader: such as `claim 'KEY/fig1/falls'`.

    Raises:
        NotInTablesError: in place of a KeyError of pandas. A KeyError of the reader's own dictionaries stays.
    """
    try:
        yield
    except KeyError as error:
        if PANDAS not in Path(traceback.extract_tb(error.__traceback__)[-1].filename).parents:
            raise
        wanted = str(error.args[0])
        columns = {str(column) for table in tables.values() for column in table}
        near = alike(wanted, columns - {wanted})
        guess = f"; did you mean '{near}'?" if near else ""
        have = "; ".join(f"'{name}' has {', '.join(map(str, table))}" for name, table in tables.items())
        said = f"{reader} reads a column or row that is not there: {wanted}{guess}\n{have}"
        raise NotInTablesError(said) from error


BASE = "published"
"""The value of the `setting` column for the run with the experiment's own parameters."""


@dataclass(frozen=True)
class Resources:
    """The resources of a computation: of a task, or of an experiment in one piece.

    Attributes:
        minutes: expected time on one core, or on `gpus` GPUs, of the machines in docs/performance.md.
        memory_mb: main memory.
        disk_mb: size of the entries that stay in the cache; nets' shared views, which go at the end, do not
            count.
        gpus: number of GPUs that work on the computation together.
    """

    minutes: float = 1.0
    memory_mb: int = 1500
    disk_mb: float = 0.0
    gpus: int = 0


@dataclass(frozen=True)
class Quick:
    """An experiment within seconds, to try a loss (`reprise try`): `quick` of a declaration.

    Attributes:
        changes: the settings that differ from the published ones.
        figures: the names of the figures that are drawn.
    """

    changes: Mapping[str, Any]
    figures: tuple[str, ...]


def together(resources: Iterable[Resources]) -> Resources:
    """The resources of a job that runs computations one after another."""
    every = list(resources)
    return Resources(
        minutes=sum(each.minutes for each in every),
        memory_mb=max(each.memory_mb for each in every),
        disk_mb=sum(each.disk_mb for each in every),
        gpus=max(each.gpus for each in every),
    )


TOGETHER = "together"
"""Key of `Experiment.excused` for the reason why not all pairs of fields are varied together."""


@dataclass(frozen=True)
class Plan(Generic[P, T]):
    """The tasks of a long computation, and what each of them needs.

    A task is a hashable value of the experiment's own type, such as a NamedTuple. Its `str` is its name,
    unique among the tasks and the same in every run. `compute.py` performs it: see `Context.results`.

    `tasks` and `needs` are two functions so that results depend on the tasks, which the computation asks for,
    and not on how long they are expected to take.

    Attributes:
        tasks: the tasks with these parameters, and with another loss by its name or None.
        needs: what one of them needs.
    """

    tasks: Callable[[P, str | None], Iterable[T]]
    needs: Callable[[P, T, str | None], Resources]

    def __post_init__(self) -> None:
        for name in ("tasks", "needs"):
            if not callable(getattr(self, name)):
                raise RepriseError(f"Plan({name}=...) must be a function, not {getattr(self, name)!r}")


@dataclass(frozen=True, kw_only=True)
class Experiment(Generic[P]):
    """The declaration of an experiment, `EXPERIMENT` in its `experiment.py`.

    Attributes:
        params: the settings, whose defaults are those of the published run.
        tables: the names of the tables that its `compute` returns.
        plan: its tasks, or what it needs if it is in one piece.
        alternatives: the settings with other plausible values of what the paper leaves open, by name.
        excused: why an open field, by `name` or `name.inner`, is in no alternative, or under `together` why
            not all pairs are changed together.
        gaps: patterns of the columns, as `table.column`, in which a number that is not finite is a result.
        reads: the files that the experiment reads besides those of the data sets that its settings name.
        check: checks that the inputs exist; raises RepriseError naming what is missing, where, and what to
            do.
        verify: the same for what takes too long for a plan: that the inputs are the published ones.
        coordinates: columns of numbers that are settings, not measurements.
        quick: how to run it within seconds with a user's loss; None if that shows nothing.

    Raises:
        RepriseError: if a value is not what it must be.
    """

    params: type[P]
    tables: tuple[str, ...]
    plan: Resources | Plan[P, Any] = Resources()
    alternatives: Callable[[P], Mapping[str, P]] | None = None
    excused: Mapping[str, str] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
    reads: Callable[[P], list[Path]] | None = None
    check: Callable[[P], None] | None = None
    verify: Callable[[P], None] | None = None
    coordinates: tuple[str, ...] = ()
    quick: Quick | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.params, type) and issubclass(self.params, Settings)):
            raise RepriseError(f"params is {self.params!r}; it must be a class derived from Settings")
        for name, each in self.params.model_fields.items():
            try:
                origin(each)
            except TypeError as error:
                raise RepriseError(f"params: field '{name}' has no origin: {error}") from None
        for name, names in (("tables", self.tables), ("gaps", self.gaps), ("coordinates", self.coordinates)):
            if not isinstance(names, tuple) or not all(isinstance(each, str) for each in names):
                raise RepriseError(f"{name} is {names!r}; it must be a tuple of strings")
        if not self.tables or not all(map(str.isidentifier, self.tables)):
            raise RepriseError(f"tables is {self.tables!r}; it must name a table or more, in words like a_b")
        if len(set(self.tables)) < len(self.tables):
            raise RepriseError(f"tables names a table twice: {', '.join(self.tables)}")
        for gap in self.gaps:
            table, _, column = gap.partition(".")
            if not column:
                raise RepriseError(f"gaps has '{gap}'; write table.column")
            if not any(fnmatchcase(each, table) for each in self.tables):
                raise unknown("table", table, self.tables, f"gaps may name {', '.join(self.tables)}")
        known = [*field_paths(self.params), TOGETHER]
        for path, why in self.excused.items():
            if path not in known:
                raise unknown("field", path, known, f"excused may name {', '.join(known)}")
            if not isinstance(why, str) or len(why.split()) < 3:
                raise RepriseError(f"excused: '{path}' has the reason {why!r}; write a sentence")
        fields = self.params.model_fields
        for name in self.quick.changes if self.quick else ():
            if name not in fields:
                raise unknown("field", name, fields, f"quick may change {', '.join(fields)}")
        if not isinstance(self.plan, Resources | Plan):
            raise RepriseError(f"plan is {self.plan!r}; it must be Plan(tasks, needs) or Resources(...)")
        for name in ("alternatives", "reads", "check", "verify"):
            given = getattr(self, name)
            # By whose name the hash of the code finds it.
            if given is not None and not getattr(given, "__qualname__", "").isidentifier():
                raise RepriseError(
                    f"{name} is {given!r}; it must be a function that a module defines by name"
                )


Progress = Callable[[float], None]
"""Called from time to time with the fraction done, 0 to 1."""
Make = Callable[[Progress], pd.DataFrame]
"""Computes a task's table."""


@dataclass(frozen=True)
class Context:
    """The services and settings that a computation receives.

    Attributes:
        progress: called with (steps done, total steps, description of the current step).
        cached: returns the table of this name, which the function computes only once, in this process or
            another, even if that one was interrupted later.
        root: the checkout, which holds the cache of trained models (`training.models`).
        setting: name of the experiment's setting to compute.
        objective: another loss to train with instead of the published one, or None.
    """

    progress: Callable[[int, int, str], None] = lambda done, total, what: None
    cached: Callable[[str, Make], pd.DataFrame] = lambda name, make: make(lambda share: None)
    root: Path = Path()
    setting: str = BASE
    objective: str | None = None

    def result(
        self, perform: Callable[[P, T, "Context", Progress], pd.DataFrame], params: P, task: T
    ) -> pd.DataFrame:
        """The table of a task in this setting.

        Args:
            perform: computes the table of any task, `(params, task, context, progress)`. It may ask for those
                of other tasks.
        """
        return self.cached(f"{self.setting}/{task}", partial(perform, params, task, self))

    def results(
        self, perform: Callable[[P, T, "Context", Progress], pd.DataFrame], params: P, tasks: Iterable[T]
    ) -> dict[T, pd.DataFrame]:
        """The table of each task."""
        return {task: self.result(perform, params, task) for task in tasks}


class CodePlace(NamedTuple):
    """A line of code: its file, its number and the name of the function there."""

    file: str
    line: int
    name: str


@dataclass(frozen=True)
class Artifact:
    """A figure or table of a paper, under the paper's own number.

    Attributes:
        id: `KEY/NAME`: `jing2022/fig04`.
        number: as the paper prints it, `Figure 4`; of one that is not in the paper, what it is about, such as
            `Section 4` or `Table 1, differences`.
        reads: the experiment's tables from which it is drawn.
        module: the module of the drawing function, which needs matplotlib, and so is imported only to draw.
        code: the drawing function, from its decorators on.
    """

    id: str
    number: str
    kind: Literal["figure", "table"]
    caption: str
    reads: tuple[str, ...]
    experiment: str
    module: str
    code: CodePlace

    @property
    def name(self) -> str:
        """The drawing function's name."""
        return self.code.name

    @property
    def endings(self) -> tuple[str, ...]:
        """Suffixes of the files in which the figure or table is written."""
        return ("pdf", "svg", "csv", "png") if self.kind == "figure" else ("csv", "md")

    @property
    def symbol(self) -> tuple[str, str]:
        """The drawing function's module and name."""
        return self.module, self.name

    def draw(self, tables: Tables, params: Settings) -> Any:
        """Draws a figure (a matplotlib Figure) or makes a table (a DataFrame) from those of the experiment's
        tables that it declares to read.

        Raises:
            RepriseError: if it reads another table, or a column that is not there.
        """
        declared = NamedTables({name: tables[name] for name in self.reads if name in tables})
        with reading(self.id, declared):
            return getattr(importlib.import_module(self.module), self.name)(declared, params)


def figure(number: str, *, reads: tuple[str, ...], caption: str) -> Callable[[Callable], Callable]:
    """Marks a function `(tables, params) -> matplotlib.figure.Figure` as the paper's figure `number`, drawn
    from the tables that it `reads`. The caption of one that is not in the paper says so."""
    return _mark(number, "figure", reads, caption)


def table(number: str, *, reads: tuple[str, ...], caption: str) -> Callable[[Callable], Callable]:
    """Marks a function `(tables, params) -> DataFrame` as the paper's table `number`, made from the
    experiment's tables that it `reads`."""
    return _mark(number, "table", reads, caption)


def _mark(number: str, kind: str, reads: tuple[str, ...], caption: str) -> Callable[[Callable], Callable]:
    def mark(draw: Callable) -> Callable:
        if isinstance(reads, str):
            raise RepriseError(
                f"{draw.__module__}.{draw.__name__}: reads='{reads}' is no tuple; write ('{reads}',)"
            )
        if not caption.strip():
            raise RepriseError(f"{draw.__module__}.{draw.__name__}: caption is empty; say what is seen")
        words = caption.split() if is_in_paper(number) else [NOT_IN_PAPER, *caption.split()]
        draw.artifact = {  # type: ignore[attr-defined]
            "number": number, "kind": kind, "caption": " ".join(words), "reads": reads,
        }  # fmt: skip
        return draw

    return mark


NOT_IN_PAPER = "Not in the paper."
"""The beginning of a caption."""


def is_in_paper(number: str) -> bool:
    """Tells if a figure or table bears a number of the paper's own.

    Example:
        >>> [is_in_paper(each) for each in ("Figure 7b", "Figure 7b, search", "Section 4")]
        [True, False, False]
    """
    return re.fullmatch(r"(Figure|Table)s? [^,]+", number) is not None


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


class Assignment(NamedTuple):
    """A task in one of an experiment's settings, or with another loss: what to perform it with."""

    params: Any
    task: Any
    context: Context


def all_tasks(plan: Plan[P, Any], settings: Mapping[str, P], context: Context) -> dict[str, Assignment]:
    """The tasks of all settings and losses, by the names that `Context.result` gives them."""
    return {
        f"{named.setting}/{task}": Assignment(params, task, named)
        for params, named in _runs(settings, context)
        for task in plan.tasks(params, named.objective)
    }


def all_needs(plan: Plan[P, Any], settings: Mapping[str, P]) -> dict[str, Resources]:
    """The resources of each of `all_tasks`, by its name."""
    return {
        name: plan.needs(params, task, context.objective)
        for name, (params, task, context) in all_tasks(plan, settings, Context()).items()
    }


def _runs(settings: Mapping[str, P], context: Context) -> list[tuple[P, Context]]:
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
