"""Minima of the losses over free embeddings, by descent from random ones."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor
from torch.nn.functional import normalize

from reprise.evidence.identities import Array
from reprise.objectives import frossl, frossl_as_given, gram_energy
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024.theory.points import Views


def of_frossl(starts: Sequence[Views]) -> list[Array]:
    """Both views' embeddings, their dimensions at unit length, at the lowest end of several descents."""
    ends = [minimised(frossl, (start.z1, start.z2)) for start in starts]
    lowest = min(ends, key=lambda views: float(frossl(*views)))
    return [unit_columns(z).numpy() for z in lowest]


def of_unit_embeddings(start: Views) -> list[Array]:
    """Both views' embeddings at the minimum of Eq. 6 over embeddings of unit length."""

    def loss(z1: Tensor, z2: Tensor) -> Tensor:
        return frossl_as_given(normalize(z1), normalize(z2))

    return [normalize(z).numpy() for z in minimised(loss, (start.z1, start.z2))]


def of_variance(start: Array) -> Array:
    """Embeddings at the minimum of one view's variance term, dimensions at unit length."""
    (z,) = minimised(lambda z: gram_energy(unit_columns(z)).log(), [start])
    return unit_columns(z).numpy()


def minimised(function: Callable[..., Tensor], start: Sequence[Array]) -> list[Tensor]:
    """Minimises a function from a start by BFGS, followed by Newton steps.

    BFGS stops where rounding hides further decrease; the Newton steps, which need only derivatives, finish.
    They ignore directions in which the function is flat.
    """
    shapes = [value.shape for value in start]
    counts = [value.size for value in start]

    def flat(x: Tensor) -> Tensor:
        parts = zip(x.split(counts), shapes, strict=True)
        return function(*(part.reshape(shape) for part, shape in parts))

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        point = torch.from_numpy(x).requires_grad_()
        value = flat(point)
        return float(value.detach()), torch.autograd.grad(value, point)[0].numpy()

    x0 = np.concatenate([value.ravel() for value in start])
    end = minimize(value_and_gradient, x0, jac=True, method="BFGS", options={"gtol": 1e-6}).x
    for _ in range(3):
        hessian = torch.func.hessian(flat)(torch.from_numpy(end)).numpy()
        end = end - np.linalg.lstsq(hessian, value_and_gradient(end)[1], rcond=1e-6)[0]
    return [
        part.reshape(shape) for part, shape in zip(torch.from_numpy(end).split(counts), shapes, strict=True)
    ]
