"""Follows Eq. 8 to rest, with negatives through both stages and without."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from reprise.papers.ren2023.dimension.params import Params
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment, Path, Stage, solve
from reprise.study.experiment import Context


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`ends`: a row a dimension and moment, `time` being that of gradient flow; `closed_form`: what the
    condition number without negatives must be at the end."""
    rows = []
    for done, dim in enumerate(params.dims):
        context.progress(done, len(params.dims), f"d = {dim}")
        rows += [{"dim": dim, "signals": dim // 2, **row} for row in _ends(params, dim)]
    closed_form = [float(final_condition(variances(dim, params.spike))) for dim in params.dims]
    return {
        "ends": pd.DataFrame(rows),
        "closed_form": pd.DataFrame({"dim": params.dims, "condition": closed_form}),
    }


def variances(dim: int, spike: float) -> np.ndarray:
    """σ_1² .. σ_r²."""
    return np.concatenate([[max(spike * np.log(dim), 1.0)], np.ones(dim // 2 - 1)])


def final_condition(sigma2: np.ndarray) -> float:
    """The largest over the r-th singular value of K_A at rest, noiseless and without negatives.

    With T = 0, k_p = σ_p² (exp(σ_p² H) + exp(-σ_p² G)) / 2 where H = ∫ c (1 - ρ), G = ∫ c (1 + ρ). G grows
    for ever, and as Σ k_p / σ_p² = r is conserved, H ends where Σ exp(σ_p² H) = 2 r.
    """
    rest = brentq(lambda h: np.exp(sigma2 * h).sum() - 2 * len(sigma2), 0.0, 1.0, xtol=1e-14)
    k = sigma2 * np.exp(sigma2 * rest)
    return float(np.sqrt(k.max() / k.min()))


def _ends(params: Params, dim: int) -> Iterator[dict[str, object]]:
    sigma2 = variances(dim, params.spike)
    without = InfiniteWidth.of(sigma2, contrastive=False)
    contrast = InfiniteWidth.of(sigma2, negatives=params.negatives)
    yield _row("start", without.start(), 0.0)
    at, time = to_rest(without, without.start(), 1.0, dim, params.tolerance)
    yield _row("without negatives", at, time)
    at, stage1 = until_aligned(contrast, params.tau2_stage1, dim, params.alignment_gap)
    yield _row("stage 1", at, stage1)
    at, stage2 = to_rest(contrast, at, params.tau2_stage2, dim**2, params.tolerance)
    yield _row("stage 2", at, stage1 + stage2)


def until_aligned(limit: InfiniteWidth, tau2: float, unit: float, gap: float) -> tuple[Moment, float]:
    """The earliest moment, to 1 % of `unit`, at which every 1 - h_p / k_p is under `gap` (Lemma B.1)."""
    horizon = 2.0 * unit
    while True:
        times = np.linspace(0, horizon, round(100 * horizon / unit) + 1)
        path = solve(limit, times, [Stage(horizon, tau2)])
        (there,) = np.nonzero((1 - path.at.h / path.at.k).max((1, 2)) <= gap)
        if there.size:
            return _at(limit, path, there[0]), float(times[there[0]])
        horizon *= 2


def to_rest(
    limit: InfiniteWidth, start: Moment, tau2: float, unit: float, tolerance: float
) -> tuple[Moment, float]:
    """The end, after doublings of the time (from `unit`) until ρ and log κ no longer move."""
    at, time, step = start, 0.0, unit
    while True:
        path = solve(limit, [step], [Stage(step, tau2)], start=at)
        before, at, time, step = at, _at(limit, path, 0), time + step, time + step
        if max(abs(at.rho - before.rho)[0], abs(np.log(at.condition / before.condition))[0]) < tolerance:
            return at, time


def _at(limit: InfiniteWidth, path: Path, index: int) -> Moment:
    return Moment(limit, path.at.k[index], path.at.h[index], path.at.v[index])


def _row(moment: str, at: Moment, time: float) -> dict[str, object]:
    return {
        "moment": moment,
        "time": time,
        "condition": float(at.condition[0]),
        "stable_rank": float(at.stable_rank[0]),
        "intrinsic_dimension": float(at.intrinsic_dimension[0]),
        "distance": float(at.distance[0]),
        "rho": float(at.rho[0]),
    }
