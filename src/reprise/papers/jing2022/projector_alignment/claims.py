"""Claims of Section 6.1 about the projector."""

import math
from dataclasses import replace

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Change, claim
from reprise.evidence.comparison import SHARE, Comparison, near
from reprise.evidence.edits import put, together
from reprise.evidence.measures import applied, column, course, last

PROPOSITION_1 = "Proposition 1, Section 6.1"
READING = (
    "ours: the paper suspects it of networks on images, where a diagonal projector comes close to a free one "
    "(Section 6.3); in the toy model of Section 5 U1 is the one that evolves; W1 and the singular values of "
    "W2 start as they do under the free W2; what is left off the diagonal at the end is at most the margin "
    "of a score more than under the free W2"
)
LOOKED = (
    "the free W2, the same start for each W2 and the margin, that of the alignment in Figure 4, after the "
    "distance from the identity had been judged to within what still moved"
)


def is_aligned(arm: str) -> Comparison:
    """W1's left singular vectors come to lie on the projector's right ones as well as on a free W2's."""
    mass, of_free = (column("trajectory", "off_diagonal_mass", step=last, arm=each) for each in (arm, "free"))

    def less_aligned(tables: Tables) -> pd.DataFrame:
        steps = course("trajectory", "off_diagonal_mass", arm=arm)(tables)
        return (steps - of_free(tables)).clip(lower=0)

    return replace(
        near(
            applied(lambda own, free: (own - free).clip(lower=0), mass, of_free),
            0.0,
            quantity="score",
            unit="1 - mean A_kk², beyond that of a free W2",
            bounds=(0.0, math.inf),
        ),
        kind="limit",
        course=less_aligned,
    )


def misaligned(arm: str) -> Change:
    """W1 rests far from a projector, and aligns with a free W2."""
    return together(
        put("trajectory", "off_diagonal_mass", 0.7, arm=arm),
        put("trajectory", "off_diagonal_mass", 0.0, arm="free"),
    )


@claim(
    "jing2022/sec61/frozen-aligned",
    """In two linear layers W1 aligns with a frozen W2 as well as with a free one: Section 6.1 suspects that
    one of two such layers has to move, and not how well they then align.""",
    at=PROPOSITION_1,
    form="ours",
    word="as well as",
    reading=f"{READING}; W2's singular values are frozen, too",
    looked=LOOKED,
    broken_by=misaligned("frozen"),
)
def frozen_aligned() -> Comparison:
    return is_aligned("frozen")


@claim(
    "jing2022/sec61/diagonal-aligned",
    """In two linear layers W1 aligns with a W2 that is constrained to be diagonal as well as with a free one:
    Section 6.1 suspects that one of two such layers has to move, and not how well they then align.""",
    at=PROPOSITION_1,
    form="ours",
    word="as well as",
    reading=READING,
    looked=LOOKED,
    broken_by=misaligned("diagonal"),
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
