"""One unit h(wᵀ x) with w = (cos θ, sin θ): its objective, its motion, and the angles that attract it.

Eq. 2 stops the gradient through α, so a weight moves by dθ/ds = ∂/∂θ ½ C_α[h(wᵀ x)] with α held fixed, which
is the tangential part of A(w) w (Eq. 7). Angles at which this velocity changes from positive to negative
attract the weight. Under a uniform α they are the local maxima of the objective. Any other α changes along
the curve of the objective over θ, whose maxima need not attract.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

Array = np.ndarray
Angles = Float[Array, " angle"]
Outputs = Float[Array, "angle sample"]
Gaps = Float[Array, "angle pair"]
Importance = Callable[[Gaps], Gaps]

FLAT = 1e-12
"""A velocity below this share of the data's mean square length counts as zero: it is rounding error."""
SIDE = 1e-9
"""Distance from a jump at which its two sides are evaluated, in radians."""
HALVINGS = 60


def uniform(gaps: Gaps) -> Gaps:
    """α_ij = 1, that of the quadratic loss."""
    return np.ones_like(gaps)


def gaussian(gaps: Gaps, tau: float) -> Gaps:
    """α_ij = exp(-(f_i - f_j)²/(2τ)), the 1-D Gaussian of Corollary 2."""
    return np.exp(-np.square(gaps) / (2 * tau))


def infonce(gaps: Gaps, tau: float) -> Gaps:
    """α_ij = exp(-d_ij²/τ) / Σ_{j≠i} exp(-d_ij²/τ) with d_ij² = (f_i - f_j)²/2, InfoNCE's own with ε = 0
    (Section 2): the Gaussian one, with rows that sum to 1. The mean of α_ij and α_ji is returned, because
    Eq. 3 sums over both."""
    alpha = gaussian(gaps, tau)
    samples = (1 + math.isqrt(1 + 8 * gaps.shape[1])) // 2
    i, j = np.triu_indices(samples, 1)
    sums = alpha @ (np.eye(samples)[i] + np.eye(samples)[j])
    return alpha * (1 / sums[:, i] + 1 / sums[:, j]) / 2


@dataclass(frozen=True)
class Unit:
    """A unit, with the augmentation and weighting of its data.

    Attributes:
        angles, lengths: polar coordinates of the data; angles in radians.
        relu: whether the activation is ReLU rather than linear.
        alpha: maps the gaps f_i - f_j between outputs, i < j, to the importances α_ij.
        rotation: data are augmented by rotations, uniform from -rotation to rotation, in radians; π gives the
            whole group.
    """

    angles: Float[Array, " sample"]
    lengths: Float[Array, " sample"]
    relu: bool
    alpha: Importance = uniform
    rotation: float = 0.0

    def around(self, grid: int, first: float) -> Angles:
        """Equidistant angles around the circle, starting at `first`, and both sides of every angle at which a
        point enters or leaves the active half, where the velocity jumps."""
        equidistant = first + 2 * math.pi * np.arange(grid) / grid
        borders = self.angles[:, None] + [math.pi / 2, -math.pi / 2] if self.relu else np.zeros((0, 2))
        sides = np.add.outer(borders, [-self.rotation - SIDE, -self.rotation + SIDE,
                                       self.rotation - SIDE, self.rotation + SIDE])  # fmt: skip
        return first + np.unique((np.concatenate([equidistant, sides.ravel()]) - first) % (2 * math.pi))

    def outputs(self, theta: Angles) -> tuple[Outputs, Outputs]:
        """f = E[h(wᵀ x) | x0] over the augmentation (Lemma 2; b in Appendix B.5) and its derivative by θ."""
        difference = theta[:, None] - self.angles
        if self.rotation == 0:
            active = np.cos(difference) > 0 if self.relu else 1.0
            return self.lengths * np.cos(difference) * active, -self.lengths * np.sin(difference) * active
        upper, lower, width = difference + self.rotation, difference - self.rotation, 2 * self.rotation
        f = (self._integral(upper) - self._integral(lower)) / width
        return self.lengths * f, self.lengths * (self._h(upper) - self._h(lower)) / width

    def _h(self, angle: Outputs) -> Outputs:
        return np.maximum(np.cos(angle), 0) if self.relu else np.cos(angle)

    def _integral(self, angle: Outputs) -> Outputs:
        """∫ h(cos) up to a constant; for ReLU each full turn adds 2."""
        if not self.relu:
            return np.sin(angle)
        turns = np.floor((angle + math.pi) / (2 * math.pi))
        return 2 * turns + np.sin(np.clip(angle - 2 * math.pi * turns, -math.pi / 2, math.pi / 2))

    def energy_and_velocity(self, theta: Angles) -> tuple[Angles, Angles]:
        """½ C_α[f] (Eqs. 3 and 5) and dθ/ds (Eq. 7)."""
        f, slope = self.outputs(theta)
        i, j = np.triu_indices(f.shape[1], 1)
        gaps, slopes = f[:, i] - f[:, j], slope[:, i] - slope[:, j]
        weights = gaps / f.shape[1] ** 2 * self.alpha(gaps)
        return 0.5 * (weights * gaps).sum(1), (weights * slopes).sum(1)

    def direction(self, velocity: Angles) -> Angles:
        """The sign of the velocity: 1, -1, or 0 if it counts as zero."""
        return np.where(np.abs(velocity) > FLAT * np.square(self.lengths).mean(), np.sign(velocity), 0.0)


@dataclass(frozen=True)
class Optima:
    """The attracting angles of a unit.

    Attributes:
        angle: the angle, in radians.
        energy: ½ C_α at the angle.
        depth: the integral of the speed from the angle to its basin's nearer edge, in this measure. Under a
            uniform α it is the energy that must be lost to leave the basin.
        speed: the speed at the angle, on its slower side. It is 0 at a critical point of Eq. 7; at a corner
            of the objective the velocity jumps through 0.
        edge: the first angle of the grid from which the weight ascends to it.
    """

    angle: Angles
    energy: Angles
    depth: Angles
    speed: Angles
    edge: Angles


def optima(unit: Unit, theta: Angles, velocity: Angles) -> Optima:
    """Finds a unit's attracting angles, except pairs that the grid `theta` is too coarse to separate.

    Args:
        theta: increasing angles once around the circle (`Unit.around`).
        velocity: the unit's velocity at these angles.
    """
    direction = unit.direction(velocity)
    if not (direction > 0).any() or not (direction < 0).any():
        return Optima(*np.zeros((5, 0)))
    moving_indices = np.flatnonzero(direction)  # so that a plateau between ascent and descent is one optimum
    ascending = direction[moving_indices] > 0
    moving_indices = np.roll(
        moving_indices, -np.flatnonzero(ascending & ~np.roll(ascending, 1))[0]
    )  # starting from a trough
    runs = np.flatnonzero(
        np.diff(direction[moving_indices] > 0, prepend=False)
    )  # starts of alternating ascents and descents
    widths = (np.roll(theta, -1) - np.roll(theta, 1)) % (2 * math.pi) / 2
    rises = np.add.reduceat((velocity * widths)[moving_indices], runs)
    low, high = theta[moving_indices[runs[1::2] - 1]], theta[moving_indices[runs[1::2]]]
    high = high + 2 * math.pi * (high < low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        ascends = unit.direction(unit.energy_and_velocity(middle)[1]) > 0
        low, high = np.where(ascends, middle, low), np.where(ascends, high, middle)
    (energy_before, speed_before), (energy_after, speed_after) = (
        unit.energy_and_velocity(side) for side in (low, high)
    )
    return Optima(
        angle=(low + high) / 2,
        energy=np.maximum(energy_before, energy_after),
        depth=np.minimum(rises[0::2], -rises[1::2]),
        speed=np.minimum(np.abs(speed_before), np.abs(speed_after)),
        edge=theta[moving_indices[runs[0::2]]],
    )


def reached(edges: Angles, starts: Float[Array, "*start"]) -> Int[Array, "*start"]:
    """The number of the basin that each start lies in.

    Args:
        edges: the angles at which the basins begin.
        starts: angles.
    """
    full = 2 * math.pi
    return np.searchsorted(np.sort(edges % full), starts % full, side="right") % max(len(edges), 1)
