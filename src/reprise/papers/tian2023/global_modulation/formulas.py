"""Checks the formulas of Theorem 6's proof, and of the remark after it, at random points."""

import numpy as np
import torch
from scipy.integrate import solve_ivp

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, relative_error, size
from reprise.papers.tian2023.global_modulation import probabilities, sphere
from reprise.papers.tian2023.global_modulation.experiment import Params

STARTS = 200


def climb(y0: float, b: float, times: Array, *, until: float = np.inf) -> tuple[Array, float]:
    """y at the given times, by numerical integration of Eq. 146, and the time when it passed `until`, or
    NaN."""

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


def solution(rng: Random, largest: int) -> Checked:
    """Eqs. 147, 149 and 150, for starts above 0, between -b and 0, and below -b."""
    b = rng.uniform(1, 3)
    y_above, y_between, y_below = (
        b * rng.uniform(0.05, 1),
        -b * rng.uniform(0.1, 0.9),
        -b * rng.uniform(1.2, 2),
    )
    t_star = float(sphere.critical_times(np.array(y_above), np.array(b)))
    formula, integrated = [], []
    for y0, end in ((y_above, 0.9 * t_star), (y_between, 3 / b), (y_below, 3 / b)):
        times = np.linspace(0, end, 9)[1:]
        formula.append(closed_form(y0, b, times))
        integrated.append(climb(y0, b, times)[0])
    huge = 1e9 * b  # from here, y needs a time of 1/huge to reach infinity
    _, explosion_time = climb(y_above, b, np.array([0, 1.01 * t_star]), until=huge)
    return Checked(
        {},
        {
            "thm6/closed-form": as_printed(
                relative_error(np.concatenate(formula), np.concatenate(integrated))
            ),
            "thm6/critical-time": as_printed(abs(t_star / explosion_time - 1)),
            "eq149/critical-time": as_printed(abs(y_above / (y_above + b) * np.exp(b * explosion_time) - 1)),
        },
    )


def critical_points(rng: Random, largest: int) -> Checked:
    """Figure 7: -b is stable, 0 is not."""
    b, share = rng.uniform(1, 3), rng.choice([-1, 1]) * rng.uniform(0.05, 0.5)
    (end,), _ = climb(-b * (1 + share), b, np.array([25 / b]))
    time, tiny = 3 / b, 1e-9 * rng.choice([-1, 1])
    (final,), _ = climb(tiny, b, np.array([time]))
    return Checked(
        {},
        {
            "fig7/stable": as_printed(abs(end / b + 1) / abs(share)),
            "fig7/unstable": as_printed(abs(final / tiny * np.exp(-b * time) - 1)),
        },
    )


def derivative(rng: Random, largest: int) -> Checked:
    """Eq. 151 against automatic differentiation of Eq. 150; t* decreases with b and with y(0)."""
    offset, start = rng.uniform(0.2, 3), rng.uniform(0.01, 1)
    b, y0 = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (offset, start))
    slope_b, slope_y0 = (float(d) for d in torch.autograd.grad(torch.log(1 + b / y0) / b, (b, y0)))
    ratio = offset / start
    eq151 = (ratio / (1 + ratio) - np.log(1 + ratio)) / offset**2
    return Checked(
        {},
        {
            "eq151/derivative": as_printed(abs(eq151 / slope_b - 1)),
            "eq151/sign": as_printed(below_zero(np.array([-slope_b, -slope_y0]))),
        },
    )


def unmodulated(rng: Random, largest: int) -> Checked:
    """Unit weights under equal b: the winner is the component with the smallest critical time."""
    dim, b = size(rng, 2, largest), rng.uniform(1.05, 3)
    y = sphere.uniform_starts(rng, STARTS, dim)
    error_rate = _error_rate(sphere.first_to_blow_up(y, np.full(dim, b)), _winners(y, np.full(dim, b)))
    return Checked({"dim": dim}, {"thm6/equal-winner": as_printed(error_rate)})


def two_patterns(rng: Random, largest: int) -> Checked:
    """Unit weights between two patterns, one of them modulated: the share of winners that a rule gets wrong.

    The printed rule takes the smallest critical time, computed as if the weight were never normalised. The
    corrected rule takes the largest g(y_l(0)) = y_l(0) + b_l; if both are equal, w is a critical point on the
    circle.
    """
    b, c = rng.uniform(1.05, 3), rng.uniform(0.2, 0.7)
    angle = (np.arange(STARTS) + rng.uniform(0.3, 0.7)) / STARTS * np.pi / 2
    y, offsets = np.stack([np.cos(angle), np.sin(angle)], -1), np.array([b + c, b])
    outcomes = _winners(y, offsets)
    errors = {
        "printed": _error_rate(sphere.first_to_blow_up(y, offsets), outcomes),
        "corrected": _error_rate((y + offsets).argmax(-1), outcomes),
    }
    return Checked({"dim": 2}, {"thm6-winner": errors})


def larger_basin(rng: Random, largest: int) -> Checked:
    """Theorem 6: every start that reaches u_1 still does when c is added to its offset."""
    dim, b, c = size(rng, 2, largest), rng.uniform(1.05, 3), rng.uniform(0.1, 1)
    y = sphere.uniform_starts(rng, STARTS, dim)
    offsets = np.full(dim, b)
    winners_before, winners_after = _winners(y, offsets), _winners(y, offsets + c * (np.arange(dim) == 0))
    lost = (winners_before == 0) & (winners_after != 0)
    return Checked({"dim": dim}, {"thm6/basin-kept": as_printed(float(lost.mean()))})


def single_modulation(rng: Random, largest: int) -> Checked:
    """Eq. 155 against the integral of Eq. 154, and the bounds after it."""
    dim = size(rng, 2, 2 * largest)

    def integral(epsilon: float) -> float:
        return probabilities.exact(0, np.insert(np.zeros(dim - 1), 0, epsilon))

    positive, strong, negative = rng.uniform(0.05, 0.95), rng.uniform(1.05, 2), rng.uniform(-0.95, -0.05)
    formula = np.array([probabilities.eq155(dim, epsilon) for epsilon in (0.0, positive, strong, negative)])
    expected = np.array([integral(epsilon) for epsilon in (0.0, positive, strong, negative)])
    any_negative = rng.uniform(-1.9, -0.05)
    bound = (1 + any_negative / 2) ** dim / dim
    return Checked(
        {"dim": dim},
        {
            "eq155/probability": as_printed(float(np.abs(formula / expected - 1).max())),
            "eq155/no-modulation": as_printed(abs(dim * expected[0] / (1 - 0.5**dim) - 1)),
            "eq155/positive": as_printed(max(0.0, positive / 2 - expected[1])),
            "eq155/negative": as_printed(max(0.0, integral(any_negative) - bound)),
            "eq155-positive": {
                "printed": max(0.0, strong / 2 - expected[2]),
                "corrected": max(0.0, min(strong, 1) / 2 - expected[2]),
            },
        },
    )


def any_modulation(rng: Random, largest: int) -> Checked:
    """Eqs. 156 and 157 if all patterns have advantages, close to each other or far apart."""
    dim = size(rng, 4, largest + 2)
    near_advantages = np.sort(rng.uniform(-0.45, 0.45, dim))[::-1]
    first_far = near_advantages.copy()
    first_far[0] += 1.95  # a gap of more than 1 to the second
    rest_far = near_advantages.copy()
    rest_far[3:] -= 2.95  # gaps of more than 2 to the third

    def eq156(epsilons: Array, gap: float) -> float:
        return max(0.0, gap / 2 - probabilities.exact(0, epsilons))

    def eq157(epsilons: Array, *, clipped: bool) -> float:
        return max(
            max(0.0, probabilities.exact(r - 1, epsilons) - probabilities.eq157(r, epsilons, clipped=clipped))
            for r in range(2, dim + 1)
        )

    gap = float(first_far[0] - first_far[1])
    return Checked(
        {"dim": dim},
        {
            "eq156/bound": as_printed(eq156(near_advantages, float(near_advantages[0] - near_advantages[1]))),
            "eq157/bound": as_printed(eq157(near_advantages, clipped=False)),
            "eq156": {"printed": eq156(first_far, gap), "corrected": eq156(first_far, min(gap, 1.0))},
            "eq157": {"printed": eq157(rest_far, clipped=False), "corrected": eq157(rest_far, clipped=True)},
        },
    )


def _winners(y: Array, b: Array) -> Array:
    fields = Params.model_fields
    return sphere.winners(y, b, duration=fields["duration"].default, time_step=fields["time_step"].default)


def _error_rate(predictions: Array, outcomes: Array) -> float:
    """Among the starts that have settled, the share with another winner than predicted."""
    settled = outcomes != sphere.UNSETTLED
    return float((predictions != outcomes)[settled].mean())


CHECKS = (
    solution,
    critical_points,
    derivative,
    unmodulated,
    two_patterns,
    larger_basin,
    single_modulation,
    any_modulation,
)
BOUNDS = (derivative, single_modulation, any_modulation)
"""Those that hold a bound or a sign, which a few points cannot show."""
