"""Trains linear and ReLU networks of several depths on the same data; isotropic data and a degenerate start
serve as controls."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.contract.tidy import Axes, tidy
from reprise.diagnostics.spectra import embedding_spectrum
from reprise.networks.dense import Weights, linear, relu
from reprise.numerics.streams import Streams
from reprise.objectives import infonce_distance, resolve
from reprise.papers.jing2022.depth_and_nonlinearity.experiment import Params
from reprise.papers.jing2022.starts import layers
from reprise.training.replicas import sgd


@dataclass(frozen=True)
class Arm:
    """One kind of network, with its initial weights and data."""

    name: str
    weights: list[Float[Tensor, "seed dim dim"]]
    input_std: Float[Tensor, " dim"]

    @property
    def depth(self) -> int:
        return len(self.weights)


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """The embedding spectrum of every arm, depth and seed over the steps: controls up to `steps`, the others
    up to `long_steps`."""
    seeds, dim = params.seed_range(params.seeds), params.dim
    span = np.geomspace(params.covariance_span, 1 / params.covariance_span, dim)
    std, ones = torch.from_numpy(span).sqrt().float(), torch.ones(dim)

    def start(depth: int, span: float = params.init_span) -> list[Tensor]:
        scale = params.product_scale ** (1 / depth)
        streams = Streams(seeds, f"{depth} layers")
        return layers(streams, dim, depth, scale=scale, span=span, balanced=params.init_balanced)

    nets = [Arm("linear", start(depth), std) for depth in params.depths]
    relus = [Arm("relu", start(depth), std) for depth in params.relu_depths]
    controls = [Arm("isotropic", start(depth), ones) for depth in params.isotropic_depths]
    controls += [Arm("degenerate", start(depth, span=1.0), ones) for depth in params.degenerate_depths]
    stacks = [(nets, linear, params.long_steps), (relus, relu, params.long_steps)]
    if params.long_steps == params.steps:
        nets.extend(controls)
    else:
        stacks.append((controls, linear, params.steps))
    tables = [_train(params, context, *stack) for stack in stacks]
    return {"spectrum": pd.concat(tables, ignore_index=True).assign(read=params.steps)}


def _train(
    params: Params,
    context: Context,
    arms: list[Arm],
    network: Callable[[list[Weights], Tensor], Tensor],
    steps: int,
) -> pd.DataFrame:
    """Trains all arms and seeds in one stack: replica = arm * seeds + seed."""
    seeds, size, dim = params.seed_range(params.seeds), params.batch_size, params.dim
    loss_of = resolve(context.objective) if context.objective else infonce_distance
    input_std = torch.stack([arm.input_std for arm in arms])[:, None, None, None]
    batches = Streams(seeds, "train").batches(3, size, dim)
    samples = Streams(seeds, "evaluation").normal(params.samples, dim).double()

    def by_arm(weights: Weights) -> list[Weights]:
        remaining = iter(weights)
        return [list(islice(remaining, len(arm.weights))) for arm in arms]

    def loss(weights: Weights) -> Tensor:
        normal = next(batches)  # the same numbers for every arm of a seed
        views = torch.add(normal[:, :1] * input_std, normal[:, 1:], alpha=params.noise_std)
        return loss_of(*network(by_arm(weights), views.flatten(2, 3)).view(-1, 2, size, dim).unbind(1))

    checkpoints = checkpoints_of(params.steps, steps)
    spectra = [
        embedding_spectrum(
            network(by_arm([weight.double() for weight in weights]), samples * input_std[:, 0])
        )
        for _, weights in sgd(
            [weight for arm in arms for weight in arm.weights],
            loss,
            learning_rate=params.learning_rate,
            steps=steps,
            checkpoints=checkpoints,
            progress=lambda step: context.progress(step, steps, f"{len(arms) * params.seeds} nets"),
        )
    ]
    nets = [(arm.name, len(arm.weights)) for arm in arms]
    axes: Axes = {"step": checkpoints, "net": nets, "seed": seeds, "index": range(1, dim + 1)}
    table = tidy(axes, singular_value=torch.stack(spectra))
    return table.assign(arm=table["net"].str[0], depth=table["net"].str[1]).drop(columns="net")


def checkpoints_of(read: int, steps: int) -> list[int]:
    """Step 0, and halvings and doublings of the step used by claims (`read`), up to `steps`."""
    return sorted({0, steps} | {step for k in range(-4, 12) if 0 < (step := int(read * 2.0**k)) <= steps})
