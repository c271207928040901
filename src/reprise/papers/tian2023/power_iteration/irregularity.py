"""Definition 4, B_γ, and a sufficient condition for that of Theorem 3.

c = wᵀ ϕ1(w), gap = λ1 - λ2, L is a Lipschitz constant of A(w) in the spectral norm, and κ bounds the
second-order change of the first eigenvector (Lemma 9).
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

Array = np.ndarray
Vector = Float[Array, " dim"]
Square = Float[Array, "dim dim"]


def eigenpairs(a: Square) -> tuple[Vector, Square]:
    """Eigenvalues of a symmetric matrix, largest first, and their eigenvectors as columns."""
    values, vectors = np.linalg.eigh(a)
    return values[::-1], vectors[:, ::-1]


def first_eigenvector(a: Square, near: Vector) -> Vector:
    """ϕ1, with the sign that makes its product with `near` positive."""
    phi = eigenpairs(a)[1][:, 0]
    return phi * math.copysign(1.0, phi @ near)


def mu(c: float, ratio: float) -> float:
    """μ = (1 + c) / (2 c²) ratio², ratio = λ2/λ1 = 1 - gap/λ1 (Eq. 182)."""
    return (1 + c) / (2 * c**2) * ratio**2


def nu(c: float, ratio: float, gap: float, lipschitz: float, kappa: float) -> float:
    """ν = 2κL²(1 + μc) + 2L/gap √(μ(1 + μc)) (Eq. 193)."""
    m = mu(c, ratio)
    return 2 * kappa * lipschitz**2 * (1 + m * c) + 2 * lipschitz / gap * math.sqrt(m * (1 + m * c))


def omega(c: float, ratio: float, gap: float, lipschitz: float, kappa: float) -> float:
    """The irregularity ω = μ + ν (Eq. 10)."""
    return mu(c, ratio) + nu(c, ratio, gap, lipschitz, kappa)


def ball_radius(gamma: float, c0: float) -> float:
    """Radius of B_γ, as a distance from w(0) (Eq. 204)."""
    return math.sqrt(2 * (1 + gamma) * (1 - c0)) / (1 - math.sqrt(gamma))


def ball_threshold(gamma: float, c0: float) -> float:
    """The smallest wᵀ w(0) in B_γ (Theorem 3)."""
    c_gamma = 2 * math.sqrt(gamma) / (1 + gamma)
    return (c0 - c_gamma) / (1 - c_gamma)


def kappa_bound(gap: float, size: float) -> float:
    """A κ for Lemma 9 that holds for any change of a matrix with ‖δA‖₂ ≤ size < gap/2.

    Let e = ‖δA‖₂, and let the new ϕ1' be parallel to ϕ1 + t with t ⊥ ϕ1. On ϕ1's complement,
    t = (λ1' - A₂ - δA₂)⁻¹ δA ϕ1, where λ1' - A₂ - δA₂ is at least gap - 2e. Hence ‖t‖ ≤ e/(gap - 2e) and
    ‖t - Δϕ1‖ ≤ 2e²/(gap (gap - 2e)); normalising adds at most ‖t‖²/2.
    """
    remainder = gap - 2 * size
    return 2 / (gap * remainder) + 1 / (2 * remainder**2)


@dataclass(frozen=True)
class Affine:
    """A(w) = constant + Σ_k w_k slopes_k with symmetric matrices: smooth, with a known Lipschitz constant."""

    constant: Square
    slopes: Float[Array, "k dim dim"]

    def __call__(self, w: Vector) -> Square:
        return self.constant + np.tensordot(w, self.slopes, 1)

    @property
    def lipschitz(self) -> float:
        """‖Σ_k δ_k S_k‖₂ ≤ ‖Σ_k δ_k S_k‖_F ≤ (largest singular value of the S_k as rows) ‖δ‖."""
        return float(np.linalg.norm(self.slopes.reshape(len(self.slopes), -1), 2))


@dataclass(frozen=True)
class Certificate:
    """A proof of Theorem 3's condition at a start: ω ≤ γ on all of B_γ.

    Attributes:
        kappa: a κ that holds for any two points of B_γ.
        omega: an upper bound on ω in B_γ.
    """

    gamma: float
    c0: float
    lipschitz: float
    kappa: float
    omega: float

    @property
    def radius(self) -> float:
        return ball_radius(self.gamma, self.c0)


def certificate(a0: Square, w0: Vector, lipschitz: float) -> Certificate | None:
    """The certificate with the smallest γ for which the bound suffices, or None.

    Within a distance r of w(0), A(w) differs from A(w(0)) by at most Lr. So λ1 falls and λ2 rises by at most
    that (Weyl), and ϕ1 rotates by at most the angle with tangent Lr/(gap - 2Lr) (see `kappa_bound`). ω
    decreases with c and gap and increases with λ2/λ1.

    Args:
        a0: A(w(0)).
    """
    values, _ = eigenpairs(a0)
    c0 = min(1.0, float(first_eigenvector(a0, w0) @ w0))
    for gamma in np.linspace(0.01, 0.99, 99):
        radius = ball_radius(gamma, c0)
        change = lipschitz * radius
        gap = values[0] - values[1] - 2 * change
        if radius >= 2 or gap - 4 * change <= 0:
            continue
        kappa = kappa_bound(gap, 2 * change)
        angle = math.acos(c0) + 2 * math.asin(radius / 2) + math.atan2(change, gap)
        if angle >= math.pi / 2:
            continue
        ratio = (values[1] + change) / (values[0] - change)
        bound = omega(math.cos(angle), ratio, gap, lipschitz, kappa)
        if bound <= gamma:
            return Certificate(float(gamma), c0, lipschitz, kappa, bound)
    return None
