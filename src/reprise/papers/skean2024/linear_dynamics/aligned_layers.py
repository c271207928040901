"""Appendices D.2 and E.4: layers aligned with the data's singular vectors, and how their values move."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error
from reprise.papers.skean2024.linear_dynamics import formulas
from reprise.papers.skean2024.linear_dynamics.points import Aligned, Point, orthonormal, random_aligned
from reprise.papers.skean2024.linear_views import LOSSES, closed_form


def equation_30(rng: Random, largest: int) -> Checked:
    """Eqs. 30 to 32 from Eq. 12 as printed, and from the gradient."""
    at = random_aligned(rng, largest)
    lam, gamma, c = at.leading
    s1, s2 = at.s
    eq30 = formulas.eq30(s1, lam, gamma)
    # Eq. 12 as printed, of the layers that Eq. 30 is about: S2 = S1, both views with the same left vectors.
    meant = replace(at, s=(s1, s1), left=(at.left[0], at.left[0])).point
    (w1, w2), g1 = meant.w, meant.gamma[0]
    eq12 = -2 * (w1 @ g1 + 2 * w2 @ meant.cross.T + 2 * w1 @ g1 @ w1.T @ w1 @ g1)
    motion = at.velocity(at.s)[0]
    return Checked(
        at.point.sizes,
        {
            "eq30-sign": {
                "printed": relative_error(at.u * eq30 @ at.top, eq12),
                "corrected": relative_error(at.u * (eq30 - 4 * s1 * lam) @ at.top, eq12),
            },
            "eq30": {
                "printed": relative_error(np.diag(eq30), motion),
                "corrected": relative_error(np.diag(formulas.singular_velocity(s1, s2, lam, c)), motion),
            },
            "eq31/from-eq30": as_printed(relative_error(formulas.eq31(s1, lam, gamma), eq30)),
            "eq32": {
                "printed": relative_error(formulas.eq32(s1, lam, gamma), np.diag(motion)),
                "corrected": relative_error(formulas.singular_velocity(s1, s2, lam, c), np.diag(motion)),
            },
            "eq32/from-eq31": as_printed(relative_error(formulas.eq32(s1, lam, gamma), eq30)),
        },
    )


def proposition_d1(rng: Random, largest: int) -> Checked:
    """What turns the singular vectors of W1: its motion off the diagonal, relative to all of it."""
    at = random_aligned(rng, largest)
    frame = orthonormal(rng, *at.left[0].shape)
    other_u = orthonormal(rng, len(at.u), len(at.u))
    point = at.point
    turned = Point(point.x, (point.w[0], other_u * at.s[1] @ at.top))
    unrelated = replace(at, left=(at.left[0], frame))
    kept = _turning(at, at.point)
    return Checked(
        point.sizes,
        {
            "propD1-left-vectors": {"printed": _turning(at, turned), "corrected": kept},
            "propD1-eigenvectors": {"printed": _turning(at, unrelated.point), "corrected": kept},
        },
    )


def _turning(of: Aligned, at: Point) -> float:
    """Of W1 = U S V̂."""
    gradient = at.gradient()[0]
    within = of.u.T @ gradient @ of.top.T
    return relative_error(of.u @ np.diag(np.diag(within)) @ of.top, gradient)


def solutions(rng: Random, largest: int) -> Checked:
    """Eqs. 18 and 33 against the equation that they solve, and against gradient flow from λ = γ, s1 = s2."""
    at = random_aligned(rng, largest, alike=True)
    lam, gamma, c = at.leading
    start = 0.1 * at.s[0]
    time = np.linspace(0, 4, 9)[1:]
    eq18 = formulas.eq18(start, lam, gamma, time)
    solved = _solved(lambda s: formulas.eq32(s, lam, gamma), start, time)
    flows = {name: _solved(partial(_flow, at, name), start, time) for name in LOSSES}
    forms = {name: np.sqrt(closed_form(name, lam, c, start, time)) for name in flows}
    # So late that the slowest mode has come to rest.
    late = np.array([40 / (lam + c).min()])
    end = _solved(partial(_flow, at, "frossl"), start, late)
    plateau = np.sqrt((1 + at.rho[: len(lam)]) / 2 / lam)
    return Checked(
        at.point.sizes,
        {
            "eq18/solves-eq32": as_printed(relative_error(eq18, solved)),
            "eq33/general": as_printed(relative_error(formulas.eq33(start, lam, gamma, time), solved)),
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


def _flow(at: Aligned, loss: str, s: Array) -> Array:
    """ds/dt of both layers by the loss's gradient in the embeddings."""
    point = at.at((s, s))
    x, w = np.stack(point.x), np.stack(point.w)
    gradient = LOSSES[loss].gradient(x @ w.swapaxes(1, 2))
    return -np.diag(at.u.T @ gradient[0].T @ x[0] @ at.top.T)


def collapse(rng: Random, largest: int) -> Checked:
    """Eq. 32 and its solution take every s to 0 where γ > λ / 4: what is left of it."""
    at = random_aligned(rng, largest)
    lam, gamma, _ = at.leading
    late = np.array([20 / (2 * np.sqrt(lam * gamma) - lam).min()])
    left = formulas.eq18(at.s[0], lam, gamma, late) / at.s[0]
    return Checked(at.point.sizes, {"eq32/collapses": as_printed(float(left.max()))})


def _solved(velocity: Callable[[Array], Array], start: Array, time: Array) -> Array:
    """Shape [time, mode]."""
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
