"""The formulas of Theorem 6's proof, and of the remark after it, tried at random points.

SciPy and torch are imported where they calculate, so that lists of claims do not wait for them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from reprise.evidence.formula import Errors, Form, Formula, formula, misprinted
from reprise.evidence.identities import Array, Random, below_zero, relative_error, size
from reprise.papers.tian2023.global_modulation import probabilities, sphere
from reprise.papers.tian2023.global_modulation.experiment import Params

STARTS = 200
NO_SIZES: dict[str, int] = {}


def climb(y0: float, b: float, times: Array, *, until: float = np.inf) -> tuple[Array, float]:
    """y at the given times, by numerical integration of Eq. 146, and the time when it passed `until`, or
    NaN."""
    from scipy.integrate import solve_ivp

    def threshold(_: float, y: Array) -> float:
        return float(y[0] - until) if np.isfinite(until) else 1.0

    threshold.terminal = True  # type: ignore[attr-defined]
    span = (0.0, float(times[-1]))
    tolerances = {"rtol": 1e-12, "atol": 1e-20}
    solution = solve_ivp(
        lambda _, y: (y + b) * y, span, [y0], t_eval=times, events=threshold, method="DOP853", **tolerances
    )
    events = solution.t_events[0]
    return solution.y[0], float(events[0]) if len(events) else np.nan


def closed_form(y0: float, b: float, times: Array) -> Array:
    """y(t) by Eq. 147."""
    ratio = y0 / (y0 + b) * np.exp(b * times)
    return b * ratio / (1 - ratio)


# Figure 7 and Eqs. 146 to 151: ẏ = (y + b) y.


@dataclass(frozen=True)
class Starts:
    """b, and starts above 0, between -b and 0, and below -b."""

    sizes: ClassVar[dict[str, int]] = NO_SIZES
    b: float
    above: float
    between: float
    below: float

    @property
    def critical_time(self) -> float:
        """By Eq. 150."""
        return float(sphere.critical_times(np.array(self.above), np.array(self.b)))

    @cached_property
    def explosion_time(self) -> float:
        """By integration, until y needs a time of 1/y to reach infinity."""
        return climb(self.above, self.b, np.array([0, 1.01 * self.critical_time]), until=1e9 * self.b)[1]


def solution(rng: Random, largest: int) -> Starts:
    b = rng.uniform(1, 3)
    return Starts(b, b * rng.uniform(0.05, 1), -b * rng.uniform(0.1, 0.9), -b * rng.uniform(1.2, 2))


@formula(
    "thm6/closed-form",
    "ẏ = (y + b) y is solved by y/(y + b) = y(0)/(y(0) + b) exp(b t).",
    at="Eq. 147",
    tried_at=solution,
)
def eq_147(point: Starts) -> float:
    b, end = point.b, 3 / point.b
    solved, integrated = [], []
    for y0, last in ((point.above, 0.9 * point.critical_time), (point.between, end), (point.below, end)):
        times = np.linspace(0, last, 9)[1:]
        solved.append(closed_form(y0, b, times))
        integrated.append(climb(y0, b, times)[0])
    return relative_error(np.concatenate(solved), np.concatenate(integrated))


@formula(
    "thm6/critical-time",
    "From y(0) > 0 the solution of ẏ = (y + b) y blows up at t* = ln(1 + b/y(0))/b.",
    at="Eq. 150, Figure 7",
    tried_at=solution,
)
def eq_150(point: Starts) -> float:
    return abs(point.critical_time / point.explosion_time - 1)


@formula(
    "eq149/critical-time",
    "At the critical time t* of ẏ = (y + b) y, y(0)/(y(0) + b) exp(b t*) = 1.",
    at="Eq. 149",
    tried_at=solution,
)
def eq_149(point: Starts) -> float:
    start, b = point.above, point.b
    return abs(start / (start + b) * np.exp(b * point.explosion_time) - 1)


@dataclass(frozen=True)
class Beside:
    """b, and starts close to -b, by a share of it, and to 0."""

    sizes: ClassVar[dict[str, int]] = NO_SIZES
    b: float
    share: float
    tiny: float


def critical_points(rng: Random, largest: int) -> Beside:
    b, share = rng.uniform(1, 3), rng.choice([-1, 1]) * rng.uniform(0.05, 0.5)
    return Beside(b, share, 1e-9 * rng.choice([-1, 1]))


@formula(
    "fig7/stable",
    "y = -b is a stable critical point of ẏ = (y + b) y.",
    at="Figure 7",
    tried_at=critical_points,
)
def minus_b_is_stable(point: Beside) -> float:
    (end,), _ = climb(-point.b * (1 + point.share), point.b, np.array([25 / point.b]))
    return abs(end / point.b + 1) / abs(point.share)


@formula(
    "fig7/unstable",
    "y = 0 is an unstable critical point of ẏ = (y + b) y, left at the rate b.",
    at="Figure 7",
    tried_at=critical_points,
)
def zero_is_unstable(point: Beside) -> float:
    time = 3 / point.b
    (final,), _ = climb(point.tiny, point.b, np.array([time]))
    return abs(final / point.tiny * np.exp(-point.b * time) - 1)


@dataclass(frozen=True)
class Start:
    """An offset b and a start y(0) > 0."""

    sizes: ClassVar[dict[str, int]] = NO_SIZES
    b: float
    y0: float

    @cached_property
    def slopes(self) -> tuple[float, float]:
        """Of t* by b and by y(0), by automatic differentiation of Eq. 150."""
        import torch

        b, y0 = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (self.b, self.y0))
        by_b, by_y0 = torch.autograd.grad(torch.log(1 + b / y0) / b, (b, y0))
        return float(by_b), float(by_y0)


def derivative(rng: Random, largest: int) -> Start:
    return Start(rng.uniform(0.2, 3), rng.uniform(0.01, 1))


@formula(
    "eq151/derivative",
    "Eq. 151 is the derivative of the critical time t* of ẏ = (y + b) y by b.",
    at="Eq. 151",
    tried_at=derivative,
)
def eq_151(point: Start) -> float:
    ratio = point.b / point.y0
    slope = (ratio / (1 + ratio) - np.log(1 + ratio)) / point.b**2
    return abs(slope / point.slopes[0] - 1)


@formula(
    "eq151/sign",
    "A larger b and a larger y(0) make the critical time t* of ẏ = (y + b) y smaller.",
    at="After Eq. 151",
    tried_at=derivative,
    is_bound=True,
)
def critical_time_falls(point: Start) -> float:
    return below_zero(-np.array(point.slopes))


# Theorem 6: unit weights.


@dataclass(frozen=True)
class Weights:
    """Unit weights y and offsets b, a row a weight and a column a pattern; c is added to the first offset."""

    y: Array
    b: Array
    c: float = 0.0

    @property
    def sizes(self) -> dict[str, int]:
        return {"dim": len(self.b)}

    @property
    def modulated(self) -> Array:
        return self.b + self.c * (np.arange(len(self.b)) == 0)


def unmodulated(rng: Random, largest: int) -> Weights:
    dim, b = size(rng, 2, largest), rng.uniform(1.05, 3)
    return Weights(sphere.uniform_starts(rng, STARTS, dim), np.full(dim, b))


@formula(
    "thm6/equal-winner",
    "Without modulation, a unit weight goes to the pattern with the smallest critical time (share of starts "
    "that do not).",
    at="Theorem 6, after Eq. 148",
    tried_at=unmodulated,
)
def smallest_critical_time_wins(point: Weights) -> float:
    return _error_rate(sphere.first_to_blow_up(point.y, point.b), _winners(point.y, point.b))


def two_patterns(rng: Random, largest: int) -> Weights:
    """Unit weights between two patterns, one of them modulated."""
    b, c = rng.uniform(1.05, 3), rng.uniform(0.2, 0.7)
    angle = (np.arange(STARTS) + rng.uniform(0.3, 0.7)) / STARTS * np.pi / 2
    return Weights(np.stack([np.cos(angle), np.sin(angle)], -1), np.array([b, b]), c)


@misprinted(
    "thm6-winner",
    kind="substantive",
    at="Theorem 6, Eqs. 146 and 148 and the text after them",
    where="Theorem 6, proof, Eqs. 146 and 148 and after Eq. 151",
    printed=Form(
        "A unit weight goes to the pattern with the smallest critical time, for unequal b_l too (share of "
        "starts, between two patterns, that do not).",
        "the normalisation only rescales all y_l, so the pattern with the smallest t*_l wins",
    ),
    corrected=Form(
        "Between two patterns, a unit weight goes to the one with the larger y_l(0) + b_l (share of starts "
        "that do not).",
        "ẏ_l = (y_l + b_l) y_l is not invariant to a common rescaling: with unequal b_l another wins "
        "(between two patterns, the larger y_l(0) + b_l). Without modulation, and in that the basin grows, "
        "the theorem holds",
    ),
    tried_at=two_patterns,
)
def winner_of_two(point: Weights) -> Errors:
    """The printed rule takes the critical times as if the weight were never normalised. If both y_l(0) + b_l
    are equal, w is a critical point on the circle."""
    y, offsets = point.y, point.modulated
    outcomes = _winners(y, offsets)
    return Errors(
        printed=_error_rate(sphere.first_to_blow_up(y, offsets), outcomes),
        corrected=_error_rate((y + offsets).argmax(-1), outcomes),
    )


def larger_basin(rng: Random, largest: int) -> Weights:
    dim, b, c = size(rng, 2, largest), rng.uniform(1.05, 3), rng.uniform(0.1, 1)
    return Weights(sphere.uniform_starts(rng, STARTS, dim), np.full(dim, b), c)


@formula(
    "thm6/basin-kept",
    "No unit weight that goes to the pattern u_l for A_k leaves it for A_k + c u_l u_lᵀ, c > 0 (share of "
    "starts).",
    at="Theorem 6",
    tried_at=larger_basin,
)
def basin_is_kept(point: Weights) -> float:
    before, after = _winners(point.y, point.b), _winners(point.y, point.modulated)
    return float(((before == 0) & (after != 0)).mean())


# The remark after Theorem 6: probabilities.


@dataclass(frozen=True)
class Advantages:
    """A number of patterns, and advantages ε of one of them over the others."""

    dim: int
    positive: float
    strong: float
    negative: float
    any_negative: float

    @property
    def sizes(self) -> dict[str, int]:
        return {"dim": self.dim}

    def integral(self, epsilon: float) -> float:
        """Of Eq. 154."""
        return probabilities.exact(0, np.insert(np.zeros(self.dim - 1), 0, epsilon))


def single_modulation(rng: Random, largest: int) -> Advantages:
    dim = size(rng, 2, 2 * largest)
    positive, strong, negative = rng.uniform(0.05, 0.95), rng.uniform(1.05, 2), rng.uniform(-0.95, -0.05)
    return Advantages(dim, positive, strong, negative, rng.uniform(-1.9, -0.05))


@formula(
    "eq155/probability",
    "Eq. 155, the probability P[E_l] that the pattern l wins, is the integral of Eq. 154.",
    at="Eqs. 154 and 155",
    tried_at=single_modulation,
)
def eq_155(point: Advantages) -> float:
    epsilons = (0.0, point.positive, point.strong, point.negative)
    closed = np.array([probabilities.eq155(point.dim, epsilon) for epsilon in epsilons])
    expected = np.array([point.integral(epsilon) for epsilon in epsilons])
    return float(np.abs(closed / expected - 1).max())


@formula(
    "eq155/no-modulation",
    "Without modulation each pattern wins with probability P[E_l] = 1/d, but for the 2⁻ᵈ of starts without a "
    "positive component.",
    at="Remark after Theorem 6",
    tried_at=single_modulation,
)
def each_wins_alike(point: Advantages) -> float:
    return abs(point.dim * point.integral(0.0) / (1 - 0.5**point.dim) - 1)


@formula(
    "eq155/positive",
    "A pattern with the advantage 0 < ε <= 1 wins with a probability P[E_l] of at least ε/2.",
    at="Remark, positive modulation",
    tried_at=single_modulation,
    is_bound=True,
)
def positive_modulation(point: Advantages) -> float:
    return max(0.0, point.positive / 2 - point.integral(point.positive))


@formula(
    "eq155/negative",
    "A pattern with a disadvantage ε < 0 wins with a probability P[E_l] of at most (1 + ε/2)ᵈ/d.",
    at="Remark, negative modulation",
    tried_at=single_modulation,
    is_bound=True,
)
def negative_modulation(point: Advantages) -> float:
    most = (1 + point.any_negative / 2) ** point.dim / point.dim
    return max(0.0, point.integral(point.any_negative) - most)


@misprinted(
    "eq155-positive",
    kind="typo",
    at="Remark, positive modulation",
    where="Remark after Theorem 6, positive modulation",
    printed=Form(
        "A pattern with any advantage ε > 0 wins with a probability P[E_l] of at least ε/2 (tried: above 1).",
        "P[E_l] >= ε_l/2 for ε_l > 0",
        r"P[E_l]\ge\frac{\epsilon_l}{2}",
    ),
    corrected=Form(
        "A pattern with any advantage ε > 0 wins with a probability P[E_l] of at least min(ε, 1)/2 (tried: "
        "above 1).",
        "P[E_l] >= min(ε_l, 1)/2: P[E_l] is never above 1/2",
        r"P[E_l]\ge\frac{\min(\epsilon_l,1)}{2}",
    ),
    tried_at=single_modulation,
    is_bound=True,
)
def strong_modulation(point: Advantages) -> Errors:
    probability = point.integral(point.strong)
    return Errors(
        printed=max(0.0, point.strong / 2 - probability),
        corrected=max(0.0, min(point.strong, 1) / 2 - probability),
    )


@dataclass(frozen=True)
class AllAdvantages:
    """Advantages of all patterns, falling: near each other, the first far from the second by more than 1, and
    the fourth from the third by more than 2."""

    near: Array
    first_far: Array
    rest_far: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"dim": len(self.near)}


def any_modulation(rng: Random, largest: int) -> AllAdvantages:
    near = np.sort(rng.uniform(-0.45, 0.45, size(rng, 4, largest + 2)))[::-1]
    first_far, rest_far = near.copy(), near.copy()
    first_far[0] += 1.95
    rest_far[3:] -= 2.95
    return AllAdvantages(near, first_far, rest_far)


def _eq156(epsilons: Array, gap: float) -> float:
    return max(0.0, gap / 2 - probabilities.exact(0, epsilons))


def _eq157(epsilons: Array, *, clipped: bool) -> float:
    return max(
        max(0.0, probabilities.exact(r - 1, epsilons) - probabilities.eq157(r, epsilons, clipped=clipped))
        for r in range(2, len(epsilons) + 1)
    )


@formula(
    "eq156/bound",
    "The pattern with the largest advantage wins with a probability of at least half its gap to the second, "
    "where the gap is at most 1.",
    at="Eq. 156",
    tried_at=any_modulation,
    is_bound=True,
)
def eq_156_near(point: AllAdvantages) -> float:
    return _eq156(point.near, float(point.near[0] - point.near[1]))


@formula(
    "eq157/bound",
    "Eq. 157 bounds the probability P[E_c(r)] that the pattern with the r-th largest advantage wins, where "
    "no gap between advantages is above 2.",
    at="Eq. 157",
    tried_at=any_modulation,
    is_bound=True,
)
def eq_157_near(point: AllAdvantages) -> float:
    return _eq157(point.near, clipped=False)


@misprinted(
    "eq156",
    kind="typo",
    at="Eq. 156",
    printed=Form(
        "The pattern with the largest advantage wins with a probability P[E_c(1)] of at least half its gap "
        "to the second (tried: gaps above 1).",
        "P[E_c(1)] >= (ε_c(1) - ε_c(2))/2",
        r"P[E_{c(1)}]\ge\frac{\epsilon_{c(1)}-\epsilon_{c(2)}}{2}",
    ),
    corrected=Form(
        "The pattern with the largest advantage wins with a probability P[E_c(1)] of at least half its gap "
        "to the second, or 1/2 if that is less (tried: gaps above 1).",
        "P[E_c(1)] >= min(ε_c(1) - ε_c(2), 1)/2",
        r"P[E_{c(1)}]\ge\frac{\min(\epsilon_{c(1)}-\epsilon_{c(2)},1)}{2}",
    ),
    tried_at=any_modulation,
    is_bound=True,
)
def eq_156_far(point: AllAdvantages) -> Errors:
    gap = float(point.first_far[0] - point.first_far[1])
    return Errors(_eq156(point.first_far, gap), _eq156(point.first_far, min(gap, 1.0)))


@misprinted(
    "eq157",
    kind="typo",
    at="Eq. 157",
    printed=Form(
        "The pattern with the r-th largest advantage wins with a probability of at most the least of (1 - "
        "gap/2)^(r'+1)/(r'+1), r' < r (tried: gaps above 2).",
        "… (1 - (ε_c(r') - ε_c(r))/2)^(r'+1)",
        r"P[E_{c(r)}]\le\min_{r'<r}\frac{1}{r'+1}\left(1-\frac{\epsilon_{c(r')}-\epsilon_{c(r)}}{2}"
        r"\right)^{r'+1}",
    ),
    corrected=Form(
        "The pattern with the r-th largest advantage wins with a probability of at most the least of max(0, "
        "1 - gap/2)^(r'+1)/(r'+1), r' < r (tried: gaps above 2).",
        "… max(0, 1 - (ε_c(r') - ε_c(r))/2)^(r'+1): a gap above 2 makes the printed bound negative",
        r"P[E_{c(r)}]\le\min_{r'<r}\frac{1}{r'+1}\left(\max\left(0,1-\frac{\epsilon_{c(r')}-"
        r"\epsilon_{c(r)}}{2}\right)\right)^{r'+1}",
    ),
    tried_at=any_modulation,
    is_bound=True,
)
def eq_157_far(point: AllAdvantages) -> Errors:
    return Errors(_eq157(point.rest_far, clipped=False), _eq157(point.rest_far, clipped=True))


def _winners(y: Array, b: Array) -> Array:
    fields = Params.model_fields
    return sphere.winners(y, b, duration=fields["duration"].default, time_step=fields["time_step"].default)


def _error_rate(predictions: Array, outcomes: Array) -> float:
    """Among the starts that have settled, the share with another winner than predicted."""
    settled = outcomes != sphere.UNSETTLED
    return float((predictions != outcomes)[settled].mean())


FORMULAS: tuple[Formula, ...] = (
    eq_147,
    eq_150,
    eq_149,
    minus_b_is_stable,
    zero_is_unstable,
    eq_151,
    critical_time_falls,
    smallest_critical_time_wins,
    winner_of_two,
    basin_is_kept,
    eq_155,
    each_wins_alike,
    positive_modulation,
    negative_modulation,
    strong_modulation,
    eq_156_near,
    eq_157_near,
    eq_156_far,
    eq_157_far,
)
"""In the order of the table's rows."""
