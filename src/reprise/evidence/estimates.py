"""Estimates of one number from a few independent observations: tests, and the intervals that they give.

Every estimate tests, one-sided, on which side of an edge the truth lies. Its interval holds the edges that no
test rejects.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from reprise.evidence.statistics import (
    LEVEL,
    Interval,
    at_least,
    at_most,
    mean_interval,
    median_interval,
    quantile,
    share_interval,
    welch_error,
)

ALPHA = (1 - LEVEL) / 2
"""Largest rate of a false `reproduced` and of a false `contradicted`, each one-sided, over all looks at
a claim (`evidence.rounds`)."""
MIN_SEEDS = 3
"""Fewest observations of a mean."""
MIN_RANKED = 8
"""Fewest observations of which signed ranks are tested: fewer reach small levels only by Student's t."""


@dataclass(frozen=True)
class Estimate:
    """One number, estimated.

    Attributes:
        values: independent observations, shape (n,).
    """

    values: np.ndarray

    @property
    def point(self) -> float:
        """The estimate."""
        raise NotImplementedError

    def p_above(self, edge: float, *, inclusive: bool = False) -> float:
        """The p-value of the hypothesis that the truth is not above the edge.

        Args:
            inclusive: whether a truth on the edge counts as above it.
        """
        raise NotImplementedError

    def interval(self, level: float = LEVEL) -> Interval:
        """The edges that no one-sided test of level (1 - level) / 2 rejects."""
        raise NotImplementedError

    def _mirrored(self) -> "Estimate":
        """The estimate of minus the number."""
        raise NotImplementedError

    def p_below(self, edge: float, *, inclusive: bool = False) -> float:
        """The p-value of the hypothesis that the truth is not below the edge."""
        return self._mirrored().p_above(-edge, inclusive=inclusive)

    def fewest(self, alpha: float) -> int:
        """The number of observations from which on a verdict at a one-sided level is possible."""
        return MIN_SEEDS


@dataclass(frozen=True)
class Mean(Estimate):
    """A mean, by Student's t; without spread it is known.

    Attributes:
        published_std, published_n: of a mean that is printed with its spread, which then is tested beside
            ours (Welch).
    """

    published_std: float | None = None
    published_n: int | None = None

    @property
    def point(self) -> float:
        if self.values.min() == self.values.max():  # exactly, where the mean is rounded
            return float(self.values[0])
        return float(self.values.mean())

    @cached_property
    def _error(self) -> tuple[float, float]:
        """The standard error, and the degrees of freedom."""
        size = len(self.values)
        variance = 0.0 if self.values.min() == self.values.max() else float(self.values.var(ddof=1))
        if self.published_std is None or self.published_n is None:
            return math.sqrt(variance / size), size - 1.0
        if self.published_std == 0 and variance == 0:
            return 0.0, size - 1.0
        error, freedom = welch_error(variance, size, self.published_std, self.published_n)
        return float(error), float(freedom)

    def p_above(self, edge: float, *, inclusive: bool = False) -> float:
        from scipy import special

        error, freedom = self._error
        distance = self.point - edge
        if error == 0:
            return 0.0 if distance > 0 or (inclusive and distance == 0) else 1.0
        return float(special.stdtr(freedom, -distance / error))

    def interval(self, level: float = LEVEL) -> Interval:
        if self.published_std is None:
            return mean_interval(self.values, level)
        error, freedom = self._error
        half = float(quantile(freedom, level)) * error if error else 0.0
        return Interval(self.point, self.point - half, self.point + half)

    def _mirrored(self) -> "Mean":
        return Mean(-self.values, self.published_std, self.published_n)


@dataclass(frozen=True)
class Typical(Estimate):
    """A typical value, the median of all averages of two observations, by signed ranks (Wilcoxon; Hodges and
    Lehmann): exact for a symmetric distribution, however heavy its tails.

    An average of two that lies on the edge speaks for neither side, so ties cost power and no validity.
    """

    @cached_property
    def _averages(self) -> np.ndarray:
        """All averages of two observations, of one with itself too, sorted; shape (n (n + 1) / 2,)."""
        first, second = np.triu_indices(len(self.values))
        return np.sort((self.values[first] + self.values[second]) / 2)

    @property
    def point(self) -> float:
        return float(np.median(self._averages))

    def p_above(self, edge: float, *, inclusive: bool = False) -> float:
        above = self._averages >= edge if inclusive else self._averages > edge
        return float(rank_sum_tail(len(self.values))[int(above.sum())])

    def interval(self, level: float = LEVEL) -> Interval:
        # With k averages above an edge it is rejected if the tail at k is at most the level.
        tail = rank_sum_tail(len(self.values))
        needed = int(np.argmax(tail <= (1 - level) / 2))
        return Interval(self.point, float(self._averages[-needed]), float(self._averages[needed - 1]))

    def _mirrored(self) -> "Typical":
        return Typical(-self.values)


@cache
def rank_sum_tail(size: int) -> np.ndarray:
    """The probability that the positive ranks of `size` observations sum to at least k = 0, 1, ..., n(n+1)/2,
    where each sign is a coin toss."""
    ways = np.array([1.0])
    for rank in range(1, size + 1):
        grown = np.zeros(len(ways) + rank)
        grown[: len(ways)] += ways / 2
        grown[rank:] += ways / 2
        ways = grown
    return ways[::-1].cumsum()[::-1]


@dataclass(frozen=True)
class Median(Estimate):
    """A median, by signs: exact for every distribution, counts included."""

    @property
    def point(self) -> float:
        return float(np.median(self.values))

    def p_above(self, edge: float, *, inclusive: bool = False) -> float:
        above = self.values >= edge if inclusive else self.values > edge
        return at_least(int(above.sum()), len(self.values), 0.5)

    def interval(self, level: float = LEVEL) -> Interval:
        return median_interval(self.values, level)

    def _mirrored(self) -> "Median":
        return Median(-self.values)

    def fewest(self, alpha: float) -> int:
        return math.ceil(-math.log2(alpha))


@dataclass(frozen=True)
class Share(Estimate):
    """A share of runs in which something happens, by the binomial distribution (Clopper and Pearson).

    Attributes:
        values: 1 where it happens, 0 elsewhere.
    """

    @property
    def point(self) -> float:
        return float(self.values.mean())

    @property
    def _number(self) -> int:
        return int(self.values.sum())

    def p_above(self, edge: float, *, inclusive: bool = False) -> float:
        if not 0 <= edge < 1:
            return float(edge >= 1)
        return at_least(self._number, len(self.values), edge) if self._number else 1.0

    def p_below(self, edge: float, *, inclusive: bool = False) -> float:
        if not 0 < edge <= 1:
            return float(edge <= 0)
        return float(at_most(self._number, len(self.values), edge))

    def interval(self, level: float = LEVEL) -> Interval:
        return share_interval(self._number, len(self.values), level)

    def _mirrored(self) -> "Share":
        raise NotImplementedError("a share has no mirror image")


def unseen_share(runs: int, alpha: float = ALPHA) -> float:
    """The largest share of runs that can go otherwise while none of `runs` does, with probability `alpha`."""
    return 1 - alpha ** (1 / runs)
