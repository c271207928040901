"""Gradient descent on the contrastive loss as it is, and scaled by norms of the weights."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from reprise.numerics.streams import Streams
from reprise.papers.esser2024.constrained_losses.params import TABLES, Params
from reprise.papers.esser2024.half_moons import draw
from reprise.papers.esser2024.losses import cross_moment, symmetric
from reprise.study.experiment import Context
from reprise.study.tidy import Axes, tidy

Weights = Sequence[Float[Tensor, "run h columns"]]

frobenius: Callable[[Tensor], Tensor] = partial(torch.linalg.matrix_norm, ord="fro")
spectral: Callable[[Tensor], Tensor] = partial(torch.linalg.matrix_norm, ord=2)


@dataclass(frozen=True)
class Problem:
    """A loss to minimise.

    Attributes:
        norm: of W1 and W2; their squares scale the loss, and the outputs are those of W1 and W2 of norm 1.
        layers: two, W1 and W2; or one, of the same start W1ᵀ W2 (Proposition 1).
    """

    norm: Callable[[Tensor], Tensor] | None = None
    layers: int = 2

    def linear_map(self, weights: Weights) -> Float[Tensor, "run d z"]:
        """Q of the outputs u = Qᵀ x."""
        return weights[0] if self.layers == 1 else weights[0].mT @ weights[1]

    def scale(self, weights: Weights) -> Float[Tensor, " run"]:
        """‖W1‖ ‖W2‖."""
        return (
            torch.stack([self.norm(w) for w in weights]).prod(0)
            if self.norm
            else torch.ones(len(weights[0])).double()
        )

    def optimum(self, eigenvalues: Float[Tensor, "run d"], outputs: int) -> Float[Tensor, " run"]:
        """The least loss: the sum of the z smallest of C's negative eigenvalues where the spectral norms are
        bounded, the smallest alone where the Frobenius norms are (Propositions 2 and 3), else none."""
        if self.norm is None:
            return torch.full(eigenvalues.shape[:1], -torch.inf).double()
        return eigenvalues.clamp(max=0)[:, : outputs if self.norm is spectral else 1].sum(-1)


PROBLEMS = {
    "unconstrained": Problem(),
    "orthogonal": Problem(spectral),
    "frobenius": Problem(frobenius),
    "one_layer": Problem(layers=1),
}


@dataclass(frozen=True)
class Moment:
    """Where the runs are at a step: numbers that are not finite are NaN.

    Attributes:
        linear_map: Q, of the outputs of the scaled weights.
    """

    loss: Float[Tensor, " run"]
    linear_map: Float[Tensor, "run d z"]

    @property
    def finite(self) -> Bool[Tensor, " run"]:
        """Which runs have not diverged."""
        return self.loss.isfinite()


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`trajectory`: loss and outputs at the recorded steps, NaN from where they are not finite. `runs`: when
    that was, and the last finite numbers."""
    data = draw(
        range(params.seeds),
        samples=params.samples,
        noise=params.moons_noise,
        positive_variance=params.positive_variance,
    )
    c = symmetric(cross_moment(data.anchor, data.positive, data.negative, reduction="mean"))
    cases = list(product(PROBLEMS, params.output_dims))
    tables: dict[str, list[pd.DataFrame]] = {table: [] for table in TABLES}
    for number, (name, outputs) in enumerate(cases):
        context.progress(number, len(cases), f"{name}, z = {outputs}")
        for table, rows in zip(TABLES, _train(params, PROBLEMS[name], outputs, c, data.anchor), strict=True):
            tables[table].append(rows.assign(problem=name, output_dim=outputs))
    return {table: pd.concat(rows, ignore_index=True) for table, rows in tables.items()}


def records(params: Params) -> list[int]:
    """The recorded steps: the start, the end, and between them."""
    return sorted({0, *(round(step) for step in np.geomspace(1, params.steps, params.records))})


def start(params: Params, outputs: int) -> list[Float[Tensor, "run h columns"]]:
    """W1 and W2 of every run = (seed, start), in double precision; with more outputs, W1 is the same."""
    streams = [Streams(range(params.seeds), f"start of W{layer}") for layer in (1, 2)]
    scale = params.init_scale / params.width**0.5
    normal = [
        stream.normal(params.starts, columns, params.width)
        for stream, columns in zip(streams, (2, outputs), strict=True)
    ]
    return [scale * each.double().flatten(0, 1).mT.contiguous() for each in normal]


def descend(
    problem: Problem,
    weights: Weights,
    c: Float[Tensor, "run d d"],
    learning_rate: float,
    steps: int,
) -> Iterator[Moment]:
    """Gradient descent of every run on Tr(Qᵀ C Q) of the problem's scaled weights, at each step from 0 to
    `steps`, or until no run is finite. One that is not stays so, and does not disturb the others."""
    now = [weight.clone().requires_grad_() for weight in weights]
    diverged = torch.zeros(len(c), dtype=torch.bool)
    for _ in range(steps + 1):
        q, scale = problem.linear_map(now), problem.scale(now)
        loss = (q * (c @ q)).sum((-2, -1)) / scale**2
        scaled = (q / scale[:, None, None]).detach()
        diverged |= ~(loss.isfinite() & scaled.isfinite().all((-2, -1)))
        yield Moment(
            loss.detach().masked_fill(diverged, torch.nan),
            scaled.masked_fill(diverged[:, None, None], torch.nan),
        )
        if diverged.all():
            return
        gradients = torch.autograd.grad(loss.sum(), now)
        with torch.no_grad():
            for weight, gradient, first in zip(now, gradients, weights, strict=True):
                weight -= learning_rate * gradient
                if diverged.any():
                    weight[diverged] = first[diverged]


def _train(
    params: Params,
    problem: Problem,
    outputs: int,
    c: Float[Tensor, "seed d d"],
    anchor: Float[Tensor, "seed sample d"],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`trajectory` and `runs` of one problem."""
    c, anchor = (each.repeat_interleave(params.starts, 0) for each in (c, anchor))
    weights = start(params, outputs)
    if problem.layers == 1:
        weights = [weights[0].mT @ weights[1]]
    nowhere = Moment(c.new_full((len(c),), torch.nan), c.new_full((len(c), 2, outputs), torch.nan))
    recorded, last = dict.fromkeys(records(params), nowhere), nowhere
    diverged_at = nowhere.loss.clone()
    for step, moment in enumerate(descend(problem, weights, c, params.learning_rate, params.steps)):
        finite = moment.finite
        diverged_at[~finite & diverged_at.isnan()] = step
        last = Moment(
            torch.where(finite, moment.loss, last.loss),
            torch.where(finite[:, None, None], moment.linear_map, last.linear_map),
        )
        if step in recorded:
            recorded[step] = moment
    by_run: Axes = {"seed": range(params.seeds), "start": range(params.starts)}
    shape = tuple(map(len, by_run.values()))
    columns = {
        "loss": [moment.loss for moment in recorded.values()],
        "output": [(anchor[:, :1] @ moment.linear_map)[:, 0, 0] for moment in recorded.values()],
        "second_share": [second_share(anchor, moment.linear_map) for moment in recorded.values()],
    }
    trajectory = tidy(
        {"step": list(recorded), **by_run},
        **{name: torch.stack(column).unflatten(1, shape) for name, column in columns.items()},
    )
    eigenvalues, eigenvectors = torch.linalg.eigh(c)
    direction = _of_size_one(last.linear_map)
    direction = direction / direction.norm(dim=(1, 2), keepdim=True)
    runs = {
        "diverged_at": diverged_at,
        "loss": last.loss,
        "output": (anchor[:, :1] @ last.linear_map)[:, 0, 0],
        "optimum": problem.optimum(eigenvalues, outputs),
        "second_share": second_share(anchor, last.linear_map),
        "alignment": (direction.mT @ eigenvectors[..., :1]).norm(dim=(1, 2)),
    }
    return trajectory, tidy(by_run, **{name: column.view(shape) for name, column in runs.items()})


def second_share(
    anchor: Float[Tensor, "run sample d"], linear_map: Float[Tensor, "run d z"]
) -> Float[Tensor, " run"]:
    """Second singular value of the outputs X Q as a share of the first: 0 of one output, NaN of none."""
    if linear_map.shape[-1] == 1:
        return torch.where(linear_map[:, 0, 0].isnan(), torch.nan, 0.0)
    values = torch.linalg.svdvals((anchor @ _of_size_one(linear_map)).nan_to_num(0.0))
    return values[:, 1] / values[:, 0]


def _of_size_one(linear_map: Float[Tensor, "run d z"]) -> Float[Tensor, "run d z"]:
    """Squares of its entries do not overflow."""
    return linear_map / linear_map.abs().amax((1, 2), keepdim=True)
