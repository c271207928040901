"""Measures of claims, written as the sentences say them.

    column("trajectory", "norm_w1", step=last, arm="balanced")

is W1's norm at the last step, one number a seed; of several numbers a seed, `each_seed` makes one, and
`applied` calculates with measures. What is still said better as a function selects its rows by `rows` or
`selected`. Many claims, in many settings, read the same rows: what measures derive from the tables of a
`Setting` they derive once.
"""

import operator
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd

from reprise.contract.experiment import NamedTables, Tables
from reprise.evidence.comparison import Course, Measure

Source = str | Callable[[Tables], pd.DataFrame]
"""A table of the experiment by its name, or a function that makes one of the experiment's tables."""
Wide = Callable[[Tables], pd.DataFrame]
"""Function from an experiment's tables to a table with a row a seed."""

P = ParamSpec("P")
T = TypeVar("T")


class Setting(NamedTables):
    """The tables of one setting, and by function what `once` has derived from them."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self.derived: dict[Callable, Any] = {}


def once(derive: Callable[[Tables], T]) -> Callable[[Tables], T]:
    """Derives something only once from the tables of a `Setting`, and each time from other tables. Who reads
    it must not change it."""

    @wraps(derive)
    def derived(tables: Tables) -> T:
        kept = getattr(tables, "derived", {})
        if derive not in kept:
            kept[derive] = derive(tables)
        return kept[derive]

    return derived


def interned(make: Callable[P, Callable[[Tables], T]]) -> Callable[P, Callable[[Tables], T]]:
    """Makes of the same arguments the same measure, evaluated `once`; they must be hashable."""

    @wraps(make)
    def made(*args: P.args, **named: P.kwargs) -> Callable[[Tables], T]:
        return once(make(*args, **named))

    return cast(Callable[P, Callable[[Tables], T]], cache(made))


def first(values: pd.Series) -> pd.Series:
    """Marks the rows in which a column has its smallest value."""
    return values == values.min()


def last(values: pd.Series) -> pd.Series:
    """Marks the rows in which a column has its largest value."""
    return values == values.max()


def rows(table: pd.DataFrame, /, **where: Any) -> pd.DataFrame:
    """The rows in which columns have the wanted values.

    Args:
        where: column name -> a value; several in a list or tuple; or a function such as `last`, from the
            column to which of its rows are wanted. They apply from left to right: with `arm="relu",
            step=last` the last step is that of this arm, with `step=last, arm="relu"` that of the table.
    """
    for name, wanted in where.items():
        values = table[name]
        if callable(wanted):
            table = table[wanted(values)]
        else:
            table = table[values.isin(wanted) if isinstance(wanted, (list, tuple)) else values == wanted]
    return table


def selected(source: Source, /, **where: Any) -> Callable[[Tables], pd.DataFrame]:
    """The rows of a table that `where` selects (`rows`)."""
    return _selected(source, *where.items())


@interned
def _selected(source: Source, *where: tuple[str, Any]) -> Callable[[Tables], pd.DataFrame]:
    if not where:
        return (lambda tables: tables[source]) if isinstance(source, str) else source
    *others, (name, wanted) = where
    before = _selected(source, *others)
    return lambda tables: rows(before(tables), **{name: wanted})


@interned
def column(source: Source, value: str, /, *, by: str = "seed", **where: Any) -> Measure:
    """A column in the rows that `where` selects (`rows`).

    Args:
        by: the column that tells observations apart.
    """
    found = selected(source, **where)
    return lambda tables: found(tables)[value].set_axis(found(tables)[by])


@interned
def wide(source: Source, value: str, over: str, /, **where: Any) -> Wide:
    """A column in the rows that `where` selects, spread out: a row a seed, a column a value of `over`."""
    found = selected(source, **where)
    return lambda tables: found(tables).pivot(index="seed", columns=over, values=value)


@interned
def course(source: Source, value: str, /, **where: Any) -> Course:
    """A column over time in the rows that `where` selects: a row a step, a column a seed."""
    found = selected(source, **where)
    return lambda tables: found(tables).pivot(index="step", columns="seed", values=value)


@interned
def each_seed(reduce: str | Callable[[pd.Series], float], measure: Measure) -> Measure:
    """One number for all that a seed has.

    Args:
        reduce: as `agg` takes it: "max" leaves out what is NaN, `largest` does not.
    """
    return lambda tables: measure(tables).groupby(level=0).agg(reduce)


def largest(values: pd.Series) -> float:
    """NaN where one of them is."""
    return values.max(skipna=False)


def smallest(values: pd.Series) -> float:
    """NaN where one of them is."""
    return values.min(skipna=False)


def mean(values: pd.Series) -> float:
    """NaN where one of them is."""
    return values.mean(skipna=False)


@interned
def applied(function: Callable[..., pd.Series], *measures: Measure | Wide) -> Measure:
    """A function of what other measures give, seed by seed."""
    return lambda tables: function(*(measure(tables) for measure in measures))


@interned
def difference(minuend: Measure, subtrahend: Measure) -> Measure:
    """One measure less another, seed by seed; nothing where one of them has no observations."""
    return lambda tables: operator.sub(*_both(minuend(tables), subtrahend(tables)))


@interned
def ratio(numerator: Measure, denominator: Measure) -> Measure:
    """One measure over another, seed by seed; nothing where one of them has no observations."""
    return lambda tables: operator.truediv(*_both(numerator(tables), denominator(tables)))


def _both(one: pd.Series, other: pd.Series) -> tuple[pd.Series, pd.Series]:
    return (one, other) if len(one) and len(other) else (one[:0], other[:0])


@interned
def beside(*measures: Measure) -> Wide:
    """Several measures, a column each; nothing where one of them has no observations."""
    return lambda tables: pd.concat(
        [measure(tables) for measure in measures], axis=1, join="inner", keys=range(len(measures))
    )


def rank_correlation(one: pd.DataFrame, other: pd.DataFrame | pd.Index) -> pd.Series:
    """Spearman's correlation of each seed's row with its row of another table, or with a list of numbers; NaN
    where a value is missing, nothing for a seed that only one table has."""
    if isinstance(other, pd.Index):
        others = pd.DataFrame(np.broadcast_to(other, one.shape), one.index, one.columns)
    else:
        both = one.index.intersection(other.index)
        one, others = one.loc[both], other.loc[both].set_axis(one.columns, axis=1)
    found = one.rank(axis=1).corrwith(others.rank(axis=1), axis=1)
    return found.where(one.notna().all(axis=1) & others.notna().all(axis=1))


def log_log_slope(wide: pd.DataFrame) -> pd.Series:
    """The slope of log(value) against log(column), by least squares, one a row."""
    x = np.log(wide.columns.to_numpy(dtype=float))
    return pd.Series(np.polyfit(x, np.log(wide.to_numpy(dtype=float)).T, 1)[0], wide.index)
