"""Measurements of learned filters."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

DEAD = 1e-3
"""A filter is dead if its norm is below this share of the largest in its field: only weight decay moves
it."""


def learned(
    filters: Float[Tensor, "*field unit row column"], rest: Float[Tensor, "*#field unit row column"]
) -> Bool[Tensor, "*field unit"]:
    """Tells which filters have moved away from their random start and are not dead.

    Args:
        rest: the random start after weight decay alone. A filter counts as learned if filter - rest is longer
            than rest.
    """
    norm = filters.flatten(-2).norm(dim=-1)
    moved_far = (filters - rest).flatten(-2).norm(dim=-1) > rest.flatten(-2).norm(dim=-1)
    return moved_far & (norm >= DEAD * norm.amax(-1, keepdim=True))


def high_frequency_share(
    filters: Float[Tensor, "*filter size size"], *, with_mean: bool = True
) -> Float[Tensor, "*filter"]:
    """Share of a filter's power above half the Nyquist frequency, 1/4 cycle per pixel.

    Power is the squared magnitude of the 2-D Fourier transform, without a window; frequencies are radial,
    sqrt(fx² + fy²).

    Args:
        with_mean: whether the power includes frequency 0, the filter's mean.
    """
    power = torch.fft.fft2(filters).abs().square()
    if not with_mean:
        power[..., 0, 0] = 0
    frequency = torch.fft.fftfreq(filters.shape[-1], dtype=torch.float64)
    high = torch.hypot(frequency[:, None], frequency) > 0.25
    return (power * high).sum((-2, -1)) / power.sum((-2, -1))


def effective_rank(
    filters: Float[Tensor, "*field unit row column"], counted: Bool[Tensor, "*field unit"]
) -> Float[Tensor, "*field"]:
    """Effective rank exp(-Σ p ln p) of the matrix of a field's counted filters, each scaled to unit length.

    p are the singular values divided by their sum. The rank is 1 if all filters are multiples of one pattern,
    and at most the number of pixels.
    """
    rows = torch.where(counted[..., None], filters.flatten(-2), 0)
    values = torch.linalg.svdvals(torch.nn.functional.normalize(rows, dim=-1))
    p = values / values.sum(-1, keepdim=True)
    return torch.special.entr(p).sum(-1).exp()


def match(
    filters: Float[Tensor, "*rest field unit size size"], patches: Float[Tensor, "field sample size size"]
) -> Float[Tensor, "*rest field unit"]:
    """Magnitude of a filter's correlation, over pixels, with the patch of its field that it fits best."""

    def standardised(images: Tensor) -> Tensor:
        pixels = images.flatten(-2)
        return torch.nn.functional.normalize(pixels - pixels.mean(-1, keepdim=True), dim=-1)

    return (standardised(filters) @ standardised(patches).mT).abs().amax(-1)


def mean_over(
    values: Float[Tensor, "*field unit"], counted: Bool[Tensor, "*field unit"]
) -> Float[Tensor, "*field"]:
    """Mean over a field's counted filters; NaN if there are none."""
    return torch.where(counted, values, torch.nan).nanmean(-1)
