"""Alignment of two adjacent linear layers (Jing 2022, Section 5)."""

import torch
from jaxtyping import Float
from torch import Tensor


def alignment_matrix(
    w1: Float[Tensor, "*replica hidden in"], w2: Float[Tensor, "*replica out hidden"]
) -> Float[Tensor, "*replica hidden hidden"]:
    """Alignment matrix A = V2ᵀ U1 of W1 = U1 S1 V1ᵀ and W2 = U2 S2 V2ᵀ, singular values largest first.

    The signs of its entries are arbitrary.
    """
    u1 = torch.linalg.svd(w1).U
    v2t = torch.linalg.svd(w2).Vh
    return v2t @ u1


def off_diagonal_mass(alignment: Float[Tensor, "*replica dim dim"]) -> Float[Tensor, "*replica"]:
    """1 - mean_k A_kk²: 0 for the identity up to signs, 1 - 1/dim on average for random bases."""
    return 1 - alignment.diagonal(dim1=-2, dim2=-1).square().mean(-1)


def subspace_mass_outside(
    alignment: Float[Tensor, "*replica dim dim"], rank: int
) -> Float[Tensor, "*replica"]:
    """1 - |A[:rank, :rank]|_F² / rank: 0 if both layers' leading `rank` singular vectors span the same
    space."""
    return 1 - alignment[..., :rank, :rank].square().sum((-2, -1)) / rank


def imbalance(
    w1: Float[Tensor, "*replica hidden in"], w2: Float[Tensor, "*replica out hidden"]
) -> Float[Tensor, "*replica"]:
    """|W1 W1ᵀ - W2ᵀ W2|_F, which is conserved under gradient flow."""
    return (w1 @ w1.mT - w2.mT @ w2).square().sum((-2, -1)).sqrt()
