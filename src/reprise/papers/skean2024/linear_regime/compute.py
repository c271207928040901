"""Makes the views of each seed's images, and descends both losses on them."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, pairwise, product

import numpy as np
import pandas as pd
from jaxtyping import Float, UInt8
from torch import Tensor

from reprise.datasets.catalogue import load
from reprise.numerics.streams import Streams
from reprise.papers.skean2024.linear_regime import problem
from reprise.papers.skean2024.linear_regime.params import SHOWN, Params, check
from reprise.papers.skean2024.linear_views import LOSSES, descent
from reprise.study.experiment import Context, Task
from reprise.study.tidy import tidy

RUNS = {"frossl": ("frossl", "frossl"), "barlow": ("barlow", "frossl"), "barlow-own": ("barlow", "barlow")}
"""The loss of each run, and whose largest stable learning rate it has a share of: Eq. 8's is the smaller. All
take as many steps."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Of every kind of views, run and seed:

    `spectrum`: the leading eigenvalues of Z1ᵀZ1 at the recorded steps, the largest first.
    `loss`: at these steps.
    `modes`: what the closed form of the loss needs, the mode that grows fastest first.
    `runs`: the learning rate, the sharpness that it was chosen by, and the Hessian's at the end.
    """
    rows = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    of_a_run = ["views", "run", "seed"]
    first, start = rows["index"] == 1, rows["step"] == 0
    return {
        "spectrum": rows[[*of_a_run, "step", "time", "index", "eigenvalue"]],
        "loss": rows.loc[first, [*of_a_run, "step", "time", "loss"]].reset_index(drop=True),
        "modes": rows.loc[start, [*of_a_run, "index", "variance", "cross", "start"]].reset_index(drop=True),
        "runs": rows.loc[
            start & first, [*of_a_run, "learning_rate", "predicted_sharpness", "sharpness"]
        ].reset_index(drop=True),
    }


def tasks(params: Params, context: Context) -> list[Task]:
    """One for each kind of views and seed."""
    check(params)
    images, _ = load(params.data_set, params.root)
    return [
        Task(f"{views}, seed {seed}", partial(_trained, images, params, views, seed))
        for seed, views in product(range(params.seeds), params.views)
    ]


def _trained(
    images: UInt8[Tensor, "image channel row column"],
    params: Params,
    views: str,
    seed: int,
    progress: Callable[[float], None],
) -> pd.DataFrame:
    """All that the runs of one kind of views and one seed give: a row a run, recorded step and eigenvalue, in
    which what is one number a run, or one a run and mode, is repeated."""
    which = Streams([seed], "images").uniform(len(images))[0].argsort(stable=True)[: params.samples]
    x = problem.centred(problem.VIEWS[views](images[which], seed))
    weights = problem.initial(x.shape[-1], params.dim, params.init_std, seed)
    at = problem.reduced(x, weights)
    predicted = {loss: at.predicted_sharpness(loss) for loss in LOSSES}
    rates = {loss: params.rate_share * 2 / value for loss, value in predicted.items()}
    spread = np.linspace(0, 1, params.records) ** 2  # the first eigenvalues rise hundreds of times as fast
    steps = np.unique(np.rint(spread * params.horizon / rates["frossl"]).astype(int))
    runs = [(LOSSES[loss], rates[own]) for loss, own in RUNS.values()]
    path = _at(steps, descent(runs, at.kernels, at.start), progress)
    tables = []
    for index, (run, (loss, own)) in enumerate(RUNS.items()):
        kept, learning_rate = path[:, index], rates[own]
        values = np.linalg.svd(kept[:, 0], compute_uv=False)[:, :SHOWN] ** 2
        each = np.ones(values.shape)
        table = tidy(
            {"step": steps.tolist(), "index": range(1, SHOWN + 1)},
            time=each * steps[:, None] * learning_rate,
            eigenvalue=values,
            loss=each * LOSSES[loss].value(kept)[:, None],
            variance=each * at.modes[loss].variance[:SHOWN],
            cross=each * at.modes[loss].cross[:SHOWN],
            start=each * at.modes[loss].start[:SHOWN],
        )
        tables.append(
            table.assign(
                run=run,
                learning_rate=learning_rate,
                predicted_sharpness=predicted[loss],
                sharpness=problem.measured_sharpness(LOSSES[loss], at.kernels, kept[-1]),
            )
        )
    return pd.concat(tables, ignore_index=True).assign(views=views, seed=seed)


def _at(
    steps: np.ndarray, path: Iterator[np.ndarray], progress: Callable[[float], None]
) -> Float[np.ndarray, "step run 2 combination dim"]:
    """The embeddings at the given steps, 0 among them."""
    kept = [next(path)]
    for before, after in pairwise(steps):
        kept.append(next(islice(path, after - before - 1, None)))
        progress(after / steps[-1])
    return np.stack(kept)
