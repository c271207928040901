"""Theorem 4.3 and Lemma B.17, for the spiked spectrum, in the limit of infinite width.

There is no randomness: observations are dimensions, or the slopes between neighbouring ones, and each must
satisfy what is said. Part (a) says that there is a spectrum: the spike's size is searched.
"""

import numpy as np
import pandas as pd

from reprise.evidence.claim import ours
from reprise.evidence.claims import agreement, given, ordering
from reprise.evidence.comparison import Measure
from reprise.evidence.measures import applied, column, ratio

SLOPE = "slope against log d, for every two neighbouring d"


def at(moment: str, name: str) -> Measure:
    """A column, a dimension a seed."""
    return column("ends", name, by="dim", moment=moment)


def share(moment: str, score: str) -> Measure:
    """A balance score as a share of r."""
    return ratio(at(moment, score), at(moment, "signals"))


def above_one(rank: str) -> Measure:
    """What a stable rank has beyond 1, without negatives."""
    return applied(lambda ranks: ranks - 1, at("without negatives", rank))


def slope(measure: Measure) -> Measure:
    """How the logarithm grows with log d, from each dimension to the next."""

    def slopes(values: pd.Series) -> pd.Series:
        values = values.sort_index()
        dims = values.index.to_numpy(dtype=float)
        return pd.Series(np.diff(np.log(values)) / np.diff(np.log(dims)), index=values.index[1:])

    return applied(slopes, measure)


def settled(power: float, factor: float) -> Measure:
    """How far a quantity may be from its limit, when time is doubled until ρ and log κ change by less than
    the tolerance: a factor times a power of it."""
    return applied(lambda tolerance: factor * tolerance**power, at("stage 2", "tolerance"))


DISTANCE = settled(0.5, 2**0.5)
"""The distance of K_A and K_B is √(2 (1 - ρ)) without noise."""
RANK = settled(1.0, 4.0)
"""The stable rank is made of fourth powers of singular values."""

CLAIMS = [
    given(
        ordering(
            "ren2023/thm43/spike-exponent",
            "Without negatives, one signal with σ_1² of the order of ln d among others with σ² = 1 ends "
            "with a condition number that grows as a power of d, which at the start it does not: √ln d. "
            "(Our copy of the paper has lost this power in conversion.)",
            word="such that",
            source="Theorem 4.3 (a), Lemma B.17",
            measure=slope(at("without negatives", "condition")),
            above=slope(at("start", "condition")),
            unit=f"log condition number: {SLOPE}",
            exists=True,
        )
    ),
    given(
        ordering(
            "ren2023/lemma-b17/stage1-exponent",
            "With negatives, at the end of Stage 1 (small temperature τ²), one signal with σ_1² of the "
            "order of ln d among others with σ² = 1 has led to a condition number that grows as a power "
            "of d.",
            word="such that",
            source="Lemma B.17",
            measure=slope(at("stage 1", "condition")),
            above=slope(at("start", "condition")),
            unit=f"log condition number: {SLOPE}",
            exists=True,
        )
    ),
    given(
        agreement(
            "ren2023/thm43/spike-aligned",
            "Without negatives, from a spectrum with one strong signal, the two modalities end aligned: "
            "K_A = K_B.",
            word="aligned but not balanced",
            source="Theorem 4.3 (a)",
            measure=at("without negatives", "distance"),
            reference=0,
            resolution=DISTANCE,
            unit="|K_A - K_B| / |K_A|",
        )
    ),
    given(
        ordering(
            "ren2023/thm43/spike-not-balanced",
            "Without negatives, from a spectrum with one strong signal, the modalities end unbalanced: "
            "the balance score, as a share of r, vanishes as d grows.",
            word="aligned but not balanced",
            source="Theorem 4.3 (a), Definition 4.2",
            measure=slope(share("without negatives", "stable_rank")),
            below=0.0,
            unit=f"log(|C|_F² / |C|_2² / r): {SLOPE}",
            exists=True,
        )
    ),
    given(
        ordering(
            "ren2023/thm43/spike-not-balanced-trace",
            "Without negatives, from a spectrum with one strong signal, the modalities end unbalanced in "
            "the other reading of the stable rank, too: the balance score, as a share of r, vanishes as d"
            " grows.",
            word="aligned but not balanced",
            source="Theorem 4.3 (a), Definition 4.2",
            measure=slope(share("without negatives", "intrinsic_dimension")),
            below=0.0,
            unit=f"log(tr C / |C|_2 / r): {SLOPE}",
            exists=True,
        )
    ),
    given(
        ordering(
            "ren2023/thm43/spike-rank-one",
            "Without negatives, from a spectrum with one strong signal, the representation tends to a "
            "rank-one solution.",
            word="is close to",
            source="Section 1, contribution 4; Section 7",
            measure=slope(above_one("stable_rank")),
            below=0.0,
            unit=f"log(|C|_F² / |C|_2² - 1): {SLOPE}",
            exists=True,
        )
    ),
    ours(
        given(
            ordering(
                "ren2023/thm43/spike-rank-one-trace",
                "Without negatives the representation tends to a rank-one solution in the other reading of "
                "the stable rank, too, for some multiple of ln d as the strong signal.",
                word="tends to",
                source="Section 1, contribution 4; Section 7",
                measure=slope(above_one("intrinsic_dimension")),
                below=0.0,
                unit=f"log(tr C / |C|_2 - 1): {SLOPE}",
                exists=True,
            )
        ),
        "ours: the paper's stable rank is |C|_F² / |C|_2²; by tr C / |C|_2 the sentence is true of multiples "
        "above 1 / ln 2",
    ),
    given(
        agreement(
            "ren2023/thm43/contrast-aligns-spike",
            "With negatives, from a spectrum with one strong signal, the two modalities end aligned as "
            "well: K_A = K_B.",
            word="for any valid",
            source="Theorem 4.3 (b)",
            measure=at("stage 2", "distance"),
            reference=0,
            resolution=DISTANCE,
            unit="|K_A - K_B| / |K_A|",
        )
    ),
    given(
        agreement(
            "ren2023/thm43/contrast-balances-spike",
            "With negatives, from a spectrum with one strong signal, the modalities end balanced: the "
            "balance score is about r.",
            word="for any valid",
            source="Theorem 4.3 (b)",
            measure=share("stage 2", "stable_rank"),
            reference=1,
            resolution=RANK,
            unit="|C|_F² / |C|_2² / r",
        )
    ),
]
