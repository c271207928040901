"""Trains the two-layer network with every activation and loss, and matches its filters with the tokens."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import pandas as pd

from reprise.papers.tian2023.matching_scores.params import LOSSES, Params
from reprise.papers.tian2023.sequences import Arm, Cell
from reprise.papers.tian2023.two_layers import train, work
from reprise.study.experiment import Context, Task
from reprise.study.tidy import tidy

SHOWN = ("relu", "linear")
"""The activations whose filters Figure 5 draws."""
READ_AT_BETA_ONE = ("relu", "linear")
"""The activations that claims read at beta = 1."""
NOT_READ_AT_ONE_CANDIDATE = "quadratic_cosine"
"""The published loss that no claim reads at one candidate."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Two tables: `matching`, χ+ and χ- after training for every objective, activation, beta, number of
    candidates and seed; `filters`, those of the first seed at the setting of Figure 5."""
    *scores, filters = context.results(tasks(params, context))
    return {"matching": pd.concat(scores, ignore_index=True), "filters": filters}


def tasks(params: Params, context: Context) -> list[Task]:
    """A task for each block's scores, and last one for the filters that Figure 5 draws."""
    losses = (context.objective,) if context.objective else LOSSES
    blocks = _blocks(params, losses)
    scores = [Task(block.name, partial(_scores, params, block), block.work) for block in blocks]
    cell = Cell(params.shown_over_parameterisation, params.shown_candidates, params.batch_norm)
    filters = partial(_filters, params, cell, losses[0])
    return [*scores, Task("filters", filters, work(cell, len(SHOWN)))]


class Block(NamedTuple):
    """Networks that are trained at once."""

    name: str
    cell: Cell
    arms: list[Arm]
    seeds: range

    @property
    def work(self) -> int:
        return work(self.cell, len(self.arms) * len(self.seeds))


def _blocks(params: Params, losses: Sequence[str]) -> Iterator[Block]:
    arms = [
        Arm(activation, objective, variance=params.variance_gradient)
        for objective, activation in product(losses, params.activations)
    ]
    for beta, candidates in product(params.over_parameterisation, params.candidates):
        cell = Cell(beta, candidates, params.batch_norm)
        by_seeds: dict[int, list[Arm]] = {}
        for arm in arms:
            by_seeds.setdefault(_seeds(params, cell, arm), []).append(arm)
        for seeds, group in by_seeds.items():
            if seeds:
                yield Block(f"{cell}, {seeds} seeds", cell, group, range(seeds))


def _seeds(params: Params, cell: Cell, arm: Arm) -> int:
    """The number of seeds, which is larger for networks that claims read.

    Claims read Figure 5's beta, and some activations at beta = 1; at one candidate, InfoNCE only. Another
    loss has as many seeds as InfoNCE.
    """
    single = cell.candidates == 1
    is_read = cell.beta == params.shown_over_parameterisation or (
        cell.beta == 1 and arm.activation in READ_AT_BETA_ONE
    )
    if not is_read or (single and arm.objective == NOT_READ_AT_ONE_CANDIDATE):
        return params.seeds_unread
    return params.seeds_single if single else params.seeds


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
