"""Two-layer networks on disjoint receptive fields, many at once (Tian 2023, Section 4 and Appendix D).

Where a field holds one of a few tokens, its units have as few values: both layers and the batch statistics
are computed on this table, and a sample adds up the rows of its tokens. That is exact, and saves nearly all
of the work.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from reprise.numerics.compiled import arrays, compiled
from reprise.papers.tian2023.token_sequences import Minibatch

BATCH_NORM_EPS = 1e-5


def batch_norm(
    table: Float[Tensor, "arm seed field token unit"],
    share: Float[Tensor, "seed field view token"],
    *,
    mean_gradient: Bool[Tensor, " arm"],
    variance_gradient: Bool[Tensor, " arm"],
) -> Float[Tensor, "arm seed field view token unit"]:
    """BatchNorm without affine weights, (f - μ)/sqrt(σ² + 1e-5), with each view's own μ and (biased) σ².

    Args:
        table: a unit's values at each token.
        share: of the batch, that has the token: the weights of μ and σ².
        mean_gradient: whether the gradient flows through μ (Appendix E.2), for each arm.
        variance_gradient: the same of σ². Definition 5's mean-backprop BatchNorm has μ only.
    """
    of_device = _BatchNorm.apply if table.device.type == "cpu" else differentiated_batch_norm
    return of_device(table, share, mean_gradient, variance_gradient)


def differentiated_batch_norm(
    table: Float[Tensor, "arm seed field token unit"],
    share: Float[Tensor, "seed field view token"],
    mean_gradient: Bool[Tensor, " arm"],
    variance_gradient: Bool[Tensor, " arm"],
) -> Float[Tensor, "arm seed field view token unit"]:
    """`batch_norm` by automatic differentiation, on any device."""

    def flowing(statistic: Tensor, flows: Tensor) -> Tensor:
        return torch.where(flows.view(-1, *[1] * 5), statistic, statistic.detach())

    mean = flowing((share @ table)[..., None, :], mean_gradient)
    centred = table[..., None, :, :] - mean
    variance = flowing(share[..., None, :] @ centred.square(), variance_gradient)
    return centred / (variance + BATCH_NORM_EPS).sqrt()


class _BatchNorm(torch.autograd.Function):
    """In closed form and compiled: a third of the time of PyTorch's passes over rows so short."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, share: Tensor, mean_flows: Tensor, variance_flows: Tensor) -> Tensor:
        arms, seeds, fields, tokens, units = table.shape
        inverse = table.new_empty(arms, seeds, fields, share.shape[2], 1, units)
        normalised = table.new_empty(*inverse.shape[:4], tokens, units)
        _normalise(*arrays(table, share, normalised, inverse))
        ctx.save_for_backward(normalised, inverse, share, mean_flows, variance_flows)
        return normalised

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        """With g the gradient on f, summed over the samples of a token: (g - share · (Σ g + f Σ g f)) / σ.

        The first sum comes by way of μ, the second by way of σ².
        """
        back = gradient.new_zeros(*gradient.shape[:3], *gradient.shape[4:])
        _pull_back(*arrays(gradient, *ctx.saved_tensors, back))
        return back, None, None, None


@compiled
def _normalise(table, share, normalised, inverse):  # type: ignore[no-untyped-def]
    """To normalised [arm, seed, field, view, token, unit] and inverse [arm, seed, field, view, 1, unit]."""
    number = table.dtype.type
    mean = np.empty(table.shape[-1], table.dtype)
    for arm, seed, field in np.ndindex(table.shape[:3]):
        x = table[arm, seed, field]
        for view in range(share.shape[2]):
            f, over_sigma = normalised[arm, seed, field, view], inverse[arm, seed, field, view, 0]
            weight = share[seed, field, view]
            mean[:] = 0
            over_sigma[:] = number(BATCH_NORM_EPS)
            for token in range(x.shape[0]):
                for unit in range(x.shape[1]):
                    mean[unit] += weight[token] * x[token, unit]
            for token in range(x.shape[0]):
                for unit in range(x.shape[1]):
                    f[token, unit] = x[token, unit] - mean[unit]
                    over_sigma[unit] += weight[token] * (f[token, unit] * f[token, unit])
            for unit in range(x.shape[1]):
                over_sigma[unit] = number(1) / np.sqrt(over_sigma[unit])
            for token in range(x.shape[0]):
                for unit in range(x.shape[1]):
                    f[token, unit] *= over_sigma[unit]


@compiled
def _pull_back(gradient, normalised, inverse, share, mean_flows, variance_flows, back):  # type: ignore[no-untyped-def]
    """Adds to back [arm, seed, field, token, unit]."""
    number = back.dtype.type
    by_mean, by_variance = np.empty(back.shape[-1], back.dtype), np.empty(back.shape[-1], back.dtype)
    for arm, seed, field in np.ndindex(back.shape[:3]):
        out = back[arm, seed, field]
        for view in range(share.shape[2]):
            g, f = gradient[arm, seed, field, view], normalised[arm, seed, field, view]
            weight, over_sigma = share[seed, field, view], inverse[arm, seed, field, view, 0]
            by_mean[:] = 0
            by_variance[:] = 0
            for token in range(out.shape[0]):
                for unit in range(out.shape[1]):
                    by_mean[unit] += g[token, unit]
                    by_variance[unit] += g[token, unit] * f[token, unit]
            for unit in range(out.shape[1]):
                by_mean[unit] *= number(mean_flows[arm])
                by_variance[unit] *= number(variance_flows[arm])
            for token in range(out.shape[0]):
                for unit in range(out.shape[1]):
                    pulled = by_mean[unit] + f[token, unit] * by_variance[unit]
                    out[token, unit] += (g[token, unit] - weight[token] * pulled) * over_sigma[unit]


def sum_over_fields(
    table: Float[Tensor, "arm seed field view token out"], minibatch: Minibatch
) -> Float[Tensor, "view arm seed sample out"]:
    """Adds up, for each sample, the table's rows of its tokens."""
    return _SumOverFields.apply(table, minibatch)


class _SumOverFields(torch.autograd.Function):
    """A row's gradient is the sum over the samples that have its token: as quick as the way there."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, minibatch: Minibatch) -> Tensor:
        ctx.minibatch = minibatch
        *places, tokens, out = table.shape
        first = _numbered(*places, every=tokens, device=table.device).permute(3, 0, 1, 2)
        rows = first[..., None, :] + minibatch.token.transpose(0, 1)[:, None]
        summed = embedding_bag(rows.flatten(0, -2), table.reshape(-1, out), mode="sum")
        return summed.view(*rows.shape[:-1], out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        order, count = ctx.minibatch.order, ctx.minibatch.count
        views, arms, seeds, samples, out = gradient.shape
        first = _numbered(views, arms, seeds, every=samples, device=gradient.device)
        rows = first.permute(1, 2, 0)[:, :, None, :, None] + order
        counts = count.expand(arms, *count.shape).flatten()
        starts = counts.cumsum(0, dtype=torch.int32) - counts
        summed = embedding_bag(rows.flatten(), gradient.reshape(-1, out), starts, mode="sum")
        return summed.view(arms, *count.shape, out), None


@cache
def _numbered(*places: int, every: int, device: torch.device) -> Int[Tensor, "*places"]:
    """The first row of each place, of as many rows each."""
    return torch.arange(0, math.prod(places) * every, every, dtype=torch.int32, device=device).view(places)
