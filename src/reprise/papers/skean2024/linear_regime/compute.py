"""Makes the views of each seed's images, and runs gradient descent on both losses."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np
import pandas as pd
from jaxtyping import Float, UInt8
from torch import Tensor

from reprise.contract.experiment import BASE, Context, Progress
from reprise.contract.tidy import tidy
from reprise.datasets import catalogue
from reprise.datasets.catalogue import load
from reprise.numerics.streams import Streams
from reprise.papers.skean2024.linear_regime import problem
from reprise.papers.skean2024.linear_regime.experiment import SHOWN, Params, Task, tasks
from reprise.papers.skean2024.linear_views import LOSSES, descent

RUNS = {"frossl": ("frossl", "frossl"), "barlow": ("barlow", "frossl"), "barlow-own": ("barlow", "barlow")}
"""The loss of each run, and the loss whose largest stable learning rate scales its rate (that of Eq. 8 is
smaller). All runs take the same number of steps."""
READ_BY_CLAIMS = ("frossl", "barlow")
"""The runs in other settings than the published one, where Figure 2 shows no third."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables, for every kind of views, run and seed:

    `spectrum`: the leading eigenvalues of Z1ᵀZ1 at the recorded steps, largest first.
    `loss`: the loss at these steps.
    `modes`: the inputs of the loss's closed form, the fastest-growing mode first.
    `runs`: the learning rate, the predicted sharpness that sets it, and the Hessian's sharpness at the end.
    """
    results = context.results(perform, params, tasks(params, context.objective))
    rows = pd.concat(results.values(), ignore_index=True)
    run_columns = ["views", "run", "seed"]
    first, start = rows["index"] == 1, rows["step"] == 0
    return {
        "spectrum": rows[[*run_columns, "step", "time", "index", "eigenvalue"]],
        "loss": rows.loc[first, [*run_columns, "step", "time", "loss"]].reset_index(drop=True),
        "modes": rows.loc[start, [*run_columns, "index", "variance", "cross", "start"]].reset_index(
            drop=True
        ),
        "runs": rows.loc[
            start & first, [*run_columns, "learning_rate", "predicted_sharpness", "sharpness"]
        ].reset_index(drop=True),
    }


@lru_cache(maxsize=1)
def _images(data_set: str, root: str) -> UInt8[Tensor, "image channel row column"]:
    catalogue.check(data_set, root)
    images, _ = load(data_set, root)
    return images


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The results of all runs of a task, one row per run, recorded step and eigenvalue; numbers per run, or
    per run and mode, are repeated."""
    images, (views, seed) = _images(params.data_set, params.root), task
    chosen = Streams([seed], "images").uniform(len(images))[0].argsort(stable=True)[: params.samples]
    x = problem.centred(problem.VIEWS[views](images[chosen], seed))
    weights = problem.initial(x.shape[-1], params.dim, params.init_std, seed)
    descent_problem = problem.reduced(x, weights)
    predicted = {loss: descent_problem.predicted_sharpness(loss) for loss in LOSSES}
    rates = {loss: params.rate_share * 2 / value for loss, value in predicted.items()}
    spread = np.linspace(0, 1, params.records) ** 2  # the first eigenvalues rise hundreds of times faster
    steps = np.unique(np.rint(spread * params.horizon / rates["frossl"]).astype(int))
    chosen_runs = {run: RUNS[run] for run in (RUNS if context.setting == BASE else READ_BY_CLAIMS)}
    runs = [(LOSSES[loss], rates[rate_loss]) for loss, rate_loss in chosen_runs.values()]
    path = _record(steps, descent(runs, descent_problem.kernels, descent_problem.start), progress)
    tables = []
    for index, (run, (loss, rate_loss)) in enumerate(chosen_runs.items()):
        embeddings, learning_rate = path[:, index], rates[rate_loss]
        values = np.linalg.svd(embeddings[:, 0], compute_uv=False)[:, :SHOWN] ** 2
        ones = np.ones(values.shape)
        table = tidy(
            {"step": steps.tolist(), "index": range(1, SHOWN + 1)},
            time=ones * steps[:, None] * learning_rate,
            eigenvalue=values,
            loss=ones * LOSSES[loss].value(embeddings)[:, None],
            variance=ones * descent_problem.modes[loss].variance[:SHOWN],
            cross=ones * descent_problem.modes[loss].cross[:SHOWN],
            start=ones * descent_problem.modes[loss].start[:SHOWN],
        )
        tables.append(
            table.assign(
                run=run,
                learning_rate=learning_rate,
                predicted_sharpness=predicted[loss],
                sharpness=problem.measured_sharpness(LOSSES[loss], descent_problem.kernels, embeddings[-1]),
            )
        )
    return pd.concat(tables, ignore_index=True).assign(views=views, seed=seed)


def _record(
    steps: np.ndarray, path: Iterator[np.ndarray], progress: Progress
) -> Float[np.ndarray, "step run 2 combination dim"]:
    """The embeddings at the given steps, which include 0."""
    records = [next(path)]
    for previous, step in pairwise(steps):
        records.append(next(islice(path, step - previous - 1, None)))
        progress(step / steps[-1])
    return np.stack(records)
