"""Whether modalities are aligned, and how evenly embeddings use their dimensions (Ren 2023, Section 4)."""

import torch
from jaxtyping import Float
from torch import Tensor

Embeddings = Float[Tensor, "*replica sample dim"]


def alignment_score(a: Embeddings, positive: Embeddings, negative: Embeddings) -> Float[Tensor, "*replica"]:
    """P(|a - positive| < |a - negative|) (Definition 4.1), strict: 0 for a constant map.

    Args:
        a: embeddings of the one modality.
        positive, negative: of the other one, from the same sample and from another one.
    """
    return (_distance2(a, positive) < _distance2(a, negative)).double().mean(-1)


def covariance_eigenvalues(z: Embeddings) -> Float[Tensor, "*replica dim"]:
    """Eigenvalues of the embeddings' covariance, largest first."""
    centred = z - z.mean(-2, keepdim=True)
    return torch.linalg.eigvalsh(centred.mT @ centred / z.shape[-2]).flip(-1)


def stable_rank(eigenvalues: Float[Tensor, "*replica dim"]) -> Float[Tensor, "*replica"]:
    """|C|_F² / |C|_2² of a covariance C: the balance score (Definition 4.2)."""
    return (eigenvalues / eigenvalues[..., :1]).square().sum(-1)


def intrinsic_dimension(eigenvalues: Float[Tensor, "*replica dim"]) -> Float[Tensor, "*replica"]:
    """tr C / |C|_2, which is the stable rank of C's root: the other reading of Definition 4.2."""
    return (eigenvalues / eigenvalues[..., :1]).sum(-1)


def condition_number(z: Embeddings, rank: int | None = None) -> Float[Tensor, "*replica"]:
    """Largest over smallest singular value of the centred embeddings; infinite where the smallest is 0.

    Args:
        rank: only the first so many singular values count, without "those that should be 0" (Ren 2023,
            below Definition 4.2).
    """
    values = torch.linalg.svdvals(z - z.mean(-2, keepdim=True))
    return values[..., 0] / values[..., : rank or values.shape[-1]][..., -1]


def _distance2(a: Embeddings, b: Embeddings) -> Float[Tensor, "*replica sample"]:
    return (a - b).square().sum(-1)
