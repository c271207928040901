"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.jing2022.other_papers.experiment import Params

ARMS = ("none", "low-rank", "decaying", "non-contrastive", "relu")


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Four dimensions stand behind any projector, negatives keep some balance, and ReLU makes filters."""
    rng = np.random.default_rng(0)
    rows = product((0, params.steps), ARMS, params.seed_range(params.seeds))
    table = pd.DataFrame(rows, columns=["step", "arm", "seed"])
    spread = 1 + 0.02 * rng.uniform(-1, 1, len(table))
    at_end, arm = table["step"] > 0, table["arm"]
    table["standing"] = 4.0
    table["stable_rank"] = spread * np.where(at_end, np.where(arm == "non-contrastive", 1.1, 6.0), 3.0)
    table["chi"] = spread * np.where(at_end & (arm == "relu"), 0.8, 0.5)
    table["chi_rotated"] = 0.5
    return {"trajectory": table}
