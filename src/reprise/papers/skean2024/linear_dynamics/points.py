"""Random data and layers, and their gradients by automatic differentiation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reprise.evidence.identities import Array, Random, orthonormal, size

Pair = tuple[Array, Array]


def frossl(z1: Tensor, z2: Tensor) -> Tensor:
    """Eq. 10, term by term."""
    identity = torch.eye(z1.shape[1], dtype=z1.dtype)
    variance = (z1.T @ z1 - identity).square().sum() + (z2.T @ z2 - identity).square().sum()
    return variance + (z1 - z2).square().sum()


def barlow(z1: Tensor, z2: Tensor) -> Tensor:
    """Section 5.1's variant of Barlow Twins."""
    return (z1.T @ z2 - torch.eye(z1.shape[1], dtype=z1.dtype)).square().sum()


LOSSES = {"frossl": frossl, "barlow": barlow}


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
    def sizes(self) -> dict[str, int]:
        return {"samples": len(self.x[0]), "inputs": self.x[0].shape[1], "outputs": len(self.w[0])}

    def loss(self, w: Pair, name: str = "frossl") -> float:
        z1, z2 = (torch.from_numpy(x @ layer.T) for x, layer in zip(self.x, w, strict=True))
        return LOSSES[name](z1, z2).item()

    def gradient(self, name: str = "frossl", w: Pair | None = None) -> Pair:
        """The gradients for W1 and W2."""
        return differentiated(lambda w1, w2: LOSSES[name](self._z(0, w1), self._z(1, w2)), *(w or self.w))

    def hessian(self, name: str, w: Pair) -> Array:
        """The Hessian for the entries of W1, then W2."""
        stacked = torch.from_numpy(np.stack(w))

        def value(layers: Tensor) -> Tensor:
            return LOSSES[name](self._z(0, layers[0]), self._z(1, layers[1]))

        entries = stacked.numel()
        return torch.autograd.functional.hessian(value, stacked).reshape(entries, entries).numpy()

    def _z(self, view: int, w: Tensor) -> Tensor:
        return torch.from_numpy(self.x[view]) @ w.T


def differentiated(function: Callable[..., Tensor], *inputs: Array) -> Pair:
    """The derivatives of a scalar function of two tensors."""
    tensors = [torch.from_numpy(np.ascontiguousarray(array)).requires_grad_() for array in inputs]
    first, second = torch.autograd.grad(function(*tensors), tensors)
    return first.numpy(), second.numpy()


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
        v: shape [input, input].
    """

    variances: Pair
    rho: Array
    s: Pair
    left: Pair
    u: Array
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
    def leading(self) -> tuple[Array, Array, Array]:
        """λ, γ and c of the layers' modes."""
        return tuple(values[: len(self.u)] for values in (*self.variances, self.c))  # type: ignore[return-value]

    @property
    def point(self) -> Point:
        return self.at(self.s)

    def at(self, s: Pair) -> Point:
        """The point with other singular values."""
        views = [
            left * np.sqrt(values) @ self.v.T for left, values in zip(self.left, self.variances, strict=True)
        ]
        w1, w2 = (self.u * values @ self.top for values in s)
        return Point((views[0], views[1]), (w1, w2))

    def velocity(self, s: Pair, name: str = "frossl") -> Pair:
        """Uᵀ (-∇L) V̂ᵀ for W1 and W2; its diagonal is ds/dt."""
        first, second = (-self.u.T @ g @ self.top.T for g in self.at(s).gradient(name))
        return first, second


def random_aligned(rng: Random, largest: int, *, alike: bool = False) -> Aligned:
    """Random aligned layers, with distinct variances and correlations that fall from mode to mode; γ > λ / 4.

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
    return Aligned(
        variances,
        rho,
        (s[0], s[0] if alike else s[1]),
        left,
        orthonormal(rng, outputs, outputs),
        orthonormal(rng, inputs, inputs),
    )
