"""Trains linear and ReLU nets of several depths on the same data, with isotropic data and the public init as controls."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise import objectives
from reprise.diagnostics.spectra import embedding_spectrum
from reprise.experiment import Context
from reprise.networks.dense import decaying_spectrum, linear, random_orthogonal, relu
from reprise.papers.jing2022.depth_and_nonlinearity.params import Params
from reprise.streams import Streams
from reprise.tidy import tidy
from reprise.training.replicas import Weights, sgd


@dataclass(frozen=True)
class Arm:
    """One kind of net, its initial weights and its data."""

    network: Callable[[Weights, Tensor], Tensor]
    weights: list[Float[Tensor, "seed dim dim"]]
    input_std: Float[Tensor, " dim"]
    steps: int


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """The embedding spectrum of every arm, depth and seed over the steps; controls up to `steps`, the rest to `long_steps`."""
    tables = []
    for depth in sorted({*params.depths, *params.relu_depths}):
        arms = arms_of(params, depth)
        # Arms that run the same function for as long share a stack.
        stacks = {(arm.network, arm.steps) for arm in arms.values()}
        for network, steps in sorted(stacks, key=lambda stack: (stack[0].__name__, stack[1])):
            stack = {name: arm for name, arm in arms.items() if (arm.network, arm.steps) == (network, steps)}
            tables.append(_train(params, context, stack, network, steps).assign(depth=depth))
    return {"spectrum": pd.concat(tables, ignore_index=True)}


def arms_of(params: Params, depth: int) -> dict[str, Arm]:
    """The nets of one depth."""
    seeds, dim = range(params.seeds), params.dim
    streams = Streams(seeds, f"weights of {depth} layers")
    scale = params.product_scale ** (1 / depth)
    small = [scale * random_orthogonal(streams, dim) for _ in range(depth)]
    public = [decaying_spectrum(streams, dim) for _ in range(depth)]
    span = np.geomspace(params.covariance_span, 1 / params.covariance_span, dim)
    std, ones = torch.from_numpy(span).sqrt().float(), torch.ones(dim)
    arms = {}
    if depth in params.depths:
        arms["linear"] = Arm(linear, small, std, params.long_steps)
        arms["isotropic"] = Arm(linear, small, ones, params.steps)
        arms["public init"] = Arm(linear, public, std, params.steps)
    if depth in params.relu_depths:
        arms["relu"] = Arm(relu, small, std, params.long_steps)
    return arms


def _train(
    params: Params,
    context: Context,
    arms: Mapping[str, Arm],
    network: Callable[[Weights, Tensor], Tensor],
    steps: int,
) -> pd.DataFrame:
    seeds, count, size, dim = range(params.seeds), len(arms), params.batch_size, params.dim
    loss_of = objectives.resolve(params.objective)
    input_std = torch.stack([arm.input_std for arm in arms.values()])[None, :, None, None, :]
    start = [torch.stack(layer, 1).flatten(0, 1) for layer in zip(*(arm.weights for arm in arms.values()), strict=True)]
    batches = Streams(seeds, "train").batches(3, size, dim)
    evaluation = Streams(seeds, "evaluation").normal(params.samples, dim)[:, None] * input_std[:, :, 0]
    evaluation = evaluation.flatten(0, 1).double()

    def loss(weights: Weights) -> Tensor:
        normal = next(batches)[:, None]  # the same numbers for every arm of a seed
        views = torch.add(normal[:, :, :1] * input_std, normal[:, :, 1:], alpha=params.noise_std)
        z = network(weights, views.view(-1, 2 * size, dim))
        return loss_of(*z.view(-1, 2, size, dim).unbind(1))

    checkpoints = checkpoints_of(params.steps, steps)
    spectra = [
        embedding_spectrum(network([w.double() for w in weights], evaluation))
        for _, weights in sgd(
            start,
            loss,
            learning_rate=params.learning_rate,
            steps=steps,
            checkpoints=checkpoints,
            progress=lambda step: context.progress(step, steps, f"{len(start)} layer(s): {', '.join(arms)}"),
        )
    ]
    axes = {"step": checkpoints, "seed": seeds, "arm": list(arms), "index": range(1, dim + 1)}
    shape = (len(checkpoints), params.seeds, count, dim)
    return tidy(axes, singular_value=torch.stack(spectra).view(shape)).assign(read=params.steps)


def checkpoints_of(read: int, steps: int) -> list[int]:
    """The start, and halvings and doublings of the step at which claims read, up to `steps`."""
    return sorted({0, steps} | {at for k in range(-4, 12) if 0 < (at := int(read * 2.0**k)) <= steps})
