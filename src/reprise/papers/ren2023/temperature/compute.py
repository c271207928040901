"""Solves Eq. 8 for every τ², K and spectrum, and compares Stage 1 with the dynamics without negatives."""

import numpy as np
import pandas as pd
from jaxtyping import Float

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.numerics.streams import stream
from reprise.papers.ren2023.infinite_width import Array, InfiniteWidth, Moment, Stage, solve
from reprise.papers.ren2023.temperature.experiment import Params


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `uniform`, each setting over the steps; `stage1`, the largest relative distance during Stage 1
    from the dynamics without negatives, whose time is scaled (`distance`) or not (`distance_unscaled`)."""
    spectra = np.array([variances(params, seed) for seed in params.seed_range(params.seeds)])
    parts = []
    for index, negatives in enumerate(params.every_negatives):
        context.progress(index, len(params.every_negatives) + 1, f"K = {negatives:g}")
        parts.append(_uniform(params, spectra, negatives))
    return {"uniform": pd.concat(parts, ignore_index=True), "stage1": _stage1(params, spectra)}


def variances(params: Params, seed: int) -> Float[Array, "r"]:
    """σ_1² .. σ_r²: the largest and the smallest are fixed, the others random."""
    rng = stream(seed, "spectrum")
    others = rng.uniform(1, params.variance_ratio, params.signals - 2)
    return np.sort(np.concatenate([[1, params.variance_ratio], others]))[::-1]


def looks(params: Params) -> list[float]:
    """The recorded steps: 0, then logarithmically spaced up to the last."""
    spaced = np.geomspace(1, params.steps, params.looks).round()
    return [0.0, *np.unique(spaced)]


def _limit(params: Params, spectra: Array, negatives: float, *, contrastive: bool = True) -> InfiniteWidth:
    return InfiniteWidth.of(
        spectra,
        noise2=params.noise**2,
        noises=params.dim - params.signals,
        negatives=negatives,
        contrastive=contrastive,
    )


def _uniform(params: Params, spectra: Array, negatives: float) -> pd.DataFrame:
    """Solves for all temperatures and spectra at once."""
    tau2 = np.repeat(params.tau2, len(spectra))
    limit = _limit(params, np.tile(spectra, (len(params.tau2), 1)), negatives)
    steps = looks(params)
    moment = solve(limit, steps, [Stage(params.steps, tau2)], step_size=params.step_size, rtol=1e-7).moment
    shape = (len(steps), len(params.tau2), len(spectra))
    table = tidy(
        {"step": [int(step) for step in steps], "tau2": params.tau2, "seed": params.seed_range(params.seeds)},
        condition=moment.condition.reshape(shape),
        distance=moment.distance.reshape(shape),
        noise_to_signal=moment.noise_to_signal.reshape(shape),
        rho=moment.rho.reshape(shape),
    )
    return table.assign(negatives=negatives, claimed=negatives == params.claimed_negatives)


def _stage1(params: Params, spectra: Array) -> pd.DataFrame:
    """Compares Stage 1 with Eq. 4: for small τ², 1 - S = K / (1 + K), which makes c larger by 2 K / (1 +
    K)."""
    steps, k = np.linspace(0, params.stage1_steps, 61), params.claimed_negatives
    every = sorted(params.stage1_tau2)
    limit = _limit(params, np.tile(spectra, (len(every), 1)), k)
    stage1 = [Stage(params.stage1_steps, np.repeat(every, len(spectra)))]
    contrast = solve(limit, steps, stage1, step_size=params.step_size).moment
    plain_limit = _limit(params, spectra, k, contrastive=False)
    distances = {}
    for name, scale in (("distance", 2 * k / (1 + k)), ("distance_unscaled", 1.0)):
        stage = [Stage(params.stage1_steps, 0.0)]
        plain = solve(plain_limit, steps, stage, step_size=params.step_size * scale).moment
        distances[name] = _largest_distance(contrast, plain, len(every))
    return tidy({"tau2": every, "seed": params.seed_range(params.seeds)}, **distances)


def _largest_distance(moment: Moment, reference: Moment, repeats: int) -> Float[Array, "tau2 seed"]:
    """The largest relative distance of the vectors (k, h) over time."""
    state = np.concatenate([moment.k, moment.h], -1)
    reference_state = np.concatenate([reference.k, reference.h], -1)
    distance = np.linalg.norm(state - np.tile(reference_state, (1, repeats, 1)), axis=-1)
    return (
        (distance / np.tile(np.linalg.norm(reference_state, axis=-1), (1, repeats)))
        .max(0)
        .reshape(repeats, -1)
    )
