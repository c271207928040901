"""Intervals: 90 %, so that lying inside a margin is two one-sided tests at 5 %."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

LEVEL = 0.90


@dataclass(frozen=True)
class Interval:
    mean: float
    low: float
    high: float


def mean_interval(sample: pd.Series | np.ndarray) -> Interval:
    """Student's t interval of the mean. A sample without spread has an interval without width.

    Args:
        sample: n >= 2 observations.
    """
    values = np.asarray(sample, dtype=float)
    if values.min() == values.max():  # exactly, where the mean is rounded
        return Interval(float(values[0]), float(values[0]), float(values[0]))
    half = _quantile(len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return Interval(values.mean(), values.mean() - half, values.mean() + half)


def welch_interval(sample: pd.Series | np.ndarray, std: float, n: int) -> Interval:
    """Welch's t interval of the difference between a sample's and a published mean, moved to the former.

    Args:
        sample: n >= 2 observations.
        std, n: the published standard deviation and number of repetitions.
    """
    values = np.asarray(sample, dtype=float)
    ours, theirs = values.var(ddof=1) / len(values), std**2 / n
    if theirs == 0 and values.min() == values.max():
        return mean_interval(values)
    freedom = (ours + theirs) ** 2 / (ours**2 / (len(values) - 1) + theirs**2 / max(n - 1, 1))
    half = _quantile(freedom) * math.sqrt(ours + theirs)
    return Interval(values.mean(), values.mean() - half, values.mean() + half)


def paired_interval(sample: pd.Series, reference: pd.Series) -> Interval:
    """Student's t interval of the difference seed by seed, moved to the sample's mean.

    It lies beside the mean of `reference` just as the interval of the difference lies beside zero.

    Raises:
        KeyError: when the two have different seeds.
    """
    if sorted(sample.index) != sorted(reference.index):
        raise KeyError(f"seeds differ: {sorted(sample.index)} and {sorted(reference.index)}")
    difference = mean_interval(sample - reference)
    shift = float(reference.mean())
    return Interval(float(sample.mean()), difference.low + shift, difference.high + shift)


def _quantile(freedom: float) -> float:
    from scipy import special  # here, so that a plan does not wait for its import

    return float(special.stdtrit(freedom, (1 + LEVEL) / 2))
