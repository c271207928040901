"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.esser2024.wide_networks.experiment import ACTIVATIONS, ARMS, LOSSES, Params

DISTANCES = {"supervised": (0.5, -0.5), "unconstrained": (0.6, -0.1), "constrained": (0.9, 0.0)}
"""Distances from the tangent kernel, by arm: a factor, and the power of the width."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Outputs that collapse, and only supervised ones that come close to their kernel."""
    rng = np.random.default_rng(0)
    collapse = pd.DataFrame(
        product(LOSSES, ACTIVATIONS, (0, params.steps), params.seed_range(params.seeds)),
        columns=["loss", "activation", "step", "seed"],
    )
    collapse["ratio"] = np.where(collapse["step"] > 0, 1e-6, 0.5) * rng.uniform(0.9, 1.1, len(collapse))
    distances = pd.DataFrame(
        product(ARMS, params.widths, params.seed_range(params.seeds)), columns=["arm", "width", "seed"]
    )
    factor, power = (distances["arm"].map(lambda arm, at=at: DISTANCES[arm][at]) for at in (0, 1))
    distances["distance"] = factor * distances["width"] ** power * rng.uniform(0.9, 1.1, len(distances))
    return {"collapse": collapse, "distances": distances}
