"""Trains the two-layer network with every activation and loss, and matches its filters with the tokens."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from reprise.contract.experiment import Context, Task
from reprise.contract.tidy import tidy
from reprise.papers.tian2023.matching_scores.experiment import (
    FILTERS,
    LOSSES,
    SHOWN,
    Block,
    Params,
    blocks,
    shown_cell,
)
from reprise.papers.tian2023.sequences import Arm, Cell
from reprise.papers.tian2023.two_layers import train


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Two tables: `matching`, the scores after training (`two_layers.scores`) for every objective,
    activation, beta, number of candidates and seed; `filters`, those of the first seed at the setting of
    Figure 5."""
    *scores, filters = context.results(tasks(params, context))
    return {"matching": pd.concat(scores, ignore_index=True), "filters": filters}


def tasks(params: Params, context: Context) -> list[Task]:
    """A task for each block's scores, and last one for the filters that Figure 5 draws."""
    scores = [
        Task(block.name, partial(_scores, params, block)) for block in blocks(params, context.objective)
    ]
    filters = partial(_filters, params, shown_cell(params), context.objective or LOSSES[0])
    return [*scores, Task(FILTERS, filters)]


def _scores(params: Params, block: Block, progress: Callable[[float], None]) -> pd.DataFrame:
    trained = train(params, block.cell, block.arms, block.seeds, progress)
    table = tidy({"arm": range(len(block.arms)), "seed": block.seeds}, **trained.scores)
    row_arms = [block.arms[arm] for arm in table.pop("arm")]
    return table.assign(
        objective=[arm.objective for arm in row_arms],
        activation=[arm.activation for arm in row_arms],
        beta=block.cell.beta,
        candidates=block.cell.candidates,
    )


def _filters(params: Params, cell: Cell, objective: str, progress: Callable[[float], None]) -> pd.DataFrame:
    """Figure 5's weights, one row per field, unit and token."""
    arms = [Arm(activation, objective, variance=params.variance_gradient) for activation in SHOWN]
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
