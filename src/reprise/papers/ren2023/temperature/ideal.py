"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.ren2023.temperature.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """A condition number that rises from 2 to 3 and falls to 1, and a distance of τ²."""
    rng, seeds = np.random.default_rng(0), params.seed_range(params.seeds)
    course = {0: 2.0, params.steps // 10: 3.0, params.steps: 1.0}
    uniform = pd.DataFrame(
        product(params.every_negatives, params.tau2, seeds, course),
        columns=["negatives", "tau2", "seed", "step"],
    )
    uniform["condition"] = uniform["step"].map(course) * rng.uniform(1.0, 1.05, len(uniform))
    uniform["claimed"] = uniform["negatives"] == params.claimed_negatives
    stage1 = pd.DataFrame(product(params.stage1_tau2, seeds), columns=["tau2", "seed"])
    stage1["distance"] = stage1["tau2"] * rng.uniform(0.9, 1.1, len(stage1))
    return {"uniform": uniform, "stage1": stage1}
