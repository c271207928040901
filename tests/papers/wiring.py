"""The wiring of any experiment, whatever numbers it computes: a setting reaches the rows that it is about and
no others, arms and seeds differ, and no two uses of random numbers are fed from one stream."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from unittest import mock
from zlib import crc32

import numpy as np
import pandas as pd

from reprise.contract.experiment import Context
from reprise.contract.settings import Seeded
from reprise.engine import registry
from reprise.numerics import streams

EVERY = "index >= 0"
"""All rows of a table."""
SAME = {"rtol": 1e-6, "atol": 1e-9}
"""Numbers as close as this are the same: a solver's steps depend on all settings that it solves at once."""


@dataclass(frozen=True)
class Change:
    """Another value of a setting, and what it changes.

    Attributes:
        value: the other value.
        rows: for each table with numbers that change, a query of the rows that may; all others stay.
        share: least share of those rows that do change.
        may: tables of which none need to change.
        also: other settings that must change with it.
    """

    value: Any
    rows: Mapping[str, str]
    share: float = 0.5
    may: Collection[str] = ()
    also: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """An experiment at a tiny size.

    Attributes:
        settings: the tiny size.
        coordinates: columns that say what a row is about; all others are measured.
        changes: by setting.
        sizes: settings that say how many rows there are, or where they lie, and the places of data.
        arms: by table, columns whose values name arms.
        shared: purposes of random numbers that several arms or tables share, so that they can be compared.
        seedless: tables whose `seed` is a point or a repetition without chance.
        random: whether any random number is drawn.
    """

    id: str
    settings: Mapping[str, Any]
    coordinates: Collection[str]
    changes: Mapping[str, Change]
    sizes: Collection[str]
    arms: Mapping[str, Sequence[str]]
    shared: Collection[str] = ()
    seedless: Collection[str] = ()
    random: bool = True

    def params(self, **changes: Any) -> Any:
        return registry.experiment(self.id).params(**{**self.settings, **changes})

    def compute(self, context: Context | None = None, **changes: Any) -> dict[str, pd.DataFrame]:
        return registry.experiment(self.id).compute()(self.params(**changes), context or Context())

    def measured(self, table: pd.DataFrame) -> pd.DataFrame:
        return table[[name for name in table if name not in self.coordinates]]


def differing(one: pd.DataFrame, other: pd.DataFrame) -> np.ndarray:
    """The rows in which some number is not the same."""
    numbers = [name for name in one if one[name].dtype.kind in "fib"]
    left, right = (each[numbers].to_numpy(dtype=float) for each in (one, other))
    return ~np.isclose(left, right, equal_nan=True, **SAME).all(axis=1)


def assert_every_setting_is_declared(case: Case) -> None:
    """But for the first seed, of which `assert_seeds_follow_the_first` says what it changes."""
    fields = registry.experiment(case.id).params.model_fields.keys() - Seeded.model_fields.keys()
    declared = sorted([*case.changes, *case.sizes])
    assert declared == sorted(fields), f"{case.id}: its Case declares what each setting changes, or a size"


def assert_a_setting_changes_its_rows_alone(
    case: Case, before: dict[str, pd.DataFrame], name: str, context: Context | None = None
) -> None:
    change = case.changes[name]
    after = case.compute(context, **{name: change.value, **change.also})
    for table, rows in before.items():
        if table.endswith("_seconds"):
            continue
        others, query = after[table], change.rows.get(table)
        expected = rows.index.isin(rows.query(query).index) if query else np.zeros(len(rows), dtype=bool)
        if len(others) == len(rows):
            changed = differing(case.measured(rows), case.measured(others))
        else:  # such as another number of optima: the rows that stay are those outside of the query
            kept = others.query(f"not ({query})")
            changed = expected.copy()
            changed[~expected] = differing(case.measured(rows[~expected]), case.measured(kept))
        assert not changed[~expected].any(), f"{case.id}: {name} changes other rows of {table}"
        if query and table not in change.may:
            assert expected.any(), f"{case.id}: {name}: no row of {table} has {query}"
            assert changed[expected].mean() >= change.share, (
                f"{case.id}: {name} changes {changed[expected].mean():.0%} of its rows of {table}"
            )


def alike(case: Case, table: pd.DataFrame, by: str) -> list[tuple[Any, Any]]:
    """Pairs of values of a column between which no number of the table differs."""
    rest = [name for name in table if name in case.coordinates and name != by]
    parts = {}
    for value, part in table.groupby(by):
        place = part.groupby(rest).cumcount() if rest else np.arange(len(part))
        parts[value] = case.measured(part).set_index([*(part[name] for name in rest), place]).sort_index()
    pairs = []
    for one, other in combinations(parts, 2):
        common = parts[one].index.intersection(parts[other].index)
        if len(common) and not differing(parts[one].loc[common], parts[other].loc[common]).any():
            pairs.append((one, other))
    return pairs


def assert_arms_differ(case: Case, tables: dict[str, pd.DataFrame]) -> None:
    for name, columns in case.arms.items():
        for column in columns:
            assert len(tables[name][column].unique()) > 1, (case.id, name, column)
            assert not alike(case, tables[name], column), (case.id, name, column)


def assert_seeds_differ(case: Case, tables: dict[str, pd.DataFrame]) -> None:
    """Every two seeds of a table, which have the same coordinates, have other numbers."""
    seen = 0
    for name, table in tables.items():
        if "seed" not in table or name in case.seedless or name.endswith("_seconds"):
            continue
        assert len(table["seed"].unique()) > 1, (case.id, name)
        assert not alike(case, table, "seed"), (case.id, name)
        seen += 1
    assert seen or not any("seed" in table for table in tables.values())


def assert_seeds_follow_the_first(
    id: str,
    params: Any,
    before: Mapping[str, pd.DataFrame],
    context: Context | None = None,
    seedless: Collection[str] = (),
) -> None:
    """With the second seed as the first, the tables have the seeds from it on: its numbers are those that it
    had as the second, and no column of random numbers is as it was.

    Args:
        before: the tables with the parameters as they are.
        seedless: as in `Case`.
    """
    if not isinstance(params, Seeded):
        assert not any("seed" in table for table in before.values()), id
        return
    moved = params.model_copy(update={"first_seed": params.first_seed + 1})
    after = registry.experiment(id).compute()(moved, context or Context())
    for name, table in before.items():
        if "seed" not in table:
            continue
        other = after[name]
        assert set(other["seed"]) == set(table["seed"] + 1), f"{id}: seeds of {name}"
        for column in random_columns(table) if name not in seedless else ():
            same = np.array_equal(table[column], other[column], equal_nan=True)
            assert not same, f"{id}: {name}: {column} is the same for other seeds"
        own, again = (each[each["seed"] == moved.first_seed] for each in (table, other))
        if len(own) and not name.endswith("_seconds"):
            assert not differing(own, again).any(), f"{id}: {name}: seed {moved.first_seed} has other numbers"


def random_columns(table: pd.DataFrame) -> list[str]:
    """The columns of numbers that are the same for no two seeds."""
    seeds = [rows for _, rows in table.groupby("seed")]
    return [
        name
        for name in table
        if table[name].dtype.kind == "f"
        and not any(
            np.array_equal(one[name], other[name], equal_nan=True) for one, other in combinations(seeds, 2)
        )
    ]


@contextmanager
def opened() -> Iterator[Counter[tuple[Any, Any]]]:
    """Counts how often each stream is opened: by seed and purpose, the latter as its checksum where NumPy
    draws the numbers."""
    counts: Counter[tuple[Any, Any]] = Counter()
    key, default_rng = streams._key, np.random.default_rng

    def of_torch(seed: int, purpose: str) -> int:
        counts[seed, purpose] += 1
        return key(seed, purpose)

    def of_numpy(seed: Any = None) -> np.random.Generator:
        assert seed is not None, "a generator without a seed"
        counts[tuple(np.atleast_1d(seed).tolist())] += 1
        return default_rng(seed)

    with mock.patch.object(streams, "_key", of_torch), mock.patch.object(np.random, "default_rng", of_numpy):
        yield counts


def assert_no_stream_is_opened_twice(case: Case, context: Context | None = None) -> None:
    """Within a task, or within an experiment that has none: numbers that evaluate are never those that
    train, and those of one view never those of the other."""
    experiment, shared = registry.experiment(case.id), {*case.shared, *map(_checksum, case.shared)}
    used: list[Counter] = []
    if experiment.has_tasks:
        params, perform, given = case.params(), experiment.perform(), context or Context()
        for task in experiment.declaration.plan.tasks(params, None):
            with opened() as counts:
                given.result(perform, params, task)
            used.append(counts)
    else:
        with opened() as counts:
            case.compute(context)
        used.append(counts)
    assert any(used) == case.random, case.id
    for counts in used:
        twice = [stream for stream, count in counts.items() if count > 1 and stream[1] not in shared]
        assert not twice, f"{case.id}: opened twice: {twice}"


def _checksum(purpose: str) -> int:
    return crc32(purpose.encode())
