"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.jing2022.projector_alignment.experiment import Params

REST = 1e-6
"""The mass off the diagonal at the end."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """W1 aligns with every projector, and comes to rest."""
    rng = np.random.default_rng(0)
    steps = [round(params.steps * share) for share in (0, 0.25, 0.5, 0.95, 1)]
    rows = product(steps, ("frozen", "diagonal", "low-rank", "free"), params.seed_range(params.seeds))
    table = pd.DataFrame(rows, columns=["step", "arm", "seed"])
    spread = 1 + 0.1 * rng.uniform(-1, 1, len(table))
    level = table["step"].map(dict(zip(steps, (0.9, 0.3, 0.01, REST, REST), strict=True)))
    table["off_diagonal_mass"] = spread * level
    table["mass_outside_subspace"] = 0.02 * spread
    return {"trajectory": table}
