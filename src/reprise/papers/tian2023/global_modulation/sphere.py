"""Dynamics of unit weights: ẇ = P⊥_w Σ_l g_l(u_lᵀ w) u_l u_lᵀ w with g_l(y) = y + b_l and y = Uᵀ w."""

import numpy as np

from reprise.evidence.identities import Array, Random

NONE, UNSETTLED = -1, -2
SETTLED = 0.99


def uniform_starts(rng: Random, starts: int, dim: int) -> Array:
    """Random starts, uniform on the sphere. Shape [start, dim]."""
    y = rng.normal(size=(starts, dim))
    return y / np.linalg.norm(y, axis=1, keepdims=True)


def critical_times(y: Array, b: Array) -> Array:
    """Critical times t*_l of Eq. 150, infinite if y_l(0) <= 0. Shapes [..., dim]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y > 0, np.log1p(b / y) / b, np.inf)


def first_to_blow_up(y: Array, b: Array) -> Array:
    """argmin_l t*_l, or NONE if no component is positive. Shape [...]."""
    times = critical_times(y, b)
    return np.where(np.isfinite(times.min(-1)), times.argmin(-1), NONE)


def winners(y: Array, b: Array, *, duration: float, time_step: float) -> Array:
    """The l with w -> u_l; NONE if all components start negative, UNSETTLED if w has not settled by
    `duration`.

    Args:
        y: starts. Shape [..., dim].
        b: offsets, which broadcast with y.
    """

    def velocity(y: Array) -> Array:
        climb = (y + b) * y
        return climb - np.einsum("...l,...l->...", y, climb)[..., None] * y

    hopeless = (y <= 0).all(-1)
    for _ in range(round(duration / time_step)):
        k1 = velocity(y)
        k2 = velocity(y + time_step / 2 * k1)
        k3 = velocity(y + time_step / 2 * k2)
        k4 = velocity(y + time_step * k3)
        y = y + time_step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    winner = np.where(y.max(-1) > SETTLED, y.argmax(-1), UNSETTLED)
    return np.where(hopeless, NONE, winner)
