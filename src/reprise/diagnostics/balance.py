"""Alignment of two modalities, and how evenly embeddings use their dimensions (Ren 2023, Section 4)."""

import torch
from jaxtyping import Float
from torch import Tensor

Embeddings = Float[Tensor, "*replica sample dim"]


def alignment_score(a: Embeddings, positive: Embeddings, negative: Embeddings) -> Float[Tensor, "*replica"]:
    """Alignment score P(|a - positive| < |a - negative|) (Ren 2023, Definition 4.1).

    The inequality is strict, so a constant map scores 0. Range: 0 to 1; a half by chance. Each argument is of
    shape [*replica, sample, dim].

    Args:
        a: embeddings of one modality.
        positive, negative: embeddings of the other modality, from the same sample and from another one.

    Example:
        >>> z = torch.eye(3)
        >>> alignment_score(z, z, z.roll(1, 0)).item()
        1.0
    """
    return (_distance2(a, positive) < _distance2(a, negative)).double().mean(-1)


def covariance_eigenvalues(z: Embeddings) -> Float[Tensor, "*replica dim"]:
    """Eigenvalues of the embeddings' covariance, largest first.

    The covariance is divided by the number of samples. Range: 0 upwards, in squared units of z.

    Args:
        z: embeddings of shape [*replica, sample, dim].

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> covariance_eigenvalues(z).tolist()
        [1.0, 1.0]
    """
    centred = z - z.mean(-2, keepdim=True)
    return torch.linalg.eigvalsh(centred.mT @ centred / z.shape[-2]).flip(-1)


def stable_rank(eigenvalues: Float[Tensor, "*replica dim"]) -> Float[Tensor, "*replica"]:
    """Stable rank |C|_F² / |C|_2² of a covariance C: the balance score (Ren 2023, Definition 4.2).

    Range: 1 to dim.

    Args:
        eigenvalues: of shape [*replica, dim], largest first.

    Example:
        >>> stable_rank(torch.tensor([2.0, 2.0, 1.0])).item()
        2.25
    """
    return (eigenvalues / eigenvalues[..., :1]).square().sum(-1)


def intrinsic_dimension(eigenvalues: Float[Tensor, "*replica dim"]) -> Float[Tensor, "*replica"]:
    """tr C / |C|_2, the stable rank of C's square root: the other reading of Ren 2023, Definition 4.2.

    Range: 1 to dim.

    Args:
        eigenvalues: of shape [*replica, dim], largest first.

    Example:
        >>> intrinsic_dimension(torch.tensor([2.0, 2.0, 1.0])).item()
        2.5
    """
    return (eigenvalues / eigenvalues[..., :1]).sum(-1)


def condition_number(z: Embeddings, rank: int | None = None) -> Float[Tensor, "*replica"]:
    """Condition number of the centred embeddings, largest over smallest singular value; may be infinite.

    Range: 1 upwards.

    Args:
        rank: number of leading singular values to use, which leaves out "those that should be 0" (Ren 2023,
            below Definition 4.2); by default all.

    Example:
        >>> z = torch.tensor([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
        >>> round(condition_number(z).item(), 4)
        3.0
    """
    values = torch.linalg.svdvals(z - z.mean(-2, keepdim=True))
    return values[..., 0] / values[..., : rank or values.shape[-1]][..., -1]


def _distance2(a: Embeddings, b: Embeddings) -> Float[Tensor, "*replica sample"]:
    return (a - b).square().sum(-1)
