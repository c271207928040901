"""Trains the two-layer toy model of Section 5 from several initial weights and under constraints on W2, all
at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.networks.dense import Weights
from reprise.numerics.streams import Streams
from reprise.objectives import Objective, infonce_distance, resolve
from reprise.papers.jing2022.two_layer_settings import TwoLayers
from reprise.training.replicas import sgd


@dataclass(frozen=True)
class Arm:
    """Initial weights, and the mask of W2's trainable entries: W2 = fixed + mask * (trained weights)."""

    w1: Float[Tensor, "seed dim dim"]
    w2: Float[Tensor, "seed dim dim"]
    mask: Float[Tensor, "dim dim"]


@dataclass(frozen=True)
class Pairs:
    """The fixed data set: clean inputs and their two noisy views, each of shape [seed, batch, dim]."""

    clean: Float[Tensor, "seed batch dim"]
    view1: Float[Tensor, "seed batch dim"]
    view2: Float[Tensor, "seed batch dim"]


def pairs_of(params: TwoLayers) -> Pairs:
    """The data, the same for every arm of a seed."""
    streams = Streams(params.seed_range(params.seeds), "data")
    variances = np.geomspace(params.covariance_span, 1 / params.covariance_span, params.dim)
    clean = streams.normal(params.batch_size, params.dim) * torch.from_numpy(variances).sqrt().float()
    noise = params.noise_std * streams.normal(2, params.batch_size, params.dim)
    return Pairs(clean, clean + noise[:, 0], clean + noise[:, 1])


def free(weights: list[Tensor]) -> Arm:
    """Both layers train."""
    w1, w2 = weights
    return Arm(w1, w2, torch.ones_like(w2[0]))


def batches_of(
    params: TwoLayers, points: Float[Tensor, "seed point dim"]
) -> Iterator[tuple[Float[Tensor, "seed batch dim"], Float[Tensor, "seed batch dim"]]]:
    """Yields two views of a fresh batch of the points, without repetition and with fresh noise, forever."""
    order, noise = (Streams(params.seed_range(params.seeds), purpose) for purpose in ("batches", "noise"))
    while True:
        chosen = order.uniform(points.shape[1]).topk(params.batch_size).indices
        clean = points.take_along_dim(chosen[..., None], 1)
        first, second = (params.noise_std * noise.normal(2, params.batch_size, params.dim)).unbind(1)
        yield clean + first, clean + second


def train(
    params: TwoLayers,
    context: Context,
    arms: Mapping[str, Arm],
    batches: Iterator[tuple[Tensor, Tensor]] | None = None,
    published: Objective = infonce_distance,
) -> Iterator[tuple[int, Float[Tensor, "replica dim dim"], Float[Tensor, "replica dim dim"]]]:
    """Yields (step, W1, W2) at the checkpoints; replica = arm * seeds + seed.

    Args:
        batches: the two views at every step, of shape [seed, batch, dim]; by default those of `pairs_of`.
        published: the loss, where the context names no other.
    """
    if batches is None:
        pairs = pairs_of(params)
        batches = repeat((pairs.view1, pairs.view2))
    start1, start2 = (torch.cat([getattr(arm, name) for arm in arms.values()]) for name in ("w1", "w2"))
    mask = torch.cat([arm.mask.expand_as(arm.w2) for arm in arms.values()])
    fixed = start2 * (1 - mask)
    loss_of = resolve(context.objective) if context.objective else published

    def loss(weights: Weights) -> Tensor:
        x1, x2 = (view.repeat(len(arms), 1, 1) for view in next(batches))
        product = (fixed + mask * weights[1]) @ weights[0]
        return loss_of(x1 @ product.mT, x2 @ product.mT)

    for step, (w1, trainable) in sgd(
        [start1, start2],
        loss,
        learning_rate=params.learning_rate,
        steps=params.steps,
        checkpoints=checkpoints_of(params.steps),
        progress=lambda step: context.progress(step, params.steps, f"{len(mask)} two-layer nets"),
    ):
        yield step, w1, fixed + mask * trainable


def checkpoints_of(steps: int) -> list[int]:
    """Steps from 0 to `steps`, evenly spaced in the square root, plus `steps // 2`."""
    return sorted({round(steps * (k / 120) ** 2) for k in range(121)} | {steps // 2})
