"""Quantities from Jing et al.'s analysis, measured by several experiments."""

from jaxtyping import Float
from torch import Tensor


def x_matrix(
    x1: Float[Tensor, "*replica batch in"],
    x2: Float[Tensor, "*replica batch in"],
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
) -> Float[Tensor, "*replica in in"]:
    """X = Σ0 - Σ1 of Lemma 2, divided by the batch size, so that dW/dt = W X for the mean over the batch.

    Σ0 = Σ_ij α_ij (x_i - x_j)(x_i - x_j)ᵀ is the weighted data covariance, Σ1 = Σ_i (1 - α_ii)(x'_i -
    x_i)(x'_i - x_i)ᵀ the weighted augmentation covariance, and α the softmax of Eq. 4.
    """
    batch = x1.shape[-2]
    square = z1.square().sum(-1, keepdim=True)
    logits = z1 @ z1.mT - 0.5 * (square + square.mT)
    logits.diagonal(dim1=-2, dim2=-1).copy_(-0.5 * (z1 - z2).square().sum(-1))
    softmax = logits.softmax(-1)
    weight = 1 - softmax.diagonal(dim1=-2, dim2=-1)
    between = softmax + softmax.mT
    between.diagonal(dim1=-2, dim2=-1).zero_()
    # Σ_ij α_ij (x_i - x_j)(x_i - x_j)ᵀ = Xᵀ (D - B) X with B = α + αᵀ off the diagonal and D its row sums.
    sigma0 = x1.mT @ (between.sum(-1, keepdim=True) * x1 - between @ x1)
    shift = x2 - x1
    return (sigma0 - shift.mT @ (weight[..., None] * shift)) / batch
