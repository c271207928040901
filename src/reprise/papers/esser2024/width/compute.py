"""Trains the two-layer network with every activation, and its linear twin from the same start, at every
width."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.networks.dense import Weights
from reprise.objectives import resolve
from reprise.papers.esser2024 import two_layers
from reprise.papers.esser2024.half_moons import HalfMoons, draw
from reprise.papers.esser2024.hidden_layer import outputs
from reprise.papers.esser2024.losses import contrastive
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.papers.esser2024.width.params import Params
from reprise.study.experiment import Context, Task
from reprise.study.tidy import tidy
from reprise.training.replicas import sgd

FIXED_COST = 100
"""What a step costs besides its hidden units, in units."""
UNITS_AT_ONCE = 4000
"""Hidden units in a stack of seeds, whose layers stay in the cache."""
OWN = "own"
"""The reduction of a loss that is not the paper's: what its function does."""
CURVATURES = {"tanh": 4 / 3**1.5, "scaled_sigmoid": 2 / 3**1.5}
"""c = max |φ''| of the activations that Theorem 1 covers."""

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""From the outputs of anchors, positives and negatives, [replica, sample, z], to [replica]."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`differences` of each network's outputs from its linear twin's, at the recorded epochs; `bounds`: what
    Theorem 1 says of them at the start, whatever the loss: another than the paper's has no such table."""
    differences = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    if context.objective:
        return {"differences": differences}
    return {"differences": differences, "bounds": _bounds(params)}


def tasks(params: Params, context: Context) -> list[Task]:
    """One for each reduction of the loss and width."""
    if context.objective:
        other = resolve(context.objective)
        losses: dict[str, Loss] = {OWN: lambda anchor, positive, negative: other(anchor, positive)}
    else:
        losses = {reduction: partial(contrastive, reduction=reduction) for reduction in params.reductions}
    return [
        Task(
            f"{reduction}, width {width}",
            partial(_differences, params, loss, reduction, width),
            width + FIXED_COST,
        )
        for (reduction, loss), width in product(losses.items(), params.widths)
    ]


def train(
    params: Params,
    data: HalfMoons,
    start: Weights,
    activation: str,
    loss_of: Loss,
    progress: Callable[[int], None] = lambda step: None,
) -> Float[Tensor, "record seed sample z"]:
    """u(x) of the anchors at the recorded epochs of projected gradient descent on the loss."""
    x = torch.cat([data.anchor, data.positive, data.negative], 1)

    def network(weights: Weights) -> Tensor:
        if activation == "linear":
            return two_layers.outputs((weights[0], weights[1]), x)
        return outputs(weights[0], weights[1], x, activation)

    def loss(weights: Weights) -> Tensor:
        return loss_of(*network(weights).split(params.samples, 1))

    trained = sgd(
        start,
        loss,
        learning_rate=params.learning_rate,
        steps=params.epochs,
        checkpoints=records(params),
        project=polar,
        progress=progress,
    )
    return torch.stack([network(weights)[:, : params.samples] for _, weights in trained])


def records(params: Params) -> list[int]:
    """The recorded epochs: the start, the end, and between them."""
    return sorted({round(epoch) for epoch in np.linspace(0, params.epochs, params.records + 1)})


def _differences(
    params: Params, loss: Loss, reduction: str, width: int, progress: Callable[[float], None]
) -> pd.DataFrame:
    """A row an activation, seed and recorded epoch: mean over the anchors of ‖u^φ - u^I‖ and of ‖u^I‖."""
    stack = max(1, UNITS_AT_ONCE // width)
    groups = [range(at, min(at + stack, params.seeds)) for at in range(0, params.seeds, stack)]
    tables = []
    for group, seeds in enumerate(groups):
        data, start = _data(params, seeds), orthonormal_start(seeds, width, 2, params.output_dim)
        linear = train(params, data, start, "linear", loss)
        for at, activation in enumerate(params.activations):
            done = group + at / len(params.activations)
            progress(done / len(groups))
            found = train(params, data, start, activation, loss)
            axes = {"epoch": records(params), "seed": seeds}
            difference = (found - linear).norm(dim=-1).mean(-1)
            table = tidy(axes, difference=difference, linear_norm=linear.norm(dim=-1).mean(-1))
            tables.append(table.assign(activation=activation))
    joint = pd.concat(tables, ignore_index=True).assign(reduction=reduction, width=width)
    return joint.assign(relative=joint["difference"] / joint["linear_norm"])


def _bounds(params: Params) -> pd.DataFrame:
    """Theorem 1's c ‖x‖² d √(log⁴ h / h), without its constant K: mean over the anchors."""
    data = _data(params, range(params.seeds))
    squared_norm = data.anchor.square().sum(-1).mean(-1).numpy()
    widths = np.array(params.widths, dtype=float)
    covered = [name for name in params.activations if name in CURVATURES]
    c = np.array([CURVATURES[name] for name in covered])[:, None, None]
    axes = {"activation": covered, "width": params.widths, "seed": range(params.seeds)}
    return tidy(axes, bound=c * (2 * np.log(widths) ** 2 / widths**0.5)[:, None] * squared_norm)


def _data(params: Params, seeds: Sequence[int]) -> HalfMoons:
    return draw(
        seeds,
        samples=params.samples,
        noise=params.moons_noise,
        positive_variance=params.positive_variance,
    )
