"""Random samples, models and matrices of a given signature, away from zero and from symmetric points; and the
outputs' velocities, by automatic differentiation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.evidence.identities import Array, Random, size
from reprise.papers.esser2024 import losses

Weights = tuple[Tensor, ...]
Model = Callable[[Weights, Tensor], Tensor]
"""Maps weights and inputs [sample, dim] to outputs u [sample, output]."""


def tensor(values: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=float))


def normal(rng: Random, *shape: int) -> Tensor:
    return tensor(rng.normal(size=shape))


def orthonormal(rng: Random, rows: int, columns: int) -> Array:
    """Uniformly random orthonormal columns."""
    q, r = np.linalg.qr(rng.normal(size=(rows, columns)))
    return q * np.sign(np.diag(r))


def symmetric(rng: Random, negative: int, positive: int) -> Array:
    """A random symmetric matrix, with eigenvalues of size 0.5 to 2 at least 0.1 apart. Shape [dim, dim].

    Args:
        negative, positive: number of eigenvalues of each sign.
    """
    dim = negative + positive
    while True:
        values = rng.uniform(0.5, 2, dim) * np.where(np.arange(dim) < negative, -1, 1)
        if np.diff(np.sort(values)).min(initial=1) > 0.1:
            break
    vectors = orthonormal(rng, dim, dim)
    return (vectors * values) @ vectors.T


@dataclass(frozen=True)
class Triplets:
    """Anchors, each with a positive and a negative."""

    x: Float[Tensor, "sample dim"]
    positive: Float[Tensor, "sample dim"]
    negative: Float[Tensor, "sample dim"]

    @property
    def matrix(self) -> Float[Tensor, "dim dim"]:
        """C of Eq. 7."""
        return losses.symmetric(losses.cross_moment(self.x, self.positive, self.negative, reduction="sum"))

    def contrastive(self, u: Callable[[Tensor], Tensor]) -> Tensor:
        """Eq. 1 for any embedding u."""
        return losses.contrastive(u(self.x), u(self.positive), u(self.negative), reduction="sum")

    def non_contrastive(self, u: Callable[[Tensor], Tensor]) -> Tensor:
        """Eq. 2 for any embedding u."""
        return losses.non_contrastive(u(self.x), u(self.positive), reduction="sum")


def random_triplets(rng: Random, dim: int) -> Triplets:
    """Random samples, not centred."""
    samples = size(rng, dim + 2, 2 * dim + 4)
    mean = 0.5 * normal(rng, dim)
    x, negative = normal(rng, samples, dim) + mean, normal(rng, samples, dim) + mean
    return Triplets(x, x + 0.3 * normal(rng, samples, dim), negative)


def triplets_of(rng: Random, matrix: Array) -> Triplets:
    """Samples that span the space and have the given C."""
    dim = len(matrix)
    x = normal(rng, size(rng, dim + 2, 2 * dim + 4), dim)
    positive = x + 0.3 * normal(rng, *x.shape)
    return Triplets(x, positive, positive + x @ torch.linalg.solve(x.T @ x, tensor(matrix)))


def linear(weights: Weights, x: Tensor) -> Tensor:
    """Linear model u(x) = Θ x with Θ [output, dim]."""
    return x @ weights[0].T


def two_layers(phi: Callable[[Tensor], Tensor]) -> Model:
    """Two-layer model u(x) = W2ᵀ φ(W1 x) with W1 [hidden, dim] and W2 [hidden, output]."""
    return lambda weights, x: phi(x @ weights[0].T) @ weights[1]


def kernel_machine(offset: float) -> Model:
    """Kernel machine u(x) = Θ ψ(x) with an explicit feature map ψ of the kernel (xᵀx' + offset)²."""
    return lambda weights, x: features(x, offset) @ weights[0].T


def features(x: Float[Tensor, "sample dim"], offset: float) -> Float[Tensor, "sample feature"]:
    squares = torch.einsum("na,nb->nab", x, x).flatten(1)
    constant = torch.full((len(x), 1), offset, dtype=x.dtype)
    return torch.cat([squares, (2 * offset) ** 0.5 * x, constant], 1)


def gradient(scalar: Callable[..., Tensor], *arguments: Tensor) -> Weights:
    """The gradients of a function of several tensors."""
    leaves = [value.detach().requires_grad_() for value in arguments]
    return torch.autograd.grad(scalar(*leaves), leaves)


def tangent_kernel(
    model: Model, weights: Weights, x: Tensor, other: Tensor
) -> Float[Tensor, "sample output sample2 output"]:
    """⟨∇ u_l(x), ∇ u_j(x')⟩ over all weights."""

    def jacobian(inputs: Tensor) -> Tensor:
        parts = torch.func.jacrev(lambda w: model(w, inputs))(weights)
        return torch.cat([part.flatten(2) for part in parts], 2)

    return torch.einsum("nlp,mjp->nlmj", jacobian(x), jacobian(other))


def velocity(model: Model, weights: Weights, loss: Callable[..., Tensor], x: Tensor) -> Tensor:
    """u̇(x) if all weights follow the negative gradient of `loss(*weights)`."""
    descent = tuple(-slope for slope in gradient(loss, *weights))
    return torch.func.jvp(lambda *w: model(w, x), weights, descent)[1]
