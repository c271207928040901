"""What Section 4 says of strong augmentation."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from reprise.evidence.claims import Claim, Measure, collapsed, count, for_all, value
from reprise.evidence.measures import applied, column, each_seed, last, wide

READING = "vanishing: under 1e-3 of the largest (ours), by the end of the run"
UNDER, OVER = (0.25, 0.9), (1.1, 1.25, 4.0)
"""Amplitudes on one view with less and more than twice the data's variance, the threshold of Lemma 2."""


def at_end(views: str, amplitude: float) -> Measure:
    """The singular values after the last step."""
    return column("singular_values", "singular_value", step=last, views=views, amplitude=amplitude)


def vanishing_squares(values: pd.Series) -> float:
    """The same of the embeddings' covariance, which for isotropic data has the squares of W's."""
    return collapsed(values**2)


x_left = applied(
    lambda rate: rate[rate.columns.max()] / rate[0],
    wide("strong_block", "growth_rate", "step", views="one", amplitude=1.25),
)
"""How fast the strongly augmented block shrinks at the end, as a share of how fast it did at the first
step."""


def _number(
    reduce: Callable[[pd.Series], float], source: str, amplitude: float, views: str = "one", **needed: Any
) -> Claim:
    """A number of singular values at the end, `at_least` or `at_most` so many."""
    return count(
        "", "",
        source=source,
        measure=each_seed(reduce, at_end(views, amplitude)),
        unit="vanishing values of 16",
        reading=READING,
        **needed,
    )  # fmt: skip


def _each(
    reduce: Callable[[pd.Series], float], source: str, amplitudes: Iterable[float], **needed: Any
) -> dict[str, Claim]:
    return {f"k = {k:g}": _number(reduce, source, k, **needed) for k in amplitudes}


CLAIMS = [
    for_all(
        "jing2022/sec4/threshold-below",
        "Augmentation of one view with less than twice the data's variance (k < 1) leaves every singular "
        "value of W standing.",
        _each(collapsed, "Section 4, Lemma 2", UNDER, at_most=0),
    ),
    for_all(
        "jing2022/sec4/threshold-above",
        "Augmentation of one view with more than twice the data's variance (k > 1: X has negative "
        "eigenvalues "
        "at the start) makes the singular values of its block of W, half of all, vanish.",
        _each(collapsed, "Section 4, Theorem 1", OVER, at_least=8),
    ),
    replace(
        _number(collapsed, "Section 4, Theorem 1", 4.0, "both", at_least=8),
        id="jing2022/sec4/both-views-k4",
        statement="Strong augmentation of both views (k = 4) makes the singular values of its block of W "
        "vanish, as it does on one view.",
    ),
    value(
        "jing2022/thm1/x-stays-fixed",
        "X may be taken as fixed: at the end of training (k = 1.25) its strongly augmented block is what it "
        "was at the start (share of the first rate).",
        source="Theorem 1",
        quantity="score",
        measure=x_left,
        published=1.0,
        unit="share",
    ),
    for_all(
        "jing2022/sec4/corollary1-low-rank",
        "With strong augmentation of one view (k > 1) the embeddings' covariance becomes low-rank: "
        "the strongly "
        "augmented half collapses.",
        _each(vanishing_squares, "Corollary 1", OVER, at_least=8),
    ),
]
