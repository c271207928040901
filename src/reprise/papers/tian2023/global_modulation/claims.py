"""What Theorem 6, its proof and the remark after it say."""

from functools import partial

import numpy as np
import pandas as pd

from reprise.evidence import identities
from reprise.evidence.claims import Measure, inequality, ordering, value
from reprise.evidence.measures import applied, column, each_seed, ratio, wide
from reprise.papers.tian2023.global_modulation.params import CLAIMED_DIM, CLAIMED_MODULATION

holds = partial(identities.holds, "tian2023")
bound = partial(identities.bound, "tian2023")
falsehood = partial(identities.falsehood, "tian2023")

SHARE = "share of starts"


def share(name: str, dim: int, modulation: float) -> Measure:
    """A column of `basins`."""
    return column("basins", name, dim=dim, modulation=modulation)


smallest_increase = applied(
    lambda reached: pd.Series(np.diff(reached, axis=1).min(1), reached.index),
    wide("basins", "reached", "modulation", dim=CLAIMED_DIM),
)
"""The least that the next larger c adds to the share which reaches the modulated pattern."""
drawn_over_formula = each_seed(
    "mean",
    ratio(
        column("probabilities", "simulated", dim=CLAIMED_DIM),
        column("probabilities", "formula", dim=CLAIMED_DIM),
    ),
)
"""The share of draws over Eq. 155, mean over the modulation factors."""


CLAIMS = [
    holds("fig7/stable", "y = -b is a stable critical point of ẏ = (y + b) y.", "Figure 7"),
    holds("fig7/unstable", "y = 0 is an unstable one, left at the rate b.", "Figure 7"),
    holds("thm6/closed-form", "y/(y + b) = y(0)/(y(0) + b) exp(b t).", "Eq. 147"),
    holds("thm6/critical-time", "From y(0) > 0 it blows up at t* = ln(1 + b/y(0))/b.", "Eq. 150, Figure 7"),
    holds("eq149/critical-time", "At that time y(0)/(y(0) + b) exp(b t*) = 1.", "Eq. 149"),
    holds("eq151/derivative", "Eq. 151 is the derivative of t* by b.", "Eq. 151"),
    bound("eq151/sign", "A larger b and a larger y(0) make t* smaller.", "After Eq. 151"),
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
        "No unit weight that goes to u_l for A_k does not for A_k + c u_l u_lᵀ, c > 0 (share of starts).",
        "Theorem 6",
    ),
    *(
        ordering(
            f"tian2023/thm6/basin-d{dim}",
            f"More random unit weights go to one of {dim} patterns when it is modulated (c = 0.4).",
            source="Theorem 6",
            measure=share("reached", dim, CLAIMED_MODULATION),
            above=share("reached", dim, 0.0),
            unit=SHARE,
        )
        for dim in (2, CLAIMED_DIM)
    ),
    ordering(
        "tian2023/thm6/monotone",
        "The stronger the modulation of one of 8 patterns, the more random unit weights go to it (smallest "
        "increase from one c to the next).",
        source="Theorem 6 and the remark after it",
        measure=smallest_increase,
        above=0.0,
        unit=SHARE,
    ),
    ordering(
        "tian2023/thm6/modulated-wins",
        "More random unit weights go to the modulated one of 8 patterns (c = 0.4) than to any other.",
        source="Section 4.2, after Theorem 6",
        measure=share("reached", CLAIMED_DIM, CLAIMED_MODULATION),
        above=share("largest_other", CLAIMED_DIM, CLAIMED_MODULATION),
        unit=SHARE,
    ),
    holds("eq155/probability", "Eq. 155 is the integral of Eq. 154.", "Eqs. 154 and 155"),
    value(
        "tian2023/eq155/drawn",
        "Eq. 155 gives the probabilities of random draws (their ratio at d = 8, mean over ε).",
        source="Eq. 155",
        quantity="score",
        measure=drawn_over_formula,
        published=1.0,
        unit="drawn over formula",
    ),
    holds(
        "eq155/no-modulation",
        "Without modulation P[E_l] is 1/d, but for the 2⁻ᵈ of starts without a positive component.",
        "Remark after Theorem 6",
    ),
    bound("eq155/positive", "For 0 < ε <= 1, P[E_l] is at least ε/2.", "Remark, positive modulation"),
    *falsehood(
        "eq155-positive",
        "P[E_l] is at least ε/2 for any ε > 0 (tried: above 1).",
        "P[E_l] is at least min(ε, 1)/2 for any ε > 0 (tried: above 1).",
        "Remark, positive modulation",
        make=inequality,
    ),
    bound("eq155/negative", "For ε < 0, P[E_l] is at most (1 + ε/2)ᵈ/d.", "Remark, negative modulation"),
    bound(
        "eq156/bound",
        "The largest advantage leads to a probability of at least half its gap to the second, of at most 1.",
        "Eq. 156",
    ),
    *falsehood(
        "eq156",
        "P[E_c(1)] is at least half the gap between the two largest ε (tried: gaps above 1).",
        "P[E_c(1)] is at least half the gap, or 1/2 if that is less (tried: gaps above 1).",
        "Eq. 156",
        make=inequality,
    ),
    bound("eq157/bound", "Eq. 157 bounds P[E_c(r)] where no gap is above 2.", "Eq. 157"),
    *falsehood(
        "eq157",
        "P[E_c(r)] is at most the least of (1 - gap/2)^(r'+1)/(r'+1), r' < r (tried: gaps above 2).",
        "P[E_c(r)] is at most the least of max(0, 1 - gap/2)^(r'+1)/(r'+1) (tried: gaps above 2).",
        "Eq. 157",
        make=inequality,
    ),
]
