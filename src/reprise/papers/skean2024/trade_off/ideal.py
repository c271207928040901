"""Tables in which the claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.learning import PIXELS
from reprise.papers.skean2024.trade_off.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Networks that have all learned, and less the further the weights are from equal ones."""
    rng = np.random.default_rng(0)
    probes = pd.DataFrame(
        product(params.weights, params.seed_range(params.seeds)), columns=["weight", "seed"]
    )
    probes["top1"] = 70 - 5 * np.log2(probes["weight"]).abs() + 0.1 * rng.normal(size=len(probes))
    return {"probes": probes.assign(start=20.0, **dict.fromkeys(PIXELS, 20.0))}
