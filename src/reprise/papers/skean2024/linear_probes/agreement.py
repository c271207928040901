"""Agreement of the order of our methods with that of the printed tables."""

import numpy as np
import pandas as pd
from jaxtyping import Float

from reprise.evidence.separability import separable
from reprise.evidence.statistics import Interval

FEWEST = 3
"""Fewest methods that have an order to speak of."""


def rank_agreement(printed: pd.Series, ours: pd.DataFrame) -> Interval:
    """Kendall's tau-b between printed accuracies and our means, with its 95 % interval.

    Pairs of methods that our seeds separate have that order, all of them with a probability of 95 %; the
    others can have either. The ends are the smallest and the largest tau that this allows. A bootstrap over
    seeds is no alternative: where true means are close, the orders of resampled means are mixed, and its
    percentiles rarely hold a true tau of 1 or -1.

    Args:
        printed: one a method.
        ours: a row a seed, a column a method.

    Raises:
        ValueError: for fewer methods than `FEWEST`.
    """
    if len(printed) < FEWEST:
        raise ValueError(f"{len(printed)} methods have no order to compare; {FEWEST} are needed")
    ours = ours[list(printed.index)]
    order = printed.to_numpy(dtype=float)
    tau = float(kendall_tau(order, ours.to_numpy(dtype=float).mean(0)[None])[0])
    left, right = np.triu_indices(len(order), 1)
    signs, decided = np.sign(order[left] - order[right]), np.zeros(len(left))
    if len(ours) > 1:
        decided = separable(ours).to_numpy()[left, right]
    pairs = np.sqrt(np.abs(signs).sum() * len(signs))
    agreeing, open_pairs = (signs * decided).sum(), np.abs(signs[decided == 0]).sum()
    low, high = ((agreeing + way * open_pairs) / pairs for way in (-1, 1))
    return Interval(tau, min(tau, float(low)), max(tau, float(high)))


def kendall_tau(
    first: Float[np.ndarray, " methods"], second: Float[np.ndarray, "draws methods"]
) -> Float[np.ndarray, " draws"]:
    """Kendall's tau-b of one list with each of many, which allows for ties; NaN where all of a list tie."""
    left, right = np.triu_indices(len(first), 1)
    signs, others = np.sign(first[left] - first[right]), np.sign(second[:, left] - second[:, right])
    pairs = np.sqrt(np.abs(signs).sum() * np.abs(others).sum(1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return others @ signs / pairs
