"""What Section 4 says of strong augmentation."""

import math

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ours, single
from reprise.evidence.claims import for_all, ordering
from reprise.evidence.comparison import Comparison, Measure, at_least, at_most, collapsed
from reprise.evidence.measures import applied, interned, rows, wide

SMALLEST = 1e-12
"""Share of the largest singular value, under what single precision tells from 0."""
AHEAD = 4
"""A limit is read at so many times the steps of the run."""
READING = (
    f"vanishing: under 1e-3 of the largest (ours), by {AHEAD} times the steps if it falls on as at the end, "
    "slowing as it did"
)
UNIT = "vanishing values of 16"
LOOKED = "the extrapolation, after values at k = 1.1 were at 2e-3 by the last step and still falling"
UNDER, OVER = (0.25, 0.9), (1.1, 1.25, 4.0)
"""Amplitudes on one view with less and more than twice the data's variance, the threshold of Lemma 2."""


def heading_for(logs: pd.DataFrame) -> pd.Series:
    """Where logarithms go that are recorded over the steps: at `AHEAD` times the last step, if each falls on
    at the rate of the last quarter, by which factor this rate slowed since the quarter before, and again in
    each quarter to come. What does not fall stays.

    Args:
        logs: a row each, a column a step.
    """
    steps = logs.columns.to_numpy()
    early, middle, end = (steps[np.abs(steps - share * steps.max()).argmin()] for share in (0.5, 0.75, 1.0))
    before = (logs[middle] - logs[early]) / (middle - early)
    now = (logs[end] - logs[middle]) / (end - middle)
    slowing = (now / before.where(before < 0)).clip(0, 1).fillna(0)
    quarters = range(1, 4 * (AHEAD - 1) + 1)
    falls = now.clip(upper=0) * end / 4
    return logs[end] + falls * sum(slowing**quarter for quarter in quarters)


@interned
def vanishing(views: str, amplitude: float, power: int = 1) -> Measure:
    """Number of vanishing singular values of W, or of their powers."""

    def measure(tables: Tables) -> pd.Series:
        cell = rows(tables["singular_values"], views=views, amplitude=amplitude)
        values = cell.pivot(index=["seed", "index"], columns="step", values="singular_value")
        shares = values / values.groupby("seed").transform("max")
        logs = shares.clip(lower=SMALLEST).map(math.log)
        ends = (power * heading_for(logs)).map(math.exp)
        return ends.groupby("seed").agg(collapsed)

    return measure


x_left = applied(
    lambda rate: rate[rate.columns.max()] / rate[0],
    wide("strong_block", "growth_rate", "step", views="one", amplitude=1.25),
)
"""How fast the strongly augmented block shrinks at the end, as a share of how fast it did at the first
step."""


def _half_vanish(measure: Measure) -> Comparison:
    """At least the values of the augmented block vanish."""
    return at_least(measure, 8, unit=UNIT)


CLAIMS = [
    for_all(
        "jing2022/sec4/threshold-below",
        "Augmentation of one view with less than twice the data's variance (k < 1) leaves every singular "
        "value of W standing.",
        {f"k = {k:g}": at_most(vanishing("one", k), 0, unit=UNIT) for k in UNDER},
        source="Section 4, Lemma 2",
        word="won’t have",
        reading=READING,
        looked=LOOKED,
    ),
    for_all(
        "jing2022/sec4/threshold-above",
        "Augmentation of one view with more than twice the data's variance (k > 1: X has negative "
        "eigenvalues at the start) makes the singular values of its block of W, half of all, vanish.",
        {f"k = {k:g}": _half_vanish(vanishing("one", k)) for k in OVER},
        source="Section 1, mechanism 1; Section 4, Theorem 1",
        word="the weight collapses",
        reading=READING,
        looked=LOOKED,
    ),
    ours(
        single(
            "jing2022/sec4/both-views-k4",
            "Strong augmentation of both views (k = 4) makes the singular values of its block of W vanish, "
            "as it does on one view.",
            _half_vanish(vanishing("both", 4.0)),
            source="Section 4, Theorem 1",
            word="makes",
            reading=READING,
            looked=LOOKED,
        ),
        "ours: the samples of both branches then vary with the noise, X stays positive, and Theorem 1 does "
        "not apply",
    ),
    ours(
        ordering(
            "jing2022/thm1/x-shrinks",
            "X, which Theorem 1 holds fixed, shrinks in training: at the end its strongly augmented block "
            "(k = 1.25) is less than it was at the start.",
            source="Theorem 1",
            word="shrinks in training",
            measure=x_left,
            below=1.0,
            unit="share of the first rate",
        )
    ),
    for_all(
        "jing2022/sec4/corollary1-low-rank",
        "With strong augmentation of one view (k > 1) the embeddings' covariance becomes low-rank: the "
        "strongly augmented half collapses.",
        {f"k = {k:g}": _half_vanish(vanishing("one", k, power=2)) for k in OVER},
        source="Corollary 1",
        word="becomes low-rank",
        reading=READING,
        looked=LOOKED,
    ),
]
