"""Theorem 2 and Corollary 2: how fast A(w) w* changes with w, for smooth densities on a ball."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from scipy.integrate import quad
from scipy.special import gamma
from torch import Tensor
from torch.autograd.functional import jacobian

from reprise.evidence.identities import Array, Checked, Random, as_printed, orthonormal, relative_error, size
from reprise.papers.tian2023.dynamics.kernels import gaussian_features
from reprise.papers.tian2023.dynamics.points import tensor

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
    def w(self) -> Tensor:
        return tensor(self.frame[:, 0])

    @property
    def volume(self) -> float:
        return float(np.pi ** (self.dim / 2) / gamma(self.dim / 2 + 1) * self.radius**self.dim)

    @cached_property
    def half(self) -> tuple[Tensor, Tensor]:
        """Quadrature nodes and weights of the half ball with w*ᵀ x >= 0."""
        return self._in_frame(*_half_ball(self.dim), self.dim)

    @cached_property
    def plane(self) -> tuple[Tensor, Tensor]:
        """Quadrature nodes and weights of the disc with w*ᵀ x = 0."""
        nodes, weights = _ball(self.dim - 1)
        return self._in_frame(np.insert(nodes, 0, 0.0, axis=1), weights, self.dim - 1)

    def _in_frame(self, nodes: Array, weights: Array, dim: int) -> tuple[Tensor, Tensor]:
        return tensor(self.radius * nodes @ self.frame.T), tensor(self.radius**dim * weights)

    def unnormalised(self, x: Float[Tensor, "point dim"]) -> Float[Tensor, "point"]:
        x = x / self.radius
        return torch.exp(x @ tensor(self.linear) + ((x @ tensor(self.quadratic)) * x).sum(-1))

    @cached_property
    def mass(self) -> Tensor:
        return self.over_ball(self.unnormalised)

    def density(self, x: Float[Tensor, "point dim"]) -> Float[Tensor, "point"]:
        """p_D."""
        return self.unnormalised(x) / self.mass

    def features(self, x: Float[Tensor, "point dim"]) -> Float[Tensor, "point feature"]:
        return tensor(self.feature_sizes) * torch.exp(x / self.radius @ tensor(self.feature_slopes))

    def over_ball(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """The integral of a function over the ball."""
        nodes, weights = self.half
        return weights @ function(nodes) + weights @ function(-nodes)

    @cached_property
    def z(self) -> Float[Tensor, "feature"]:
        return self.over_ball(lambda x: self.features(x) * self.density(x)[:, None])

    def adjusted(self, x: Float[Tensor, "point dim"]) -> Float[Tensor, "point feature"]:
        """p̃_l (Definition 2)."""
        return self.features(x) * self.density(x)[:, None] / self.z

    def a_times_w(self, turn: Float[Tensor, "tangent"]) -> Float[Tensor, "dim"]:
        """A(w) w* with A = Σ_l z_l² V_{p̃_l}[x̃] (Eq. 66).

        w is w* rotated by the angles `turn` in the planes of the frame; the half ball rotates with it.
        """
        tangent_axes = tensor(self.frame[:, 1:])
        skew = torch.outer(tangent_axes @ turn, self.w)
        nodes, weights = self.half
        x = nodes @ torch.linalg.matrix_exp(skew - skew.T).T
        p = self.adjusted(x) * weights[:, None]
        means = p.T @ x
        return (self.z**2) @ (p.T @ (x * (x @ self.w)[:, None]) - means * (means @ self.w)[:, None])

    @cached_property
    def motion(self) -> Float[Tensor, "dim tangent"]:
        """d(A(w) w*)/dw at w*, by automatic differentiation of the quadrature."""
        return jacobian(self.a_times_w, torch.zeros(self.dim - 1, dtype=torch.float64))

    @property
    def roughness(self) -> float:
        """ρ(w*)."""
        return float(torch.linalg.matrix_norm(self.motion, 2))

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


def theorem2(rng: Random, largest: int) -> Checked:
    """Theorem 2's bound, with C0³ as printed and with C0².

    Scaling the input by c scales ρ and C0² by c² and leaves vol(C0) r unchanged. Small radii therefore reveal
    the power of C0; at radii above 1 the printed bound is merely looser than the corrected one.
    """
    ball = random_ball(rng, 10 ** rng.uniform(-5, -3))

    def excess(power: int) -> float:
        return max(0.0, ball.roughness / (ball.radius**power * ball.volume / np.pi * ball.r) - 1)

    return Checked(
        {"inputs": ball.dim, "classes": len(ball.z)},
        {"thm2": {"printed": excess(3), "corrected": excess(2)}},
    )


def first_order_term(rng: Random, largest: int) -> Checked:
    """Eqs. 84 to 87: the only first-order part of (A(w) - A(w*)) w* is -(e - e*) e*ᵀ w*.

    Also the remark after Lemma 3 that wᵀ (dA) w = 0, for a dA that does not vanish.
    """
    ball = random_ball(rng, rng.uniform(0.5, 2))
    nodes, weights = ball.plane
    p = ball.adjusted(nodes) * weights[:, None]
    tangents = nodes @ tensor(ball.frame[:, 1:])
    flow = torch.einsum("nl,nd,nt->ldt", p, nodes, tangents)  # d e_l / d w: the flow through the plane
    half_nodes, half_weights = ball.half
    activity = (ball.adjusted(half_nodes) * half_weights[:, None]).T @ (
        half_nodes @ ball.w
    )  # e_lᵀ w* = E[h(w*ᵀ x)]
    derivative = -torch.einsum("l,l,ldt->dt", ball.z**2, activity, flow)
    motion = ball.motion
    return Checked(
        {"inputs": ball.dim},
        {
            "thm2/first-order-term": as_printed(relative_error(derivative.numpy(), motion.numpy())),
            "lemma3/remark": as_printed(float((ball.w @ motion).norm() / motion.norm())),
        },
    )


def corollary2(rng: Random, largest: int) -> Checked:
    """Corollary 2: r(w*, α_g) = z0 r(w*, α_u) for any lower bound on h in Lemma 1,"""
    ball = random_ball(rng, rng.uniform(0.5, 2))
    temperature = ball.radius**2 * rng.uniform(0.2, 1)
    bound = -ball.radius * rng.uniform(0, 0.3)
    grid, (half_nodes, half_weights) = ball.grid_on_plane, ball.half

    def h(x: Tensor) -> Tensor:
        return torch.relu(x @ ball.w)

    points = torch.cat([half_nodes, -half_nodes, grid])
    phi = tensor(gaussian_features(h(points).numpy()[:, None] - bound, temperature))
    ball_features, plane_features = phi[: -len(grid)], phi[-len(grid) :]
    z = (torch.cat([half_weights, half_weights]) * ball.density(points[: -len(grid)])) @ ball_features
    gaussian = float(z @ (plane_features * ball.density(grid)[:, None]).amax(0))  # z_l² p̃_l = z_l φ_l p_D
    uniform = float(ball.density(grid).max())
    z0 = _z0(ball, temperature)
    return Checked({"inputs": ball.dim}, {"cor2/ratio": as_printed(abs(gaussian / (z0 * uniform) - 1))})


def corollary2_bound(rng: Random, largest: int) -> Checked:
    """z0 <= 1."""
    ball = random_ball(rng, rng.uniform(0.5, 2))
    z0 = _z0(ball, ball.radius**2 * rng.uniform(0.2, 1))
    return Checked({"inputs": ball.dim}, {"cor2/at-most-one": as_printed(max(0.0, z0 - 1))})


def corollary2_far(rng: Random, largest: int) -> Checked:
    """z0 of normal data whose mean lies m standard deviations from the plane, on the weight's side."""
    m, temperature = rng.uniform(0.5, 6), 10 ** rng.uniform(-2, 1)

    def integrand(h: float) -> float:
        return float(np.exp(-(max(h, 0.0) ** 2) / (2 * temperature) - (h - m) ** 2 / 2) / np.sqrt(2 * np.pi))

    z0 = quad(integrand, -8, 0, epsabs=0)[0] + quad(integrand, 0, m + 8, epsabs=0)[0]
    excess = max(0.0, z0 / np.exp(-(m**2) / (2 * (1 + temperature))) - 1)
    return Checked({}, {"cor2/exponentially-small": as_printed(excess)})


def _z0(ball: Ball, temperature: float) -> float:
    """The integral of exp(-h(w*ᵀ x)²/(2 τ)) p(x) over the ball, h a ReLU."""
    return float(
        ball.over_ball(
            lambda x: torch.exp(-(torch.relu(x @ ball.w) ** 2) / (2 * temperature)) * ball.density(x)
        )
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


def _ball(dim: int) -> tuple[Array, Array]:
    """Nodes and weights of the unit interval [-1, 1] or of the unit disc."""
    if dim == 1:
        nodes, weights = _legendre(-1, 1)
        return nodes[:, None], weights
    nodes, weights = _half_ball(2)
    return np.concatenate([nodes, -nodes]), np.concatenate([weights, weights])


CHECKS = (theorem2, first_order_term, corollary2, corollary2_bound, corollary2_far)
