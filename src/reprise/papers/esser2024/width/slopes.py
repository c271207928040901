"""Slopes of log-log fits against width."""

import numpy as np
import pandas as pd


def slope_of_means(values: pd.DataFrame) -> pd.Series:
    """The least-squares slope of log(mean over seeds) against log(width), as one number a seed.

    The slope belongs to all seeds together, so each gets its jackknife value θ + (n - 1)(mean of θ_(-s) -
    θ_(-s)), with θ_(-s) the slope without the seed: their mean is the slope θ itself, and their standard
    error the jackknife's, which sees how much hangs on a single seed.

    Args:
        values: a row a seed, a column a width; of a single seed there is no spread.
    """
    if values.empty:
        return pd.Series(dtype=float)
    if len(values) == 1:
        return pd.Series(_slope(values), values.index)
    without = pd.Series([_slope(values.drop(seed)) for seed in values.index], values.index)
    return _slope(values) + (len(values) - 1) * (without.mean() - without)


def _slope(values: pd.DataFrame) -> float:
    x = np.log(values.columns.to_numpy(dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(values.to_numpy(dtype=float).mean(0))
        return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
