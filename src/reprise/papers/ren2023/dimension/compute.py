"""Follows Eq. 8 until it settles: with negatives through both stages, and without negatives."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from reprise.contract.experiment import Context
from reprise.papers.ren2023.dimension.experiment import Params
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment, Path, Stage, solve


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `ends`, one row per dimension and moment, with the `time` of gradient flow; `closed_form`, the
    final condition number without negatives."""
    rows = []
    for index, dim in enumerate(params.dims):
        context.progress(index, len(params.dims), f"d = {dim}")
        rows += [
            {"dim": dim, "signals": dim // 2, "tolerance": params.tolerance, **row}
            for row in _ends(params, dim)
        ]
    closed_form = [float(final_condition(variances(dim, params.spike))) for dim in params.dims]
    return {
        "ends": pd.DataFrame(rows),
        "closed_form": pd.DataFrame({"dim": params.dims, "condition": closed_form}),
    }


def variances(dim: int, spike: float) -> np.ndarray:
    """σ_1² .. σ_r²."""
    return np.concatenate([[max(spike * np.log(dim), 1.0)], np.ones(dim // 2 - 1)])


def final_condition(sigma2: np.ndarray) -> float:
    """Final condition number of K_A without noise or negatives.

    With T = 0, k_p = σ_p² (exp(σ_p² H) + exp(-σ_p² G)) / 2 where H = ∫ c (1 - ρ) and G = ∫ c (1 + ρ). G grows
    without bound. Since Σ k_p / σ_p² = r is conserved, H converges to the solution of Σ exp(σ_p² H) = 2 r.
    """
    exponent = brentq(lambda h: np.exp(sigma2 * h).sum() - 2 * len(sigma2), 0.0, 1.0, xtol=1e-14)
    k = sigma2 * np.exp(sigma2 * exponent)
    return float(np.sqrt(k.max() / k.min()))


def _ends(params: Params, dim: int) -> Iterator[dict[str, object]]:
    sigma2 = variances(dim, params.spike)
    plain = InfiniteWidth.of(sigma2, contrastive=False)
    contrast = InfiniteWidth.of(sigma2, negatives=params.negatives)
    yield _row("start", plain.start(), 0.0)
    moment, time = to_rest(plain, plain.start(), 1.0, dim, params.tolerance)
    yield _row("without negatives", moment, time)
    moment, stage1 = until_aligned(contrast, params.tau2_stage1, dim, params.alignment_gap)
    yield _row("stage 1", moment, stage1)
    moment, stage2 = to_rest(contrast, moment, params.tau2_stage2, dim**2, params.tolerance)
    yield _row("stage 2", moment, stage1 + stage2)


def until_aligned(limit: InfiniteWidth, tau2: float, unit: float, gap: float) -> tuple[Moment, float]:
    """The first moment, to within 1 % of `unit`, at which every 1 - h_p / k_p is below `gap` (Lemma B.1)."""
    horizon = 2.0 * unit
    while True:
        times = np.linspace(0, horizon, round(100 * horizon / unit) + 1)
        path = solve(limit, times, [Stage(horizon, tau2)])
        (aligned,) = np.nonzero((1 - path.moment.h / path.moment.k).max((1, 2)) <= gap)
        if aligned.size:
            return _moment(limit, path, aligned[0]), float(times[aligned[0]])
        horizon *= 2


def to_rest(
    limit: InfiniteWidth, start: Moment, tau2: float, unit: float, tolerance: float
) -> tuple[Moment, float]:
    """The final state: the time doubles, starting from `unit`, until ρ and log κ no longer change."""
    moment, time, step = start, 0.0, unit
    while True:
        path = solve(limit, [step], [Stage(step, tau2)], start=moment)
        previous, moment, time, step = moment, _moment(limit, path, 0), time + step, time + step
        log_ratio = np.log(moment.condition / previous.condition)
        if max(abs(moment.rho - previous.rho)[0], abs(log_ratio)[0]) < tolerance:
            return moment, time


def _moment(limit: InfiniteWidth, path: Path, index: int) -> Moment:
    return Moment(limit, path.moment.k[index], path.moment.h[index], path.moment.v[index])


def _row(name: str, moment: Moment, time: float) -> dict[str, object]:
    return {
        "moment": name,
        "time": time,
        "condition": float(moment.condition[0]),
        "stable_rank": float(moment.stable_rank[0]),
        "distance": float(moment.distance[0]),
        "rho": float(moment.rho[0]),
    }
