"""Spectra of embeddings."""

import torch
from jaxtyping import Float
from torch import Tensor


def embedding_spectrum(z: Float[Tensor, "*replica sample dim"]) -> Float[Tensor, "*replica dim"]:
    """Singular values of the embeddings' covariance, largest first (Jing 2022, Eq. 1), in float64."""
    centred = z.double() - z.double().mean(-2, keepdim=True)
    # The covariance's singular values are the squares of the centred embeddings': this way small ones keep
    # their digits.
    return torch.linalg.svdvals(centred).square() / z.shape[-2]
