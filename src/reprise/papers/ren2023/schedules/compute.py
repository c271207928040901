"""Follows Eq. 8 through both stages with every schedule."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.contract.experiment import Context
from reprise.contract.tidy import tidy
from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment, Path, Stage, solve
from reprise.papers.ren2023.schedules.experiment import SCHEDULE, Params, words
from reprise.papers.ren2023.spectra import EVERY_SPECTRUM, signal_variances

CASES = tuple(product(EVERY_SPECTRUM, (True, False)))
"""Each case is a spectrum of A, and whether there is noise."""
DECADES = 5
"""Powers of ten, from 0.1 on."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `region`, the end of every schedule in every case; `decay`, in how many steps of Stage 2 the
    condition number less 1 falls through each power of ten from 0.1 on, with the middle schedule.

    Balance scores (`balance`) are shares of r, of the output's exact covariance.
    """
    parts = {"region": region, "decay": decay}
    tables = {}
    for number, (name, part) in enumerate(parts.items()):
        context.progress(number, len(parts), name)
        tables[name] = part(params)
    return tables


def region(params: Params) -> pd.DataFrame:
    """All schedules at once: those with the same τ² of Stage 1 share it."""
    first = _tiled(_limit(params), len(params.stage1_tau2))
    tau2 = np.repeat(params.stage1_tau2, len(CASES))
    lengths = sorted(params.stage1_steps)
    ends = solve(first, lengths, [Stage(lengths[-1], tau2)], step_size=params.step_size).moment
    repeats = len(params.stage2_tau2)
    start = _repeated(ends, repeats)
    tau2 = np.tile(params.stage2_tau2, len(start.v) // repeats)
    looks = sorted(params.stage2_steps)
    moment = solve(
        start.limit, looks, [Stage(looks[-1], tau2)], step_size=params.step_size, start=start, rtol=1e-7
    ).moment
    axes = {
        "stage2_steps": looks,
        "stage1_steps": lengths,
        "stage1_tau2": params.stage1_tau2,
        "case": CASES,
        "stage2_tau2": params.stage2_tau2,
    }
    shape = tuple(len(values) for values in axes.values())
    aligned = np.where(moment.h.min(-1) > 0, 1 - 0.5**params.signals, 0.0)
    columns = {
        "alignment": aligned,
        "balance": moment.stable_rank / params.signals,
        "condition": moment.condition,
        "distance": moment.distance,
    }
    table = tidy(axes, **{name: values.reshape(shape) for name, values in columns.items()})
    schedules = zip(*(table[name] for name in SCHEDULE), strict=True)
    return _with_case_columns(table.assign(schedule=[words(*schedule) for schedule in schedules]))


def decay(params: Params) -> pd.DataFrame:
    """Steps in which the condition number less 1 falls by each power of ten, with the middle τ² and lengths,
    in every case."""
    limit = _limit(params)
    length, tau2_1, tau2_2 = (
        values[len(values) // 2] for values in (params.stage1_steps, params.stage1_tau2, params.stage2_tau2)
    )
    looks = length + np.geomspace(1, params.decay_steps, 2001)
    stages = [Stage(length, tau2_1), Stage(params.decay_steps, tau2_2)]
    path: Path = solve(
        limit, looks, stages, step_size=params.step_size, rtol=1e-10, atol=1e-10, method="LSODA"
    )
    levels = np.log(10.0) * -np.arange(1, DECADES + 1)
    rows = []
    for case, condition in zip(CASES, path.moment.condition.T, strict=True):
        log = np.log(np.maximum(condition - 1, np.finfo(float).tiny))
        times = np.interp(-levels, -log, looks, left=np.nan, right=np.nan)
        rows += [
            {"case": case, "decade": decade, "steps": steps}
            for decade, steps in enumerate(np.diff(times), start=1)
        ]
    return _with_case_columns(pd.DataFrame(rows))


def _limit(params: Params) -> InfiniteWidth:
    """The limit in all cases."""
    return InfiniteWidth.of(
        np.array([signal_variances(spectrum, params.dim, params.signals) for spectrum, _ in CASES]),
        noise2=params.noise**2,
        noises=np.array([noisy * (params.dim - params.signals) for _, noisy in CASES], dtype=float),
        negatives=params.negatives,
    )


def _tiled(limit: InfiniteWidth, times: int) -> InfiniteWidth:
    return InfiniteWidth.of(
        np.tile(limit.sigma2, (times, 1)),
        noise2=np.tile(limit.noise2, times),
        noises=np.tile(limit.noises, times),
        negatives=np.tile(limit.negatives, times),
    )


def _repeated(moments: Moment, repeats: int) -> Moment:
    """A start of so many settings for each setting at each time, times slowest."""
    times, settings = moments.v.shape
    index = np.repeat(np.arange(settings), repeats)
    limit = moments.limit
    start = InfiniteWidth.of(
        np.tile(limit.sigma2[index], (times, 1)),
        noise2=np.tile(limit.noise2[index], times),
        noises=np.tile(limit.noises[index], times),
        negatives=np.tile(limit.negatives[index], times),
    )
    k, h, v = (np.concatenate(part[:, index]) for part in (moments.k, moments.h, moments.v))
    return Moment(start, k, h, v)


def _with_case_columns(table: pd.DataFrame) -> pd.DataFrame:
    cases = table.pop("case")
    return table.assign(spectrum=cases.str[0], noise=cases.str[1].astype(bool))
