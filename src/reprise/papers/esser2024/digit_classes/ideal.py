"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.esser2024.digit_classes.experiment import Params

STEP = {"descent": 1e-3, "ode": 5e-5, "tanh": 2e-3}
"""Seconds at the smallest width."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """All that is trained is as accurate; training takes as long as the net is wide, and the ODE always the
    same."""
    rng = np.random.default_rng(0)
    accuracy = [
        (z, method, seed, 90.0 + 0.2 * (seed % 10))
        for z, method in product(params.embedding_dims, ("descent", "printed", *params.activations))
        for seed in params.seed_range(
            params.nonlinear_seeds if method in params.activations else params.seeds
        )
    ]
    accuracy += [
        (z, "start", seed, 60.0)
        for z, seed in product(params.embedding_dims, params.seed_range(params.seeds))
    ]
    steps = [
        (method, width, repeat, seconds * (1 if method == "ode" else width / params.timed_widths[0]))
        for (method, seconds), width, repeat in product(
            STEP.items(), params.timed_widths, params.seed_range(params.repeats)
        )
        if method != "tanh" or width in params.nonlinear_widths
    ]
    times = pd.DataFrame(steps, columns=["method", "width", "seed", "seconds"])
    times["seconds"] *= rng.uniform(0.98, 1.02, len(times))
    solved = times[times["width"].isin(params.nonlinear_widths) & (times["method"] != "descent")]
    table = pd.DataFrame(accuracy, columns=["z", "method", "seed", "accuracy"])
    return {
        "accuracy": table.assign(accuracy=table["accuracy"] + rng.normal(0, 0.1, len(table))),
        "step_seconds": times,
        "solution_seconds": solved.assign(seconds=params.steps * solved["seconds"]),
    }
