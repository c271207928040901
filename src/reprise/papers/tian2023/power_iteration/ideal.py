"""Tables in which every claim of this room holds."""

from itertools import product

import pandas as pd

from reprise.evidence.formula import without_errors
from reprise.papers.tian2023.power_iteration.claims import PUBLISHED, THEORY, THRESHOLD
from reprise.papers.tian2023.power_iteration.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Runs that come to rest near their start, all of them covered by Theorem 3."""
    axes = ["model", "gram_distance", "seed"]
    runs = pd.DataFrame(
        product((PUBLISHED, "smoothed"), params.gram_distances, params.seed_range(params.seeds)), columns=axes
    )
    starts = pd.DataFrame({"start": range(1, params.patterns + 1)})
    return {
        "steps": runs.assign(iteration=0, step=1e-17),
        "ends": runs.merge(starts, how="cross").assign(period=1.0, distance=0.01, nearest=1.0),
        "irregularity": runs.assign(covered=1.0, radius=0.1),
        "thresholds": pd.DataFrame({"seed": params.seed_range(params.points), "threshold": THRESHOLD}),
        "identities": without_errors(THEORY, params.seed_range(params.points)),
    }
