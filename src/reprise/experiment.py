"""The contract of an experiment: what a folder `papers/KEY/NAME/` must hold, and how its parts declare
themselves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from reprise.settings import Settings

Tables = Mapping[str, pd.DataFrame]
"""An experiment's result tables by name: tidy, one observation a row."""

BASE = "published"
"""The value of the `setting` column for the run with the experiment's own parameters."""


@dataclass(frozen=True)
class Resources:
    """What running an experiment takes at most, in any tier; `RESOURCES` in its `params.py` declares others.

    Attributes:
        minutes: after which a cluster may kill it. The longest experiments start first.
        memory_mb: of all processes together.
        workers: processes, a core each; more than one for an experiment that comes in parts.
    """

    minutes: int = 20
    memory_mb: int = 2000
    workers: int = 1


@dataclass(frozen=True)
class Part:
    """A part of a long computation.

    Attributes:
        name: which part it is: unique, and the same in every run.
        make: computes its table, and calls its argument now and then with the share that is done, 0 to 1.
        work: how long it takes, in a unit common to all parts.
    """

    name: str
    make: Callable[[Callable[[float], None]], pd.DataFrame]
    work: int = 1


@dataclass(frozen=True)
class Context:
    """What a computation may ask of its surroundings.

    Attributes:
        progress: called with (steps done, steps in all, what is being done).
        keep: parts to their tables. Several may be made at once; where a run was killed, the next one finds
            those that it had finished.
        root: the checkout, under which trained models are kept (`training.models`).
    """

    progress: Callable[[int, int, str], None] = lambda done, total, what: None
    keep: Callable[[Sequence[Part]], list[pd.DataFrame]] = lambda parts: [
        part.make(lambda share: None) for part in parts
    ]
    root: Path = Path()


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
    """Runs `compute` at each of the named settings; a column `setting` says which rows are whose.

    The parts that the settings ask for first are made together, so that no process waits for the last part of
    one setting before it begins the next: `compute` runs up to there, and then again with their tables.
    """
    results: dict[str, Mapping[str, pd.DataFrame]] = {}
    asked: dict[str, list[Part]] = {}
    for name, params in settings.items():
        try:
            results[name] = compute(params, replace(context, keep=_ask))
        except _Asked as question:
            asked[name] = [replace(part, name=f"{name}/{part.name}") for part in question.parts]
    made = iter(context.keep([part for parts in asked.values() for part in parts])) if asked else iter(())
    for name, parts in asked.items():
        tables = list(islice(made, len(parts)))
        results[name] = compute(settings[name], replace(context, keep=_answer(tables, name, context)))
    return {
        table: pd.concat([results[name][table].assign(setting=name) for name in settings], ignore_index=True)
        for table in results[BASE]
    }


class _Asked(Exception):
    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts


def _ask(parts: Sequence[Part]) -> list[pd.DataFrame]:
    raise _Asked(parts)


def _answer(
    tables: list[pd.DataFrame], setting: str, context: Context
) -> Callable[[Sequence[Part]], list[pd.DataFrame]]:
    """What is there already at first, and then whatever else a computation asks for."""
    first = [tables]

    def keep(parts: Sequence[Part]) -> list[pd.DataFrame]:
        named = [replace(part, name=f"{setting}/{part.name}") for part in parts]
        return first.pop() if first else context.keep(named)

    return keep
