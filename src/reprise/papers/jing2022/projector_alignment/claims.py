"""What Section 6.1 proposes of the projector."""

import numpy as np

from reprise.evidence.claim import Quotation, claim
from reprise.evidence.comparison import SHARE, Comparison, Measure, near, tends_to
from reprise.evidence.edits import put
from reprise.evidence.measures import applied, column, course, each_seed, last

ROUNDING = 16 * float(np.finfo(np.float32).eps)
"""Rounding error of an entry of the alignment matrix, an inner product of 16 numbers in single precision."""

PROPOSITION_1 = "Proposition 1, Section 6.1"
ONE_EVOLVES = Quotation(
    "We suspect that such alignment effect ... only requires one of", PROPOSITION_1, hedge="We suspect"
)
DIAGONAL = Quotation(
    "We suspect that such alignment effect ... the projector weight matrix only needs to be diagonal",
    PROPOSITION_1,
    hedge="We suspect",
)


def still_moving(arm: str) -> Measure:
    """By how much the mass off the diagonal changes over the last tenth of the steps, or rounding if that is
    more."""
    late = column("trajectory", "off_diagonal_mass", arm=arm, step=lambda step: step >= 0.9 * step.max())
    return applied(
        lambda high, low: (high - low).clip(lower=ROUNDING), each_seed("max", late), each_seed("min", late)
    )


def is_aligned(arm: str) -> Comparison:
    """W1's left singular vectors come to lie on the projector's right ones."""
    return tends_to(
        column("trajectory", "off_diagonal_mass", step=last, arm=arm),
        0.0,
        resolution=still_moving(arm),
        course=course("trajectory", "off_diagonal_mass", arm=arm),
        unit="1 - mean A_kk²",
    )


@claim(
    "jing2022/sec61/frozen-aligned",
    """As the paper suspects, alignment needs only one of V2 and U1 to evolve: W1 aligns with a frozen W2.""",
    quotes=ONE_EVOLVES,
    word="only requires one of",
    reading="ours: U1 is the one, and W2's singular values are frozen, too",
    broken_by=put("trajectory", "off_diagonal_mass", 0.7, arm="frozen"),
)
def frozen_aligned() -> Comparison:
    return is_aligned("frozen")


@claim(
    "jing2022/sec61/diagonal-aligned",
    """As the paper suspects, alignment needs only one of V2 and U1 to evolve, so that a diagonal projector
    will do: W1 aligns with a second layer that is constrained to be diagonal.""",
    quotes=DIAGONAL,
    word="only needs to be diagonal",
    reading="ours: U1 is the one; of what a projector is needed for, the alignment alone is judged",
    broken_by=put("trajectory", "off_diagonal_mass", 0.7, arm="diagonal"),
)
def diagonal_aligned() -> Comparison:
    return is_aligned("diagonal")


@claim(
    "jing2022/sec61/low-rank-aligned",
    "The leading left singular vectors of W1 move into the subspace that a fixed low-rank W2 reads.",
    at="Proposition 2, Section 6.1",
    form="ours",
    word="move into the subspace",
    reading="ours: the paper says that the projector applies a gradient to a subspace only, not where W1's "
    "singular vectors go",
    broken_by=put("trajectory", "mass_outside_subspace", 0.5, arm="low-rank"),
)
def low_rank_aligned() -> Comparison:
    outside = column("trajectory", "mass_outside_subspace", step=last, arm="low-rank")
    return near(outside, 0.0, quantity="score", unit="share outside the subspace", bounds=SHARE)
