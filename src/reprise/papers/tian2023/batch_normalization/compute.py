"""Trains the two-layer network without BatchNorm and with each way of backpropagating its statistics."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import pandas as pd

from reprise.papers.tian2023.batch_normalization.params import Params
from reprise.papers.tian2023.sequences import Arm, Cell
from reprise.papers.tian2023.two_layers import train, work
from reprise.study.experiment import Context, Task
from reprise.study.tidy import tidy


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`matching`: χ+ and χ- after training for every zeta, beta, number of candidates, BatchNorm and seed."""
    return {"matching": pd.concat(context.results(tasks(params, context)), ignore_index=True)}


def tasks(params: Params, context: Context) -> list[Task]:
    """A task for each block of Table 1, of the text and of Figure 11; no block of the text for other losses.

    Figure 11 has mean-backprop BatchNorm (Definition 5); without BatchNorm, an arm's flags have no effect.
    """
    flags = product((False, True), repeat=2)
    arm = Arm(objective=context.objective or Arm.objective, zeta=params.table_nonuniformity)
    variants = [replace(arm, mean=mean, variance=variance) for mean, variance in flags]
    plain = [replace(arm, zeta=zeta) for zeta in params.nonuniformity]
    figure_arms = [arm for arm in plain if arm not in variants]
    text_params = params.model_copy(update={"learning_rate": params.text_learning_rate})
    blocks: list[Block] = []
    for beta, candidates in product(params.over_parameterisation, params.candidates):
        cell = Cell(beta, candidates)
        plain_cell = replace(cell, batch_norm=False)
        blocks.append(Block("table", params, cell, variants, range(params.seeds)))
        blocks.append(Block("figure", params, cell, figure_arms, range(params.figure_seeds)))
        blocks.append(Block("figure", params, plain_cell, plain, range(params.figure_seeds)))
        if beta == params.text_over_parameterisation and not context.objective:
            blocks.append(Block("text", text_params, cell, variants, range(params.text_seeds)))
    return [
        Task(
            f"{block.run}: {block.cell}",
            partial(_scores, block),
            work(block.cell, len(block.arms) * len(block.seeds)),
        )
        for block in blocks
        if block.arms
    ]


@dataclass(frozen=True)
class Block:
    """Networks that are trained at once.

    Attributes:
        run: `table` for Table 1, `text` for the same at the text's learning rate, `figure` for Figure 11
            only.
    """

    run: str
    params: Params
    cell: Cell
    arms: list[Arm]
    seeds: range


def _scores(block: Block, progress: Callable[[float], None]) -> pd.DataFrame:
    trained = train(block.params, block.cell, block.arms, block.seeds, progress)
    table = tidy({"arm": range(len(block.arms)), "seed": block.seeds}, **trained.scores)
    arms = [block.arms[arm] for arm in table.pop("arm")]
    return table.assign(
        run=block.run,
        beta=block.cell.beta,
        candidates=block.cell.candidates,
        zeta=[arm.zeta for arm in arms],
        batch_norm=block.cell.batch_norm,
        mean_gradient=[arm.mean for arm in arms],
        variance_gradient=[arm.variance for arm in arms],
        learning_rate=block.params.learning_rate,
    )
