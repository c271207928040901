"""Trains wide networks until their outputs have collapsed, and beside their tangent kernels."""

from collections.abc import Sequence

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context, Progress
from reprise.contract.tidy import tidy
from reprise.networks.activations import ACTIVATIONS as ACTIVATION
from reprise.networks.dense import Weights
from reprise.numerics.streams import Streams
from reprise.papers.esser2024.half_moons import HalfMoons, draw
from reprise.papers.esser2024.hidden_layer import outputs
from reprise.papers.esser2024.losses import contrastive, non_contrastive
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.papers.esser2024.wide_networks.experiment import (
    ARMS,
    Collapse,
    Params,
    Task,
    collapses,
    kernels,
)
from reprise.training.replicas import sgd

Outputs = Float[Tensor, "seed point z"]
"""Outputs of the anchors, then the positives, then the negatives."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `collapse`, the anchors' second singular value over the first, and how large their outputs have
    grown, during training without constraints; `distances` of a network's outputs from those of its tangent
    kernel after as many epochs, relative to the larger of the two."""
    asked: dict[str, Sequence[Task]] = {"collapse": collapses(), "distances": kernels(params)}
    return {
        name: pd.concat(context.results(perform, params, tasks).values(), ignore_index=True)
        for name, tasks in asked.items()
    }


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""
    if isinstance(task, Collapse):
        return _collapse(params, task.loss, task.activation, progress)
    return _distances(params, task.width, progress)


def _data(params: Params) -> HalfMoons:
    return draw(
        params.seed_range(params.seeds),
        samples=params.samples,
        noise=params.moons_noise,
        positive_variance=params.positive_variance,
    )


def _points(data: HalfMoons) -> Float[Tensor, "seed point 2"]:
    return torch.cat([data.anchor, data.positive, data.negative], 1)


def standard_start(params: Params, width: int, z: int) -> list[Tensor]:
    """Independent standard normal weights, for outputs over √h: the scaling of the neural tangent kernel
    (Jacot, Gabriel and Hongler 2018)."""
    streams = Streams(params.seed_range(params.seeds), f"standard weights of width {width}")
    return [streams.normal(width, columns).double() for columns in (2, z)]


def _loss(u: Outputs, name: str) -> Float[Tensor, " seed"]:
    anchor, positive, negative = u.split(u.shape[1] // 3, 1)
    if name == "contrastive":
        return contrastive(anchor, positive, negative, reduction="mean")
    return non_contrastive(anchor, positive, reduction="mean")


def _collapse(params: Params, loss: str, activation: str, progress: Progress) -> pd.DataFrame:
    """Steps along the gradient whose length is a share of the weights': outputs grow without bound in finite
    time, which fixed steps would overrun."""
    x, weights = _points(_data(params)), standard_start(params, params.width, params.output_dim)
    recorded, ratios, sizes = range(0, params.steps + 1, params.record_every), [], []
    for step in range(recorded[-1] + 1):
        leaves = [weight.requires_grad_() for weight in weights]
        u = outputs(leaves[0], leaves[1], x, activation) / params.width**0.5
        if step in recorded:
            values = torch.linalg.svdvals(u[:, : params.samples].detach())
            ratios.append(values[:, 1] / values[:, 0])
            sizes.append(values[:, 0])
            progress(step / params.steps)
        gradients = torch.autograd.grad(_loss(u, loss).sum(), leaves)
        scale = params.step_length * (_length(weights) / _length(gradients))[:, None, None]
        with torch.no_grad():
            weights = [weight - scale * slope for weight, slope in zip(weights, gradients, strict=True)]
    table = tidy(
        {"step": recorded, "seed": params.seed_range(params.seeds)},
        ratio=torch.stack(ratios),
        size=torch.stack(sizes),
    )
    return table.assign(loss=loss, activation=activation)


def _length(parts: list[Tensor] | tuple[Tensor, ...]) -> Float[Tensor, " seed"]:
    return torch.stack([part.detach().square().sum((1, 2)) for part in parts]).sum(0).sqrt()


def _distances(params: Params, width: int, progress: Progress) -> pd.DataFrame:
    data = _data(params)
    x, label = _points(data), 2.0 * data.moon - 1
    tables = []
    for number, arm in enumerate(ARMS):
        network, kernel = _beside_kernel(params, width, arm, x, label)
        sizes = torch.maximum(*(u[:, : params.samples].norm(dim=(1, 2)) for u in (network, kernel)))
        distance = (network - kernel)[:, : params.samples].norm(dim=(1, 2)) / sizes
        tables.append(
            tidy({"seed": params.seed_range(params.seeds)}, distance=distance).assign(arm=arm, width=width)
        )
        progress((number + 1) / len(ARMS))
    return pd.concat(tables, ignore_index=True)


def _beside_kernel(
    params: Params,
    width: int,
    arm: str,
    x: Float[Tensor, "seed point 2"],
    label: Float[Tensor, "seed sample"],
) -> tuple[Outputs, Outputs]:
    """The outputs after training, of the network and of its tangent kernel."""
    constrained = arm == "constrained"
    start = (
        list(orthonormal_start(params.seed_range(params.seeds), width, 2, 1))
        if constrained
        else standard_start(params, width, 1)
    )
    scale = 1.0 if constrained else width**-0.5

    def network(weights: Weights) -> Outputs:
        return scale * outputs(weights[0], weights[1], x, params.activation)

    def loss(u: Outputs) -> Float[Tensor, " seed"]:
        if arm == "supervised":
            return (u[:, : params.samples, 0] - label).square().mean(1) / 2
        return _loss(u, "contrastive")

    *_, (_, final) = sgd(
        start,
        lambda weights: loss(network(weights)),
        learning_rate=params.learning_rate,
        steps=params.epochs,
        checkpoints={params.epochs},
        project=polar if constrained else None,
    )
    u = network(start)
    kernel = tangent_kernel(start, x, params.activation, scale)
    for _ in range(params.epochs):
        leaf = u.detach().requires_grad_()
        u = u - params.learning_rate * kernel @ torch.autograd.grad(loss(leaf).sum(), leaf)[0]
    return network(final), u


def tangent_kernel(
    weights: Weights, x: Float[Tensor, "seed point 2"], activation: str, scale: float
) -> Float[Tensor, "seed point point"]:
    """⟨∇u(x), ∇u(x')⟩ over the weights of u(x) = scale W2ᵀ φ(W1 x), with one output."""
    w1, w2 = weights
    before = (x @ w1.mT).requires_grad_()
    hidden = ACTIVATION[activation](before)
    (slope,) = torch.autograd.grad(hidden.sum(), before)
    weighted = slope * w2.mT
    return scale**2 * (hidden @ hidden.mT + (x @ x.mT) * (weighted @ weighted.mT)).detach()
