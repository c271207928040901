"""Trains the two-layer network with every activation and loss, and compares its filters with the tokens."""

from collections.abc import Callable
from functools import partial
from itertools import product

import pandas as pd

from reprise.experiment import Context, Part
from reprise.papers.tian2023.matching_scores.params import Params
from reprise.papers.tian2023.sequences import Arm, Cell
from reprise.papers.tian2023.two_layers import train, work
from reprise.tidy import tidy

SHOWN = ("relu", "linear")
"""The activations whose filters Figure 5 draws."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`matching`: χ+ and χ- after training, of every objective, activation, beta, number of candidates and
    seed. `filters`: the first seed's, at the setting of Figure 5."""
    arms = [
        Arm(activation, objective, variance=params.variance_gradient)
        for objective, activation in product(params.objectives, params.activations)
    ]
    blocks = [
        (
            Cell(beta, candidates, params.batch_norm),
            range(params.seeds_single if candidates == 1 else params.seeds),
        )
        for beta, candidates in product(params.over_parameterisation, params.candidates)
    ]

    def scores(cell: Cell, seeds: range, progress: Callable[[float], None]) -> pd.DataFrame:
        trained = train(params, cell, arms, seeds, progress)
        table = tidy({"arm": range(len(arms)), "seed": seeds}, **trained.scores)
        of_row = [arms[arm] for arm in table.pop("arm")]
        return table.assign(
            objective=[arm.objective for arm in of_row],
            activation=[arm.activation for arm in of_row],
            beta=cell.beta,
            candidates=cell.candidates,
        )

    parts = [
        Part(str(cell), partial(scores, cell, seeds), work(cell, len(arms) * len(seeds)))
        for cell, seeds in blocks
    ]
    shown = Cell(params.shown_over_parameterisation, params.shown_candidates, params.batch_norm)
    filters = Part("filters", partial(_filters, params, shown), work(shown, len(SHOWN)))
    *kept, drawn = context.keep([*parts, filters])
    return {"matching": pd.concat(kept, ignore_index=True), "filters": drawn}


def _filters(params: Params, cell: Cell, progress: Callable[[float], None]) -> pd.DataFrame:
    """Figure 5's weights: a row a field, unit and token."""
    arms = [Arm(activation, variance=params.variance_gradient) for activation in SHOWN]
    trained = train(params, cell, arms, range(1), progress)
    filters = trained.filters[:, 0]
    axes = {
        "activation": SHOWN,
        "field": range(filters.shape[1]),
        "token": range(filters.shape[2]),
        "unit": range(filters.shape[3]),
    }
    relevant = trained.pool.relevant[0][None, :, :, None].expand(filters.shape)
    return tidy(axes, weight=filters, relevant=relevant)
