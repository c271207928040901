"""Theorem 2 and Corollary 2: how fast A(w) w* changes with w, for smooth densities on a ball."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, size
from reprise.papers.tian2023.dynamics.kernels import gaussian_features
from reprise.papers.tian2023.dynamics.points import tensor

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

NODES = 32
"""Gauss-Legendre nodes per axis; the densities are entire functions, so quadrature is exact to rounding."""


@dataclass(frozen=True)
class Ball:
    """p_D ∝ exp(quadratic) on a ball of radius C0 in 2 or 3 dimensions, with features φ_l = exp(linear).

    Attributes:
        frame: orthonormal columns; the first is w*.
    """

    radius: float
    frame: Array
    linear: Array
    quadratic: Array
    feature_slopes: Array
    feature_sizes: Array

    @property
    def dim(self) -> int:
        return len(self.frame)

    @property
    def sizes(self) -> dict[str, int]:
        return {"inputs": self.dim, "classes": len(self.feature_sizes)}

    @property
    def w(self) -> Tensor:
        return tensor(self.frame[:, 0])

    @property
    def volume(self) -> float:
        from scipy.special import gamma

        return float(np.pi ** (self.dim / 2) / gamma(self.dim / 2 + 1) * self.radius**self.dim)

    @cached_property
    def half(self) -> tuple[Tensor, Tensor]:
        """Quadrature nodes and weights of the half ball with w*ᵀ x >= 0."""
        return self._in_frame(*_half_ball(self.dim), self.dim)

    def _in_frame(self, nodes: Array, weights: Array, dim: int) -> tuple[Tensor, Tensor]:
        return tensor(self.radius * nodes @ self.frame.T), tensor(self.radius**dim * weights)

    def unnormalised(self, x: Float[Tensor, "point dim"]) -> Tensor:
        x = x / self.radius
        return (x @ tensor(self.linear) + ((x @ tensor(self.quadratic)) * x).sum(-1)).exp()

    @cached_property
    def mass(self) -> Tensor:
        return self.over_ball(self.unnormalised)

    def density(self, x: Float[Tensor, "point dim"]) -> Tensor:
        """p_D."""
        return self.unnormalised(x) / self.mass

    def features(self, x: Float[Tensor, "point dim"]) -> Float[Tensor, "point feature"]:
        return tensor(self.feature_sizes) * (x / self.radius @ tensor(self.feature_slopes)).exp()

    def over_ball(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """The integral of a function over the ball."""
        nodes, weights = self.half
        return weights @ function(nodes) + weights @ function(-nodes)

    @cached_property
    def z(self) -> Tensor:
        return self.over_ball(lambda x: self.features(x) * self.density(x)[:, None])

    def adjusted(self, x: Float[Tensor, "point dim"]) -> Float[Tensor, "point feature"]:
        """p̃_l (Definition 2)."""
        return self.features(x) * self.density(x)[:, None] / self.z

    def a_times_w(self, turn: Tensor) -> Tensor:
        """A(w) w* with A = Σ_l z_l² V_{p̃_l}[x̃] (Eq. 66).

        w is w* rotated by the angles `turn` in the planes of the frame; the half ball rotates with it.
        """
        tangent_axes = tensor(self.frame[:, 1:])
        skew = (tangent_axes @ turn).outer(self.w)
        nodes, weights = self.half
        x = nodes @ (skew - skew.T).matrix_exp().T
        p = self.adjusted(x) * weights[:, None]
        means = p.T @ x
        return (self.z**2) @ (p.T @ (x * (x @ self.w)[:, None]) - means * (means @ self.w)[:, None])

    @cached_property
    def motion(self) -> Float[Tensor, "dim tangent"]:
        """d(A(w) w*)/dw at w*, by automatic differentiation of the quadrature."""
        from torch.autograd.functional import jacobian

        return jacobian(self.a_times_w, tensor(np.zeros(self.dim - 1)))

    @property
    def roughness(self) -> float:
        """ρ(w*)."""
        return float(np.linalg.norm(self.motion.numpy(), 2))

    @property
    def grid_on_plane(self) -> Tensor:
        """Grid on the disc with w*ᵀ x = 0, including its rim and centre, for taking maxima."""
        radii = np.linspace(0, self.radius, 51)
        angles = [0, np.pi] if self.dim == 2 else np.linspace(0, 2 * np.pi, 60, endpoint=False)
        directions = np.stack([np.cos(angles), np.sin(angles)])[: self.dim - 1]
        return tensor((radii[:, None, None] * directions.T).reshape(-1, self.dim - 1) @ self.frame[:, 1:].T)

    @property
    def r(self) -> float:
        """r(w*, α) = Σ_l z_l² max p̃_l, with the maximum over the plane."""
        return float(self.z**2 @ self.adjusted(self.grid_on_plane).amax(0))


def random_ball(rng: Random, radius: float) -> Ball:
    dim, features = size(rng, 2, 3), size(rng, 1, 3)
    quadratic = 0.5 * rng.normal(size=(dim, dim))
    return Ball(
        radius,
        orthonormal(rng, dim, dim),
        0.7 * rng.normal(size=dim),
        quadratic + quadratic.T,
        rng.normal(size=(dim, features)),
        rng.uniform(0.3, 1.5, features),
    )


def theorem2(rng: Random, largest: int) -> Ball:
    """Scaling the input by c scales ρ and C0² by c² and leaves vol(C0) r unchanged: the printed bound can
    fail at radii below 1 alone."""
    return random_ball(rng, 10 ** rng.uniform(-2, 2))


@formula(
    "thm2",
    "The roughness ρ(w*) of a ReLU unit is at most {}, at any radius C0 of the inputs (tried: .01 to 100).",
    at="Theorem 2, Section 3.2, and Eqs. 78, 80, 84, 89, 90, 92 and 93, Appendix B.3",
    wrong=Misprint(
        "condition",
        printed=Text(
            "C0³ vol(C0) r(w*, α) / π",
            r"\rho(w^{*})\le\frac{C_0^3\operatorname{vol}(C_0)}{\pi}\,r(w^{*},\alpha)",
        ),
        corrected=Text(
            "C0² vol(C0) r(w*, α) / π",
            r"\rho(w^{*})\le\frac{C_0^2\operatorname{vol}(C_0)}{\pi}\,r(w^{*},\alpha)",
        ),
        note="a factor C0 appears from Eq. 77 to 78 and from 88 to 89; the printed bound holds for C0 >= 1, "
        "and can fail below",
    ),
    tried_at=theorem2,
    is_bound=True,
)
def bound_of_the_roughness(ball: Ball) -> Errors:
    def excess(power: int) -> float:
        return max(0.0, ball.roughness / (ball.radius**power * ball.volume / np.pi * ball.r) - 1)

    return Errors(printed=excess(3), corrected=excess(2))


@dataclass(frozen=True)
class GaussianAlpha:
    """A ball of inputs, and a 1-D Gaussian α of the outputs h(w*ᵀ x).

    Attributes:
        bound: any lower bound on h, as Lemma 1 needs it.
    """

    ball: Ball
    temperature: float
    bound: float

    @property
    def sizes(self) -> dict[str, int]:
        return {"inputs": self.ball.dim}

    @property
    def r(self) -> float:
        """r(w*, α), by the features of Lemma 1."""
        import torch

        ball, grid = self.ball, self.ball.grid_on_plane
        nodes, weights = ball.half
        points = torch.cat([nodes, -nodes, grid])
        outputs = (points @ ball.w).relu().numpy()[:, None] - self.bound
        phi = tensor(gaussian_features(outputs, self.temperature))
        in_ball, on_plane = phi[: -len(grid)], phi[-len(grid) :]
        z = (torch.cat([weights, weights]) * ball.density(points[: -len(grid)])) @ in_ball
        # z_l² p̃_l = z_l φ_l p_D
        return float(z @ (on_plane * ball.density(grid)[:, None]).amax(0))

    @property
    def r_of_uniform(self) -> float:
        """r(w*, α) with α = 1."""
        return float(self.ball.density(self.ball.grid_on_plane).max())

    def z0(self, temperature: float) -> float:
        """The integral of exp(-h(w*ᵀ x)²/(2 τ)) p(x) over the ball."""
        ball = self.ball
        return float(
            ball.over_ball(
                lambda x: (-((x @ ball.w).relu() ** 2) / (2 * temperature)).exp() * ball.density(x)
            )
        )


def corollary2(rng: Random, largest: int) -> GaussianAlpha:
    ball = random_ball(rng, rng.uniform(0.5, 2))
    temperature = ball.radius**2 * rng.uniform(0.2, 1)
    return GaussianAlpha(ball, temperature, -ball.radius * rng.uniform(0, 0.3))


@formula(
    "cor2",
    "With 1-D Gaussian α, r(w*, α) is z0 times what it is with uniform α, and z0 is at most 1.",
    at="Corollary 2, Section 3.2, Eqs. 99 and 100, Appendix B.3",
    tried_at=corollary2,
)
def gaussian_and_uniform_alpha(point: GaussianAlpha) -> Errors:
    """The decoy is z0 without the factor 1/2 in its exponent."""
    ratio, z0 = point.r / point.r_of_uniform, point.z0(point.temperature)
    return Errors(
        printed=max(abs(ratio / z0 - 1), z0 - 1),
        decoy=abs(ratio / point.z0(point.temperature / 2) - 1),
    )


@dataclass(frozen=True)
class Far:
    """Normal data whose mean lies m standard deviations from the plane, on the weight's side."""

    sizes: ClassVar[dict[str, int]] = {}
    m: float
    temperature: float

    @property
    def z0(self) -> float:
        from scipy.integrate import quad

        def integrand(h: float) -> float:
            alpha = np.exp(-(max(h, 0.0) ** 2) / (2 * self.temperature))
            return float(alpha * np.exp(-((h - self.m) ** 2) / 2) / np.sqrt(2 * np.pi))

        return quad(integrand, -8, 0, epsabs=0)[0] + quad(integrand, 0, self.m + 8, epsabs=0)[0]


def corollary2_far(rng: Random, largest: int) -> Far:
    return Far(rng.uniform(0.5, 6), 10 ** rng.uniform(-2, 1))


@formula(
    "cor2/exponentially-small",
    "The ratio z0 of r(w*, α) with 1-D Gaussian α to that with uniform α can be exponentially small: for "
    "normal data whose mean lies m standard deviations from the plane, on the weight's side, it is at most "
    "exp(-m²/(2(1 + τ))).",
    at="Section 3.2, after Corollary 2",
    quotes=Quotation(
        "can be exponentially small (e.g., when most data appear on the positive side of the weight",
        at="Section 3.2, after Corollary 2",
    ),
    word="can be exponentially small",
    reading="ours: normal data",
    tried_at=corollary2_far,
    is_bound=True,
)
def exponentially_small(point: Far) -> Errors:
    """The decoy leaves out the factor 1/2 of the exponent."""
    z0, m = point.z0, point.m
    return Errors(
        printed=max(0.0, z0 / np.exp(-(m**2) / (2 * (1 + point.temperature))) - 1),
        decoy=max(0.0, z0 / np.exp(-(m**2) / (1 + point.temperature)) - 1),
    )


def _legendre(low: float, high: float) -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (low + high) / 2 + (high - low) / 2 * nodes, (high - low) / 2 * weights


def _half_ball(dim: int) -> tuple[Array, Array]:
    """Nodes and weights of the half of the unit ball with a nonnegative first coordinate."""
    (r, wr), (t, wt) = _legendre(0, 1), _legendre(-np.pi / 2, np.pi / 2)
    if dim == 2:
        nodes = r[:, None, None] * np.stack([np.cos(t), np.sin(t)], -1)
        return nodes.reshape(-1, 2), np.outer(wr * r, wt).ravel()
    (c, wc), angles = _legendre(0, 1), np.linspace(0, 2 * np.pi, NODES, endpoint=False)
    s = np.sqrt(1 - c**2)
    directions = np.stack(
        [np.repeat(c, NODES), np.outer(s, np.cos(angles)).ravel(), np.outer(s, np.sin(angles)).ravel()], -1
    )
    nodes = r[:, None, None] * directions
    return nodes.reshape(-1, 3), np.outer(wr * r**2, np.repeat(wc, NODES) * 2 * np.pi / NODES).ravel()


FORMULAS: tuple[Formula, ...] = (bound_of_the_roughness, gaussian_and_uniform_alpha, exponentially_small)
