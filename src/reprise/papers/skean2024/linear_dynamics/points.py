"""Random data and layers, and their gradients by automatic differentiation.

Functions that need torch import it where they calculate, so that lists of claims do not wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.identities import Array, Random, orthonormal, size

if TYPE_CHECKING:
    from torch import Tensor

Pair = tuple[Array, Array]


def variance(z1: Tensor, z2: Tensor) -> Tensor:
    """The variance terms of Eq. 8."""
    import torch

    identity = torch.eye(z1.shape[1], dtype=z1.dtype)
    return (z1.T @ z1 - identity).square().sum() + (z2.T @ z2 - identity).square().sum()


def frossl(z1: Tensor, z2: Tensor) -> Tensor:
    """Eq. 8, term by term."""
    return variance(z1, z2) + (z1 - z2).square().sum()


def barlow(z1: Tensor, z2: Tensor) -> Tensor:
    """Section 5.1's variant of Barlow Twins."""
    import torch

    return (z1.T @ z2 - torch.eye(z1.shape[1], dtype=z1.dtype)).square().sum()


LOSSES = {"variance": variance, "frossl": frossl, "barlow": barlow}


@dataclass(frozen=True)
class Point:
    """Two views X_v [sample, input] and a linear layer W_v [output, input] for each."""

    x: Pair
    w: Pair

    @property
    def gamma(self) -> Pair:
        """Γ1 and Γ2."""
        return self.x[0].T @ self.x[0], self.x[1].T @ self.x[1]

    @property
    def cross(self) -> Array:
        """X1ᵀ X2."""
        return self.x[0].T @ self.x[1]

    @property
    def products(self) -> tuple[tuple[Array, Array, Array], ...]:
        """For each view W Γ, W' X'ᵀX and W Γ Wᵀ W Γ, with W' and X' the other view's."""
        (w1, w2), (g1, g2) = self.w, self.gamma
        views = ((w1, g1, w2 @ self.cross.T), (w2, g2, w1 @ self.cross))
        return tuple((w @ gamma, other, w @ gamma @ w.T @ w @ gamma) for w, gamma, other in views)

    @property
    def sizes(self) -> dict[str, int]:
        return {"samples": len(self.x[0]), "inputs": self.x[0].shape[1], "outputs": len(self.w[0])}

    def gradient(self, name: str = "frossl", w: Pair | None = None) -> Pair:
        """The gradients for W1 and W2."""
        import torch

        layers = [torch.from_numpy(np.ascontiguousarray(array)).requires_grad_() for array in w or self.w]
        first, second = torch.autograd.grad(self._loss(name, *layers), layers)
        return first.numpy(), second.numpy()

    def hessian(self, name: str, w: Pair) -> Array:
        """The Hessian for the entries of W1, then W2."""
        import torch

        stacked = torch.from_numpy(np.stack(w))
        entries = stacked.numel()
        hessian = torch.autograd.functional.hessian(lambda layers: self._loss(name, *layers), stacked)
        return hessian.reshape(entries, entries).numpy()

    def _loss(self, name: str, w1: Tensor, w2: Tensor) -> Tensor:
        import torch

        x1, x2 = (torch.from_numpy(x) for x in self.x)
        return LOSSES[name](x1 @ w1.T, x2 @ w2.T)


def random_point(rng: Random, largest: int) -> Point:
    outputs = size(rng, 1, largest)
    inputs = size(rng, outputs, largest + 2)
    samples = size(rng, 2, 2 * inputs)
    x = rng.normal(size=(2, samples, inputs)) / np.sqrt(samples)
    w = rng.normal(size=(2, outputs, inputs))
    return Point((x[0], x[0] + 0.7 * x[1]), (w[0], w[1]))


@dataclass(frozen=True)
class Aligned:
    """Views X_v = L_v sqrt(D_v) Vᵀ with L1ᵀ L2 = diag(ρ), and layers W_v = U S_v V̂.

    Attributes:
        variances: λ and γ, the diagonals of D1 and D2, the largest in the first `len(s)` modes.
        rho: correlation of the views in each mode.
        s: singular values of W1 and W2.
        u: shape [output, output].
        other_u: left singular vectors that W2 could have instead.
        v: shape [input, input].
    """

    variances: Pair
    rho: Array
    s: Pair
    left: Pair
    u: Array
    other_u: Array
    v: Array

    @property
    def top(self) -> Array:
        """V̂, the leading eigenvectors as rows."""
        return self.v[:, : len(self.u)].T

    @property
    def c(self) -> Array:
        """ρ sqrt(λ γ)."""
        return self.rho * np.sqrt(self.variances[0] * self.variances[1])

    @property
    def point(self) -> Point:
        views = [
            left * np.sqrt(values) @ self.v.T for left, values in zip(self.left, self.variances, strict=True)
        ]
        w1, w2 = (self.u * values @ self.top for values in self.s)
        return Point((views[0], views[1]), (w1, w2))

    @property
    def turned(self) -> Point:
        """The point at which W2 has `other_u`."""
        point = self.point
        return replace(point, w=(point.w[0], self.other_u * self.s[1] @ self.top))

    @property
    def sizes(self) -> dict[str, int]:
        return self.point.sizes


def random_aligned(rng: Random, largest: int, *, alike: bool = False) -> Aligned:
    """Random aligned layers, with distinct variances and correlations that fall from mode to mode.

    Args:
        alike: with λ = γ and the same layers, as in the closed form.
    """
    outputs = size(rng, 2, largest)
    inputs = size(rng, outputs, largest + 2)
    fall = np.sort(rng.uniform(0.3, 1, inputs))[::-1]
    variances = fall, fall if alike else fall * rng.uniform(0.5, 2, inputs)
    rho = np.sort(rng.uniform(0.3, 0.95, inputs))[::-1]
    frame = orthonormal(rng, 2 * inputs + 1, 2 * inputs)
    left = frame[:, :inputs], frame[:, :inputs] * rho + frame[:, inputs:] * np.sqrt(1 - rho**2)
    s = rng.uniform(0.1, 0.6, (2, outputs))
    u, other_u = (orthonormal(rng, outputs, outputs) for _ in range(2))
    v = orthonormal(rng, inputs, inputs)
    return Aligned(variances, rho, (s[0], s[0] if alike else s[1]), left, u, other_u, v)


def random_alike(rng: Random, largest: int) -> Aligned:
    """Few outputs: their Hessians are dense."""
    return random_aligned(rng, min(largest, 4), alike=True)
