"""Learners of finite width beside their limit, descent beside gradient flow, SGD beside full batches."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.numerics.streams import Streams
from reprise.papers.ren2023.finite_width.params import Params
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
from reprise.papers.ren2023.model import positive_pairs, scales, signal_variances
from reprise.study.experiment import Context
from reprise.study.tidy import tidy
from reprise.training.replicas import keep_freed_memory


@dataclass(frozen=True)
class Look:
    """A learner at a time; `stage` is the one that has led there."""

    stage: int
    time: float
    learner: Learner


Moves = Callable[[Learner, int, float], Learner]
"""(learner, stage, time) to the learner after that time."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`widths`: how far gradient flow at width m is from the limit, and its columns from orthogonal to each
    other, over time. `steps`: how far descent is from gradient flow. `batches`: SGD from full batches."""
    keep_freed_memory()
    tables, jobs = {}, {"widths": widths, "steps": steps, "batches": batches}
    for done, (name, job) in enumerate(jobs.items()):
        context.progress(done, len(jobs), name)
        tables[name] = job(params)
    return tables


def widths(params: Params) -> pd.DataFrame:
    """All widths and seeds at once; a row a loss, width, seed and look."""
    roots = [gram_root(_streams(params, f"width {width}"), width, params.dim) for width in params.widths]
    start = initial(torch.stack(roots), scale(params))
    axes = {"width": params.widths, "seed": range(params.seeds)}
    flows = {"contrastive": exact(params), "non-contrastive": non_contrastive(params)}
    tables = []
    for loss, objective_of in flows.items():
        for look, moment in zip(
            path(params, start, flow(params, objective_of)),
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
    """A row a step size, seed and look: gradient descent on full batches beside gradient flow."""
    start = _one_width(params)
    exactly = exact(params)
    runs: dict[float, Moves] = {step: descent(params, exactly, step) for step in params.step_sizes}
    return _beside(params, start, flow(params, exactly), runs, "step_size")


def batches(params: Params) -> pd.DataFrame:
    """A row a batch size, seed and look: SGD beside descent of the same step on full batches."""
    start = _one_width(params)
    runs: dict[float, Moves] = {
        batch: descent(params, on_batches(params, batch), params.batch_step) for batch in params.batch_sizes
    }
    return _beside(params, start, descent(params, exact(params), params.batch_step), runs, "batch_size")


def _one_width(params: Params) -> Learner:
    root = gram_root(_streams(params, f"width {params.descent_width}"), params.descent_width, params.dim)
    return initial(root, scale(params))


def _beside(
    params: Params, start: Learner, reference: Moves, runs: dict[float, Moves], name: str
) -> pd.DataFrame:
    tables = []
    expected = list(path(params, start, reference))
    for value, moves in runs.items():
        for look, other in zip(path(params, start, moves), expected, strict=True):
            table = tidy({"seed": range(params.seeds)}, distance=gram_distance(look.learner, other.learner))
            tables.append(table.assign(**{name: value}, stage=look.stage, time=look.time))
    return pd.concat(tables, ignore_index=True)


# Ways to move. An objective of a stage is asked for anew at each step.

Objectives = Callable[[int], Objective]
"""From the stage to its objective."""


def flow(params: Params, objective_of: Objectives) -> Moves:
    """Gradient flow, to the accuracy of Runge-Kutta's method."""

    def moves(learner: Learner, stage: int, time: float) -> Learner:
        for _ in range(params.flow_steps):
            learner = flowed(learner, objective_of(stage), scale(params), time / params.flow_steps)
        return learner

    return moves


def descent(params: Params, objective_of: Objectives, step_size: float) -> Moves:
    """Gradient descent, of which a step is `step_size` of time."""

    def moves(learner: Learner, stage: int, time: float) -> Learner:
        for _ in range(round(time / step_size)):
            learner, _ = descended(learner, objective_of(stage), scale(params), step_size)
        return learner

    return moves


def exact(params: Params) -> Objectives:
    """Eq. 3's expectation."""
    of_stage = {
        stage: population(params.dim, params.signals, tau2=tau2, negatives=params.negatives)
        for stage, tau2 in enumerate((params.stage1_tau2, params.stage2_tau2), 1)
    }
    return of_stage.__getitem__


def non_contrastive(params: Params) -> Objectives:
    """Eq. 4's expectation, in either stage."""
    objective = exact_non_contrastive(params.dim, params.signals)
    return lambda stage: objective


def on_batches(params: Params, batch_size: int) -> Objectives:
    """Eq. 3 on minibatches of each seed's own."""
    streams = _streams(params, f"minibatches of {batch_size}")
    tau2 = {1: params.stage1_tau2, 2: params.stage2_tau2}

    def objective(stage: int) -> Objective:
        y_a, y_b = positive_pairs(streams, params.dim, params.signals, batch_size)
        return contrastive(y_a, y_b, tau2=tau2[stage], negatives=params.negatives)

    return objective


def path(params: Params, start: Learner, moves: Moves) -> Iterator[Look]:
    """The learner at the start and at every look of both stages."""
    learner, begin = start, 0.0
    yield Look(1, begin, learner)
    for stage, duration in ((1, params.stage1_time), (2, params.stage2_time)):
        for look in range(1, params.looks + 1):
            learner = moves(learner, stage, duration / params.looks)
            yield Look(stage, begin + duration * look / params.looks, learner)
        begin += duration


def limit(params: Params, *, contrastive: bool) -> list[Moment]:
    """Eq. 8 at the looks."""
    of = InfiniteWidth.of(
        signal_variances("linear", params.dim, params.signals),
        noise2=params.noise**2,
        noises=params.dim - params.signals,
        negatives=params.negatives,
        contrastive=contrastive,
    )
    stages = [Stage(params.stage1_time, params.stage1_tau2), Stage(params.stage2_time, params.stage2_tau2)]
    ends = np.cumsum([0, *(s.steps for s in stages)])
    times = [np.linspace(begin, end, params.looks + 1) for begin, end in pairwise(ends)]
    moment = solve(of, np.union1d(*times), stages).at
    return [Moment(of, k, h, v) for k, h, v in zip(moment.k, moment.h, moment.v, strict=True)]


# What is compared.


def gram(learner: Learner) -> Float[Tensor, "*replica 2*dim 2*dim"]:
    """Inner products of all columns of K_A and K_B."""
    k = torch.cat(learner.pair, -1)
    return k.mT @ k


def gram_distance(learner: Learner, other: Learner) -> Float[Tensor, "*replica"]:
    """|G - G'|_F / |G'|_F of the Gram matrices."""
    expected = gram(other)
    return torch.linalg.matrix_norm(gram(learner) - expected) / torch.linalg.matrix_norm(expected)


def limit_distance(learner: Learner, moment: Moment) -> Float[Tensor, "*replica"]:
    """The same from the limit, where columns of different latents, and noises of A and B, are orthogonal."""
    k, h, v = (torch.from_numpy(part[0]) for part in (moment.k, moment.h, np.atleast_2d(moment.v)))
    dim, noises = learner.dim, learner.dim - len(k)
    own = torch.diag(torch.cat([k, v.expand(noises)]))
    shared = torch.diag(torch.cat([h, torch.zeros(noises)]))
    expected = torch.cat([torch.cat([own, shared]), torch.cat([shared, own])], 1)
    assert expected.shape == (2 * dim, 2 * dim)
    return torch.linalg.matrix_norm(gram(learner) - expected) / torch.linalg.matrix_norm(expected)


def orthogonality(learner: Learner, signals: int) -> dict[str, Float[Tensor, "*replica"]]:
    """The largest cosine, by size, between columns that are orthogonal in the limit: of two signals, of a
    signal and a noise, of two noises (Lemmas B.15, B.16, C.12 to C.14)."""
    inner = gram(learner)
    length = inner.diagonal(dim1=-2, dim2=-1).sqrt()
    cosine = (inner / length[..., None] / length[..., None, :]).abs()
    latent = torch.arange(learner.dim).repeat(2)
    is_signal = latent < signals
    column = torch.arange(2 * learner.dim)
    both = is_signal[:, None] & is_signal & (latent[:, None] != latent)
    mixed = is_signal[:, None] & ~is_signal
    noises = ~is_signal[:, None] & ~is_signal & (column[:, None] != column)
    return {
        name: cosine[..., chosen].amax(-1)
        for name, chosen in (("signals", both), ("signal_noise", mixed), ("noises", noises))
    }


def scale(params: Params) -> Float[Tensor, " dim"]:
    """Column norms of [A, A_ξ]."""
    variances = signal_variances("linear", params.dim, params.signals)
    return torch.from_numpy(scales(variances, params.noise, params.dim))


def _streams(params: Params, purpose: str) -> Streams:
    return Streams(range(params.seeds), purpose)
