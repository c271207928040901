"""What is measured of learned filters."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

DEAD = 1e-3
"""A filter is dead when its norm is under this share of its field's largest: weight decay alone moves it."""


def learned(
    filters: Float[Tensor, "*field unit row column"], rest: Float[Tensor, "*#field unit row column"]
) -> Bool[Tensor, "*field unit"]:
    """Which filters are no longer their random start, and not dead.

    Args:
        rest: what weight decay alone would have left of the start. What a filter has learned, filter - rest,
            is to be longer.
    """
    norm = filters.flatten(-2).norm(dim=-1)
    beyond = (filters - rest).flatten(-2).norm(dim=-1) > rest.flatten(-2).norm(dim=-1)
    return beyond & (norm >= DEAD * norm.amax(-1, keepdim=True))


def high_frequency_share(
    filters: Float[Tensor, "*filter size size"], *, with_mean: bool = True
) -> Float[Tensor, "*filter"]:
    """The share of a filter's power (squared magnitude of its 2-D Fourier transform, without a window) at
    radial frequencies sqrt(fx² + fy²) above half the Nyquist frequency, 1/4 cycle a pixel.

    Args:
        with_mean: whether frequency 0, the filter's mean, is a part of the power.
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
    """exp(-Σ p ln p), p the singular values, divided by their sum, of the matrix of a field's counted filters
    at unit length: 1 if all are multiples of one pattern, at most the number of pixels."""
    rows = torch.where(counted[..., None], filters.flatten(-2), 0)
    values = torch.linalg.svdvals(torch.nn.functional.normalize(rows, dim=-1))
    p = values / values.sum(-1, keepdim=True)
    return torch.special.entr(p).sum(-1).exp()


def mean_over(
    values: Float[Tensor, "*field unit"], counted: Bool[Tensor, "*field unit"]
) -> Float[Tensor, "*field"]:
    """The mean over a field's counted filters; NaN where there are none."""
    return torch.where(counted, values, torch.nan).nanmean(-1)
