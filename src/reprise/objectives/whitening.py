"""W-MSE: embeddings are whitened, so that they cannot collapse, and then brought together."""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.embeddings import centred, check_views, squared_chord


def w_mse(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    sub_batch: int | None = None,
) -> Float[Tensor, "*replica"]:
    """W-MSE: the mean squared distance of whitened embeddings at unit length (Ermolov 2021, Section 3).

    Each view is whitened by itself, in sub-batches of consecutive samples: of shuffled data these are random,
    as in the paper. Whitening is `whiten`'s.

    Args:
        sub_batch: samples whitened together, twice the dimensions in the paper; all by default.

    Raises:
        RepriseError: for views of different shapes, a batch that sub-batches do not fill, sub-batches of no
            more samples than dimensions, or embeddings that span fewer dimensions than they have.
    """
    check_views("w_mse", z1, z2, samples=2)
    batch, dim = z1.shape[-2:]
    size = batch if sub_batch is None else sub_batch
    if size <= dim or batch % size:
        raise RepriseError(
            f"w_mse: sub-batches of {size} of embeddings of shape {list(z1.shape)}; expected a divisor of "
            f"the batch, {batch}, over the dimensions, {dim}: use larger sub-batches or fewer dimensions"
        )
    w1, w2 = (whiten(z.unflatten(-2, (-1, size))).flatten(-3, -2) for z in (z1, z2))
    return squared_chord(w1, w2)


def whiten(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica batch dim"]:
    """W (z_i - mean z), WᵀW the inverse of the covariance: its covariance is the identity.

    As in the paper, W is the inverse of the covariance's Cholesky factor, so that the first dimension is only
    scaled, and the second loses the first's part.

    Raises:
        RepriseError: for embeddings that span fewer dimensions than they have.
    """
    z = centred(z)
    covariance = z.mT @ z / (z.shape[-2] - 1)
    try:
        factor = torch.linalg.cholesky(covariance)
    except torch.linalg.LinAlgError as error:
        raise RepriseError(
            f"w_mse: {z.shape[-2]} embeddings span fewer than their {z.shape[-1]} dimensions and cannot be "
            "whitened; use larger sub-batches or fewer dimensions"
        ) from error
    return torch.linalg.solve_triangular(factor, z.mT, upper=False).mT
