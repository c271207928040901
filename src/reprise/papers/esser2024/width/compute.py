"""Trains the two-layer network with every activation and width, and its linear twin from the same start."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context, Progress
from reprise.contract.tidy import tidy
from reprise.networks.dense import Weights
from reprise.numerics.streams import Streams
from reprise.objectives import resolve
from reprise.papers.esser2024 import two_layers
from reprise.papers.esser2024.half_moons import HalfMoons, draw
from reprise.papers.esser2024.hidden_layer import outputs
from reprise.papers.esser2024.losses import contrastive
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.papers.esser2024.width.experiment import Params, Task, tasks
from reprise.training.replicas import sgd

UNITS_AT_ONCE = 4000
"""Hidden units per stack of seeds, few enough for the layers to stay in the cache."""
CURVATURES = {"tanh": 4 / 3**1.5, "scaled_sigmoid": 2 / 3**1.5}
"""c = max |φ''| of the activations that Theorem 1 covers."""

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""A function from the outputs of anchors, positives and negatives, [replica, sample, z], to [replica]."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `differences` of each network's outputs from its linear twin's at the recorded epochs; `starts`
    of the same at further initialisations; `bounds` on them there, by Theorem 1. The last two do not depend
    on the loss; other losses have none."""
    results = context.results(perform, params, tasks(params, context.objective))
    differences = pd.concat(results.values(), ignore_index=True)
    if context.objective:
        return {"differences": differences}
    return {"differences": differences, "starts": _starts(params), "bounds": _bounds(params)}


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""
    return _differences(params, _loss(context.objective), task.width, progress)


def _differences(params: Params, loss: Loss, width: int, progress: Progress) -> pd.DataFrame:
    """Means over anchors of ‖u^φ - u^I‖, of the same up to the sign of all outputs, and of ‖u^I‖, one row per
    activation, seed and recorded epoch."""
    stack = max(1, UNITS_AT_ONCE // width)
    every = params.seed_range(params.seeds)
    groups = [every[first : first + stack] for first in range(0, params.seeds, stack)]
    tables = []
    for group, seeds in enumerate(groups):
        data, start = _data(params, seeds), orthonormal_start(seeds, width, 2, params.output_dim)
        linear = train(params, data, start, "linear", loss)
        for index, activation in enumerate(params.activations):
            groups_done = group + index / len(params.activations)
            progress(groups_done / len(groups))
            nonlinear = train(params, data, start, activation, loss)
            axes = {"epoch": records(params), "seed": seeds}
            difference, opposite = ((nonlinear - sign * linear).norm(dim=-1).mean(-1) for sign in (1, -1))
            table = tidy(
                axes,
                difference=difference,
                up_to_sign=torch.minimum(difference, opposite),
                linear_norm=linear.norm(dim=-1).mean(-1),
            )
            tables.append(table.assign(activation=activation))
    joint = pd.concat(tables, ignore_index=True).assign(width=width)
    return joint.assign(relative=joint["difference"] / joint["linear_norm"])


def _starts(params: Params) -> pd.DataFrame:
    """Means over a seed's further initialisations of ‖u^φ - u^I‖, averaged over the anchors, and of its ratio
    to ‖u^I‖: one row per activation, width and seed."""
    seeds = params.seed_range(params.seeds)
    rows, anchors = [], _data(params, seeds).anchor
    for width, (seed, anchor) in product(params.widths, zip(seeds, anchors, strict=True)):
        x = anchor.expand(params.starts, -1, -1)
        streams = Streams([seed], f"further weights of width {width}")
        w1, w2 = (polar(streams.normal(params.starts, width, n)[0].double()) for n in (2, params.output_dim))
        linear = two_layers.outputs((w1, w2), x)
        size = linear.norm(dim=-1).mean(-1)
        for activation in params.activations:
            difference = (outputs(w1, w2, x, activation) - linear).norm(dim=-1).mean(-1)
            relative = difference / size
            rows.append((activation, width, seed, float(difference.mean()), float(relative.mean())))
    return pd.DataFrame(rows, columns=["activation", "width", "seed", "difference", "relative"])


def _loss(objective: str | None) -> Loss:
    """The published loss, or another one of the two views."""
    if objective is None:
        return partial(contrastive, reduction="sum")
    loss_of_views = resolve(objective)
    return lambda anchor, positive, negative: loss_of_views(anchor, positive)


def train(
    params: Params,
    data: HalfMoons,
    start: Weights,
    activation: str,
    loss_of_outputs: Loss,
    progress: Callable[[int], None] = lambda step: None,
) -> Float[Tensor, "record seed sample z"]:
    """u(x) of the anchors, at the recorded epochs of projected gradient descent on the loss."""
    x = torch.cat([data.anchor, data.positive, data.negative], 1)

    def network(weights: Weights) -> Tensor:
        if activation == "linear":
            return two_layers.outputs((weights[0], weights[1]), x)
        return outputs(weights[0], weights[1], x, activation)

    def loss(weights: Weights) -> Tensor:
        return loss_of_outputs(*network(weights).split(params.samples, 1))

    snapshots = sgd(
        start,
        loss,
        learning_rate=params.learning_rate,
        steps=params.epochs,
        checkpoints=records(params),
        project=polar,
        progress=progress,
    )
    return torch.stack([network(weights)[:, : params.samples] for _, weights in snapshots])


def records(params: Params) -> list[int]:
    """The recorded epochs: evenly spaced, including the start and the end."""
    return sorted({round(epoch) for epoch in np.linspace(0, params.epochs, params.records + 1)})


def _bounds(params: Params) -> pd.DataFrame:
    """Theorem 1's bound without its constant K, c ‖x‖² d √(log⁴ h / h), averaged over the anchors."""
    data = _data(params, params.seed_range(params.seeds))
    squared_norm = data.anchor.square().sum(-1).mean(-1).numpy()
    widths = np.array(params.widths, dtype=float)
    activations = [name for name in params.activations if name in CURVATURES]
    c = np.array([CURVATURES[name] for name in activations])[:, None, None]
    axes = {"activation": activations, "width": params.widths, "seed": params.seed_range(params.seeds)}
    return tidy(axes, bound=c * (2 * np.log(widths) ** 2 / widths**0.5)[:, None] * squared_norm)


def _data(params: Params, seeds: Sequence[int]) -> HalfMoons:
    return draw(
        seeds,
        samples=params.samples,
        noise=params.moons_noise,
        positive_variance=params.positive_variance,
    )
