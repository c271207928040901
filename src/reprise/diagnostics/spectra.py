"""Spectra of embeddings."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize


def embedding_spectrum(z: Float[Tensor, "*replica sample dim"]) -> Float[Tensor, "*replica dim"]:
    """Singular values of the embeddings' covariance, largest first, in float64 (Jing 2022, Eq. 1).

    The covariance is divided by the number of samples; its singular values are the squares of those of the
    centred embeddings, over that number. Range: 0 upwards, in squared units of z.

    Args:
        z: embeddings of shape [*replica, sample, dim].

    Returns:
        Of shape [*replica, min(sample, dim)].

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> [round(value, 6) for value in embedding_spectrum(3 * z).tolist()]
        [9.0, 9.0]
    """
    centred = z.double() - z.double().mean(-2, keepdim=True)
    # The covariance's singular values are the squares of those of the centred embeddings; computing them this
    # way keeps the precision of small ones.
    return torch.linalg.svdvals(centred).square() / z.shape[-2]


def normalised_log_spectrum(z: Float[Tensor, "*replica sample dim"]) -> Float[Tensor, "*replica dim"]:
    """Natural logarithm of the spectrum of embeddings scaled to unit length; -inf for a value of zero.

    This is what the authors' code for Figures 2, 7 and 9 of Jing 2022 plots.

    Range: at most 0.

    Args:
        z: embeddings of shape [*replica, sample, dim].

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> [round(value, 4) for value in normalised_log_spectrum(3 * z).tolist()]  # log(1/2)
        [-0.6931, -0.6931]
    """
    return embedding_spectrum(normalize(z.double(), dim=-1)).log()


def view_correlation(
    z1: Float[Tensor, "sample dim1"], z2: Float[Tensor, "sample dim2"]
) -> Float[Tensor, "dim1 dim2"]:
    """Pearson correlation of each dimension of one view with each of the other; 0 for constant dimensions.

    Range: -1 to 1. Its diagonal is what Barlow Twins drives to 1 (Zbontar et al. 2021, Eq. 2).

    Args:
        z1, z2: embeddings of two views, of shape [sample, dim1] and [sample, dim2].

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> view_correlation(z, -z).round().diagonal().tolist()
        [-1.0, -1.0]
    """
    u1, u2 = (normalize(z.double() - z.double().mean(0), dim=0) for z in (z1, z2))
    return u1.T @ u2
