"""One unit h(wᵀ x) with w = (cos θ, sin θ): its objective, its motion, and where the motion comes to rest.

Eq. 2 stops the gradient through α, so a weight moves by dθ/ds = ∂/∂θ ½ C_α[h(wᵀ x)] with α held where it is:
the tangential part of A(w) w (Eq. 7). What attracts it are the angles at which this velocity turns from
positive to negative. Under a uniform α they are the local maxima of the objective; under another α the
objective drawn over θ also moves with α, and its maxima need not attract.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Array = np.ndarray
Angles = Float[Array, " angle"]
Outputs = Float[Array, "angle sample"]

FLAT = 1e-12
"""A velocity under this share of the data's mean square length is zero: the rounding of a constant
objective."""
SIDE = 1e-9
"""How far beside a jump its sides are looked up, in radians."""
HALVINGS = 60


@dataclass(frozen=True)
class Unit:
    """A unit and how its data are augmented and weighted.

    Attributes:
        angles, lengths: of the data; angles in radians.
        relu: else the activation is linear.
        tau: of the 1-D Gaussian α_ij = exp(-(f_i - f_j)²/(2τ)) (Corollary 2); infinite for a uniform α.
        rotation: data are augmented by rotations, uniform from -rotation to rotation, in radians; π is the
            whole group.
    """

    angles: Float[Array, " sample"]
    lengths: Float[Array, " sample"]
    relu: bool
    tau: float = math.inf
    rotation: float = 0.0

    def around(self, grid: int, first: float) -> Angles:
        """Equidistant angles all around the circle from `first` on, and both sides of every angle at which a
        point enters or leaves the active half: there the velocity jumps."""
        equidistant = first + 2 * math.pi * np.arange(grid) / grid
        borders = self.angles[:, None] + [math.pi / 2, -math.pi / 2] if self.relu else np.zeros((0, 2))
        sides = np.add.outer(borders, [-self.rotation - SIDE, -self.rotation + SIDE,
                                       self.rotation - SIDE, self.rotation + SIDE])  # fmt: skip
        return first + np.unique((np.concatenate([equidistant, sides.ravel()]) - first) % (2 * math.pi))

    def outputs(self, theta: Angles) -> tuple[Outputs, Outputs]:
        """f = E[h(wᵀ x) | x0] over the augmentation (Lemma 2, B.5's b) and its derivative by θ."""
        between = theta[:, None] - self.angles
        if self.rotation == 0:
            active = np.cos(between) > 0 if self.relu else 1.0
            return self.lengths * np.cos(between) * active, -self.lengths * np.sin(between) * active
        ahead, behind, width = between + self.rotation, between - self.rotation, 2 * self.rotation
        f = (self._integral(ahead) - self._integral(behind)) / width
        return self.lengths * f, self.lengths * (self._h(ahead) - self._h(behind)) / width

    def _h(self, angle: Outputs) -> Outputs:
        return np.maximum(np.cos(angle), 0) if self.relu else np.cos(angle)

    def _integral(self, angle: Outputs) -> Outputs:
        """∫ h(cos) up to a constant; each turn adds 2 where h is the ReLU."""
        if not self.relu:
            return np.sin(angle)
        turns = np.floor((angle + math.pi) / (2 * math.pi))
        return 2 * turns + np.sin(np.clip(angle - 2 * math.pi * turns, -math.pi / 2, math.pi / 2))

    def energy_and_velocity(self, theta: Angles) -> tuple[Angles, Angles]:
        """½ C_α[f] (Eqs. 3 and 5) and dθ/ds (Eq. 7)."""
        f, slope = self.outputs(theta)
        one, other = np.triu_indices(f.shape[1], 1)
        gaps, slopes = f[:, one] - f[:, other], slope[:, one] - slope[:, other]
        weighted = gaps / f.shape[1] ** 2
        if self.tau < math.inf:
            weighted *= np.exp(-np.square(gaps) / (2 * self.tau))
        return 0.5 * (weighted * gaps).sum(1), (weighted * slopes).sum(1)

    def direction(self, velocity: Angles) -> Angles:
        """1 or -1, or 0 for a velocity that is none."""
        return np.where(np.abs(velocity) > FLAT * np.square(self.lengths).mean(), np.sign(velocity), 0.0)


@dataclass(frozen=True)
class Optima:
    """The attracting angles of a unit.

    Attributes:
        angle: in radians.
        energy: ½ C_α there.
        depth: the integral of the velocity's size from there to the nearer edge (in this measure) of its
            basin: under a uniform α, by how much the energy must fall on the way out.
        speed: the velocity's size there, on the slower side: 0 at a critical point of Eq. 7. At a corner of
            the objective the velocity jumps through 0.
    """

    angle: Angles
    energy: Angles
    depth: Angles
    speed: Angles


def optima(unit: Unit, theta: Angles, velocity: Angles) -> Optima:
    """All of them, but for those between which the weight moves the same way at all angles looked up.

    Args:
        theta: increasing angles once around the circle (`Unit.around`).
        velocity: the unit's, there.
    """
    direction = unit.direction(velocity)
    if not (direction > 0).any() or not (direction < 0).any():
        return Optima(*np.zeros((4, 0)))
    moving = np.flatnonzero(direction)  # so that a plateau between ascent and descent is one optimum
    up = direction[moving] > 0
    moving = np.roll(moving, -np.flatnonzero(up & ~np.roll(up, 1))[0])  # from a trough on
    runs = np.flatnonzero(np.diff(direction[moving] > 0, prepend=False))  # of ascent and descent, in turns
    widths = (np.roll(theta, -1) - np.roll(theta, 1)) % (2 * math.pi) / 2
    rises = np.add.reduceat((velocity * widths)[moving], runs)
    low, high = theta[moving[runs[1::2] - 1]], theta[moving[runs[1::2]]]
    high = high + 2 * math.pi * (high < low)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        ascends = unit.direction(unit.energy_and_velocity(middle)[1]) > 0
        low, high = np.where(ascends, middle, low), np.where(ascends, high, middle)
    (energy, before), (energy_after, after) = (unit.energy_and_velocity(side) for side in (low, high))
    return Optima(
        angle=(low + high) / 2,
        energy=np.maximum(energy, energy_after),
        depth=np.minimum(rises[0::2], -rises[1::2]),
        speed=np.minimum(np.abs(before), np.abs(after)),
    )
