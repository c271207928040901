"""Alignment of two adjacent linear layers (Jing 2022, Section 5)."""

import torch
from jaxtyping import Float
from torch import Tensor


def alignment_matrix(
    w1: Float[Tensor, "*replica hidden in"], w2: Float[Tensor, "*replica out hidden"]
) -> Float[Tensor, "*replica hidden hidden"]:
    """Alignment matrix A = V2ᵀ U1 of W1 = U1 S1 V1ᵀ and W2 = U2 S2 V2ᵀ, singular values largest first.

    The signs of its entries are arbitrary.

    Range: entries in [-1, 1]; 1 or -1 on the diagonal for aligned layers.

    Args:
        w1, w2: weights of shape [*replica, hidden, in] and [*replica, out, hidden]; w1 is applied first.

    Example:
        >>> w = torch.diag(torch.tensor([3.0, 2.0, 1.0]))
        >>> alignment_matrix(w, w).abs().round().diagonal().tolist()
        [1.0, 1.0, 1.0]
    """
    u1 = torch.linalg.svd(w1).U
    v2t = torch.linalg.svd(w2).Vh
    return v2t @ u1


def off_diagonal_mass(alignment: Float[Tensor, "*replica dim dim"]) -> Float[Tensor, "*replica"]:
    """1 - mean_k A_kk²: 0 for the identity up to signs, 1 - 1/dim on average for random bases.

    Args:
        alignment: from `alignment_matrix`, [*replica, dim, dim].

    Example:
        >>> off_diagonal_mass(-torch.eye(3)).item()
        0.0
    """
    return 1 - alignment.diagonal(dim1=-2, dim2=-1).square().mean(-1)


def subspace_mass_outside(
    alignment: Float[Tensor, "*replica dim dim"], rank: int
) -> Float[Tensor, "*replica"]:
    """1 - |A[:rank, :rank]|_F² / rank: 0 if both layers' leading `rank` singular vectors span the same
    space.

    Range: 0 to 1.

    Args:
        alignment: from `alignment_matrix`, [*replica, dim, dim].
        rank: number of leading singular vectors, from 1 to dim.

    Example:
        >>> subspace_mass_outside(torch.eye(3).flip(0), 1).item()
        1.0
    """
    return 1 - alignment[..., :rank, :rank].square().sum((-2, -1)) / rank


def imbalance(
    w1: Float[Tensor, "*replica hidden in"], w2: Float[Tensor, "*replica out hidden"]
) -> Float[Tensor, "*replica"]:
    """|W1 W1ᵀ - W2ᵀ W2|_F, which is conserved under gradient flow.

    Range: 0, balanced, upwards.

    Args:
        w1, w2: weights of shape [*replica, hidden, in] and [*replica, out, hidden].

    Example:
        >>> imbalance(torch.eye(2), torch.eye(2)).item()
        0.0
    """
    return (w1 @ w1.mT - w2.mT @ w2).square().sum((-2, -1)).sqrt()
