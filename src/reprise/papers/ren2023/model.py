"""The data of Section 3: two views of a shared latent signal, each with independent noise (Eq. 1).

x_A = A z + A_ξ ξ_A and x_B = B z + B_ξ ξ_B, with z uniform on {±1/√d}^r and ξ on {±1/√d}^(d-r). Latents are
stored as y_A = (z, ξ_A) and y_B = (z, ξ_B), d numbers each, so that x_A = [A, A_ξ] y_A. The columns of A are
also orthogonal to those of A_ξ, as the paper's Eq. 7 requires.
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.numerics.streams import Streams

Latents = Float[Tensor, "*seed dim sample"]


def scales(variances: np.ndarray, noise: float, dim: int) -> np.ndarray:
    """Column norms of [A, A_ξ]: σ_1 .. σ_r, then σ_ξ for each of the d - r noises."""
    return np.concatenate([np.sqrt(variances), np.full(dim - len(variances), noise)])


def mixing(streams: Streams, scale: np.ndarray) -> Float[Tensor, "seed input dim"]:
    """[A, A_ξ]: Haar-random orthogonal columns with the norms `scale`, in float64."""
    directions = _haar(streams.normal(len(scale), len(scale)).double())
    return directions * torch.from_numpy(scale)


def _haar(normal: Float[Tensor, "seed dim dim"]) -> Float[Tensor, "seed dim dim"]:
    q, r = torch.linalg.qr(normal)
    return q * r.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]  # the signs make it uniform


def positive_pairs(streams: Streams, dim: int, signals: int, samples: int) -> tuple[Latents, Latents]:
    """y_A and y_B of independent positive pairs, which share z but not the noises, in float64."""
    latents = _signs(streams, 2 * dim - signals, samples) / math.sqrt(dim)
    signal, noise_a, noise_b = latents.split([signals, dim - signals, dim - signals], dim=-2)
    return torch.cat([signal, noise_a], -2), torch.cat([signal, noise_b], -2)


def _signs(streams: Streams, *shape: int) -> Float[Tensor, "seed *shape"]:
    return torch.where(streams.uniform(*shape) < 0.5, -1.0, 1.0).double()


def hypercube(bits: int) -> Float[Tensor, "bits corner"]:
    """All 2^bits corners of {±1}^bits, in float64."""
    corners = torch.arange(2**bits)
    return 1.0 - 2.0 * ((corners >> torch.arange(bits)[:, None]) & 1).double()
