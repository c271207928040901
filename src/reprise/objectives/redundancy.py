"""Dimension-contrastive losses, which penalise covariances or correlations between dimensions: VICReg and
Barlow Twins."""

from jaxtyping import Float
from torch import Tensor

from reprise.objectives.embeddings import (
    centred,
    check_positive,
    check_views,
    check_weights,
    off_diagonal,
    unit_columns,
)

PAPER_VARIANCE_WEIGHT = 25.0
"""μ in the paper's Eq. 6 and pseudocode, which sum the two views' variance terms, as do solo-learn and the
code of Skean 2024."""
AUTHORS_VARIANCE_WEIGHT = 12.5
"""The authors' code also has μ = 25, but averages the two terms."""

PAPER_OFF_DIAGONAL_WEIGHT = 0.005
"""λ in Zbontar 2021."""
SKEAN_OFF_DIAGONAL_WEIGHT = 0.05
"""λ in Skean 2024's Appendix B.1; its Section 6.2 has .005."""


def vicreg(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    invariance_weight: float = 25.0,
    variance_weight: float = PAPER_VARIANCE_WEIGHT,
    covariance_weight: float = 1.0,
) -> Float[Tensor, "*replica"]:
    """VICReg: λ s(Z1, Z2) + μ (v(Z1) + v(Z2)) + ν (c(Z1) + c(Z2)).

    s is the mean squared difference, averaged over dimensions as in the paper's pseudocode and the authors'
    code (Eq. 5 sums over them). v = mean_j max(0, 1 - sqrt(Var z_j + 1e-4)) (Eq. 1 and 2). c = Σ_{i≠j} C_ij²
    / dim, with C the covariance (Eq. 3 and 4). Var and C are divided by batch - 1.

    Invariant to: shift of both views, permutation of samples, order of the views.

    Source: Bardes, Ponce and LeCun 2022, "VICReg: Variance-Invariance-Covariance Regularization for
    Self-Supervised Learning", Eq. 6; code: github.com/facebookresearch/vicreg.

    Args:
        invariance_weight: λ.
        variance_weight: μ, which multiplies the sum of both views' terms: `PAPER_VARIANCE_WEIGHT` or
            `AUTHORS_VARIANCE_WEIGHT`.
        covariance_weight: ν.

    Example:
        >>> z = torch.zeros(4, 2)
        >>> round(vicreg(z, z).item(), 4)  # collapsed: 25 * 2 * (1 - sqrt(1e-4))
        49.5

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, or if a weight is negative.
    """
    check_views("vicreg", z1, z2, samples=2)
    check_weights(
        "vicreg",
        invariance_weight=invariance_weight,
        variance_weight=variance_weight,
        covariance_weight=covariance_weight,
    )
    invariance = (z1 - z2).square().mean((-2, -1))
    z1, z2 = centred(z1), centred(z2)
    variance = _hinge(z1) + _hinge(z2)
    covariance = _covariances(z1) + _covariances(z2)
    return invariance_weight * invariance + variance_weight * variance + covariance_weight * covariance


def _hinge(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica"]:
    return (1 - (z.var(-2) + 1e-4).sqrt()).relu().mean(-1)


def _covariances(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica"]:
    batch, dim = z.shape[-2:]
    return off_diagonal(z.mT @ z / (batch - 1)) / dim


def barlow_twins(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    off_diagonal_weight: float = PAPER_OFF_DIAGONAL_WEIGHT,
    scale: float = 1.0,
) -> Float[Tensor, "*replica"]:
    """Barlow Twins: Σ_i (1 - C_ii)² + λ Σ_{i≠j} C_ij², where C_ij is the correlation of the first view's
    dimension i with the second view's dimension j.

    Invariant to: shift of each view, scale of each dimension, permutation of samples, order of the views.

    Source: Zbontar et al. 2021, "Barlow Twins: Self-Supervised Learning via Redundancy Reduction", Eq. 1 and
    2; code: github.com/facebookresearch/barlowtwins.

    Args:
        off_diagonal_weight: λ: `PAPER_OFF_DIAGONAL_WEIGHT` or `SKEAN_OFF_DIAGONAL_WEIGHT`.
        scale: factor on the whole loss; .024 in the authors' code, .1 in solo-learn's for CIFAR.

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> abs(barlow_twins(z, z).item()) < 1e-6, round(barlow_twins(z, -z).item(), 4)
        (True, 8.0)

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, or if a weight is negative.
    """
    check_views("barlow_twins", z1, z2, samples=2)
    check_weights("barlow_twins", off_diagonal_weight=off_diagonal_weight)
    check_positive("barlow_twins", scale=scale)
    correlation = unit_columns(z1).mT @ unit_columns(z2)
    on_diagonal = (1 - correlation.diagonal(dim1=-2, dim2=-1)).square().sum(-1)
    return scale * (on_diagonal + off_diagonal_weight * off_diagonal(correlation))
