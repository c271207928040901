"""Tables in which every claim of this room holds."""

import numpy as np
import pandas as pd

from reprise.contract.tidy import tidy
from reprise.evidence.formula import without_errors
from reprise.papers.skean2024.linear_dynamics.claims import THEORY
from reprise.papers.skean2024.linear_dynamics.experiment import Params
from reprise.papers.skean2024.linear_views import LOSSES, closed_form

STEP = 1e-3
"""The error of descent that is due to its steps."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Formulas without errors, descent along the closed forms, of which Eq. 18 is one, and random layers that
    come three times as close to aligned ones from each standard deviation to the next smaller."""
    rng = np.random.default_rng(0)
    time, modes = np.linspace(0, params.horizon, params.records), range(1, len(params.variances) + 1)
    variances = np.array(params.variances)
    start = np.full(len(variances), params.start)
    flows = {
        loss: np.sqrt(closed_form(loss, variances, variances * params.correlations, start, time))
        for loss in LOSSES
    }
    by_time = {"time": time.tolist(), "mode": modes}
    paths = []
    for loss, flow in flows.items():
        error = STEP * rng.uniform(0.9, 1, (params.seeds, 1, 1))
        columns = {"descent": (1 + error) * flow, "coarse": (1 + 2 * error) * flow}
        paths.append(
            tidy(
                {"seed": params.seed_range(params.seeds), **by_time}, **columns, closed_form=flow + 0 * error
            ).assign(loss=loss)
        )
    stds = sorted(params.stds)
    aligned = variances * np.square(flows["frossl"])
    distance = 0.3 * STEP * 3.0 ** np.arange(len(stds))[:, None] * rng.uniform(0.9, 1, (1, params.seeds))
    flow = aligned + distance[..., None, None]
    return {
        "identities": without_errors(THEORY, params.seed_range(params.points)),
        "closed_form": pd.concat(paths, ignore_index=True),
        "equation_18": tidy(by_time, singular_value=flows["frossl"]),
        "small_starts": tidy(
            {"std": stds, "seed": params.seed_range(params.seeds), "time": time.tolist(), "index": modes},
            eigenvalue=flow + STEP,
            coarse=flow + 2 * STEP,
            aligned=aligned + 0 * flow,
        ),
    }
