"""Slopes of log-log fits against width."""

import numpy as np
import pandas as pd


def slope_of_means(values: pd.DataFrame) -> pd.Series:
    """Jackknife values, one per seed, of the least-squares slope of log(mean over seeds) against log(width).

    The slope θ belongs to all seeds together. With θ_(-s) the slope without seed s, that seed's value is
    θ + (n - 1)(mean of θ_(-s) - θ_(-s)). The mean of these values is θ, and their standard error is the
    jackknife's, which shows how much the slope depends on single seeds.

    Args:
        values: one row per seed, one column per width; a single seed gives the slope alone.
    """
    if values.empty:
        return pd.Series(dtype=float)
    if len(values) == 1:
        return pd.Series(_slope(values), values.index)
    leave_one_out = pd.Series([_slope(values.drop(seed)) for seed in values.index], values.index)
    return _slope(values) + (len(values) - 1) * (leave_one_out.mean() - leave_one_out)


def _slope(values: pd.DataFrame) -> float:
    x = np.log(values.columns.to_numpy(dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(values.to_numpy(dtype=float).mean(0))
        return float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
