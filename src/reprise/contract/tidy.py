"""Converts arrays with named axes, and tables made for reading, to tidy tables."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
CELL = re.compile(
    rf"(?P<value>{NUMBER})(?: ± (?P<std>{NUMBER}))?(?: \[(?P<low>{NUMBER}), (?P<high>{NUMBER})\])?"
)
"""A number in a table for reading: `0.16`, `0.16 ± 0.19`, or `0.16 [0.05, 0.27]`."""
NO_NUMBER = ("", "-", "diverged")
"""Entries of a table for reading that stand in place of a number."""

TIMES = ("step", "iteration", "epoch", "time")
"""Names of the columns along which any experiment's table follows a training."""

Axes = dict[str, Sequence[Any]]
"""Axis name -> coordinates, in the order of an array's dimensions."""


def tidy(axes: Axes, **columns: Any) -> pd.DataFrame:
    """A table with one row per element: a column for each axis, then one for each array.

    Args:
        axes: in the order of the arrays' dimensions.
        columns: name -> array or tensor of shape [len(axis) for each axis].

    Raises:
        ValueError: if an array's shape does not match the axes.
    """
    shape = tuple(len(coordinates) for coordinates in axes.values())
    table = pd.MultiIndex.from_product(list(axes.values()), names=list(axes)).to_frame(index=False)
    for name, array in columns.items():
        values = np.asarray(array)
        if values.shape != shape:
            raise ValueError(f"{name} has the shape {values.shape}, its axes {list(axes)} have {shape}")
        table[name] = values.ravel()
    return table


def in_numbers(table: pd.DataFrame) -> pd.DataFrame:
    """A table made for reading, with numbers for strings of numbers, as precise as it shows them.

    Of `0.16 ± 0.19` in a column `ours`, the number stays there and the deviation goes to a column `ours,
    std`; likewise an interval to `ours, low` and `ours, high`. Columns that hold words too stay as they are.
    """
    columns: dict[str, pd.Series] = {}
    for name, column in table.items():
        texts = column.map(lambda cell: cell.strip() if isinstance(cell, str) else None)
        parts = texts.dropna().str.extract(rf"^{CELL.pattern}$")
        if (
            parts.empty
            or not (parts["value"].notna() | texts.isin(NO_NUMBER)).all()
            or not parts.notna().any(axis=None)
        ):
            columns[str(name)] = column
            continue
        for part in ("value", "std", "low", "high"):
            if part == "value" or parts[part].notna().any():
                columns[f"{name}" if part == "value" else f"{name}, {part}"] = parts[part].astype(float)
    return pd.DataFrame(columns)
