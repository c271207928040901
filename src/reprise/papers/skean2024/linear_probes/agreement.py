"""How far the order of our methods is that of the printed tables."""

import numpy as np
import pandas as pd
from jaxtyping import Float

from reprise.evidence.statistics import LEVEL, Interval

FEWEST = 3
"""Methods that have an order to speak of."""
RESAMPLES = 2000


def rank_agreement(printed: pd.Series, ours: pd.DataFrame) -> Interval:
    """Kendall's tau-b between printed accuracies and our means, and its interval by bootstrap: the seeds,
    which all methods share, are drawn again with replacement.

    Args:
        printed: one a method.
        ours: a row a seed, a column a method.

    Raises:
        ValueError: for fewer methods than `FEWEST`.
    """
    if len(printed) < FEWEST:
        raise ValueError(f"{len(printed)} methods have no order to compare; {FEWEST} are needed")
    accuracies, order = ours[list(printed.index)].to_numpy(dtype=float), printed.to_numpy(dtype=float)
    draws = np.random.default_rng(0).integers(len(accuracies), size=(RESAMPLES, len(accuracies)))
    again = kendall_tau(order, accuracies[draws].mean(1))
    low, high = np.nanquantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(kendall_tau(order, accuracies.mean(0)[None])[0]), float(low), float(high))


def kendall_tau(
    first: Float[np.ndarray, " methods"], second: Float[np.ndarray, "draws methods"]
) -> Float[np.ndarray, " draws"]:
    """Kendall's tau-b of one list with each of many, which allows for ties; NaN where all of a list tie."""
    left, right = np.triu_indices(len(first), 1)
    signs, others = np.sign(first[left] - first[right]), np.sign(second[:, left] - second[:, right])
    pairs = np.sqrt(np.abs(signs).sum() * np.abs(others).sum(1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return others @ signs / pairs
