"""What a claim measures, written as its sentence says it.

    column("trajectory", "norm_w1", step=last, arm="balanced")

is W1's norm at the last step, one number a seed; of several numbers a seed, `each_seed` makes one, and
`applied` calculates with measures. What is still said better as a function selects its rows by `rows`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from reprise.evidence.claims import Measure
from reprise.study.experiment import Tables

Source = str | Callable[[Tables], pd.DataFrame]
"""A table of the experiment by its name, or a function that makes one of the experiment's tables."""
Wide = Callable[[Tables], pd.DataFrame]
"""From an experiment's tables to one with a row a seed."""


def first(values: pd.Series) -> pd.Series:
    """Where a column has its smallest value."""
    return values == values.min()


def last(values: pd.Series) -> pd.Series:
    """Where a column has its largest value."""
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


def column(source: Source, value: str, /, *, by: str = "seed", **where: Any) -> Measure:
    """A column in the rows that `where` selects (`rows`).

    Args:
        by: the column that tells observations apart.
    """
    return lambda tables: rows(_table(source, tables), **where).set_index(by)[value]


def wide(source: Source, value: str, over: str, /, **where: Any) -> Wide:
    """A column in the rows that `where` selects, spread out: a row a seed, a column a value of `over`."""
    return lambda tables: rows(_table(source, tables), **where).pivot(
        index="seed", columns=over, values=value
    )


def _table(source: Source, tables: Tables) -> pd.DataFrame:
    return tables[source] if isinstance(source, str) else source(tables)


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


def applied(function: Callable[..., pd.Series], *measures: Measure | Wide) -> Measure:
    """A function of what other measures give, seed by seed."""
    return lambda tables: function(*(measure(tables) for measure in measures))


def difference(minuend: Measure, subtrahend: Measure) -> Measure:
    """One measure less another, seed by seed."""
    return lambda tables: minuend(tables) - subtrahend(tables)


def ratio(numerator: Measure, denominator: Measure) -> Measure:
    """One measure over another, seed by seed."""
    return lambda tables: numerator(tables) / denominator(tables)


def log_log_slope(wide: pd.DataFrame) -> pd.Series:
    """Of log(value) against log(column) by least squares, a number a row."""
    x = np.log(wide.columns.to_numpy(dtype=float))
    return pd.Series(np.polyfit(x, np.log(wide.to_numpy(dtype=float)).T, 1)[0], wide.index)
