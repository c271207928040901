"""The formulas of Theorem 6 and of the remark after it, tried at random points."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, size
from reprise.papers.tian2023.global_modulation import probabilities, sphere
from reprise.papers.tian2023.global_modulation.experiment import Params

ELSEWHERE, BEYOND = "share of starts that end elsewhere", "probability beyond the bound"
"""Units of errors."""
STARTS = 200


def climb(y0: float, b: float, times: Array) -> Array:
    """y at the given times, by numerical integration of Eq. 146."""
    from scipy.integrate import solve_ivp

    span = (0.0, float(times[-1]))
    solution = solve_ivp(
        lambda _, y: (y + b) * y, span, [y0], t_eval=times, method="DOP853", rtol=1e-12, atol=1e-20
    )
    return solution.y[0]


# Figure 7: ẏ = (y + b) y.


@dataclass(frozen=True)
class Beside:
    """b, and starts close to -b, by a share of it, and to 0."""

    sizes: ClassVar[dict[str, int]] = {}
    b: float
    share: float
    tiny: float


def critical_points(rng: Random, largest: int) -> Beside:
    b, share = rng.uniform(1, 3), rng.choice([-1, 1]) * rng.uniform(0.05, 0.5)
    return Beside(b, share, 1e-9 * rng.choice([-1, 1]))


@formula(
    "fig7/critical-points",
    "The dynamics ẏ = (y + b) y come to rest at y = -b from starts near it, and leave y = 0 at the rate b.",
    at="Figure 7, Appendix C.3",
    quotes=Quotation(
        "There exists a stable critical point ... and one unstable critical point",
        at="Figure 7, Appendix C.3",
    ),
    word="There exists a stable critical point",
    tried_at=critical_points,
)
def critical_points_of_the_line(point: Beside) -> Errors:
    """The decoy takes the signs of both points' rates to be the other way round."""
    b, rest, time = point.b, 25 / point.b, 3 / point.b
    (end,) = climb(-b * (1 + point.share), b, np.array([rest]))
    (left,) = climb(point.tiny, b, np.array([time])) / point.tiny
    off_rest = abs(end / b + 1) / abs(point.share)
    return Errors(
        printed=max(off_rest, abs(left * np.exp(-b * time) - 1)),
        decoy=abs(left * np.exp(b * time) - 1),
    )


# Theorem 6: unit weights.


@dataclass(frozen=True)
class Weights:
    """Unit weights y and offsets b, a row a weight and a column a pattern; c is added to the first offset."""

    y: Array
    b: Array
    c: float

    @property
    def sizes(self) -> dict[str, int]:
        return {"dim": len(self.b)}

    def modulated(self, c: float) -> Array:
        return self.b + c * (np.arange(len(self.b)) == 0)


def two_patterns(rng: Random, largest: int) -> Weights:
    """Unit weights between two patterns, one of them modulated."""
    b, c = rng.uniform(1.05, 3), rng.uniform(0.2, 0.7)
    angle = (np.arange(STARTS) + rng.uniform(0.3, 0.7)) / STARTS * np.pi / 2
    return Weights(np.stack([np.cos(angle), np.sin(angle)], -1), np.array([b, b]), c)


@formula(
    "thm6-winner",
    "In the proof of Theorem 6, which itself holds: between two patterns, of which one is modulated, {}.",
    at="Theorem 6, proof, Eqs. 146 and 148 and after Eq. 151, Appendix C.3",
    wrong=Misprint(
        "substantive",
        printed=Text("the one with the smallest critical time t*_l is the winner"),
        corrected=Text("the one with the larger y_l(0) + b_l is"),
        note="the proof drops the normalisation, but ẏ_l = (y_l + b_l) y_l is not invariant to a common "
        "rescaling; the rule holds without modulation, and Theorem 6 itself holds",
    ),
    quotes=Quotation(
        "By comparing the critical time we know which component ... is the winner, without computing the "
        "normalization constant",
        at="Theorem 6, proof, after Eq. 148, Appendix C.3",
    ),
    word="is the winner",
    unit=ELSEWHERE,
    tried_at=two_patterns,
)
def winner_of_two(point: Weights) -> Errors:
    """The share of the starts for which each rule is wrong. If both y_l(0) + b_l are equal, w is a critical
    point on the circle."""
    y, offsets = point.y, point.modulated(point.c)
    outcomes = _winners(y, offsets)
    settled = outcomes != sphere.UNSETTLED

    def error_rate(predictions: Array) -> float:
        return float((predictions != outcomes)[settled].mean())

    return Errors(
        printed=error_rate(sphere.first_to_blow_up(y, offsets)),
        corrected=error_rate((y + offsets).argmax(-1)),
    )


def larger_basin(rng: Random, largest: int) -> Weights:
    dim, b, c = size(rng, 2, largest), rng.uniform(1.05, 3), rng.uniform(0.1, 1)
    return Weights(sphere.uniform_starts(rng, STARTS, dim), np.full(dim, b), c)


@formula(
    "thm6/basin-kept",
    "No unit weight that goes to the pattern u_l for A_k leaves it for A_k + c u_l u_lᵀ, c > 0.",
    at="Theorem 6, Section 4.2",
    unit=ELSEWHERE,
    tried_at=larger_basin,
)
def basin_is_kept(point: Weights) -> Errors:
    """The share of the starts that leave; of the decoy, for A_k - c u_l u_lᵀ."""
    before = _winners(point.y, point.b) == 0

    def left(c: float) -> float:
        return float((before & (_winners(point.y, point.modulated(c)) != 0)).mean())

    return Errors(printed=left(point.c), decoy=left(-point.c))


# The remark after Theorem 6: probabilities.


@dataclass(frozen=True)
class Advantages:
    """A number of patterns, and an advantage and a disadvantage of one of them."""

    dim: int
    positive: float
    negative: float

    @property
    def sizes(self) -> dict[str, int]:
        return {"dim": self.dim}

    def probability(self, epsilon: float) -> float:
        """The integral of Eq. 154."""
        return probabilities.exact(0, np.insert(np.zeros(self.dim - 1), 0, epsilon))


def single_modulation(rng: Random, largest: int) -> Advantages:
    return Advantages(size(rng, 2, 2 * largest), rng.uniform(0, 2), rng.uniform(-1.9, -0.05))


@formula(
    "eq155-positive",
    "A pattern with an advantage ε_l > 0 wins with the probability {} (tried: ε_l up to 2).",
    at="Remark after Theorem 6, positive modulation, Appendix C.3",
    wrong=Misprint(
        "condition",
        printed=Text("P[E_l] >= ε_l/2", r"P[E_l]\ge\frac{\epsilon_l}{2}"),
        corrected=Text("P[E_l] >= min(ε_l, 1)/2", r"P[E_l]\ge\frac{\min(\epsilon_l,1)}{2}"),
        note="P[E_l] is never above 1/2: the range ε_l <= 1 is missing, and in Eq. 156 too. The bound for "
        "negative modulation, and with it Eq. 157, lacks the range ε_l >= -2",
    ),
    unit=BEYOND,
    tried_at=single_modulation,
    is_bound=True,
)
def positive_modulation(point: Advantages) -> Errors:
    probability = point.probability(point.positive)
    return Errors(
        printed=max(0.0, point.positive / 2 - probability),
        corrected=max(0.0, min(point.positive, 1) / 2 - probability),
    )


@formula(
    "eq155/negative",
    "A pattern with a disadvantage -2 <= ε < 0 wins with a probability P[E_l] of at most (1 + ε/2)ᵈ/d.",
    at="Remark after Theorem 6, negative modulation, Appendix C.3",
    unit=BEYOND,
    tried_at=single_modulation,
    is_bound=True,
)
def negative_modulation(point: Advantages) -> Errors:
    """The decoy is (1 + ε)ᵈ/d."""
    epsilon, dim = point.negative, point.dim

    def excess(base: float) -> float:
        return max(0.0, point.probability(epsilon) - max(0.0, base) ** dim / dim)

    return Errors(printed=excess(1 + epsilon / 2), decoy=excess(1 + epsilon))


def _winners(y: Array, b: Array) -> Array:
    fields = Params.model_fields
    return sphere.winners(y, b, duration=fields["duration"].default, time_step=fields["time_step"].default)


FORMULAS: tuple[Formula, ...] = (
    critical_points_of_the_line,
    winner_of_two,
    basin_is_kept,
    positive_modulation,
    negative_modulation,
)
"""All formulas, in the order of the table's rows."""
