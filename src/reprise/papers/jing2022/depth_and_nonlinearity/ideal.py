"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.jing2022.depth_and_nonlinearity.experiment import Params


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Each linear layer after the first collapses three values, and ReLU two in all."""
    rng = np.random.default_rng(0)
    collapses = {("linear", depth): 3 * (depth - 1) for depth in params.depths}
    collapses |= {("relu", depth): 2 for depth in params.relu_depths}
    collapses |= {("isotropic", depth): 3 * (depth - 1) for depth in params.isotropic_depths}
    collapses |= {("degenerate", depth): 0 for depth in params.degenerate_depths}
    steps = (0, params.steps // 4, params.steps // 2, params.steps)
    rows = [
        (step, arm, depth, seed, index, 1e-5 if step > 0 and index > params.dim - count else 1.0)
        for step, ((arm, depth), count), seed, index in product(
            steps, collapses.items(), params.seed_range(params.seeds), range(1, params.dim + 1)
        )
    ]
    table = pd.DataFrame(rows, columns=["step", "arm", "depth", "seed", "index", "singular_value"])
    table["singular_value"] *= 0.98 ** table["index"] * rng.uniform(0.99, 1.01, len(table))
    return {"spectrum": table.assign(read=params.steps)}
