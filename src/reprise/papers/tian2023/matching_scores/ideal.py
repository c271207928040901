"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.tian2023.matching_scores.experiment import LOSSES, Params, seeds_of
from reprise.papers.tian2023.sequences import Arm

AT_ONE = {"linear": (0.93, 0.01), "relu": (0.30, 0.58), "leaky_relu": (0.32, 0.55), "quadratic": (0.40, 0.45),
          "sigmoid": (0.20, 0.24)}  # fmt: skip
AT_SEVERAL = {"linear": (0.60, 0.01), "relu": (0.62, 0.30), "leaky_relu": (0.61, 0.29),
              "quadratic": (0.62, 0.25), "sigmoid": (0.40, 0.24)}  # fmt: skip
"""χ+ at beta = 1 and its gain up to beta = 10, by activation, at P = 1 and at P > 1."""
NOISE = {"linear": 0.24, "relu": 0.10, "leaky_relu": 0.17, "quadratic": 0.20, "sigmoid": 0.30}
"""χ- by activation."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Scores of linear filters that do not depend on beta, and of others that rise with it."""
    rng = np.random.default_rng(0)
    rows = []
    for loss, activation, beta, candidates in product(
        params.compared_losses, params.activations, params.over_parameterisation, params.candidates
    ):
        start, gain = (AT_ONE if candidates == 1 else AT_SEVERAL)[activation]
        less = 0.0 if loss == LOSSES[0] else 0.10
        for seed in params.seed_range(seeds_of(params, Arm(activation, loss), candidates)):
            scores = {
                "chi_plus": start + gain * np.log10(beta) - less + 0.005 * rng.normal(),
                "chi_minus": NOISE[activation] + 0.005 * rng.normal(),
                "missed": 0.0,
                "noise": 0.0,
                "complete": 2.0 if activation == "linear" else float(params.fields),
            }
            cell = {"objective": loss, "activation": activation, "beta": beta, "candidates": candidates}
            absolute = {f"absolute_{name}": score for name, score in scores.items()}
            rows.append({"seed": seed, **cell, **scores, **absolute})
    return {"matching": pd.DataFrame(rows)}
