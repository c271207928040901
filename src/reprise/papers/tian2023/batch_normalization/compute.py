"""Trains the two-layer network without BatchNorm and with each way of backpropagating its statistics."""

import pandas as pd

from reprise.contract.experiment import Context, Progress
from reprise.contract.tidy import tidy
from reprise.papers.tian2023.batch_normalization.experiment import Block, Params, tasks
from reprise.papers.tian2023.two_layers import train


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`matching`: χ+ and χ- (Eqs. 180 and 181) after training for every zeta, beta, number of candidates,
    BatchNorm and seed."""
    results = context.results(perform, params, tasks(params, context.objective))
    return {"matching": pd.concat(results.values(), ignore_index=True)}


def perform(params: Params, task: Block, context: Context, progress: Progress) -> pd.DataFrame:
    """The scores of a block."""
    trained = train(task.params, task.cell, task.arms, task.seeds, progress)
    scores = {name: trained.scores[name] for name in ("chi_plus", "chi_minus")}
    table = tidy({"arm": range(len(task.arms)), "seed": task.seeds}, **scores)
    arms = [task.arms[arm] for arm in table.pop("arm")]
    return table.assign(
        run=task.run,
        beta=task.cell.beta,
        candidates=task.cell.candidates,
        zeta=[arm.zeta for arm in arms],
        batch_norm=task.cell.batch_norm,
        mean_gradient=[arm.mean for arm in arms],
        variance_gradient=[arm.variance for arm in arms],
        learning_rate=task.params.learning_rate,
    )
