"""The losses (1) and (2), and the data's matrices C~ and C, of Esser, Mukherjee and Ghoshdastidar 2024,
"Representation Learning Dynamics of Self-Supervised Models"; no public code was found."""

from typing import Literal

from jaxtyping import Float
from torch import Tensor

Reduction = Literal["mean", "sum"]
"""Reduction over the anchors i: Eq. 1 has the sum, with which wide networks need a smaller step size."""


def contrastive(
    anchor: Float[Tensor, "*replica sample z"],
    positive: Float[Tensor, "*replica sample z"],
    negative: Float[Tensor, "*replica sample z"],
    *,
    reduction: Reduction,
) -> Float[Tensor, "*replica"]:
    """Contrastive loss: the sum or mean over i of u(x_i)ᵀ (u(x_i⁻) - u(x_i⁺)), from the outputs u (Eq. 1)."""
    return _reduce((anchor * (negative - positive)).sum(-1), reduction)


def non_contrastive(
    anchor: Float[Tensor, "*replica sample z"],
    positive: Float[Tensor, "*replica sample z"],
    *,
    reduction: Reduction,
) -> Float[Tensor, "*replica"]:
    """Non-contrastive loss: minus the sum or mean over i of u(x_i)ᵀ u(x_i⁺) (Eq. 2)."""
    return -_reduce((anchor * positive).sum(-1), reduction)


def cross_moment(
    anchor: Float[Tensor, "*replica sample d"],
    positive: Float[Tensor, "*replica sample d"],
    negative: Float[Tensor, "*replica sample d"],
    *,
    reduction: Reduction,
) -> Float[Tensor, "*replica d d"]:
    """C~, the sum or mean over i of x_i (x_i⁻ - x_i⁺)ᵀ; for a linear u = Qᵀ x, the loss (1) is Tr(Qᵀ C~
    Q)."""
    total = anchor.mT @ (negative - positive)
    return total / anchor.shape[-2] if reduction == "mean" else total


def symmetric(cross: Float[Tensor, "*replica d d"]) -> Float[Tensor, "*replica d d"]:
    """C = (C~ + C~ᵀ) / 2, for which Tr(Qᵀ C Q) is the same."""
    return (cross + cross.mT) / 2


def _reduce(terms: Float[Tensor, "*replica sample"], reduction: Reduction) -> Float[Tensor, "*replica"]:
    return terms.mean(-1) if reduction == "mean" else terms.sum(-1)
