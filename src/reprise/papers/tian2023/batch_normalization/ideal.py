"""Tables in which every claim of this room holds."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.papers.tian2023.batch_normalization.experiment import Params
from reprise.papers.tian2023.published import table1


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """Table 1 as printed at both learning rates, and in Figure 11 BatchNorm that helps the more, the less
    uniform the tokens are."""
    rng = np.random.default_rng(0)
    rows = []

    def add(
        run: str, seeds: int, score: float, beta: int, candidates: int, zeta: float,
        batch_norm: bool = True, mean: bool = True, variance: bool = False,
    ) -> None:  # fmt: skip
        for seed in params.seed_range(seeds):
            rows.append(
                {
                    "seed": seed,
                    "chi_plus": score + 0.001 * rng.normal(),
                    "chi_minus": 0.1,
                    "run": run,
                    "beta": beta,
                    "candidates": candidates,
                    "zeta": zeta,
                    "batch_norm": batch_norm,
                    "mean_gradient": mean,
                    "variance_gradient": variance,
                    "learning_rate": params.text_learning_rate if run == "text" else params.learning_rate,
                }
            )

    for (beta, candidates, mean, variance), score in table1().items():
        cell = beta, candidates, params.table_nonuniformity, True, mean, variance
        add("table", params.seeds, score.mean, *cell)
        if beta == params.text_over_parameterisation:
            add("text", params.text_seeds, score.mean, *cell)
    for beta, candidates, zeta in product(
        params.over_parameterisation, params.candidates, params.nonuniformity
    ):
        if zeta != params.table_nonuniformity:
            add("figure", params.figure_seeds, 0.9, beta, candidates, zeta)
        add("figure", params.figure_seeds, 1.04 - 0.07 * zeta, beta, candidates, zeta, False)
    return {"matching": pd.DataFrame(rows)}
