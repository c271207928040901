"""Claims of Theorem 6, its proof and the remark after it."""

from itertools import product

import pandas as pd

from reprise.evidence.claim import Cells, Quotation, claim
from reprise.evidence.comparison import COARSEST, COSINE, SHARE, Comparison, Measure, above, agrees
from reprise.evidence.edits import put, times
from reprise.evidence.formula import claims
from reprise.evidence.measures import applied, column, rank_correlation, wide
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
    reading="ours: the share of weights and c are correlated in rank, at each number of patterns d",
    looked="each step of c was judged before, and 7 of 12 were tied, where the share rises by less than .05; "
    "how far apart our c are is no part of the sentence",
    broken_by=times("basins", "reached", -1.0),
)
def monotone() -> Cells:
    for dim in CLAIMED_DIMS:
        by_c = wide("basins", "reached", "modulation", dim=dim, modulation=CLAIMED_MODULATIONS)
        correlation = applied(lambda shares: rank_correlation(shares, shares.columns), by_c)
        yield f"d = {dim}", above(correlation, 0.0, unit="rank correlation", bounds=COSINE)


@claim(
    "tian2023/thm6/modulated-wins",
    "More random unit weights go to the modulated pattern than to another one (the mean over the others).",
    quotes=HIGHER,
    quantifier="generic",
    word="is higher than the probability",
    looked="each of 12 cells had to hold against the most frequent of the others, which chance favours; the "
    "sentence names no strength of modulation, and the others are alike",
    broken_by=put("basins", "other", 0.9),
)
def modulated_wins() -> Cells:
    for dim, c in product(CLAIMED_DIMS, CLAIMED_MODULATIONS[1:]):
        yield f"d = {dim}, c = {c:g}", _more(share("reached", dim, c), than=share("other", dim, c))


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
