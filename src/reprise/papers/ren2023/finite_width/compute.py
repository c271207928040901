"""Compares finite widths with their limit, descent with gradient flow, and SGD with full batches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.numerics.streams import Streams
from reprise.papers.ren2023.finite_width.experiment import Params
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment, Stage, solve
from reprise.papers.ren2023.learners import (
    Learner,
    Objective,
    contrastive,
    descended,
    exact_non_contrastive,
    flowed,
    gram_root,
    initial,
    population,
)
from reprise.papers.ren2023.model import positive_pairs, scales
from reprise.papers.ren2023.spectra import signal_variances
from reprise.training.replicas import keep_freed_memory


@dataclass(frozen=True)
class Look:
    """A learner at a time; `stage` is the stage that leads to it."""

    stage: int
    time: float
    learner: Learner


Moves = Callable[[Learner, int, float], Learner]
"""Maps (learner, stage, time) to the learner after that time."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `widths`, the distance of gradient flow at width m from the limit, and of its columns from
    orthogonality, over time; `steps`, the distance of descent from gradient flow; `batches`, that of SGD from
    full batches."""
    keep_freed_memory()
    tables, jobs = {}, {"widths": widths, "steps": steps, "batches": batches}
    for index, (name, job) in enumerate(jobs.items()):
        context.progress(index, len(jobs), name)
        tables[name] = job(params)
    return tables


def widths(params: Params) -> pd.DataFrame:
    """Gradient flow at all widths and seeds; one row per loss, width, seed and look."""
    seeds = params.seed_range(params.width_seeds)
    roots = [gram_root(Streams(seeds, f"width {width}"), width, params.dim) for width in params.widths]
    start = initial(torch.stack(roots), scale(params))
    axes = {"width": params.widths, "seed": seeds}
    flows = {"contrastive": exact(params), "non-contrastive": non_contrastive(params)}
    tables = []
    for loss, stage_objectives in flows.items():
        for look, moment in zip(
            path(params, start, flow(params, stage_objectives)),
            limit(params, contrastive=loss == "contrastive"),
            strict=True,
        ):
            columns = {
                "distance": limit_distance(look.learner, moment),
                **orthogonality(look.learner, params.signals),
            }
            table = tidy(axes, **columns)
            tables.append(table.assign(loss=loss, stage=look.stage, time=look.time))
    return pd.concat(tables, ignore_index=True)


def steps(params: Params) -> pd.DataFrame:
    """Gradient descent on full batches against gradient flow; one row per step size, seed and look."""
    start = _one_width(params)
    objectives = exact(params)
    runs: dict[float, Moves] = {step: descent(params, objectives, step) for step in params.step_sizes}
    return _compare(params, start, flow(params, objectives), runs, "step_size")


def batches(params: Params) -> pd.DataFrame:
    """SGD against descent on full batches with the same step; one row per batch size, seed and look."""
    start = _one_width(params)
    runs: dict[float, Moves] = {
        batch: descent(params, on_batches(params, batch), params.batch_step) for batch in params.batch_sizes
    }
    return _compare(params, start, descent(params, exact(params), params.batch_step), runs, "batch_size")


def _one_width(params: Params) -> Learner:
    root = gram_root(_streams(params, f"width {params.descent_width}"), params.descent_width, params.dim)
    return initial(root, scale(params))


def _compare(
    params: Params, start: Learner, reference: Moves, runs: dict[float, Moves], name: str
) -> pd.DataFrame:
    tables = []
    references = list(path(params, start, reference))
    for value, moves in runs.items():
        for look, reference_look in zip(path(params, start, moves), references, strict=True):
            table = tidy(
                {"seed": params.seed_range(params.seeds)},
                distance=gram_distance(look.learner, reference_look.learner),
            )
            tables.append(table.assign(**{name: value}, stage=look.stage, time=look.time))
    return pd.concat(tables, ignore_index=True)


# Ways to move. Each step asks for its stage's objective again, because minibatches change.

Objectives = Callable[[int], Objective]
"""Maps a stage to its objective."""


def flow(params: Params, stage_objectives: Objectives) -> Moves:
    """Gradient flow, by the Runge-Kutta method."""

    def moves(learner: Learner, stage: int, time: float) -> Learner:
        for _ in range(params.flow_steps):
            learner = flowed(learner, stage_objectives(stage), scale(params), time / params.flow_steps)
        return learner

    return moves


def descent(params: Params, stage_objectives: Objectives, step_size: float) -> Moves:
    """Gradient descent; each step advances time by `step_size`."""

    def moves(learner: Learner, stage: int, time: float) -> Learner:
        for _ in range(round(time / step_size)):
            learner, _ = descended(learner, stage_objectives(stage), scale(params), step_size)
        return learner

    return moves


def exact(params: Params) -> Objectives:
    """The exact expectation of Eq. 3."""
    objectives = {
        stage: population(params.dim, params.signals, tau2=tau2, negatives=params.negatives)
        for stage, tau2 in enumerate((params.stage1_tau2, params.stage2_tau2), 1)
    }
    return objectives.__getitem__


def non_contrastive(params: Params) -> Objectives:
    """The exact expectation of Eq. 4, for either stage."""
    objective = exact_non_contrastive(params.dim, params.signals)
    return lambda stage: objective


def on_batches(params: Params, batch_size: int) -> Objectives:
    """Eq. 3 on minibatches, which each seed draws for itself."""
    streams = _streams(params, f"minibatches of {batch_size}")
    tau2 = {1: params.stage1_tau2, 2: params.stage2_tau2}

    def objective(stage: int) -> Objective:
        y_a, y_b = positive_pairs(streams, params.dim, params.signals, batch_size)
        return contrastive(y_a, y_b, tau2=tau2[stage], negatives=params.negatives)

    return objective


def path(params: Params, start: Learner, moves: Moves) -> Iterator[Look]:
    """Yields the learner at the start and at every look of both stages."""
    learner, begin = start, 0.0
    yield Look(1, begin, learner)
    for stage, duration in ((1, params.stage1_time), (2, params.stage2_time)):
        for look in range(1, params.looks + 1):
            learner = moves(learner, stage, duration / params.looks)
            yield Look(stage, begin + duration * look / params.looks, learner)
        begin += duration


def limit(params: Params, *, contrastive: bool) -> list[Moment]:
    """The solution of Eq. 8 at the looks."""
    infinite = InfiniteWidth.of(
        signal_variances("linear", params.dim, params.signals),
        noise2=params.noise**2,
        noises=params.dim - params.signals,
        negatives=params.negatives,
        contrastive=contrastive,
    )
    stages = [Stage(params.stage1_time, params.stage1_tau2), Stage(params.stage2_time, params.stage2_tau2)]
    ends = np.cumsum([0, *(s.steps for s in stages)])
    times = [np.linspace(begin, end, params.looks + 1) for begin, end in pairwise(ends)]
    moment = solve(infinite, np.union1d(*times), stages).moment
    return [Moment(infinite, k, h, v) for k, h, v in zip(moment.k, moment.h, moment.v, strict=True)]


# Comparisons.


def gram(learner: Learner) -> Float[Tensor, "*replica 2*dim 2*dim"]:
    """Inner products of all columns of K_A and K_B."""
    k = torch.cat(learner.pair, -1)
    return k.mT @ k


def gram_distance(learner: Learner, other: Learner) -> Float[Tensor, "*replica"]:
    """Relative distance |G - G'|_F / |G'|_F of the Gram matrices."""
    expected = gram(other)
    return torch.linalg.matrix_norm(gram(learner) - expected) / torch.linalg.matrix_norm(expected)


def limit_distance(learner: Learner, moment: Moment) -> Float[Tensor, "*replica"]:
    """Relative distance from the limit, where columns of different latents, and noises of A and B, are
    orthogonal."""
    k, h, v = (torch.from_numpy(part[0]) for part in (moment.k, moment.h, np.atleast_2d(moment.v)))
    dim, noises = learner.dim, learner.dim - len(k)
    same_view = torch.diag(torch.cat([k, v.expand(noises)]))
    shared = torch.diag(torch.cat([h, torch.zeros(noises)]))
    expected = torch.cat([torch.cat([same_view, shared]), torch.cat([shared, same_view])], 1)
    assert expected.shape == (2 * dim, 2 * dim)
    return torch.linalg.matrix_norm(gram(learner) - expected) / torch.linalg.matrix_norm(expected)


def orthogonality(learner: Learner, signals: int) -> dict[str, Float[Tensor, "*replica"]]:
    """The largest absolute cosine between columns that are orthogonal in the limit: two signals, a signal and
    a noise, or two noises (Lemmas B.15, B.16, C.12 to C.14)."""
    inner = gram(learner)
    length = inner.diagonal(dim1=-2, dim2=-1).sqrt()
    cosine = (inner / length[..., None] / length[..., None, :]).abs()
    latent = torch.arange(learner.dim).repeat(2)
    is_signal = latent < signals
    column = torch.arange(2 * learner.dim)
    signal_pairs = is_signal[:, None] & is_signal & (latent[:, None] != latent)
    mixed_pairs = is_signal[:, None] & ~is_signal
    noise_pairs = ~is_signal[:, None] & ~is_signal & (column[:, None] != column)
    return {
        name: cosine[..., pairs].amax(-1)
        for name, pairs in (("signals", signal_pairs), ("signal_noise", mixed_pairs), ("noises", noise_pairs))
    }


def scale(params: Params) -> Float[Tensor, " dim"]:
    """Column norms of [A, A_ξ]."""
    variances = signal_variances("linear", params.dim, params.signals)
    return torch.from_numpy(scales(variances, params.noise, params.dim))


def _streams(params: Params, purpose: str) -> Streams:
    return Streams(params.seed_range(params.seeds), purpose)
