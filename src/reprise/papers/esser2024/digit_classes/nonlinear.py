"""Nonlinear networks of the same width, constraints and loss, beside which the contributions of Section 1 set
the ODE: their training, and the time of its steps."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.networks.dense import Weights
from reprise.papers.esser2024.losses import contrastive
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import orthonormal_start, outputs
from reprise.training.replicas import sgd

Triplets = tuple[Tensor, Tensor, Tensor]
"""Anchors, positives and negatives, [seed, sample, pixel]."""


def trained(
    triplets: Triplets,
    activation: str,
    seeds: Sequence[int],
    *,
    width: int,
    z: int,
    learning_rate: float,
    steps: int,
    progress: Callable[[float], None],
) -> Float[Tensor, "seed sample z"]:
    """The anchors' embeddings after projected gradient descent on the mean loss (1), from the initial weights
    of the linear network; in single precision, which takes half as long."""
    triplets = _single(triplets)
    *_, (_, weights) = sgd(
        _start(seeds, width, triplets[0].shape[-1], z),
        partial(_loss, triplets, activation),
        learning_rate=learning_rate,
        steps=steps,
        checkpoints={steps},
        project=polar,
        progress=lambda step: progress(step / steps),
    )
    return outputs((weights[0], weights[1]), triplets[0], activation).double()


def step(
    triplets: Triplets, activation: str, seed: int, width: int, z: int, learning_rate: float
) -> Callable[[], None]:
    """A function that takes one step of the training of the triplets' first seed, with the loss on all of its
    images."""
    triplets = _single(tuple(part[:1] for part in triplets))
    weights = _start([seed], width, triplets[0].shape[-1], z)

    def work() -> None:
        leaves = [weight.requires_grad_() for weight in weights]
        gradients = torch.autograd.grad(_loss(triplets, activation, leaves).sum(), leaves)
        with torch.no_grad():
            for weight, gradient in zip(weights, gradients, strict=True):
                polar(weight - learning_rate * gradient)

    return work


def _loss(triplets: Triplets, activation: str, weights: Weights) -> Float[Tensor, " seed"]:
    samples = triplets[0].shape[1]
    u = outputs((weights[0], weights[1]), torch.cat(triplets, 1), activation)
    return contrastive(*u.split(samples, 1), reduction="mean")


def _single(triplets: Triplets) -> Triplets:
    anchor, positive, negative = (part.float() for part in triplets)
    return anchor, positive, negative


def _start(seeds: Sequence[int], width: int, inputs: int, z: int) -> list[Tensor]:
    return [weight.float() for weight in orthonormal_start(seeds, width, inputs, z)]
