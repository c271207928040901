"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.formula import without_errors
from reprise.papers.skean2024.theory.claims import BARLOW, CHANGED, THEORY, UNCHANGED
from reprise.papers.skean2024.theory.experiment import Params

BALANCE = {
    "unit length": (1.0, 1.2),
    "no logarithms": (0.001, 2.0),
    "pseudocode": (0.005, 1.2),
    "unit variance": (200.0, 1.2),
}
"""The ratio of the terms' gradients at a decay of 0, and its growth with each further decay."""
POWERS = {
    "covariance norm": (1e-9, 2, 1),
    "log determinant": (1e-11, 3, 1),
    "Gram norm": (1e-9, 1, 2),
    "log determinant of samples": (2e-9, 1, 2),
}
"""A factor, and powers of d and n."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Formulas that hold, losses that a rotation changes or not, and powers of the sizes."""
    rng = np.random.default_rng(0)
    changes = {**dict.fromkeys((*CHANGED, BARLOW), 0.1), **dict.fromkeys(UNCHANGED, 0.0)}
    rotated = [
        (f"table1/rotation-{loss}", "printed", seed, change * rng.uniform(1, 2))
        for loss, change in changes.items()
        for seed in params.seed_range(params.points)
    ]
    formulas = without_errors(THEORY, params.seed_range(params.points))
    return {
        "identities": pd.concat(
            [formulas, pd.DataFrame(rotated, columns=formulas.columns)], ignore_index=True
        ),
        "gradients": _gradients(params, rng),
        "operations": _operations(params),
        "cost_seconds": _times(params, rng),
    }


def _gradients(params: Params, rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for (reading, (first, growth)), correlation in product(BALANCE.items(), params.correlations):
        for (number, decay), seed in product(enumerate(params.decays), params.seed_range(params.seeds)):
            ratio = first * growth**number * rng.uniform(0.98, 1.02)
            rows.append((reading, correlation, decay, seed, ratio, 1.0))
    return pd.DataFrame(rows, columns=["reading", "correlation", "decay", "seed", "invariance", "variance"])


def _operations(params: Params) -> pd.DataFrame:
    batches = (params.batch // 2, params.batch, 2 * params.batch)
    rows = [
        (term, samples, dim, float(dim**d_power * samples**n_power))
        for (term, (_, d_power, n_power)), samples, dim in product(POWERS.items(), batches, params.timed_dims)
    ]
    return pd.DataFrame(rows, columns=["term", "samples", "dim", "operations"])


def _times(params: Params, rng: np.random.Generator) -> pd.DataFrame:
    rows = [
        (term, dim, seed, factor * dim**d_power * params.batch**n_power * rng.uniform(0.98, 1.02))
        for (term, (factor, d_power, n_power)), dim, seed in product(
            POWERS.items(), params.timed_dims, params.seed_range(params.repeats)
        )
    ]
    return pd.DataFrame(rows, columns=["term", "dim", "seed", "seconds"])
