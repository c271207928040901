"""What Theorem 6, its proof and the remark after it say."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product

from reprise.evidence import identities
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import COARSEST, SHARE, Comparison, Measure, above, inequality, tends_to
from reprise.evidence.measures import column
from reprise.papers.tian2023.global_modulation.experiment import CLAIMED_DIMS, CLAIMED_MODULATIONS
from reprise.papers.tian2023.sentences import for_all

holds = partial(identities.holds, "tian2023")
bound = partial(identities.bound, "tian2023")
falsehood = partial(identities.falsehood, "tian2023")
misprint = partial(identities.misprint, "tian2023")

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


def _modulated(id: str, statement: str, source: str, compared: Callable[[int, float], Comparison]) -> Claim:
    """A sentence about every number of patterns and every c > 0."""
    cells = {
        f"d = {dim}, c = {c:g}": compared(dim, c) for dim, c in product(CLAIMED_DIMS, CLAIMED_MODULATIONS[1:])
    }
    return for_all(f"tian2023/thm6/{id}", statement, cells, source=source)


def _drawn(dim: int, epsilon: float) -> Comparison:
    drawn, formula = (
        column("probabilities", name, dim=dim, epsilon=epsilon) for name in ("simulated", "formula")
    )
    return tends_to(
        drawn,
        formula,
        resolution=lambda tables: COARSEST * formula(tables),
        unit="probability",
        bounds=SHARE,
    )


CLAIMS = [
    holds("fig7/stable", "y = -b is a stable critical point of ẏ = (y + b) y.", "Figure 7"),
    holds(
        "fig7/unstable",
        "y = 0 is an unstable critical point of ẏ = (y + b) y, left at the rate b.",
        "Figure 7",
    ),
    holds("thm6/closed-form", "ẏ = (y + b) y is solved by y/(y + b) = y(0)/(y(0) + b) exp(b t).", "Eq. 147"),
    holds(
        "thm6/critical-time",
        "From y(0) > 0 the solution of ẏ = (y + b) y blows up at t* = ln(1 + b/y(0))/b.",
        "Eq. 150, Figure 7",
    ),
    holds(
        "eq149/critical-time",
        "At the critical time t* of ẏ = (y + b) y, y(0)/(y(0) + b) exp(b t*) = 1.",
        "Eq. 149",
    ),
    holds(
        "eq151/derivative",
        "Eq. 151 is the derivative of the critical time t* of ẏ = (y + b) y by b.",
        "Eq. 151",
    ),
    bound(
        "eq151/sign",
        "A larger b and a larger y(0) make the critical time t* of ẏ = (y + b) y smaller.",
        "After Eq. 151",
    ),
    holds(
        "thm6/equal-winner",
        "Without modulation, a unit weight goes to the pattern with the smallest critical time (share of "
        "starts that do not).",
        "Theorem 6, after Eq. 148",
    ),
    *falsehood(
        "thm6-winner",
        "A unit weight goes to the pattern with the smallest critical time, for unequal b_l too (share of "
        "starts, between two patterns, that do not).",
        "Between two patterns, a unit weight goes to the one with the larger y_l(0) + b_l (share of starts "
        "that do not).",
        "Theorem 6, Eqs. 146 and 148 and the text after them",
    ),
    holds(
        "thm6/basin-kept",
        "No unit weight that goes to the pattern u_l for A_k leaves it for A_k + c u_l u_lᵀ, c > 0 "
        "(share of starts).",
        "Theorem 6",
    ),
    _modulated(
        "basin",
        "More random unit weights go to a pattern when it is modulated.",
        "Theorem 6",
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
        source="Theorem 6 and the remark after it",
    ),
    _modulated(
        "modulated-wins",
        "More random unit weights go to the modulated pattern than to any other.",
        "Section 4.2, after Theorem 6",
        lambda dim, c: _more(share("reached", dim, c), than=share("largest_other", dim, c)),
    ),
    holds(
        "eq155/probability",
        "Eq. 155, the probability P[E_l] that the pattern l wins, is the integral of Eq. 154.",
        "Eqs. 154 and 155",
    ),
    for_all(
        "tian2023/eq155/drawn",
        "Eq. 155, the probability P[E_l] that the pattern l wins, gives the shares of random draws.",
        {f"d = {dim}, ε = {epsilon:g}": _drawn(dim, epsilon) for dim, epsilon in DRAWN},
        source="Eq. 155",
    ),
    holds(
        "eq155/no-modulation",
        "Without modulation each pattern wins with probability P[E_l] = 1/d, but for the 2⁻ᵈ of "
        "starts without a positive component.",
        "Remark after Theorem 6",
    ),
    bound(
        "eq155/positive",
        "A pattern with the advantage 0 < ε <= 1 wins with a probability P[E_l] of at least ε/2.",
        "Remark, positive modulation",
    ),
    *misprint(
        "eq155-positive",
        "A pattern with any advantage ε > 0 wins with a probability P[E_l] of at least ε/2 (tried: above 1).",
        "A pattern with any advantage ε > 0 wins with a probability P[E_l] of at least min(ε, 1)/2 "
        "(tried: above 1).",
        "Remark, positive modulation",
        make=inequality,
    ),
    bound(
        "eq155/negative",
        "A pattern with a disadvantage ε < 0 wins with a probability P[E_l] of at most (1 + ε/2)ᵈ/d.",
        "Remark, negative modulation",
    ),
    bound(
        "eq156/bound",
        "The pattern with the largest advantage wins with a probability of at least half its gap to "
        "the second, where the gap is at most 1.",
        "Eq. 156",
    ),
    *misprint(
        "eq156",
        "The pattern with the largest advantage wins with a probability P[E_c(1)] of at least half "
        "its gap to the second (tried: gaps above 1).",
        "The pattern with the largest advantage wins with a probability P[E_c(1)] of at least half "
        "its gap to the second, or 1/2 if that is less (tried: gaps above 1).",
        "Eq. 156",
        make=inequality,
    ),
    bound(
        "eq157/bound",
        "Eq. 157 bounds the probability P[E_c(r)] that the pattern with the r-th largest advantage "
        "wins, where no gap between advantages is above 2.",
        "Eq. 157",
    ),
    *misprint(
        "eq157",
        "The pattern with the r-th largest advantage wins with a probability of at most the least of "
        "(1 - gap/2)^(r'+1)/(r'+1), r' < r (tried: gaps above 2).",
        "The pattern with the r-th largest advantage wins with a probability of at most the least of "
        "max(0, 1 - gap/2)^(r'+1)/(r'+1), r' < r (tried: gaps above 2).",
        "Eq. 157",
        make=inequality,
    ),
]
