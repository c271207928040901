"""Claims of Section 4 about strong augmentation."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import (
    COLLAPSED,
    SHARE,
    Comparison,
    Measure,
    at_least,
    at_most,
    collapsed,
    near,
)
from reprise.evidence.edits import put, times
from reprise.evidence.measures import Wide, interned, rows
from reprise.papers.jing2022.augmentation_threshold.experiment import CODE_NOISE, PROGRAM

SMALLEST = 1e-12
"""Share of the largest singular value, under what single precision tells from 0."""
AHEAD = 4
"""A limit is read at so many times the steps of the run."""
THRESHOLD = (
    "Lemma 2 weighs the variance of x' - x against Σ0, which sums over differences of two samples and so has "
    "about twice the variance of the data: k = 1 where that is 1/2"
)
READING = (
    f"vanishing: under 1e-3 of the largest (ours), by {AHEAD} times the steps if it falls on as at the end, "
    "slowing as it did"
)
UNIT = "vanishing values of 16"
LOOKED = "the extrapolation, after values at k = 1.1 were at 2e-3 by the last step and still falling"
LIMIT = (
    f"{LOOKED}; that it is a limit, as in Theorem 1, after values at k = 1.1 had not vanished in two settings"
)
UNDER, OVER = (0.25, 0.9), (1.1, 1.25, 4.0)
"""Amplitudes on one view with less and more than twice the data's variance, the threshold of Lemma 2."""

STANDS = Quotation(
    "when there is no strong augmentation ... a single linear model won't have dimensional collapsing",
    "Section 5.1",
)
COLLAPSES = Quotation(
    "along the feature direction where the variance caused by the data augmentation is larger than the "
    "variance caused by the data distribution, the weight collapses",
    "Section 1",
)
STRONG = (
    Quotation(
        "With strong augmentation, the embedding space covariance matrix becomes low-rank",
        "Corollary 1, Section 4.2",
    ),
    Quotation(
        "there are two mechanisms causing the dimensional collapse in contrastive learning: (1) strong "
        "augmentation along feature dimensions",
        "Contributions, Section 1",
    ),
    Quotation(
        "With strong augmentation, a linear model under InfoNCE loss will have dimensional collapse",
        "Section 5.1",
    ),
)


def heading_for(logs: pd.DataFrame) -> pd.Series:
    """Extrapolates logarithms from their course over the steps to `AHEAD` times the last step: in each
    quarter to come the rate of fall slows by the factor by which it slowed in the last quarter. A logarithm
    that does not fall stays.

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
def shares(views: str, amplitude: float) -> Wide:
    """Singular values of W as shares of the largest: a row a seed and index, a column a step."""

    def measure(tables: Tables) -> pd.DataFrame:
        cell = rows(tables["singular_values"], views=views, amplitude=amplitude)
        values = cell.pivot(index=["seed", "index"], columns="step", values="singular_value")
        return (values / values.groupby("seed").transform("max")).clip(lower=SMALLEST)

    return measure


def ends(views: str, amplitude: float) -> Measure:
    """Singular values of W as shares of the largest, in the limit (`heading_for`)."""

    def measure(tables: Tables) -> pd.Series:
        course = shares(views, amplitude)(tables)
        if course.empty:  # which a setting does not run
            return pd.Series(dtype=float)
        return heading_for(course.map(math.log)).map(math.exp)

    return measure


@interned
def vanishing(views: str, amplitude: float) -> Measure:
    """Number of vanishing singular values of W."""

    def measure(tables: Tables) -> pd.Series:
        found = ends(views, amplitude)(tables)
        return found if found.empty else found.groupby("seed").agg(collapsed)

    return measure


def _half_vanishes(amplitude: float, power: int = 1) -> Comparison:
    """The largest singular value of the augmented half of W vanishes in the limit, or its power."""

    def of_half(table: pd.DataFrame | pd.Series) -> Any:
        if table.empty:
            return table
        index = table.index.get_level_values("index")
        return table[index == index.max() // 2 + 1].droplevel("index") ** power

    return replace(
        near(
            lambda tables: of_half(ends("one", amplitude)(tables)),
            0.0,
            quantity="score",
            margin=COLLAPSED,
            unit="share of the largest value, of the largest that is to vanish",
            bounds=SHARE,
        ),
        kind="limit",
        course=lambda tables: of_half(shares("one", amplitude)(tables)).T,
    )


def _all_vanish(measure: Measure) -> Comparison:
    """At least the values of the augmented block vanish."""
    return at_least(measure, 8, unit=UNIT)


@claim(
    "jing2022/sec4/threshold-below",
    """Augmentation of one view with less than twice the data's variance (k < 1) leaves every singular value
    of W standing.""",
    quotes=STANDS,
    word="won't have",
    reading=f"{THRESHOLD}; {READING}",
    looked=LOOKED,
    broken_by=times("singular_values", "singular_value", 1e-6, views="one", amplitude=UNDER, index=16),
)
def threshold_below() -> Cells:
    for k in UNDER:
        yield f"k = {k:g}", at_most(vanishing("one", k), 0, unit=UNIT)


@claim(
    "jing2022/sec4/threshold-above",
    """Where the augmentation of one view has more than twice the variance of the data (k > 1), W collapses:
    on half of the inputs here, so that half of W's singular values vanish in the limit.""",
    quotes=COLLAPSES,
    word="the weight collapses",
    reading=f"{THRESHOLD}; {READING}",
    looked=LIMIT,
    broken_by=put("singular_values", "singular_value", 1.0, views="one", amplitude=OVER),
)
def threshold_above() -> Cells:
    for k in OVER:
        yield f"k = {k:g}", _half_vanishes(k)


@claim(
    "jing2022/sec4/both-views-k4",
    """Strong augmentation of both views, as in the authors' code, makes the singular values of its half of W
    vanish.""",
    at="Theorem 1, Section 4.2; toy_task/case_1.py of the authors' code",
    form="ours",
    word="makes",
    reading="ours: with noise on both views the data term of X has it too, X stays positive, and Theorem 1 "
    "does not apply; the code, whose README says that one will observe collapse, has dot products over .1 "
    f"instead of Eq. 2; {READING}",
    looked=f"{LOOKED}; the cell of the authors' code, after all of its values had been seen to stand",
    partial=True,
    broken_by=put("singular_values", "singular_value", 1.0, views=("both", PROGRAM)),
)
def both_views() -> Cells:
    yield "Eq. 2, k = 4", _all_vanish(vanishing("both", 4.0))
    yield f"{PROGRAM}, --noise {CODE_NOISE}", _all_vanish(vanishing(PROGRAM, CODE_NOISE**2))


@claim(
    "jing2022/sec4/corollary1-low-rank",
    """Strong augmentation of half of one view's features (k > 1) makes the covariance of the embeddings
    low-rank: half of its singular values vanish in the limit.""",
    quotes=STRONG,
    word="becomes low-rank",
    reading=f"strong: X has negative eigenvalues, as in Theorem 1; {THRESHOLD}; {READING}",
    looked=LIMIT,
    broken_by=put("singular_values", "singular_value", 1.0, views="one", amplitude=OVER),
)
def low_rank() -> Cells:
    for k in OVER:
        yield f"k = {k:g}", _half_vanishes(k, power=2)
