"""Spectra of embeddings."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize


def embedding_spectrum(z: Float[Tensor, "*replica sample dim"]) -> Float[Tensor, "*replica dim"]:
    """Singular values of the embeddings' covariance, largest first, in float64 (Jing 2022, Eq. 1)."""
    centred = z.double() - z.double().mean(-2, keepdim=True)
    # The covariance's singular values are the squares of those of the centred embeddings; computing them this
    # way keeps the precision of small ones.
    return torch.linalg.svdvals(centred).square() / z.shape[-2]


def normalised_log_spectrum(z: Float[Tensor, "*replica sample dim"]) -> Float[Tensor, "*replica dim"]:
    """Natural logarithm of the spectrum of embeddings scaled to unit length; -inf for a value of zero.

    This is what the authors' code for Figures 2, 7 and 9 of Jing 2022 plots.
    """
    return embedding_spectrum(normalize(z.double(), dim=-1)).log()


def view_correlation(
    z1: Float[Tensor, "sample dim1"], z2: Float[Tensor, "sample dim2"]
) -> Float[Tensor, "dim1 dim2"]:
    """Pearson correlation of each dimension of one view with each of the other; 0 for constant dimensions."""
    u1, u2 = (normalize(z.double() - z.double().mean(0), dim=0) for z in (z1, z2))
    return u1.T @ u2
