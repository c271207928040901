"""Converts arrays with named axes to tidy tables."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

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
