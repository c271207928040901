"""Trains the two-layer network without BatchNorm and with each way of backpropagating its statistics."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from reprise.contract.experiment import Context, Task
from reprise.contract.tidy import tidy
from reprise.papers.tian2023.batch_normalization.experiment import Block, Params, blocks
from reprise.papers.tian2023.two_layers import train


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`matching`: χ+ and χ- (Eqs. 180 and 181) after training for every zeta, beta, number of candidates,
    BatchNorm and seed."""
    return {"matching": pd.concat(context.results(tasks(params, context)), ignore_index=True)}


def tasks(params: Params, context: Context) -> list[Task]:
    """A task for each block."""
    return [Task(block.name, partial(_scores, block)) for block in blocks(params, context.objective)]


def _scores(block: Block, progress: Callable[[float], None]) -> pd.DataFrame:
    trained = train(block.params, block.cell, block.arms, block.seeds, progress)
    scores = {name: trained.scores[name] for name in ("chi_plus", "chi_minus")}
    table = tidy({"arm": range(len(block.arms)), "seed": block.seeds}, **scores)
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
