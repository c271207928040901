"""W-MSE: whitening prevents collapse while the loss pulls the views together.

Source: Ermolov et al. 2021, "Whitening for Self-Supervised Representation Learning"; code:
github.com/htdt/self-supervised.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.embeddings import centred, check_views, squared_chord


class Degenerate(RepriseError):
    """Embeddings that cannot be whitened: a training that comes to them has diverged."""


def w_mse(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    sub_batch: int | None = None,
) -> Float[Tensor, "*replica"]:
    """W-MSE: mean squared distance between whitened embeddings scaled to unit length (Ermolov 2021, Section
    3).

    `whiten` is applied to each view separately, in sub-batches of consecutive samples; with shuffled data
    these are random, as in the paper.

    Invariant to: shift of each view, scale of each dimension, permutation of samples, order of the views.

    Args:
        sub_batch: samples whitened together; the paper uses twice the dimensions, the default is the batch.

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> round(w_mse(z, 3 * z + 1).item(), 6)  # whitening undoes scale and shift
        0.0

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, or if the sub-batch does not divide
            the batch or has no more samples than dimensions.
        Degenerate: if the embeddings do not span all their dimensions.
    """
    check_views("w_mse", z1, z2, samples=2)
    batch, dim = z1.shape[-2:]
    size = batch if sub_batch is None else sub_batch
    if size <= dim or batch % size:
        raise RepriseError(
            f"w_mse: sub-batches of {size} samples for embeddings of shape {list(z1.shape)}; expected a "
            f"divisor of the batch size {batch} that exceeds the {dim} dimensions: use larger sub-batches or "
            "fewer dimensions"
        )
    w1, w2 = (whiten(z.unflatten(-2, (-1, size))).flatten(-3, -2) for z in (z1, z2))
    return squared_chord(w1, w2)


def whiten(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """Whitens embeddings: W (z_i - mean z) with WᵀW the inverse covariance, so that the result's covariance
    is the identity.

    As in the paper, W is the inverse of the covariance's Cholesky factor: the first dimension is only scaled,
    and each further one is also decorrelated from those before it.

    Example:
        >>> z = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
        >>> torch.allclose(whiten(z).T.cov(), torch.eye(2), atol=1e-5)
        True

    Raises:
        Degenerate: if the embeddings do not span all their dimensions.
    """
    z = centred(z)
    covariance = z.mT @ z / (z.shape[-2] - 1)
    try:
        factor = torch.linalg.cholesky(covariance)
    except torch.linalg.LinAlgError as error:
        raise Degenerate(
            f"w_mse: {z.shape[-2]} embeddings do not span all {z.shape[-1]} dimensions and cannot be "
            "whitened; use larger sub-batches or fewer dimensions"
        ) from error
    return torch.linalg.solve_triangular(factor, z.mT, upper=False).mT
