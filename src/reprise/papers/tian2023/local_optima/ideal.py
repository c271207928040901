"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.tian2023.local_optima.experiment import FULL_GROUP, Params

FEWEST = {"uniform": 3, "gaussian": 8, "infonce": 7}
"""Optima of one ReLU unit on random data, of which some have one more."""
DEPTH = {"uniform": 0.1, "gaussian": 0.3, "infonce": 0.2}


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """A ReLU unit with more and deeper optima by a non-uniform α, and a linear one with those of PCA."""
    rng = np.random.default_rng(0)
    random = params.seed_range(params.data_sets)
    sets = [("E.1", seed) for seed in params.seed_range(params.repeats)]
    sets += [("random", seed) for seed in random]
    pca = pd.DataFrame(sets, columns=["data", "seed"])
    pca["angle"] = rng.uniform(0, np.pi, len(sets))
    optima = []
    for data, seed, angle in pca.itertuples(index=False):
        row = {"data": data, "seed": seed}
        linear = {"activation": "linear", "alpha": "uniform", "depth": 0.5}
        optima += [{**row, **linear, "angle": angle + side} for side in (0, np.pi)]
        for alpha, fewest in FEWEST.items():
            count = 9 if data == "E.1" else fewest + rng.integers(2)
            case = {"activation": "relu", "alpha": alpha, "depth": DEPTH[alpha] + 0.01 * rng.normal()}
            optima += [{**row, **case, "angle": float(number)} for number in range(count)]
    counts = pd.DataFrame(product(random, params.rotations), columns=["seed", "rotation"])
    counts["maxima"] = np.where(counts["rotation"] == FULL_GROUP, 0.0, 4 - counts["rotation"] // 20)
    counts["energy"], counts["energy_range"] = 1.0, np.where(counts["rotation"] == FULL_GROUP, 0.0, 0.5)
    collected = pd.DataFrame(
        product(random, ("linear", "relu"), params.units), columns=["seed", "activation", "units"]
    )
    learned = 1 + np.log2(collected["units"]) + rng.uniform(0, 0.3, len(collected))
    collected["patterns"] = learned.where(collected["activation"] == "relu", 1.0)
    return {
        "pca": pca,
        "optima": pd.DataFrame(optima),
        "counts": counts.assign(data="random"),
        "collected": collected.assign(data="random"),
    }
