"""Alignment and uniformity of embeddings on the unit sphere.

Source: Wang and Isola 2020, "Understanding Contrastive Representation Learning through Alignment and
Uniformity on the Hypersphere".
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

Embeddings = Float[Tensor, "*replica sample dim"]


def view_alignment(z1: Embeddings, z2: Embeddings, *, power: float = 2.0) -> Float[Tensor, "*replica"]:
    """Mean distance of positive pairs at unit length, mean_i |u_i - v_i|^α (Wang 2020, Section 4.1).

    Range: 0, views coincide, to 2^α; √2^α on average for independent directions.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, sample, dim].
        power: α; the paper uses 2.

    Example:
        >>> view_alignment(torch.eye(3), 5 * torch.eye(3)).item()
        0.0
    """
    return torch.linalg.vector_norm(normalize(z1, dim=-1) - normalize(z2, dim=-1), dim=-1).pow(power).mean(-1)


def uniformity(z: Embeddings, *, temperature: float = 2.0) -> Float[Tensor, "*replica"]:
    """Logarithm of the mean Gaussian potential of all pairs at unit length, log mean_{i<j} exp(-t |u_i -
    u_j|²) (Wang 2020, Section 4.1).

    Range: -4t, two opposite points, to 0, a single point; -2t for orthogonal pairs. Lower is more uniform.

    Args:
        z: of shape [*replica, sample, dim], at least two samples.
        temperature: t; the paper uses 2.

    Example:
        >>> round(uniformity(torch.eye(3)).item(), 6)
        -4.0
    """
    return mean_potential(z, temperature=temperature).log()


def mean_potential(z: Embeddings, *, temperature: float = 2.0) -> Float[Tensor, "*replica"]:
    """mean_{i<j} exp(-t |u_i - u_j|²), of which `uniformity` is the logarithm; in (0, 1].

    Example:
        >>> round(mean_potential(torch.eye(2)).item(), 4)  # exp(-4)
        0.0183
    """
    u, samples = normalize(z, dim=-1), z.shape[-2]
    distance2 = (2 - 2 * u @ u.mT).clamp_min(0)
    first, second = torch.triu_indices(samples, samples, 1, device=z.device)
    return (-temperature * distance2[..., first, second]).exp().mean(-1)
