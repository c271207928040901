"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.skean2024.linear_regime.experiment import SHOWN, VIEWS, Params

RUNS = ("frossl", "barlow")
LATE = dict(zip(VIEWS, (0.8, 0.85, 0.9, 1.0), strict=True))


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Eigenvalues rise twice as late under Barlow Twins' variant, as modes with ρ = 1 predict, and sooner for
    views that are more alike; the sharpness is the predicted one."""
    rng = np.random.default_rng(0)
    made = pd.DataFrame(
        product(VIEWS, RUNS, params.seed_range(params.seeds)), columns=["views", "run", "seed"]
    )
    spread = 1 + 0.01 * rng.uniform(-1, 1, len(made))
    modes = made.assign(index=SHOWN, variance=spread, cross=spread, start=1e-3)
    runs = made.assign(sharpness=12.0 * spread, predicted_sharpness=12.0)

    time = np.linspace(0, params.horizon, 121)
    late: pd.Series = made["views"].map(LATE) * np.where(made["run"] == "barlow", 2, 1)
    halfway = params.horizon / 6 * spread * late
    paths = [
        made.assign(
            index=SHOWN,
            step=step,
            time=now,
            eigenvalue=1 / (1 + np.exp(-40 / params.horizon * (now - halfway))),
        )
        for step, now in enumerate(time)
    ]
    return {"spectrum": pd.concat(paths, ignore_index=True), "modes": modes, "runs": runs}
