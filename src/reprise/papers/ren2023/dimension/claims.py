"""Theorem 4.3 and Lemma B.17, for the spiked spectrum, in the limit of infinite width.

There is no randomness: observations are dimensions, or the slopes between neighbouring ones, and each must
satisfy what is said. The theorem says that a spectrum exists, and a schedule: the settings are searched.
"""

import numpy as np
import pandas as pd

from reprise.evidence.claim import Quotation, claim
from reprise.evidence.comparison import Comparison, Measure, above, agrees, below, in_every_case
from reprise.evidence.edits import put
from reprise.evidence.measures import applied, column, ratio
from reprise.papers.ren2023.words import RECOVERS

SLOPE = "slope against log d, for every two neighbouring d"
DISTANCE_UNIT = "|K_A - K_B| / |K_A|"
LOOKED = (
    "every setting had to satisfy it before, and did; the theorem says that a spectrum or schedule exists"
)
POWER_LOST = "our copy of the paper has lost the power of d in conversion: it may be any"

NO_NEGATIVES = Quotation(
    "Non-contrastive loss. There exists a ... satisfying the above assumptions such that ... the learned "
    "representations are aligned but not balanced",
    at="Theorem 4.3 (a), Section 4",
)
WITH_NEGATIVES = Quotation(
    "Contrastive loss. There exists ... such that, for any valid ... at which the learned representations "
    "are aligned and balanced",
    at="Theorem 4.3 (b), Section 4",
)
BOTH_ALIGN = Quotation(
    "though both contrastive and non-contrastive methods can align the representations", at="Section 4"
)
RANK_ONE = Quotation(
    "without negative pairs, the learned representation is close to a rank one solution",
    at="Section 1, contribution 4",
)
COLLAPSE = Quotation("without contrastive pairs, it will collapse to an approximately rank", at="Section 7")
FINAL_CONDITION = Quotation(
    "with only non-contrastive pairs, the final condition number can be", at="Section 5.3"
)
STAGE_1 = Quotation(
    "Lemma B.17. There exists a ... satisfying the assumptions of Theorem 4.3 such that, at the end of Stage "
    "1, the condition number of",
    at="Lemma B.17, Appendix B.5",
)


def at(moment: str, name: str) -> Measure:
    """A column of `ends` at a moment, with dimensions in place of seeds."""
    return column("ends", name, by="dim", moment=moment)


def share(moment: str) -> Measure:
    """The balance score as a share of r."""
    return ratio(at(moment, "stable_rank"), at(moment, "signals"))


def slope(measure: Measure) -> Measure:
    """Slope of the logarithm against log d, from each dimension to the next."""

    def slopes(values: pd.Series) -> pd.Series:
        values = values.sort_index()
        dims = values.index.to_numpy(dtype=float)
        return pd.Series(np.diff(np.log(values)) / np.diff(np.log(dims)), index=values.index[1:])

    return applied(slopes, measure)


def settled(power: float, factor: float) -> Measure:
    """Largest distance of a quantity from its limit, when time is doubled until ρ and log κ change by less
    than the tolerance: a factor times a power of the tolerance."""
    return applied(lambda tolerance: factor * tolerance**power, at("stage 2", "tolerance"))


DISTANCE = settled(0.5, 2**0.5)
"""The distance of K_A and K_B is √(2 (1 - ρ)) without noise."""
RANK = settled(1.0, 4.0)
"""The stable rank is made of fourth powers of singular values."""


def _grows_faster(moment: str) -> Comparison:
    """The condition number grows with d by a larger power than at the start."""
    growth, at_start = slope(at(moment, "condition")), slope(at("start", "condition"))
    return in_every_case(above(growth, at_start, unit=f"log condition number: {SLOPE}"))


def _aligned(moment: str) -> Comparison:
    return in_every_case(agrees(at(moment, "distance"), 0, resolution=DISTANCE, unit=DISTANCE_UNIT))


@claim(
    "ren2023/thm43/spike-exponent",
    """Without negatives, one signal with σ_1² of the order of ln d among others with σ² = 1 ends with a
    condition number that grows as a power of d, which at the start it does not: √ln d.""",
    quotes=FINAL_CONDITION,
    quantifier="existential",
    word="can be",
    form="restated",
    reading=POWER_LOST,
    exists=True,
    broken_by=put("ends", "condition", 5.0, moment="without negatives"),
)
def spike_exponent() -> Comparison:
    return _grows_faster("without negatives")


@claim(
    "ren2023/lemma-b17/stage1-exponent",
    """With negatives, at the end of Stage 1 (small temperature τ²), one signal with σ_1² of the order of ln d
    among others with σ² = 1 has led to a condition number that grows as a power of d.""",
    quotes=STAGE_1,
    quantifier="existential",
    word="There exists",
    form="restated",
    reading=POWER_LOST,
    exists=True,
    broken_by=put("ends", "condition", 5.0, moment="stage 1"),
)
def stage1_exponent() -> Comparison:
    return _grows_faster("stage 1")


@claim(
    "ren2023/thm43/spike-aligned",
    "Without negatives, from a spectrum with one strong signal, the two modalities end aligned: K_A = K_B.",
    quotes=(NO_NEGATIVES, BOTH_ALIGN),
    quantifier="existential",
    word="There exists",
    looked=LOOKED,
    exists=True,
    broken_by=put("ends", "distance", 1.0, moment="without negatives"),
)
def spike_aligned() -> Comparison:
    return _aligned("without negatives")


@claim(
    "ren2023/thm43/spike-not-balanced",
    """Without negatives, from a spectrum with one strong signal, the modalities end unbalanced: the balance
    score, as a share of r, vanishes as d grows.""",
    quotes=NO_NEGATIVES,
    quantifier="existential",
    word="There exists",
    exists=True,
    broken_by=put("ends", ("stable_rank", "signals"), 2.0, moment="without negatives"),
)
def spike_not_balanced() -> Comparison:
    vanishes = below(slope(share("without negatives")), 0.0, unit=f"log(|C|_F² / |C|_2² / r): {SLOPE}")
    return in_every_case(vanishes)


@claim(
    "ren2023/thm43/spike-rank-one",
    """Without negatives, from a spectrum with one strong signal, the representation tends to a rank-one
    solution as d grows.""",
    quotes=(RANK_ONE, COLLAPSE, NO_NEGATIVES),
    quantifier="existential",
    word="There exists",
    reading="what Section 1 tells is proved as Theorem 4.3 (a): that there is such a spectrum",
    exists=True,
    broken_by=put("ends", "stable_rank", 2.0, moment="without negatives"),
)
def spike_rank_one() -> Comparison:
    beyond_one = applied(lambda ranks: ranks - 1, at("without negatives", "stable_rank"))
    return in_every_case(below(slope(beyond_one), 0.0, unit=f"log(|C|_F² / |C|_2² - 1): {SLOPE}"))


@claim(
    "ren2023/thm43/contrast-aligns-spike",
    """With negatives, from a spectrum with one strong signal, the two modalities end aligned as well: K_A =
    K_B.""",
    quotes=(WITH_NEGATIVES, BOTH_ALIGN),
    quantifier="existential",
    word="There exists",
    looked=LOOKED,
    exists=True,
    broken_by=put("ends", "distance", 1.0, moment="stage 2"),
)
def contrast_aligns_spike() -> Comparison:
    return _aligned("stage 2")


@claim(
    "ren2023/thm43/contrast-balances-spike",
    """With negatives, from a spectrum with one strong signal, the representation ends with all r signals,
    equally strong: its stable rank is about r.""",
    quotes=(WITH_NEGATIVES, RECOVERS),
    quantifier="existential",
    word="There exists",
    reading="of the valid spectra, the one that ends at rank one without negatives; in the limit of infinite "
    "width singular vectors are the signals' by symmetry, so that their strengths alone are in question",
    looked=LOOKED,
    exists=True,
    broken_by=put("ends", "stable_rank", 1.0, moment="stage 2"),
)
def contrast_balances_spike() -> Comparison:
    return in_every_case(agrees(share("stage 2"), 1, resolution=RANK, unit="|C|_F² / |C|_2² / r"))
