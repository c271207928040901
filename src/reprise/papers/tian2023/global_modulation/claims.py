"""What Theorem 6, its proof and the remark after it say."""

from collections.abc import Callable
from itertools import pairwise, product

from reprise.evidence.claim import Claim
from reprise.evidence.claims import for_all
from reprise.evidence.comparison import COARSEST, SHARE, Comparison, Measure, above, agrees
from reprise.evidence.formula import claims
from reprise.evidence.measures import column
from reprise.papers.tian2023.global_modulation import formulas
from reprise.papers.tian2023.global_modulation.experiment import CLAIMED_DIMS, CLAIMED_MODULATIONS

SHARES = "share of starts"
DRAWN = [
    *((2, epsilon) for epsilon in (-0.8, -0.4, 0.0, 0.4, 0.8)),
    *((8, epsilon) for epsilon in (0.0, 0.4, 0.8)),
]
"""d and ε of which the draws tell the probability to a hundredth."""


def share(name: str, dim: int, modulation: float) -> Measure:
    """A column of `basins`."""
    return column("basins", name, dim=dim, modulation=modulation)


def _more(measure: Measure, than: Measure) -> Comparison:
    return above(measure, than, unit=SHARES, bounds=SHARE)


def _modulated(
    id: str, statement: str, source: str, word: str, compared: Callable[[int, float], Comparison]
) -> Claim:
    """A sentence about every number of patterns and every c > 0."""
    cells = {
        f"d = {dim}, c = {c:g}": compared(dim, c) for dim, c in product(CLAIMED_DIMS, CLAIMED_MODULATIONS[1:])
    }
    return for_all(f"tian2023/thm6/{id}", statement, cells, source=source, word=word)


def _drawn(dim: int, epsilon: float) -> Comparison:
    drawn, formula = (
        column("probabilities", name, dim=dim, epsilon=epsilon) for name in ("simulated", "formula")
    )
    return agrees(
        drawn,
        formula,
        resolution=lambda tables: COARSEST * formula(tables),
        unit="probability",
        bounds=SHARE,
    )


CLAIMS = [
    *claims(
        "tian2023",
        formulas.minus_b_is_stable,
        formulas.zero_is_unstable,
        formulas.eq_147,
        formulas.eq_150,
        formulas.eq_149,
        formulas.eq_151,
        formulas.critical_time_falls,
        formulas.smallest_critical_time_wins,
        formulas.winner_of_two,
        formulas.basin_is_kept,
    ),
    _modulated(
        "basin",
        "More random unit weights go to a pattern when it is modulated.",
        "Theorem 6",
        "is larger than",
        lambda dim, c: _more(share("reached", dim, c), than=share("reached", dim, 0.0)),
    ),
    for_all(
        "tian2023/thm6/monotone",
        "The stronger the modulation of a pattern, the more random unit weights go to it.",
        {
            f"d = {dim}, c from {low:g} to {high:g}": _more(
                share("reached", dim, high), than=share("reached", dim, low)
            )
            for dim, (low, high) in product(CLAIMED_DIMS, pairwise(CLAIMED_MODULATIONS))
        },
        word="the stronger the modulation",
        source="Theorem 6 and the remark after it",
    ),
    _modulated(
        "modulated-wins",
        "More random unit weights go to the modulated pattern than to any other.",
        "Section 4.2, after Theorem 6",
        "is higher than the probability",
        lambda dim, c: _more(share("reached", dim, c), than=share("largest_other", dim, c)),
    ),
    *claims(
        "tian2023",
        formulas.eq_155,
    ),
    for_all(
        "tian2023/eq155/drawn",
        "Eq. 155, the probability P[E_l] that the pattern l wins, gives the shares of random draws.",
        {f"d = {dim}, ε = {epsilon:g}": _drawn(dim, epsilon) for dim, epsilon in DRAWN},
        word="=",
        source="Eq. 155",
    ),
    *claims(
        "tian2023",
        formulas.each_wins_alike,
        formulas.positive_modulation,
        formulas.strong_modulation,
        formulas.negative_modulation,
        formulas.eq_156_near,
        formulas.eq_156_far,
        formulas.eq_157_near,
        formulas.eq_157_far,
    ),
]
