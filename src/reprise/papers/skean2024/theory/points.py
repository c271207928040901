"""Random embeddings of two views, and a minimiser for functions of them."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from reprise.evidence.identities import Array, Random, as_printed, relative_error, size

Views = tuple[Tensor, Tensor]
"""Embeddings Z1 and Z2, [sample, dim] each."""


def tensor(values: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=float))


def embeddings(rng: Random, samples: int, dims: int) -> Views:
    """Two correlated views, not centred, with a different scale in every dimension."""
    mean, scale = rng.normal(size=dims), rng.uniform(0.3, 3, dims)
    z1 = rng.normal(size=(samples, dims))
    z2 = 0.7 * z1 + 0.7 * rng.normal(size=(samples, dims))
    return tensor(z1 * scale + mean), tensor(z2 * scale + mean)


def random_embeddings(rng: Random, largest: int) -> Views:
    """Embeddings with more samples than dimensions, or fewer."""
    return embeddings(rng, size(rng, 3, 2 * largest), size(rng, 2, 2 * largest))


def sizes(z: Tensor) -> dict[str, int]:
    return {"samples": z.shape[-2], "dims": z.shape[-1]}


def rotation(rng: Random, dims: int) -> Tensor:
    """A uniformly random orthogonal matrix, of either sign."""
    q, r = np.linalg.qr(rng.normal(size=(dims, dims)))
    return tensor(q * np.sign(np.diag(r)))


def against(value: Tensor | Array | float, expected: Tensor | Array | float) -> dict[str, float]:
    """The relative error of a formula that is correct as printed."""
    return as_printed(relative_error(np.asarray(value), np.asarray(expected)))


def norm2(z: Tensor) -> float:
    """|ZᵀZ|²_F by definition."""
    return float((z.mT @ z).square().sum())


def off_dimensions(z: Tensor) -> Tensor:
    """L_nc of Definition 3.1: |ZᵀZ - diag(ZᵀZ)|²_F."""
    gram = z.mT @ z
    return (gram - gram.diagonal().diag()).square().sum()


def off_samples(z: Tensor) -> Tensor:
    """L_c of Definition 3.2: |ZZᵀ - diag(ZZᵀ)|²_F."""
    return off_dimensions(z.mT)


def gradient(function: Callable[..., Tensor], *inputs: Tensor) -> Float[Array, " n"]:
    """The gradients of a function for several tensors, concatenated to a vector."""
    leaves = [value.detach().requires_grad_() for value in inputs]
    derivatives = torch.autograd.grad(function(*leaves), leaves)
    return torch.cat([derivative.flatten() for derivative in derivatives]).numpy()


def minimised(function: Callable[..., Tensor], start: Sequence[Tensor]) -> list[Tensor]:
    """Minimises a function from a start by BFGS, followed by Newton steps.

    BFGS stops where rounding hides further decrease; the Newton steps, which need only derivatives, finish.
    They ignore directions in which the function is flat.
    """
    shapes = [value.shape for value in start]
    counts = [value.numel() for value in start]

    def flat(x: Tensor) -> Tensor:
        parts = zip(x.split(counts), shapes, strict=True)
        return function(*(part.reshape(shape) for part, shape in parts))

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        point = torch.from_numpy(x).requires_grad_()
        value = flat(point)
        return float(value.detach()), torch.autograd.grad(value, point)[0].numpy()

    x0 = torch.cat([value.flatten() for value in start]).numpy()
    end = minimize(value_and_gradient, x0, jac=True, method="BFGS", options={"gtol": 1e-6}).x
    for _ in range(3):
        hessian = torch.func.hessian(flat)(torch.from_numpy(end)).numpy()
        end = end - np.linalg.lstsq(hessian, value_and_gradient(end)[1], rcond=1e-6)[0]
    return [
        part.reshape(shape) for part, shape in zip(torch.from_numpy(end).split(counts), shapes, strict=True)
    ]
