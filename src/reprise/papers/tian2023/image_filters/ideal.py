"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.tian2023.image_filters.claims import SHARES
from reprise.papers.tian2023.image_filters.experiment import ARMS, FIELDS, WITH_UNTRAINED, Params

RANK = {"plain": 20.0, "cropped": 10.0, "linear": 5.0, "untrained": 30.0}
MATCH = {"plain": 0.8, "cropped": 0.8, "linear": 0.6, "untrained": 0.2}
ROUGHNESS = {"plain": 0.3, "cropped": 0.1, "linear": 0.3}
"""Share of the power at high frequencies."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Diverse filters that resemble the images, and fewer and smoother ones with augmentation."""
    rng = np.random.default_rng(0)
    seeds = params.seed_range(params.seeds)
    patterns = pd.DataFrame(product(WITH_UNTRAINED, seeds, FIELDS), columns=["arm", "seed", "field"])
    patterns["effective_rank"] = patterns["arm"].map(RANK) + rng.normal(size=len(patterns))
    patterns["match"] = patterns["arm"].map(MATCH) + 0.01 * rng.normal(size=len(patterns))
    steps = (0, params.steps)
    statistics = pd.DataFrame(product(steps, ARMS, seeds, FIELDS), columns=["step", "arm", "seed", "field"])
    for share in SHARES.values():
        statistics[share] = statistics["arm"].map(ROUGHNESS) + 0.01 * rng.normal(size=len(statistics))
    return {"patterns": patterns, "statistics": statistics}
