"""Trains the learners of Figure 1 through both stages, and solves their infinite-width limit."""

from functools import lru_cache
from itertools import product

import numpy as np
import pandas as pd
import torch

from reprise.contract.experiment import Context, Progress
from reprise.contract.tidy import tidy
from reprise.diagnostics.balance import alignment_score, intrinsic_dimension, stable_rank
from reprise.numerics.streams import Streams
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Path, Stage, solve
from reprise.papers.ren2023.learners import (
    Learner,
    Objective,
    contrastive,
    descended,
    gram_root,
    initial,
    non_contrastive,
)
from reprise.papers.ren2023.model import Latents, positive_pairs, scales
from reprise.papers.ren2023.spectra import SPECTRA, signal_variances
from reprise.papers.ren2023.two_stages.experiment import Params, Task, tasks
from reprise.training.replicas import keep_freed_memory

LOSSES = ("contrastive", "non-contrastive")
CELLS = tuple(product(SPECTRA, (True, False)))
"""Each cell is a spectrum of A, and whether there is noise."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `trajectory`, the quantities of Figure 1 at every recorded step of every loss, spectrum, noise
    and seed; `limit`, the same at infinite width.

    Stable ranks are those of the output's exact covariance, because even the latent z has only 8.1 of r = 10
    on 2,000 pairs. The loss at the stage boundary is that of Stage 1. At infinite width,
    `trajectory` is the limit itself, and `limit` is empty, so that nothing is compared with itself.
    """
    results = context.results(perform, params, tasks(params, context.objective))
    trajectory = pd.concat(results.values(), ignore_index=True)
    table = limit(params)
    return {"trajectory": trajectory, "limit": table[:0] if params.width == "infinite" else table}


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a seed."""
    if params.width == "infinite":
        return _in_the_limit(params, task.seed)
    return _trajectory(params, task.seed, progress)


def _trajectory(params: Params, seed: int, progress: Progress) -> pd.DataFrame:
    """Runs Algorithm 3.1 in every cell and with either loss, from the same start and on the same data."""
    keep_freed_memory()
    scale = torch.stack([_scale(params, spectrum, noisy) for spectrum, noisy in CELLS])
    root = gram_root(Streams([seed], "initial weights"), int(params.width), params.dim)
    start = initial(root.expand(len(CELLS), -1, -1), scale)
    learners = dict.fromkeys(LOSSES, start)
    minibatches = Streams([seed], "minibatches")
    fresh = _pairs(params, Streams([seed], "fresh pairs"), params.fresh_pairs)
    recorded, tables = set(params.recorded), []
    for step in range(params.steps + 1):
        y_a, y_b = _pairs(params, minibatches, params.batch_size)

        def objectives(step: int, y_a: Latents = y_a, y_b: Latents = y_b) -> dict[str, Objective]:
            tau2 = params.stage1_tau2 if step < params.stage1_steps else params.stage2_tau2
            with_negatives = contrastive(y_a, y_b, tau2=tau2, negatives=params.negatives)
            return dict(zip(LOSSES, (with_negatives, non_contrastive(y_a, y_b)), strict=True))

        if step in recorded:
            stage_objectives = objectives(
                max(step - 1, 0)
            )  # at the boundary, the loss is still that of Stage 1
            measured = [
                {
                    **measures(learners[loss], params.signals, fresh),
                    "loss_value": stage_objectives[loss](learners[loss].kernel)[0],
                }
                for loss in LOSSES
            ]
            columns = {name: torch.stack([values[name] for values in measured]) for name in measured[0]}
            table = tidy({"loss": LOSSES, "cell": CELLS}, **columns)
            tables.append(
                table.assign(
                    step=step,
                    stage=1 if step <= params.stage1_steps else 2,
                    signals=params.signals,
                    fresh_pairs=params.fresh_pairs,
                )
            )
            progress(step / params.steps)
        step_objectives = objectives(step)
        learners = {
            name: descended(learner, step_objectives[name], scale, params.step_size)[0]
            for name, learner in learners.items()
        }
    return _with_cell_columns(pd.concat(tables, ignore_index=True)).assign(seed=seed)


def measures(learner: Learner, signals: int, fresh: tuple[Latents, Latents]) -> dict[str, torch.Tensor]:
    """The quantities of Figure 1 and Section 4.

    Condition number and noise-to-signal ratio are the larger ones of K_A and K_B; stable ranks are those of
    the exact covariance of f_A.

    Args:
        fresh: y_A and y_B of positive pairs, for the alignment score; a pair's negative is the next pair.
    """
    k = torch.stack(learner.pair)
    signal, noise = k[..., :signals], k[..., signals:]
    values = torch.linalg.svdvals(signal)
    lengths = torch.linalg.vector_norm(signal, dim=-2).amin(-1)
    distance = torch.linalg.matrix_norm(signal[0] - signal[1])
    f_a, f_b = ((maps @ y / norm).mT for maps, y, norm in zip(k, fresh, learner.norms, strict=True))
    eigenvalues = torch.linalg.svdvals(k[0]).square() / learner.dim / learner.norms[0][..., 0] ** 2
    return {
        "condition": (values[..., 0] / values[..., -1]).amax(0),
        "noise_to_signal": (torch.linalg.vector_norm(noise, dim=-2).amax(-1) / lengths).amax(0),
        "distance": distance / torch.linalg.matrix_norm(signal[0]),
        "alignment": alignment_score(f_a, f_b, f_b.roll(1, -2)),
        "stable_rank": stable_rank(eigenvalues),
        "intrinsic_dimension": intrinsic_dimension(eigenvalues),
    }


def _in_the_limit(params: Params, seed: int) -> pd.DataFrame:
    """The columns of `_trajectory` at infinite width and on infinitely many pairs, the same for all seeds.

    There |f_B| does not depend on the latents, and <f_A, f_B> = Σ h_p z_p z'_p / N². So a negative is farther
    off than the positive unless it has the same z, where all h_p > 0, and never where they are 0.
    """
    table = limit(params)
    aligned = _path(params).moment.h.min(-1) > 0
    return table.assign(
        alignment=np.where(aligned, 1 - 0.5**params.signals, 0.0).ravel(),
        stage=np.where(table["step"] <= params.stage1_steps, 1, 2),
        signals=params.signals,
        fresh_pairs=params.fresh_pairs,
        seed=seed,
    )


def limit(params: Params) -> pd.DataFrame:
    """The solution of Eq. 8 in every cell and with either loss, at the recorded steps."""
    path = _path(params)
    noisy = np.array([noisy for _ in LOSSES for _, noisy in CELLS])
    shape = (len(params.recorded), len(LOSSES), len(CELLS))
    table = tidy(
        {"step": params.recorded, "loss": LOSSES, "cell": CELLS},
        condition=path.moment.condition.reshape(shape),
        noise_to_signal=np.where(noisy, path.moment.noise_to_signal, 0.0).reshape(shape),
        distance=path.moment.distance.reshape(shape),
        stable_rank=path.moment.stable_rank.reshape(shape),
        intrinsic_dimension=path.moment.intrinsic_dimension.reshape(shape),
        loss_value=path.loss.reshape(shape),
    )
    return _with_cell_columns(table)


@lru_cache(maxsize=1)
def _path(params: Params) -> Path:
    """The limit with either loss in every cell, at the recorded steps."""
    cells = list(product(LOSSES, CELLS))
    infinite = InfiniteWidth.of(
        np.array([signal_variances(spectrum, params.dim, params.signals) for _, (spectrum, _) in cells]),
        noise2=params.noise**2,
        noises=np.array([noisy * (params.dim - params.signals) for _, (_, noisy) in cells], dtype=float),
        negatives=params.negatives,
        contrastive=np.array([loss == "contrastive" for loss, _ in cells]),
    )
    stages = [
        Stage(params.stage1_steps, params.stage1_tau2),
        Stage(params.stage2_steps, params.stage2_tau2),
    ]
    return solve(infinite, params.recorded, stages, step_size=params.step_size, method="LSODA")


def _scale(params: Params, spectrum: str, noisy: bool) -> torch.Tensor:
    variances = signal_variances(spectrum, params.dim, params.signals)
    return torch.from_numpy(scales(variances, params.noise if noisy else 0.0, params.dim))


def _pairs(params: Params, streams: Streams, samples: int) -> tuple[Latents, Latents]:
    y_a, y_b = positive_pairs(streams, params.dim, params.signals, samples)
    return y_a[0], y_b[0]


def _with_cell_columns(table: pd.DataFrame) -> pd.DataFrame:
    cells = table.pop("cell")
    return table.assign(spectrum=cells.str[0], noise=cells.str[1].astype(bool))
