"""Losses on cosine similarities, with positive pairs across the views and negatives within the first view.

Source: Tian 2023, "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning", as
in the author's code: github.com/facebookresearch/luckmatters.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.objectives.embeddings import check_positive, check_views, unit_rows

TEMPERATURE = 0.1


def infonce_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """InfoNCE on cosine similarities, with negatives from the first view.

    mean_i -log( exp(c'_ii / τ) / (exp(c'_ii / τ) + Σ_{j≠i} exp(c_ij / τ)) ), with c'_ii = cos(z1_i, z2_i) and
    c_ij = cos(z1_i, z1_j).

    Invariant to: rotation of both views, permutation of samples, length of each embedding.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> round(infonce_cosine(torch.eye(3), torch.eye(3), temperature=1.0).item(), 4)  # log(e + 2) - 1
        0.5514

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, which has no negatives, or if the
            temperature is not above 0.
    """
    check_views("infonce_cosine", z1, z2, samples=2)
    check_positive("infonce_cosine", temperature=temperature)
    similarities, positive = _similarities(z1, z2)
    return ((similarities / temperature).logsumexp(-1) - positive / temperature).mean(-1)


def quadratic_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """Quadratic loss on the similarities of `infonce_cosine`: every pair has the same weight.

    (mean_ij s_ij - (1 + 1/N) mean_i s_ii) / τ, with s_ii = c'_ii and s_ij = c_ij as in `infonce_cosine`.

    Invariant to: rotation of both views, permutation of samples, length of each embedding.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> round(quadratic_cosine(torch.eye(3), torch.eye(3), temperature=1.0).item(), 4)  # 1/3 - 4/3
        -1.0

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, which has no negatives, or if the
            temperature is not above 0.
    """
    check_views("quadratic_cosine", z1, z2, samples=2)
    check_positive("quadratic_cosine", temperature=temperature)
    similarities, positive = _similarities(z1, z2)
    return (similarities.mean((-2, -1)) - (1 + 1 / z1.shape[-2]) * positive.mean(-1)) / temperature


def _similarities(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> tuple[Float[Tensor, "*replica batch batch"], Float[Tensor, "*replica batch"]]:
    """c_ij with c'_ii on the diagonal, and c'_ii."""
    u1, u2 = unit_rows(z1), unit_rows(z2)
    positive = (u1 * u2).sum(-1)
    diagonal = torch.eye(z1.shape[-2], dtype=torch.bool, device=z1.device)
    return torch.where(diagonal, positive[..., None], u1 @ u1.mT), positive
