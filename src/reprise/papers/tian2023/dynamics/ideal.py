"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.formula import without_errors
from reprise.papers.tian2023.dynamics.claims import THEORY
from reprise.papers.tian2023.dynamics.experiment import Params

SLOW = {"none": (-1.5, 1.2, 0.6), "BatchNorm": (-0.5, 0.3, 0.2)}
"""`speed`, `d` and `gap` of a layer."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Formulas that hold, and fields that BatchNorm makes less unequal."""
    rng = np.random.default_rng(0)
    points = params.seed_range(params.points)
    fields = pd.DataFrame(product(points, SLOW), columns=["seed", "layer"])
    fields[["speed", "d", "gap"]] = [SLOW[layer] for layer in fields["layer"]]
    fields[["speed", "d", "gap"]] += 0.05 * rng.normal(size=(len(fields), 3))
    return {"identities": without_errors(THEORY, points), "fields": fields}
