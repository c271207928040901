"""Two-layer networks on disjoint receptive fields, many at once (Tian 2023, Section 4 and Appendix D).

Where a field holds one of a few tokens, its units have as few values: both layers and the batch statistics
are computed on this table, and a sample adds up the rows of its tokens. That is exact, and saves nearly all
of the work.
"""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag

from reprise.datasets.token_sequences import Minibatch

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
    arms = len(table)
    flags = [flag.view(arms, *[1] * 5) for flag in (mean_gradient, variance_gradient)]
    return _BatchNorm.apply(table, share, *flags)


class _BatchNorm(torch.autograd.Function):
    """The gradient in closed form takes half the time of automatic differentiation."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, share: Tensor, mean_flows: Tensor, variance_flows: Tensor) -> Tensor:
        centred = table[..., None, :, :] - (share @ table)[..., None, :]
        variance = share[..., None, :] @ centred.square()
        inverse = (variance + BATCH_NORM_EPS).rsqrt_()
        normalised = centred.mul_(inverse)
        ctx.save_for_backward(normalised, inverse, share, mean_flows, variance_flows)
        return normalised

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        """With g the gradient on f, summed over the samples of a token: (g - share · (Σ g + f Σ g f)) / σ.

        The first sum comes by way of μ, the second by way of σ².
        """
        normalised, inverse, share, mean_flows, variance_flows = ctx.saved_tensors
        by_variance = (gradient * normalised).sum(-2, keepdim=True).mul_(variance_flows)
        by_mean = gradient.sum(-2, keepdim=True).mul_(mean_flows)
        back = torch.addcmul(by_mean, normalised, by_variance).mul_(share[..., None])
        return torch.sub(gradient, back, out=back).mul_(inverse).sum(-3), None, None, None


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
        row = torch.arange(math.prod(places), dtype=torch.int32, device=table.device).view(places) * tokens
        rows = row.permute(3, 0, 1, 2)[..., None, :] + minibatch.token.transpose(0, 1)[:, None]
        summed = embedding_bag(rows.flatten(0, -2), table.reshape(-1, out), mode="sum")
        return summed.view(*rows.shape[:-1], out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        order, count = ctx.minibatch.order, ctx.minibatch.count
        views, arms, seeds, samples, out = gradient.shape
        first = (
            torch.arange(views * arms * seeds, dtype=torch.int32, device=gradient.device).view(
                views, arms, seeds
            )
            * samples
        )
        rows = first.permute(1, 2, 0)[:, :, None, :, None] + order
        counts = count.expand(arms, *count.shape).flatten()
        starts = counts.cumsum(0, dtype=torch.int32) - counts
        summed = embedding_bag(rows.flatten(), gradient.reshape(-1, out), starts, mode="sum")
        return summed.view(arms, *count.shape, out), None
