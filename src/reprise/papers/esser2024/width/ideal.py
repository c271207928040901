"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.esser2024.width.claims import COVERED
from reprise.papers.esser2024.width.experiment import Params

POWERS = {
    "tanh": (-1.4, -0.9),
    "relu": (-0.5, -0.3),
    "sigmoid": (0.2, 0.5),
    "centred_sigmoid": (-0.5, 0.0),
    "scaled_sigmoid": (-1.4, -0.9),
}
"""The power of the width in the difference, at the start and at the end, by activation."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Differences that are powers of the width."""
    rng = np.random.default_rng(0)

    def table(activations: tuple, *looks: int) -> pd.DataFrame:
        axes = product(activations, params.widths, params.seed_range(params.seeds), looks)
        return pd.DataFrame(axes, columns=["activation", "width", "seed", "epoch"])

    def about(widths: pd.Series, power: pd.Series | float) -> pd.Series:
        return widths**power * rng.uniform(0.95, 1.05, len(widths))

    differences = table(params.activations, 0, params.epochs // 2, params.epochs)
    start, end = (differences["activation"].map(lambda name, at=at: POWERS[name][at]) for at in (0, 1))
    differences["difference"] = about(differences["width"], end.where(differences["epoch"] > 0, start))
    differences["linear_norm"] = about(differences["width"], -0.1)
    differences["relative"] = differences["difference"] / differences["linear_norm"]
    differences["up_to_sign"] = differences["difference"]
    starts = differences[differences["epoch"] == 0]
    bounds = table(tuple(COVERED), 0)
    bounds["bound"] = about(bounds["width"], -0.1)
    return {
        "differences": differences,
        "starts": starts[["activation", "width", "seed", "difference", "relative"]],
        "bounds": bounds[["activation", "width", "seed", "bound"]],
    }
