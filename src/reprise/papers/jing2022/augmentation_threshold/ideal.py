"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.jing2022.augmentation_threshold.experiment import PROGRAM, Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Beyond k = 1 the strongly augmented half of the values falls a thousandfold in each quarter of the
    steps."""
    rng = np.random.default_rng(0)
    cells = [("one", k) for k in params.one_view] + [("both", k) for k in params.both_views]
    cells += [(PROGRAM, noise**2) for noise in params.code_noise]
    quarters = [(params.steps * part // 4, part) for part in range(5)]
    rows = [
        (step, part, seed, views, k, index)
        for (step, part), seed, (views, k), index in product(
            quarters, params.seed_range(params.seeds), cells, range(1, params.dim + 1)
        )
    ]
    columns = ["step", "part", "seed", "views", "amplitude", "index"]
    table = pd.DataFrame(rows, columns=columns)
    falls = (table["amplitude"] > 1) & (table["index"] > params.dim // 2)
    table["singular_value"] = 0.98 ** table["index"] * np.where(falls, 1e-3 ** table.pop("part"), 1.0)
    table["singular_value"] *= rng.uniform(0.99, 1.01, len(table))
    block = table[table["views"] != PROGRAM].query("index == 1").drop(columns=["index", "singular_value"])
    return {"singular_values": table, "strong_block": block.assign(norm=0.5, log10_norm_if_x_fixed=-1.0)}
