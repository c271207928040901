"""Slopes of log-log fits against width."""

import numpy as np
import pandas as pd

from reprise.evidence.statistics import jackknife


def slope_of_means(values: pd.DataFrame) -> pd.Series:
    """Jackknife values, one per seed, of the least-squares slope of log(mean over seeds) against log(width).

    The slope belongs to all seeds together; the values' standard error shows how much it depends on single
    ones. At initialisation their t interval holds the slope of the expected values in 95 % of sets of ten
    starts. After training it holds it in fewer where rare runs of another limit decide the mean (tanh: under
    half), as no interval can that is made of the seeds alone: most sets of ten have none of these runs.

    Args:
        values: one row per seed, one column per width; a single seed gives the slope alone.
    """
    if values.empty:
        return pd.Series(dtype=float)
    x = np.log(values.columns.to_numpy(dtype=float))
    weights = (x - x.mean()) / np.square(x - x.mean()).sum()

    def slope(sample: np.ndarray) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.log(sample.mean(0)) @ weights)

    sample = values.to_numpy(dtype=float)
    found = jackknife(slope, sample) if len(sample) > 1 else [slope(row[None]) for row in sample]
    return pd.Series(found, values.index, dtype=float)
