"""Independent computations: gradients by automatic differentiation, time derivatives by finite
differences."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

Array = np.ndarray
Factors = tuple[Array, Array, Array]
"""U, S and V or Vᵀ of a singular value decomposition."""

CENTRAL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
"""Steps and weights of the central difference with an error of eighth order."""


def infonce(z: Tensor, z_aug: Tensor) -> Tensor:
    """Eq. 2, term by term: the positive and the negatives of the same branch, summed over the samples.

    The package's own loss computes its gradient by Eq. 4, so using it here would be circular.
    """
    logits = -0.5 * (z[:, None] - z[None]).square().sum(-1)
    positives = -0.5 * (z - z_aug).square().sum(-1)
    diagonal = torch.eye(len(z), dtype=torch.bool)
    return (torch.where(diagonal, positives, logits).logsumexp(1) - positives).sum()


def gradients(loss: Callable[..., Tensor], *inputs: Array) -> list[Array]:
    """The derivatives of a scalar function of tensors with respect to each of them."""
    tensors = [torch.from_numpy(np.ascontiguousarray(array)).requires_grad_() for array in inputs]
    return [gradient.numpy() for gradient in torch.autograd.grad(loss(*tensors), tensors)]


def value(loss: Callable[..., Tensor], *inputs: Array) -> Array:
    """A scalar function of tensors."""
    return loss(*map(torch.from_numpy, inputs)).numpy()


def gradient_flow(layers: Sequence[Array], x: Array, x_aug: Array) -> list[Array]:
    """dW/dt = -dL/dW of every layer of a linear network under Eq. 2."""

    def loss(*weights: Tensor) -> Tensor:
        z, z_aug = torch.from_numpy(x), torch.from_numpy(x_aug)
        for weight in weights:
            z, z_aug = z @ weight.T, z_aug @ weight.T
        return infonce(z, z_aug)

    return [-gradient for gradient in gradients(loss, *layers)]


def cross_entropy_of_views(z: Tensor, z_aug: Tensor, temperature: float) -> Tensor:
    """InfoNCE as in SimCLR's training: classify which embedding of the other branch is the positive."""
    similarities = normalize(z) @ normalize(z_aug).T / temperature
    return cross_entropy(similarities, torch.arange(len(z)), reduction="sum")


def simclr_gradients(
    r: Array, r_aug: Array, temperature: float, *, projector: Array | None = None, kept: int | None = None
) -> Array:
    """The gradients of SimCLR's loss for both views' representations.

    Args:
        projector: a fixed linear one.
        kept: number of dimensions, behind the projector, that the loss sees; by default, all.
    """

    def loss(*views: Tensor) -> Tensor:
        if projector is not None:
            matrix = torch.from_numpy(projector)
            views = tuple(view @ matrix.T for view in views)
        z, z_aug = (view[:, :kept] for view in views)
        return cross_entropy_of_views(z, z_aug, temperature)

    return np.stack(gradients(loss, r, r_aug))


def svd(w: Array) -> Factors:
    """U, the values and Vᵀ, without the vectors of a longer factor that have no value."""
    return tuple(np.linalg.svd(w, full_matrices=False))  # type: ignore[return-value]


def whole_svd(w: Array) -> Factors:
    """U and V (not Vᵀ), both square, and S of the shape of W."""
    u, values, vt = np.linalg.svd(w)
    s = np.zeros_like(w)
    np.fill_diagonal(s, values)
    return u, s, vt.T


def factors_velocity(w: Array, velocity: Array) -> tuple[Array, Array, Array]:
    """dU/dt, dS/dt and dV/dt (not of Vᵀ) of W = w + t velocity at t = 0, for distinct singular values."""
    u0, s0, _ = svd(w)
    # A two-hundredth of the distance within which singular values could cross.
    step = 0.005 * np.abs(np.diff(s0, append=0)).min() / np.linalg.norm(velocity, 2)

    def path(t: float) -> Factors:
        u, s, vt = svd(w + t * velocity)
        signs = np.sign(np.sum(u0 * u, axis=0))
        return u * signs, s, vt.T * signs

    slopes = [np.zeros_like(factor) for factor in path(0.0)]
    for multiple, weight in CENTRAL:
        ahead, behind = path(multiple * step), path(-multiple * step)
        for slope, after, before in zip(slopes, ahead, behind, strict=True):
            slope += weight * (after - before) / step
    return tuple(slopes)  # type: ignore[return-value]
