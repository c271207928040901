"""Tables in which every claim of this room holds."""

import numpy as np
import pandas as pd

from reprise.papers.esser2024.limiting_dynamics.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Descent and the ODE reach the same limit, the ODE a little later."""
    rng = np.random.default_rng(0)
    seeds = range(params.first_seed, params.first_seed + params.seeds)
    names = ["z", "width", "method", "seed"]
    axes = [params.embedding_dims, params.widths, ("descent", "printed_euler"), seeds]
    ends = pd.MultiIndex.from_product(axes, names=names).to_frame(index=False)
    by_ode = ends["method"] == "printed_euler"
    return {
        "ends": ends.assign(
            loss=-0.8,
            first_loss=-0.1,
            mean_loss=-0.7 + 0.01 * by_ode + rng.normal(0, 0.001, len(ends)),
            loss_moved=1e-9,
            loss_integration=1e-10,
            distance=1e-9,
            largest_distance=0.03 * rng.uniform(0.8, 1.2, len(ends)),
            moved=1e-6,
            integration=1e-7,
            miss=1e-8,
        )
    }
