"""Intervals and error rates: what a few repetitions can say.

Intervals have 95 % unless a level is given, so that each end is passed by chance in 2.5 % of samples.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

LEVEL = 0.95
"""Confidence level of a single interval."""


@dataclass(frozen=True)
class Interval:
    mean: float
    low: float
    high: float


def mean_interval(sample: pd.Series | np.ndarray | Sequence[float], level: float = LEVEL) -> Interval:
    """Student's t interval of the mean. A sample without spread has an interval without width.

    Args:
        sample: n >= 2 observations.
    """
    values = np.asarray(sample, dtype=float)
    if values.min() == values.max():  # exactly, where the mean is rounded
        return Interval(float(values[0]), float(values[0]), float(values[0]))
    half = quantile(len(values) - 1, level) * values.std(ddof=1) / math.sqrt(len(values))
    return Interval(values.mean(), values.mean() - half, values.mean() + half)


def welch_error(variance: Any, size: int, std: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The standard error of a difference from a published mean, and its degrees of freedom.

    Args:
        variance: of samples of `size` observations each: a number, or an array of any shape.
    """
    ours, theirs = variance / size, std**2 / n
    freedom = (ours + theirs) ** 2 / (ours**2 / (size - 1) + theirs**2 / max(n - 1, 1))
    return np.sqrt(ours + theirs), freedom


def jackknife(estimate: Callable[[np.ndarray], float], sample: np.ndarray) -> np.ndarray:
    """Jackknife pseudo-values of an estimate from all seeds together, one a seed.

    With θ the estimate and θ_(-s) that without seed s, a seed's value is θ + (n - 1)(mean of θ_(-s) -
    θ_(-s)). The mean of the values is θ, and its standard error is the jackknife's.

    Args:
        sample: of n >= 2 seeds, along the first axis.
    """
    without = np.array([estimate(np.delete(sample, seed, axis=0)) for seed in range(len(sample))])
    return estimate(sample) + (len(sample) - 1) * (without.mean() - without)


def median_interval(sample: pd.Series | np.ndarray | Sequence[float], level: float = LEVEL) -> Interval:
    """The interval of the median between two order statistics: exact for every distribution, counts included.

    Args:
        sample: so many observations that its range is an interval of this level: six for 95 %.

    Raises:
        ValueError: when the observations are too few.
    """
    values = np.sort(np.asarray(sample, dtype=float))
    outside = left_out(len(values), level)
    if outside < 0:
        raise ValueError(f"{len(values)} observations have no interval of the median of level {level:g}")
    return Interval(float(np.median(values)), float(values[outside]), float(values[-1 - outside]))


@cache
def left_out(size: int, level: float) -> int:
    """Number of order statistics outside the median's interval at either end; -1 if there is no interval."""
    return int(np.sum(at_most(np.arange(size), size, 0.5) <= (1 - level) / 2)) - 1


def at_most(number: int | np.ndarray, runs: int, share: float) -> np.ndarray:
    """The probability that at most `number` >= 0 of independent runs succeed, each with the same chance."""
    from scipy import special  # a tenth of the time that importing scipy.stats takes

    return special.bdtr(number, runs, share)


def at_least(number: int, runs: int, share: float) -> float:
    """The probability that at least `number` of independent runs succeed, each with the same chance."""
    from scipy import special

    return float(special.bdtrc(number - 1, runs, share))


def share_interval(successes: int, runs: int, level: float = LEVEL) -> Interval:
    """Clopper and Pearson's interval of the share of runs in which something happens: exact, and wide at 0
    and 1 too."""
    from scipy import special

    tail = (1 - level) / 2
    low = special.betaincinv(successes, runs - successes + 1, tail) if successes else 0.0
    high = special.betaincinv(successes + 1, runs - successes, 1 - tail) if successes < runs else 1.0
    return Interval(successes / runs, float(low), float(high))


def false_discovery_rate(p_values: Sequence[float], decided: Sequence[bool]) -> float:
    """The share of the decided that is expected to be decided wrongly, at most (Benjamini and Hochberg): the
    number of tests times the largest p-value among the decided, over their number.

    Args:
        p_values: of all tests, of those that decided nothing too.
    """
    largest = max((p for p, is_decided in zip(p_values, decided, strict=True) if is_decided), default=0.0)
    return min(1.0, len(p_values) * largest / max(sum(decided), 1))


def quantile(freedom: float | np.ndarray, level: float) -> np.ndarray:
    """Student's t at the upper end of an interval of a level."""
    from scipy import special  # here, so that a plan does not wait for its import

    return special.stdtrit(freedom, (1 + level) / 2)
