"""The formulas of Theorem 6's proof and of the remark after it, at random points."""

import numpy as np
import torch
from scipy.integrate import solve_ivp

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, relative_error, size
from reprise.papers.tian2023.global_modulation import probabilities, sphere
from reprise.papers.tian2023.global_modulation.params import Params

STARTS = 200


def climb(y0: float, b: float, times: Array, *, until: float = np.inf) -> tuple[Array, float]:
    """y at the times by numerical integration of Eq. 146, and when it passed `until` (NaN: not)."""

    def passed(_: float, y: Array) -> float:
        return float(y[0] - until) if np.isfinite(until) else 1.0

    passed.terminal = True  # type: ignore[attr-defined]
    span = (0.0, float(times[-1]))
    tolerances = {"rtol": 1e-12, "atol": 1e-20}
    solution = solve_ivp(
        lambda _, y: (y + b) * y, span, [y0], t_eval=times, events=passed, method="DOP853", **tolerances
    )
    found = solution.t_events[0]
    return solution.y[0], float(found[0]) if len(found) else np.nan


def closed_form(y0: float, b: float, times: Array) -> Array:
    """y(t) of Eq. 147."""
    ratio = y0 / (y0 + b) * np.exp(b * times)
    return b * ratio / (1 - ratio)


def solution(rng: Random, largest: int) -> Checked:
    """Eqs. 147, 149 and 150, from starts above 0, between -b and 0, and under -b."""
    b = rng.uniform(1, 3)
    above, between, under = b * rng.uniform(0.05, 1), -b * rng.uniform(0.1, 0.9), -b * rng.uniform(1.2, 2)
    t_star = float(sphere.critical_times(np.array(above), np.array(b)))
    found, expected = [], []
    for y0, end in ((above, 0.9 * t_star), (between, 3 / b), (under, 3 / b)):
        times = np.linspace(0, end, 9)[1:]
        found.append(closed_form(y0, b, times))
        expected.append(climb(y0, b, times)[0])
    huge = 1e9 * b  # from where the rest of the way takes 1/huge
    _, blown_up = climb(above, b, np.array([0, 1.01 * t_star]), until=huge)
    return Checked(
        {},
        {
            "thm6/closed-form": as_printed(relative_error(np.concatenate(found), np.concatenate(expected))),
            "thm6/critical-time": as_printed(abs(t_star / blown_up - 1)),
            "eq149/critical-time": as_printed(abs(above / (above + b) * np.exp(b * blown_up) - 1)),
        },
    )


def critical_points(rng: Random, largest: int) -> Checked:
    """Figure 7: -b is stable, 0 is not."""
    b, share = rng.uniform(1, 3), rng.choice([-1, 1]) * rng.uniform(0.05, 0.5)
    (end,), _ = climb(-b * (1 + share), b, np.array([25 / b]))
    time, tiny = 3 / b, 1e-9 * rng.choice([-1, 1])
    (grown,), _ = climb(tiny, b, np.array([time]))
    return Checked(
        {},
        {
            "fig7/stable": as_printed(abs(end / b + 1) / abs(share)),
            "fig7/unstable": as_printed(abs(grown / tiny * np.exp(-b * time) - 1)),
        },
    )


def derivative(rng: Random, largest: int) -> Checked:
    """Eq. 151 against automatic differentiation of Eq. 150; a larger b or y(0) makes t* smaller."""
    offset, start = rng.uniform(0.2, 3), rng.uniform(0.01, 1)
    b, y0 = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (offset, start))
    by_b, by_y0 = (float(d) for d in torch.autograd.grad(torch.log(1 + b / y0) / b, (b, y0)))
    ratio = offset / start
    eq151 = (ratio / (1 + ratio) - np.log(1 + ratio)) / offset**2
    return Checked(
        {},
        {
            "eq151/derivative": as_printed(abs(eq151 / by_b - 1)),
            "eq151/sign": as_printed(below_zero(np.array([-by_b, -by_y0]))),
        },
    )


def unmodulated(rng: Random, largest: int) -> Checked:
    """Unit weights under equal b: the winner is the component with the smallest critical time."""
    dim, b = size(rng, 2, largest), rng.uniform(1.05, 3)
    y = sphere.uniform_starts(rng, STARTS, dim)
    missed = _missed(sphere.first_to_blow_up(y, np.full(dim, b)), _winners(y, np.full(dim, b)))
    return Checked({"dim": dim}, {"thm6/equal-winner": as_printed(missed)})


def two_patterns(rng: Random, largest: int) -> Checked:
    """Unit weights between two patterns, one of them modulated: the share of winners that a rule misses.

    Printed: the smallest critical time, which is computed as if the weight were never normalised. Corrected:
    the largest g(y_l(0)) = y_l(0) + b_l; where the two are equal, w is a critical point on the circle.
    """
    b, c = rng.uniform(1.05, 3), rng.uniform(0.2, 0.7)
    angle = (np.arange(STARTS) + rng.uniform(0.3, 0.7)) / STARTS * np.pi / 2
    y, offsets = np.stack([np.cos(angle), np.sin(angle)], -1), np.array([b + c, b])
    found = _winners(y, offsets)
    errors = {
        "printed": _missed(sphere.first_to_blow_up(y, offsets), found),
        "corrected": _missed((y + offsets).argmax(-1), found),
    }
    return Checked({"dim": 2}, {"thm6-winner": errors})


def larger_basin(rng: Random, largest: int) -> Checked:
    """Theorem 6: no start that reaches u_1 is lost when c is added to its offset."""
    dim, b, c = size(rng, 2, largest), rng.uniform(1.05, 3), rng.uniform(0.1, 1)
    y = sphere.uniform_starts(rng, STARTS, dim)
    offsets = np.full(dim, b)
    before, after = _winners(y, offsets), _winners(y, offsets + c * (np.arange(dim) == 0))
    lost = (before == 0) & (after != 0)
    return Checked({"dim": dim}, {"thm6/basin-kept": as_printed(float(lost.mean()))})


def single_modulation(rng: Random, largest: int) -> Checked:
    """Eq. 155 against the integral of Eq. 154, and the bounds after it."""
    dim = size(rng, 2, 2 * largest)

    def integral(epsilon: float) -> float:
        return probabilities.exact(0, np.insert(np.zeros(dim - 1), 0, epsilon))

    positive, strong, negative = rng.uniform(0.05, 0.95), rng.uniform(1.05, 2), rng.uniform(-0.95, -0.05)
    found = np.array([probabilities.eq155(dim, epsilon) for epsilon in (0.0, positive, strong, negative)])
    expected = np.array([integral(epsilon) for epsilon in (0.0, positive, strong, negative)])
    any_negative = rng.uniform(-1.9, -0.05)
    bound = (1 + any_negative / 2) ** dim / dim
    return Checked(
        {"dim": dim},
        {
            "eq155/probability": as_printed(float(np.abs(found / expected - 1).max())),
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
    """Eqs. 156 and 157 for advantages of all patterns, close to each other and far apart."""
    dim = size(rng, 4, largest + 2)
    close = np.sort(rng.uniform(-0.45, 0.45, dim))[::-1]
    far = close.copy()
    far[0] += 1.95  # a gap of more than 1 to the second
    low = close.copy()
    low[3:] -= 2.95  # gaps of more than 2 to the third

    def eq156(epsilons: Array, gap: float) -> float:
        return max(0.0, gap / 2 - probabilities.exact(0, epsilons))

    def eq157(epsilons: Array, *, clipped: bool) -> float:
        return max(
            max(0.0, probabilities.exact(r - 1, epsilons) - probabilities.eq157(r, epsilons, clipped=clipped))
            for r in range(2, dim + 1)
        )

    gap = float(far[0] - far[1])
    return Checked(
        {"dim": dim},
        {
            "eq156/bound": as_printed(eq156(close, float(close[0] - close[1]))),
            "eq157/bound": as_printed(eq157(close, clipped=False)),
            "eq156": {"printed": eq156(far, gap), "corrected": eq156(far, min(gap, 1.0))},
            "eq157": {"printed": eq157(low, clipped=False), "corrected": eq157(low, clipped=True)},
        },
    )


def _winners(y: Array, b: Array) -> Array:
    fields = Params.model_fields
    return sphere.winners(y, b, duration=fields["duration"].default, time_step=fields["time_step"].default)


def _missed(predicted: Array, found: Array) -> float:
    """The share of the starts with another winner than predicted, of those that have settled."""
    settled = found != sphere.UNSETTLED
    return float((predicted != found)[settled].mean())


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
