"""Gradient descent on the contrastive loss: unscaled, scaled by norms of the weights, and with a penalty."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.contract.tidy import Axes, tidy
from reprise.numerics.streams import Streams
from reprise.papers.esser2024.constrained_losses.experiment import PENALTIES, Params
from reprise.papers.esser2024.half_moons import draw
from reprise.papers.esser2024.losses import cross_moment, symmetric

Weights = Sequence[Float[Tensor, "run h columns"]]
VANISHED = 1e-9
"""Share of its size at the start, under which a linear map has vanished."""
Norm = Callable[[Tensor], tuple[Tensor, Tensor]]
"""A function from weights [*run, h, k], k one or two, to the square of their norm and P, where 2 W P is the
gradient."""


def frobenius(w: Float[Tensor, "*run h k"]) -> tuple[Float[Tensor, "*run"], Float[Tensor, "*run k k"]]:
    return w.square().sum((-2, -1)), torch.eye(w.shape[-1], dtype=w.dtype).expand(*w.shape[:-2], -1, -1)


def spectral(w: Float[Tensor, "*run h k"]) -> tuple[Float[Tensor, "*run"], Float[Tensor, "*run k k"]]:
    """The squared spectral norm, and P, the projector on the first right singular vector, by the eigenvalues
    of Wᵀ W."""
    gram = w.mT @ w
    if w.shape[-1] == 1:
        return gram[..., 0, 0], torch.ones_like(gram)
    mean = (gram[..., 0, 0] + gram[..., 1, 1]) / 2
    deviation = gram - mean[..., None, None] * torch.eye(2, dtype=w.dtype)
    radius = deviation[..., 0].norm(dim=-1).clamp(min=torch.finfo(w.dtype).tiny)
    projector = (deviation / radius[..., None, None] + torch.eye(2, dtype=w.dtype)) / 2
    return mean + radius, projector


@dataclass(frozen=True)
class Problem:
    """A loss to minimise.

    Attributes:
        norm: norm of W1 and W2 whose square divides the loss; outputs are those of the weights scaled to norm
            1.
        layers: two, W1 and W2; or one, which starts from the same product W1ᵀ W2 (Proposition 1).
    """

    norm: Norm | None = None
    layers: int = 2

    def linear_map(self, weights: Weights) -> Float[Tensor, "run d z"]:
        """Q in u = Qᵀ x."""
        return weights[0] if self.layers == 1 else weights[0].mT @ weights[1]

    def at(self, weights: Weights, c: Float[Tensor, "run d d"]) -> tuple[Tensor, Tensor, list[Tensor]]:
        """The loss Tr(Qᵀ C Q) of the scaled weights, their Q, and the loss's gradients."""
        q = self.linear_map(weights)
        cq = c @ q
        loss = (q * cq).sum((-2, -1))
        if self.layers == 1:
            return loss, q, [2 * cq]
        w1, w2 = weights
        gradients = [2 * w2 @ cq.mT, 2 * w1 @ cq]
        if self.norm is None:
            return loss, q, gradients
        squares, projectors = zip(*(self.norm(w) for w in weights), strict=True)
        square = (squares[0] * squares[1])[:, None, None]
        loss = loss / square[:, 0, 0]
        for index, w in enumerate(weights):
            along = 2 * w @ (projectors[index] * (loss / squares[index])[:, None, None])
            gradients[index] = gradients[index] / square - along
        return loss, q / square.sqrt(), gradients

    def optimum(self, eigenvalues: Float[Tensor, "run d"], outputs: int) -> Float[Tensor, " run"]:
        """The minimum of the loss (Propositions 2 and 3); -inf without a norm.

        With spectral norms it is the sum of C's z smallest negative eigenvalues, with Frobenius norms the
        smallest negative eigenvalue.
        """
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
class Penalised(Problem):
    """The unscaled loss of two layers with a Frobenius penalty.

    The loss is Tr(Qᵀ C Q) with Q = W1ᵀ W2. With λ |Q|² it is that of C + λ I: below λ = -λ_min(C) unbounded,
    and above it least at Q = 0. With λ (|W1|² + |W2|²), at least 2λ times the nuclear norm of Q, it is
    unbounded for every λ if C has a negative eigenvalue -μ: along the eigenvector, Q of size s has the loss
    2λs - μs².

    Attributes:
        penalty: of `PENALTIES`.
        strength: λ of each run.
    """

    penalty: str = PENALTIES[0]
    strength: Float[Tensor, " run"] = field(default_factory=lambda: torch.zeros(1))

    def at(self, weights: Weights, c: Float[Tensor, "run d d"]) -> tuple[Tensor, Tensor, list[Tensor]]:
        strength = self.strength[:, None, None]
        if self.penalty == "product":
            return super().at(weights, c + strength * torch.eye(c.shape[-1], dtype=c.dtype))
        loss, q, gradients = super().at(weights, c)
        loss = loss + self.strength * torch.stack([w.square().sum((-2, -1)) for w in weights]).sum(0)
        return loss, q, [each + 2 * strength * w for each, w in zip(gradients, weights, strict=True)]


@dataclass(frozen=True)
class Moment:
    """State of the runs at a step, NaN once a run is no longer finite.

    Attributes:
        linear_map: Q for the outputs of the scaled weights.
    """

    loss: Float[Tensor, " run"]
    linear_map: Float[Tensor, "run d z"]

    @property
    def finite(self) -> Bool[Tensor, " run"]:
        """Tells which runs have not diverged."""
        return self.loss.isfinite()


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `trajectory`, loss and outputs at the recorded steps, NaN once they are not finite; `runs`, the
    step when that happened, the last finite values, and over what range the loss moved in the third quarter
    of the steps (`moved_before`) and in the last (`moved`; `alignment_moved`: how far the alignment went);
    `penalised`, the singular values of two outputs under a penalty."""
    data = draw(
        params.seed_range(params.seeds),
        samples=params.samples,
        noise=params.moons_noise,
        positive_variance=params.positive_variance,
    )
    c = symmetric(cross_moment(data.anchor, data.positive, data.negative, reduction="mean"))
    cases = list(product(PROBLEMS, params.output_dims))
    penalties = list(product(PENALTIES, params.penalties))
    total = len(cases) + len(penalties)
    tables: dict[str, list[pd.DataFrame]] = {"trajectory": [], "runs": [], "penalised": []}
    for number, (name, outputs) in enumerate(cases):
        context.progress(number, total, f"{name}, z = {outputs}")
        trajectory, runs = _train(params, PROBLEMS[name], outputs, c, data.anchor)
        tables["trajectory"].append(trajectory.assign(problem=name, output_dim=outputs))
        tables["runs"].append(runs.assign(problem=name, output_dim=outputs))
    for number, (penalty, strength) in enumerate(penalties, start=len(cases)):
        context.progress(number, total, f"{penalty} penalty, {strength:g}")
        ends = _train_penalised(params, penalty, strength, c, data.anchor)
        tables["penalised"].append(ends.assign(penalty=penalty, strength=strength))
    return {table: pd.concat(rows, ignore_index=True) for table, rows in tables.items()}


def records(params: Params) -> list[int]:
    """The recorded steps: the start, then steps evenly spaced in the logarithm up to the end."""
    return sorted({0, *(round(step) for step in np.geomspace(1, params.steps, params.records))})


def start(params: Params, outputs: int) -> list[Float[Tensor, "run h columns"]]:
    """Initial W1 and W2 of every run (seed, start), in double precision; W1 does not depend on `outputs`."""
    streams = [Streams(params.seed_range(params.seeds), f"start of W{layer}") for layer in (1, 2)]
    scale = params.init_scale / params.width**0.5
    normal = [
        stream.normal(params.starts, columns, params.width)
        for stream, columns in zip(streams, (2, outputs), strict=True)
    ]
    return [scale * weights.double().flatten(0, 1).mT.contiguous() for weights in normal]


def reduced(weights: Weights) -> list[Float[Tensor, "run h columns"]]:
    """W1 and W2 in an orthonormal basis of the span of their columns, where there are more hidden units than
    columns. Every gradient mixes these columns, so that descent stays in their span, and all that is measured
    depends on their inner products alone: the courses are the same up to rounding."""
    columns = [w.shape[-1] for w in weights]
    if weights[0].shape[-2] <= sum(columns):
        return list(weights)
    return [w.contiguous() for w in torch.linalg.qr(torch.cat(list(weights), -1)).R.split(columns, -1)]


def descend(
    problem: Problem,
    weights: Weights,
    c: Float[Tensor, "run d d"],
    learning_rate: float,
    steps: int,
) -> Iterator[Moment]:
    """Gradient descent of every run on the problem's loss, Tr(Qᵀ C Q) of the scaled weights.

    Yields the state at each step from 0 to `steps`, or until no run is finite. A run that has diverged stays
    diverged and does not affect the others.
    """
    current = list(weights)
    diverged = torch.zeros(len(c), dtype=torch.bool)
    for _ in range(steps + 1):
        loss, scaled_map, gradients = problem.at(current, c)
        diverged |= ~(loss.isfinite() & scaled_map.isfinite().all((-2, -1)))
        if diverged.any():
            loss = loss.masked_fill(diverged, torch.nan)
            scaled_map = scaled_map.masked_fill(diverged[:, None, None], torch.nan)
        yield Moment(loss, scaled_map)
        if diverged.all():
            return
        current = [
            weight - learning_rate * gradient for weight, gradient in zip(current, gradients, strict=True)
        ]
        if diverged.any():
            for weight, initial in zip(current, weights, strict=True):
                weight[diverged] = initial[diverged]


def _train(
    params: Params,
    problem: Problem,
    outputs: int,
    c: Float[Tensor, "seed d d"],
    anchor: Float[Tensor, "seed sample d"],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables `trajectory` and `runs` of one problem."""
    c, anchor = (values.repeat_interleave(params.starts, 0) for values in (c, anchor))
    weights = reduced(start(params, outputs))
    if problem.layers == 1:
        weights = [weights[0].mT @ weights[1]]
    diverged_state = Moment(c.new_full((len(c),), torch.nan), c.new_full((len(c), 2, outputs), torch.nan))
    moments, last_finite = dict.fromkeys(records(params), diverged_state), diverged_state
    diverged_at = diverged_state.loss.clone()
    late: dict[bool, list[Tensor]] = {False: [], True: []}
    earlier = diverged_state
    for step, moment in enumerate(descend(problem, weights, c, params.learning_rate, params.steps)):
        finite = moment.finite
        if finite.all():
            last_finite = moment
        else:
            diverged_at[~finite & diverged_at.isnan()] = step
            last_finite = Moment(
                torch.where(finite, moment.loss, last_finite.loss),
                torch.where(finite[:, None, None], moment.linear_map, last_finite.linear_map),
            )
        if step in moments:
            moments[step] = moment
        if step == params.steps * 3 // 4:
            earlier = moment
        if 2 * step > params.steps:
            late[4 * step > 3 * params.steps].append(moment.loss)
    run_axes: Axes = {"seed": params.seed_range(params.seeds), "start": range(params.starts)}
    shape = tuple(map(len, run_axes.values()))
    columns = {
        "loss": [moment.loss for moment in moments.values()],
        "output": [(anchor[:, :1] @ moment.linear_map)[:, 0, 0] for moment in moments.values()],
        "second_share": [second_share(anchor, moment.linear_map) for moment in moments.values()],
    }
    trajectory = tidy(
        {"step": list(moments), **run_axes},
        **{name: torch.stack(column).unflatten(1, shape) for name, column in columns.items()},
    )
    eigenvalues, eigenvectors = torch.linalg.eigh(c)
    first_vector = eigenvectors[..., :1]
    alignment = _alignment(last_finite.linear_map, first_vector)
    runs = {
        "diverged_at": diverged_at,
        "loss": last_finite.loss,
        "moved_before": _range(late[False] or [diverged_state.loss]),
        "moved": _range(late[True] or [diverged_state.loss]),
        "output": (anchor[:, :1] @ last_finite.linear_map)[:, 0, 0],
        "optimum": problem.optimum(eigenvalues, outputs),
        "second_share": second_share(anchor, last_finite.linear_map),
        "alignment": alignment,
        "alignment_moved": (alignment - _alignment(earlier.linear_map, first_vector)).abs(),
    }
    return trajectory, tidy(run_axes, **{name: column.view(shape) for name, column in runs.items()})


def _train_penalised(
    params: Params,
    penalty: str,
    strength: float,
    c: Float[Tensor, "seed d d"],
    anchor: Float[Tensor, "seed sample d"],
) -> pd.DataFrame:
    """The two singular values of two outputs where a run ends, is last finite or has vanished, as shares of
    the largest of these and of those at the start."""
    c, anchor = (values.repeat_interleave(params.starts, 0) for values in (c, anchor))
    problem = Penalised(penalty=penalty, strength=strength * torch.linalg.eigvalsh(c)[:, 0].abs())
    weights = reduced(start(params, 2))
    first = last = problem.linear_map(weights)
    done = torch.zeros(len(c), dtype=torch.bool)
    for moment in descend(problem, weights, c, params.learning_rate, params.steps):
        done |= ~moment.finite
        last = torch.where(done[:, None, None], last, moment.linear_map)
        done |= last.abs().amax((1, 2)) < VANISHED * first.abs().amax((1, 2))
        if done.all():
            break
    at_start, at_end = (torch.linalg.svdvals(anchor @ linear_map) for linear_map in (first, last))
    shares = at_end / torch.maximum(at_start, at_end)[:, :1]
    axes: Axes = {"seed": params.seed_range(params.seeds), "start": range(params.starts)}
    columns = zip(("first", "second"), shares.unbind(-1), strict=True)
    return tidy(axes, **{name: column.view(params.seeds, params.starts) for name, column in columns})


def _alignment(
    linear_map: Float[Tensor, "run d z"], vector: Float[Tensor, "run d 1"]
) -> Float[Tensor, " run"]:
    """|cos| of the angle between Q, as one long vector, and a unit vector."""
    direction = _unit_scale(linear_map)
    return (direction.mT @ vector).norm(dim=(1, 2)) / direction.norm(dim=(1, 2))


def _range(losses: list[Float[Tensor, " run"]]) -> Float[Tensor, " run"]:
    """Range of a run's losses, the largest less the smallest; NaN once the run has diverged."""
    values = torch.stack(losses)
    return values.amax(0) - values.amin(0)


def second_share(
    anchor: Float[Tensor, "run sample d"], linear_map: Float[Tensor, "run d z"]
) -> Float[Tensor, " run"]:
    """Second singular value of the outputs X Q as a share of the first; 0 for one output, NaN if diverged."""
    if linear_map.shape[-1] == 1:
        return torch.where(linear_map[:, 0, 0].isnan(), torch.nan, 0.0)
    values = torch.linalg.svdvals((anchor @ _unit_scale(linear_map)).nan_to_num(0.0))
    return values[:, 1] / values[:, 0]


def _unit_scale(linear_map: Float[Tensor, "run d z"]) -> Float[Tensor, "run d z"]:
    """Scales the largest entry to 1, so that squares do not overflow."""
    return linear_map / linear_map.abs().amax((1, 2), keepdim=True)
