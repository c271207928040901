"""Theorem 6 and its remark: formulas at random points, basins on the sphere, probabilities by drawing."""

import zlib

import numpy as np
import pandas as pd

from reprise.evidence.identities import Random, tried
from reprise.papers.tian2023.global_modulation import probabilities, sphere
from reprise.papers.tian2023.global_modulation.formulas import CHECKS, climb, closed_form
from reprise.papers.tian2023.global_modulation.params import Params
from reprise.study.experiment import Context

BLOW_UP = 8.0
"""y/b at which a solution that blows up leaves the figure."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables:

    `identities`: the relative error of every formula in each of its forms, a row a point (`seed`).
    `flow`: solutions of Eq. 146 in units of b: `start` y(0)/b, `time` b t, `y` y/b by integration,
    `closed_form` by Eq. 147, `velocity` ẏ/b², `critical_time` b t* (none from negative starts).
    `basins`: unit weights that start uniformly on the sphere, a row a seed, number of patterns (`dim`) and
    `modulation` c of the first: shares of them that reach u_1 (`reached`) and, at most, another single
    pattern (`largest_other`), whose smallest critical time is the first's (`first_critical`), whose winner is
    the one with the smallest critical time (`predicted`, of those that have one), that reach u_1 without
    modulation and no more with it (`lost`), that have not settled (`unsettled`); `offset` b.
    `probabilities`: P[E_l] of Eq. 155 (`formula`) and the share of draws (`simulated`).
    """
    points = range(params.first_point, params.first_point + params.points)
    seeds = range(params.seeds)
    flow = pd.concat([_solution(start) for start in params.flow_starts], ignore_index=True)
    basins = []
    for seed in seeds:
        context.progress(seed, params.seeds, "basins")
        basins += [row for dim in params.dims for row in _basins(seed, dim, params)]
    drawn = [
        row for seed in seeds for dim in params.probability_dims for row in _probabilities(seed, dim, params)
    ]
    return {
        "identities": tried(CHECKS, points, params.largest, ("dim",), context),
        "flow": flow,
        "basins": pd.DataFrame(basins),
        "probabilities": pd.DataFrame(drawn),
    }


def _solution(start: float) -> pd.DataFrame:
    """From y(0)/b to its limit, or to where it leaves the figure."""
    critical_time = float(sphere.critical_times(np.array(start), np.array(1.0)))
    leaves = critical_time + np.log(BLOW_UP / (1 + BLOW_UP)) if start > 0 else 6.0  # Eq. 147
    times = np.linspace(0, leaves, 61)
    y, _ = climb(start, 1.0, times)
    return pd.DataFrame(
        {
            "start": start,
            "time": times,
            "y": y,
            "velocity": (y + 1) * y,
            "closed_form": closed_form(start, 1.0, times),
            "critical_time": critical_time if start > 0 else np.nan,
        }
    )


def _stream(seed: int, what: str) -> Random:
    """Random numbers that depend on the seed and on what they are for."""
    return np.random.default_rng([seed, zlib.crc32(what.encode())])


def _basins(seed: int, dim: int, params: Params) -> list[dict[str, float]]:
    rng = _stream(seed, f"basins/{dim}")
    y = sphere.uniform_starts(rng, params.starts, dim)
    b = rng.uniform(1.05, 3)  # g(y) = y + b > 0 on the sphere wants b > 1
    offsets = b + np.array(params.modulations)[:, None] * (np.arange(dim) == 0)
    predicted = sphere.first_to_blow_up(y, offsets[:, None])
    found = sphere.winners(
        np.broadcast_to(y, (len(offsets), *y.shape)),
        offsets[:, None],
        duration=params.duration,
        time_step=params.time_step,
    )
    return [
        {
            "seed": seed,
            "dim": dim,
            "modulation": modulation,
            "offset": b,
            "reached": float((end == 0).mean()),
            "largest_other": float(max((end == other).mean() for other in range(1, dim))),
            "first_critical": float((first == 0).mean()),
            "predicted": float((first == end)[(first != sphere.NONE) & (end != sphere.UNSETTLED)].mean()),
            "lost": float(((found[0] == 0) & (end != 0)).mean()),
            "unsettled": float((end == sphere.UNSETTLED).mean()),
        }
        for modulation, first, end in zip(params.modulations, predicted, found, strict=True)
    ]


def _probabilities(seed: int, dim: int, params: Params) -> list[dict[str, float]]:
    y = _stream(seed, f"probabilities/{dim}").uniform(-1, 1, (params.draws, dim))
    shares = probabilities.simulated(y, np.array(params.epsilons))
    return [
        {
            "seed": seed,
            "dim": dim,
            "epsilon": epsilon,
            "simulated": share,
            "formula": probabilities.eq155(dim, epsilon),
        }
        for epsilon, share in zip(params.epsilons, shares, strict=True)
    ]
