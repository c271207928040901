"""Ranks of embeddings: the number of dimensions that they use, as functions of their singular values.

For embeddings Z of shape [sample, dim], the eigenvalues of their covariance are σ² / sample, with σ the
singular values of the centred Z. Every function ignores the scale of what it is given.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from reprise.diagnostics.balance import intrinsic_dimension, stable_rank

__all__ = [
    "alpha_req",
    "collapsed_dimensions",
    "effective_rank",
    "intrinsic_dimension",
    "rank_of_entropy",
    "spectral_entropy",
    "stable_rank",
]

FIT = (6, 100)
"""First and last rank of the eigenvalues to which `alpha_req` fits a line."""


def spectral_entropy(eigenvalues: Float[Tensor, "*replica dim"]) -> Float[Tensor, "*replica"]:
    """Von Neumann entropy -Σ p_k log p_k of a covariance scaled to unit trace, p_k = λ_k / Σ λ, in nats.

    Range: 0, one direction, to log dim, an isotropic covariance; NaN if all eigenvalues are 0. It is the
    limit α → 1 of the matrix-based Rényi entropy (Giraldo et al. 2015, "Measures of Entropy From Data Using
    Infinitely Divisible Kernels"), of which FroSSL maximises the one at α = 2.

    Args:
        eigenvalues: of shape [*replica, dim], not negative, of any scale and order.

    Example:
        >>> spectral_entropy(torch.ones(4, dtype=torch.float64)).exp().round(decimals=3).item()
        4.0
    """
    p = eigenvalues / eigenvalues.sum(-1, keepdim=True)
    return torch.special.entr(p).sum(-1)


def effective_rank(singular_values: Float[Tensor, "*replica dim"]) -> Float[Tensor, "*replica"]:
    """Effective rank exp(-Σ p_k log p_k) with p_k = σ_k / Σ σ, in dimensions.

    Range: 1 to dim. Unlike `spectral_entropy`, it weighs singular values, not their squares.

    Source: Roy and Vetterli 2007, "The effective rank: a measure of effective dimensionality", Definition 1.

    Args:
        singular_values: of the centred embeddings, shape [*replica, dim], of any scale and order.

    Example:
        >>> effective_rank(torch.tensor([1.0, 1.0, 1.0, 0.0])).round(decimals=3).item()
        3.0
    """
    return spectral_entropy(singular_values).exp()


def rank_of_entropy(
    values: Float[Tensor, "*replica dim"], *, epsilon: float = 1e-7
) -> Float[Tensor, "*replica"]:
    """exp(-Σ p_k log p_k) with p_k = v_k / Σ v + ε, in dimensions: RankMe or LiDAR, depending on the values.

    With singular values of embeddings that are not centred it is RankMe (Garrido et al. 2023, "RankMe:
    Assessing the Downstream Performance of Pretrained Self-Supervised Representations by Their Rank");
    with eigenvalues of the LDA matrix it is LiDAR (Thilak et al. 2023; see `lidar`).

    Range: 1 to dim, up to a rounding by ε.

    Args:
        values: of shape [*replica, min(sample, dim)], not negative, of any scale and order.

    Example:
        >>> round(rank_of_entropy(torch.ones(8)).item(), 2)
        8.0
    """
    p = values / values.sum(-1, keepdim=True) + epsilon
    return torch.special.entr(p).sum(-1).exp()


def alpha_req(
    eigenvalues: Float[Tensor, "*replica dim"], *, first: int = FIT[0], last: int = FIT[1]
) -> Float[Tensor, "*replica"]:
    """Exponent α of a power law λ_j ∝ j^-α fitted to the eigenvalues of a covariance.

    It is the slope of log λ_j on log j by least squares with weights 1/j, from rank `first` to `last`, as the
    authors' code fits it. Range: 0, a flat spectrum, upwards; the paper finds that networks with α close to 1
    generalise best. NaN if fewer than two ranks are left or an eigenvalue among them is 0.

    Source: Agrawal et al. 2022, "α-ReQ: Assessing Representation Quality in Self-Supervised Learning by
    measuring eigenspectrum decay"; the weights: Stringer et al. 2019, "High-dimensional geometry
    of population responses in visual cortex".

    Args:
        eigenvalues: of shape [*replica, dim], largest first, of any scale.
        first, last: ranks from 1, both included; `last` is lowered to dim.

    Example:
        >>> round(alpha_req(torch.arange(1, 65).double() ** -1.5).item(), 6)
        1.5
    """
    end = max(first, min(last, eigenvalues.shape[-1]) + 1)
    ranks = torch.arange(first, end, device=eigenvalues.device)
    nothing = eigenvalues.new_full(eigenvalues.shape[:-1], torch.nan)
    if len(ranks) < 2:
        return nothing
    x, weight = ranks.to(eigenvalues).log(), 1 / ranks.to(eigenvalues)
    y = eigenvalues[..., ranks - 1].log()
    x = x - (weight * x).sum() / weight.sum()
    slope = (weight * x * y).sum(-1) / (weight * x.square()).sum()
    return torch.where(slope.isfinite(), -slope, nothing)


def collapsed_dimensions(
    singular_values: Float[Tensor, "*replica dim"], *, threshold: float = 1e-3
) -> Int[Tensor, "*replica"]:
    """Number of singular values of at most `threshold` times the largest; all of them if all are 0.

    Range: 0 to dim. The dimensional collapse of Jing et al. 2022, "Understanding Dimensional Collapse in
    Contrastive Self-supervised Learning", Section 3, counted.

    Example:
        >>> collapsed_dimensions(torch.tensor([1.0, 0.5, 1e-4, 0.0])).item()
        2
    """
    return (singular_values <= threshold * singular_values.amax(-1, keepdim=True)).sum(-1)
