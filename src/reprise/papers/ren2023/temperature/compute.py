"""Solves Eq. 8 at every τ², K and spectrum, and sets Stage 1 beside the dynamics without negatives."""

import zlib

import numpy as np
import pandas as pd
from jaxtyping import Float

from reprise.papers.ren2023.infinite_width import Array, InfiniteWidth, Moment, Stage, solve
from reprise.papers.ren2023.temperature.params import Params
from reprise.study.experiment import Context
from reprise.study.tidy import tidy


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`uniform`: each setting over the steps; `stage1`: the largest relative distance, over Stage 1, from the
    dynamics without negatives, whose time is scaled (`distance`) or not (`distance_unscaled`)."""
    spectra = np.array([variances(params, seed) for seed in range(params.seeds)])
    parts = []
    for done, negatives in enumerate(params.negatives):
        context.progress(done, len(params.negatives) + 1, f"K = {negatives:g}")
        parts.append(_uniform(params, spectra, negatives))
    return {"uniform": pd.concat(parts, ignore_index=True), "stage1": _stage1(params, spectra)}


def variances(params: Params, seed: int) -> Float[Array, "r"]:
    """σ_1² .. σ_r²: the largest, the smallest, and between them what is drawn."""
    rng = np.random.default_rng([seed, zlib.crc32(b"spectrum")])
    drawn = rng.uniform(1, params.variance_ratio, params.signals - 2)
    return np.sort(np.concatenate([[1, params.variance_ratio], drawn]))[::-1]


def looks(params: Params) -> list[float]:
    """From 0 to the last step."""
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
    """All temperatures and spectra at once."""
    tau2 = np.repeat(params.tau2, len(spectra))
    limit = _limit(params, np.tile(spectra, (len(params.tau2), 1)), negatives)
    steps = looks(params)
    at = solve(limit, steps, [Stage(params.steps, tau2)], step_size=params.step_size, rtol=1e-7).moment
    shape = (len(steps), len(params.tau2), len(spectra))
    table = tidy(
        {"step": [int(step) for step in steps], "tau2": params.tau2, "seed": range(len(spectra))},
        condition=at.condition.reshape(shape),
        distance=at.distance.reshape(shape),
        noise_to_signal=at.noise_to_signal.reshape(shape),
        rho=at.rho.reshape(shape),
    )
    return table.assign(negatives=negatives, claimed=negatives == params.claimed_negatives)


def _stage1(params: Params, spectra: Array) -> pd.DataFrame:
    """In the limit of small τ², 1 - S = K / (1 + K), so that c is 2 K / (1 + K) times that of Eq. 4."""
    steps, k = np.linspace(0, params.stage1_steps, 61), params.claimed_negatives
    tau2 = np.repeat(params.stage1_tau2, len(spectra))
    limit = _limit(params, np.tile(spectra, (len(params.stage1_tau2), 1)), k)
    contrast = solve(limit, steps, [Stage(params.stage1_steps, tau2)], step_size=params.step_size).moment
    other = _limit(params, spectra, k, contrastive=False)
    distances = {}
    for name, scale in (("distance", 2 * k / (1 + k)), ("distance_unscaled", 1.0)):
        stage = [Stage(params.stage1_steps, 0.0)]
        without = solve(other, steps, stage, step_size=params.step_size * scale).moment
        distances[name] = _largest_distance(contrast, without, len(params.stage1_tau2))
    return tidy({"tau2": params.stage1_tau2, "seed": range(len(spectra))}, **distances)


def _largest_distance(found: Moment, expected: Moment, repeats: int) -> Float[Array, "tau2 seed"]:
    """Of the vectors (k, h), relative, the largest over time."""
    first = np.concatenate([found.k, found.h], -1)
    second = np.concatenate([expected.k, expected.h], -1)
    apart = np.linalg.norm(first - np.tile(second, (1, repeats, 1)), axis=-1)
    return (apart / np.tile(np.linalg.norm(second, axis=-1), (1, repeats))).max(0).reshape(repeats, -1)
