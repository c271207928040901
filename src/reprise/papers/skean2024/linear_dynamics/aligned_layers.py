"""Appendices D.2 and E.4: layers aligned with the data's singular vectors, and the motion of their values."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from reprise.evidence.identities import Array, Checked, Random, as_printed, orthonormal, relative_error
from reprise.papers.skean2024.linear_dynamics import formulas
from reprise.papers.skean2024.linear_dynamics.points import Aligned, Point, random_aligned
from reprise.papers.skean2024.linear_views import LOSSES, closed_form


def equation_30(rng: Random, largest: int) -> Checked:
    """Eqs. 30 to 32, against Eq. 12 as printed and against the gradient."""
    aligned = random_aligned(rng, largest)
    lam, gamma, c = aligned.leading
    s1, s2 = aligned.s
    eq30 = formulas.eq30(s1, lam, gamma)
    # Eq. 12 as printed, for the layers of Eq. 30: S2 = S1, and the same left vectors in both views.
    point = replace(aligned, s=(s1, s1), left=(aligned.left[0], aligned.left[0])).point
    (w1, w2), g1 = point.w, point.gamma[0]
    eq12 = -2 * (w1 @ g1 + 2 * w2 @ point.cross.T + 2 * w1 @ g1 @ w1.T @ w1 @ g1)
    velocity = aligned.velocity(aligned.s)[0]
    return Checked(
        aligned.point.sizes,
        {
            "eq30-sign": {
                "printed": relative_error(aligned.u * eq30 @ aligned.top, eq12),
                "corrected": relative_error(aligned.u * (eq30 - 4 * s1 * lam) @ aligned.top, eq12),
            },
            "eq30": {
                "printed": relative_error(np.diag(eq30), velocity),
                "corrected": relative_error(np.diag(formulas.singular_velocity(s1, s2, lam, c)), velocity),
            },
            "eq31/from-eq30": as_printed(relative_error(formulas.eq31(s1, lam, gamma), eq30)),
            "eq32": {
                "printed": relative_error(formulas.eq32(s1, lam, gamma), np.diag(velocity)),
                "corrected": relative_error(formulas.singular_velocity(s1, s2, lam, c), np.diag(velocity)),
            },
            "eq32/from-eq31": as_printed(relative_error(formulas.eq32(s1, lam, gamma), eq30)),
        },
    )


def proposition_d1(rng: Random, largest: int) -> Checked:
    """The rotation of W1's singular vectors: its motion off the diagonal, relative to the whole motion."""
    aligned = random_aligned(rng, largest)
    frame = orthonormal(rng, *aligned.left[0].shape)
    other_u = orthonormal(rng, len(aligned.u), len(aligned.u))
    point = aligned.point
    rotated = Point(point.x, (point.w[0], other_u * aligned.s[1] @ aligned.top))
    unrelated = replace(aligned, left=(aligned.left[0], frame))
    unchanged = _rotation(aligned, aligned.point)
    return Checked(
        point.sizes,
        {
            "propD1-left-vectors": {"printed": _rotation(aligned, rotated), "corrected": unchanged},
            "propD1-eigenvectors": {"printed": _rotation(aligned, unrelated.point), "corrected": unchanged},
        },
    )


def _rotation(aligned: Aligned, point: Point) -> float:
    """Relative size of the motion of W1 = U S V̂ off the diagonal."""
    gradient = point.gradient()[0]
    within = aligned.u.T @ gradient @ aligned.top.T
    return relative_error(aligned.u @ np.diag(np.diag(within)) @ aligned.top, gradient)


def solutions(rng: Random, largest: int) -> Checked:
    """Eqs. 18 and 33, against the equation they solve and against gradient flow from λ = γ, s1 = s2."""
    aligned = random_aligned(rng, largest, alike=True)
    lam, gamma, c = aligned.leading
    start = 0.1 * aligned.s[0]
    time = np.linspace(0, 4, 9)[1:]
    eq18 = formulas.eq18(start, lam, gamma, time)
    numerical = _integrate(lambda s: formulas.eq32(s, lam, gamma), start, time)
    flows = {name: _integrate(partial(_flow, aligned, name), start, time) for name in LOSSES}
    forms = {name: np.sqrt(closed_form(name, lam, c, start, time)) for name in flows}
    # Late enough for the slowest mode to have converged.
    late = np.array([40 / (lam + c).min()])
    end = _integrate(partial(_flow, aligned, "frossl"), start, late)
    plateau = np.sqrt((1 + aligned.rho[: len(lam)]) / 2 / lam)
    return Checked(
        aligned.point.sizes,
        {
            "eq18/solves-eq32": as_printed(relative_error(eq18, numerical)),
            "eq33/general": as_printed(relative_error(formulas.eq33(start, lam, gamma, time), numerical)),
            "eq18": {
                "printed": relative_error(eq18, flows["frossl"]),
                "corrected": relative_error(forms["frossl"], flows["frossl"]),
            },
            "eq18-limit": {
                "printed": relative_error(formulas.eq18(start, lam, gamma, late), end),
                "corrected": relative_error(plateau, end[0]),
            },
            "barlow/closed-form": as_printed(relative_error(forms["barlow"], flows["barlow"])),
        },
    )


def _flow(aligned: Aligned, loss: str, s: Array) -> Array:
    """ds/dt of both layers, from the loss's gradient for the embeddings."""
    point = aligned.at((s, s))
    x, w = np.stack(point.x), np.stack(point.w)
    gradient = LOSSES[loss].gradient(x @ w.swapaxes(1, 2))
    return -np.diag(aligned.u.T @ gradient[0].T @ x[0] @ aligned.top.T)


def collapse(rng: Random, largest: int) -> Checked:
    """Eq. 32 and its solution take every s to 0 if γ > λ / 4; measures the remaining fraction."""
    aligned = random_aligned(rng, largest)
    lam, gamma, _ = aligned.leading
    late = np.array([20 / (2 * np.sqrt(lam * gamma) - lam).min()])
    remainder = formulas.eq18(aligned.s[0], lam, gamma, late) / aligned.s[0]
    return Checked(aligned.point.sizes, {"eq32/collapses": as_printed(float(remainder.max()))})


def _integrate(velocity: Callable[[Array], Array], start: Array, time: Array) -> Array:
    """Integrates ds/dt numerically. Shape [time, mode]."""
    path = solve_ivp(
        lambda _, s: velocity(s),
        (0, time[-1]),
        start,
        "DOP853",
        t_eval=time,
        rtol=1e-10,
        atol=1e-13,
    )
    return path.y.T


CHECKS = (equation_30, proposition_d1, solutions, collapse)
