"""Trains the two-layer network with every activation and loss, and matches its filters with the tokens."""

import pandas as pd

from reprise.contract.experiment import Context, Progress
from reprise.contract.tidy import tidy
from reprise.papers.tian2023.matching_scores.experiment import (
    LOSSES,
    SHOWN,
    Block,
    Filters,
    Params,
    Task,
    blocks,
    shown_cell,
)
from reprise.papers.tian2023.sequences import Arm, Cell
from reprise.papers.tian2023.two_layers import train


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Two tables: `matching`, the scores after training (`two_layers.scores`) for every objective,
    activation, beta, number of candidates and seed; `filters`, those of the first seed at the setting of
    Figure 5."""
    scores = context.results(perform, params, blocks(params, context.objective))
    filters = context.result(perform, params, Filters())
    return {"matching": pd.concat(scores.values(), ignore_index=True), "filters": filters}


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""
    if isinstance(task, Filters):
        return _filters(params, shown_cell(params), context.objective or LOSSES[0], progress)
    return _scores(params, task, progress)


def _scores(params: Params, block: Block, progress: Progress) -> pd.DataFrame:
    trained = train(params, block.cell, block.arms, block.seeds, progress)
    table = tidy({"arm": range(len(block.arms)), "seed": block.seeds}, **trained.scores)
    row_arms = [block.arms[arm] for arm in table.pop("arm")]
    return table.assign(
        objective=[arm.objective for arm in row_arms],
        activation=[arm.activation for arm in row_arms],
        beta=block.cell.beta,
        candidates=block.cell.candidates,
    )


def _filters(params: Params, cell: Cell, objective: str, progress: Progress) -> pd.DataFrame:
    """Figure 5's weights, one row per field, unit and token."""
    arms = [Arm(activation, objective, variance=params.variance_gradient) for activation in SHOWN]
    trained = train(params, cell, arms, params.seed_range(1), progress)
    filters = trained.filters[:, 0]
    axes = {
        "activation": SHOWN,
        "field": range(filters.shape[1]),
        "token": range(filters.shape[2]),
        "unit": range(filters.shape[3]),
    }
    relevant = trained.pool.relevant[0][None, :, :, None].expand(filters.shape)
    return tidy(axes, weight=filters, relevant=relevant)
