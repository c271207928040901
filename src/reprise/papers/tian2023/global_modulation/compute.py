"""Theorem 6 and its remark: formulas at random points, basins on the sphere, probabilities by random
draws."""

import numpy as np
import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.formula import checks
from reprise.evidence.identities import Array, tried
from reprise.numerics.streams import stream
from reprise.papers.tian2023.global_modulation import probabilities, sphere
from reprise.papers.tian2023.global_modulation.experiment import Params
from reprise.papers.tian2023.global_modulation.formulas import FORMULAS, climb

BLOW_UP = 8.0
"""y/b at which an exploding solution leaves the figure."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Computes four tables.

    `identities`: the relative error of every formula in each of its forms, one row per point (`seed`).
    `flow`: solutions of Eq. 146 in units of b: `start` y(0)/b, `time` b t, `y` y/b by integration,
    `closed_form` by Eq. 147, `velocity` ẏ/b², `critical_time` b t* (none from negative starts). `basins`:
    unit weights that start uniformly on the sphere, one row per seed, number of patterns (`dim`) and
    `modulation` c of the first pattern, with offset b (`offset`). The columns are shares of the starts: those
    that reach u_1 (`reached`), those that reach another pattern, the mean over these (`other`), those for
    which the first pattern has the smallest critical time (`first_critical`), those won by the pattern with
    the smallest critical time (`predicted`, among those that have one), those that reach u_1 without
    modulation but not with it (`lost`), and those that have not settled (`unsettled`). `probabilities`:
    P[E_l] of Eq. 155 (`formula`) and the share of draws (`simulated`).
    """
    points = params.seed_range(params.points)
    seeds = params.seed_range(params.seeds)
    flow = pd.concat([_solution(start) for start in params.flow_starts], ignore_index=True)
    basins = []
    for done, seed in enumerate(seeds):
        context.progress(done, params.seeds, "basins")
        basins += [row for dim in params.dims for row in _basins(seed, dim, params)]
    probability_rows = [
        row for seed in seeds for dim in params.probability_dims for row in _probabilities(seed, dim, params)
    ]
    return {
        "identities": tried(checks(FORMULAS), points, params.largest, ("dim",), context),
        "flow": flow,
        "basins": pd.DataFrame(basins),
        "probabilities": pd.DataFrame(probability_rows),
    }


def _solution(start: float) -> pd.DataFrame:
    """The solution from y(0)/b to its limit, or until it leaves the figure."""
    critical_time = float(sphere.critical_times(np.array(start), np.array(1.0)))
    end_time = critical_time + np.log(BLOW_UP / (1 + BLOW_UP)) if start > 0 else 6.0  # Eq. 147
    times = np.linspace(0, end_time, 61)
    y = climb(start, 1.0, times)
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


def closed_form(y0: float, b: float, times: Array) -> Array:
    """y(t) by Eq. 147."""
    ratio = y0 / (y0 + b) * np.exp(b * times)
    return b * ratio / (1 - ratio)


def _basins(seed: int, dim: int, params: Params) -> list[dict[str, float]]:
    rng = stream(seed, f"basins/{dim}")
    y = sphere.uniform_starts(rng, params.starts, dim)
    b = rng.uniform(1.05, 3)  # b > 1 makes g(y) = y + b positive on the sphere
    offsets = b + np.array(params.modulations)[:, None] * (np.arange(dim) == 0)
    predictions = sphere.first_to_blow_up(y, offsets[:, None])
    outcomes = sphere.winners(
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
            "reached": float((outcome == 0).mean()),
            "other": float((outcome > 0).mean() / (dim - 1)),
            "first_critical": float((prediction == 0).mean()),
            "predicted": float(
                (prediction == outcome)[(prediction != sphere.NONE) & (outcome != sphere.UNSETTLED)].mean()
            ),
            "lost": float(((outcomes[0] == 0) & (outcome != 0)).mean()),
            "unsettled": float((outcome == sphere.UNSETTLED).mean()),
        }
        for modulation, prediction, outcome in zip(params.modulations, predictions, outcomes, strict=True)
    ]


def _probabilities(seed: int, dim: int, params: Params) -> list[dict[str, float]]:
    y = stream(seed, f"probabilities/{dim}").uniform(-1, 1, (params.draws, dim))
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
