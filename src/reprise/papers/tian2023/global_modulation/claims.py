"""What Theorem 6, its proof and the remark after it say."""

from itertools import pairwise, product

import pandas as pd

from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import COARSEST, SHARE, Comparison, Measure, above, agrees
from reprise.evidence.edits import put, swapped, times, together
from reprise.evidence.formula import claims
from reprise.evidence.measures import column
from reprise.papers.tian2023.global_modulation.experiment import CLAIMED_DIMS, CLAIMED_MODULATIONS
from reprise.papers.tian2023.global_modulation.formulas import FORMULAS

DRAWN = [
    *((2, epsilon) for epsilon in (-0.8, -0.4, 0.0, 0.4, 0.8)),
    *((8, epsilon) for epsilon in (0.0, 0.4, 0.8)),
]
"""d and ε of which the draws tell the probability to a hundredth."""

LEARNED = Quotation("relevant patterns are learned with higher probability", at="Section 1")
HIGHER = Quotation(
    "is higher than the probability that ... goes to other patterns of", at="Section 4.2, after Theorem 6"
)
STRONGER = Quotation(
    "the stronger the modulation, the higher the probability becomes",
    at="Remark after Theorem 6, Appendix C.3",
)

THEORY = claims("tian2023", *FORMULAS)


def share(name: str, dim: int, modulation: float) -> Measure:
    """A column of `basins`."""
    return column("basins", name, dim=dim, modulation=modulation)


def hundredth(measure: Measure) -> Measure:
    """1 % of the mean over seeds: of the mean, so that rounding does not make it a little more."""
    return lambda tables: pd.Series([COARSEST * measure(tables).mean()])


def _more(measure: Measure, than: Measure) -> Comparison:
    return above(measure, than, unit="share of starts", bounds=SHARE)


@claim(
    "tian2023/thm6/basin",
    "More random unit weights go to a pattern when it is modulated.",
    at="Theorem 6, Section 4.2",
    quotes=LEARNED,
    quantifier="generic",
    word="higher",
    looked="each of 12 cells had to hold, of which 4 were tied; two readers of the sentence found no 'each'",
    broken_by=put("basins", "reached", 0.9, modulation=0.0),
)
def basin() -> Cells:
    for dim, c in product(CLAIMED_DIMS, CLAIMED_MODULATIONS[1:]):
        yield f"d = {dim}, c = {c:g}", _more(share("reached", dim, c), than=share("reached", dim, 0.0))


@claim(
    "tian2023/thm6/monotone",
    "The stronger the modulation of a pattern, the more random unit weights go to it.",
    quotes=STRONGER,
    word="the stronger the modulation",
    broken_by=together(
        swapped("basins", "modulation", 0.0, 0.8),
        swapped("basins", "modulation", 0.1, 0.4),
    ),
)
def monotone() -> Cells:
    for dim, (low, high) in product(CLAIMED_DIMS, pairwise(CLAIMED_MODULATIONS)):
        yield (
            f"d = {dim}, c from {low:g} to {high:g}",
            _more(share("reached", dim, high), than=share("reached", dim, low)),
        )


@claim(
    "tian2023/thm6/modulated-wins",
    "More random unit weights go to the modulated pattern than to any other.",
    quotes=HIGHER,
    word="is higher than the probability",
    broken_by=put("basins", "largest_other", 0.9),
)
def modulated_wins() -> Cells:
    for dim, c in product(CLAIMED_DIMS, CLAIMED_MODULATIONS[1:]):
        yield f"d = {dim}, c = {c:g}", _more(share("reached", dim, c), than=share("largest_other", dim, c))


@claim(
    "tian2023/eq155/drawn",
    "Eq. 155, the probability P[E_l] that the pattern l wins, gives the shares of random draws.",
    at="Eq. 155, Appendix C.3",
    word="=",
    broken_by=times("probabilities", "simulated", 1.05),
)
def drawn() -> Cells:
    for dim, epsilon in DRAWN:
        simulated, formula = (
            column("probabilities", name, dim=dim, epsilon=epsilon) for name in ("simulated", "formula")
        )
        yield (
            f"d = {dim}, ε = {epsilon:g}",
            agrees(
                simulated,
                formula,
                resolution=hundredth(formula),
                unit="probability",
                bounds=SHARE,
            ),
        )
