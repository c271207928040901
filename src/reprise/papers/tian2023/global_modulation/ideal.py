"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.formula import without_errors
from reprise.papers.tian2023.global_modulation import probabilities
from reprise.papers.tian2023.global_modulation.claims import THEORY
from reprise.papers.tian2023.global_modulation.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """A pattern that gains weights with its modulation, and draws that Eq. 155 foretells."""
    rng = np.random.default_rng(0)
    basins = pd.DataFrame(
        product(params.seed_range(params.seeds), params.dims, params.modulations),
        columns=["seed", "dim", "modulation"],
    )
    basins["reached"] = 0.1 + 0.3 / basins["dim"] + 0.5 * basins["modulation"]
    basins["other"] = 0.05
    basins[["reached", "other"]] += 1e-3 * rng.normal(size=(len(basins), 2))
    draws = pd.DataFrame(
        product(params.seed_range(params.seeds), params.probability_dims, params.epsilons),
        columns=["seed", "dim", "epsilon"],
    )
    draws["formula"] = [
        probabilities.eq155(dim, epsilon) for dim, epsilon in zip(draws["dim"], draws["epsilon"], strict=True)
    ]
    draws["simulated"] = draws["formula"] * (1 + 1e-4 * rng.normal(size=len(draws)))
    return {
        "identities": without_errors(THEORY, params.seed_range(params.points)),
        "basins": basins,
        "probabilities": draws,
    }
