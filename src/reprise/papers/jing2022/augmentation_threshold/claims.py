"""What Section 4 says of strong augmentation."""

from typing import Any

from reprise.evidence.claims import COLLAPSED, Claim, Measure, collapsed, count, ordering, value
from reprise.evidence.measures import applied, column, each_seed, last, wide

UNIT = "singular value of W"


def at_end(views: str, amplitude: float, **where: Any) -> Measure:
    """The singular values after the last step."""
    return column("singular_values", "singular_value", step=last, views=views, amplitude=amplitude, **where)


def ninth(views: str, amplitude: float) -> Measure:
    """The largest singular value beyond the half of the inputs with weak augmentation: the ninth of 16."""
    return at_end(views, amplitude, index=lambda index: index == index.max() // 2 + 1)


def collapse_level(views: str, amplitude: float) -> Measure:
    """The size under which a singular value counts as collapsed: 1e-3 of the largest."""
    return each_seed(lambda values: COLLAPSED * values.max(), at_end(views, amplitude))


def collapsed_values(views: str, amplitude: float) -> Measure:
    """Number of collapsed singular values of the embeddings' covariance, which for isotropic data are those
    of W squared."""
    return each_seed(lambda values: collapsed(values**2), at_end(views, amplitude))


x_left = applied(
    lambda rate: rate[rate.columns.max()] / rate[0],
    wide("strong_block", "growth_rate", "step", views="one", amplitude=1.25),
)
"""How fast the strongly augmented block shrinks at the end, as a share of how fast it did at the first
step."""


def _collapses(id: str, views: str, amplitude: float, statement: str) -> Claim:
    return ordering(
        id,
        statement,
        source="Section 4, Theorem 1",
        measure=ninth(views, amplitude),
        below=collapse_level(views, amplitude),
        unit=UNIT,
    )


CLAIMS = [
    ordering(
        "jing2022/sec4/threshold-below",
        "Augmentation with less than twice the data's variance (k = 0.9, one view) leaves every singular "
        "value of W standing.",
        source="Section 4, Lemma 2",
        measure=ninth("one", 0.9),
        above=collapse_level("one", 0.9),
        unit=UNIT,
    ),
    _collapses(
        "jing2022/sec4/threshold-above",
        "one",
        1.25,
        "Augmentation with more than twice the data's variance (k = 1.25, one view) makes the singular "
        "values of its block of W vanish.",
    ),
    _collapses(
        "jing2022/sec4/both-views-k4",
        "both",
        4.0,
        "Strong augmentation of both views (k = 4) makes singular values of W vanish, as it does on one "
        "view.",
    ),
    _collapses(
        "jing2022/thm1/just-above-threshold",
        "one",
        1.1,
        "Negative eigenvalues of X at the start (k = 1.1) are enough for vanishing singular values by the "
        "end of the run.",
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
    count(
        "jing2022/sec4/corollary1-low-rank",
        "With strong augmentation (k = 1.25) the embeddings' covariance becomes low-rank: the strongly "
        "augmented half collapses.",
        source="Corollary 1",
        measure=collapsed_values("one", 1.25),
        at_least=8,
        unit="collapsed values of 16",
    ),
]
