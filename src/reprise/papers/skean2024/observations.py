"""Observations of the networks: online probes and traces from the log, and final linear probes."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from scipy import special

from reprise import objectives
from reprise.contract.experiment import Context, Progress
from reprise.contract.settings import replaced
from reprise.datasets.augment import Views
from reprise.diagnostics.probes import Accuracy
from reprise.evidence.learning import PIXELS
from reprise.numerics.streams import generator
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024.lineup import MATCHED, TOP
from reprise.papers.skean2024.nets import START
from reprise.papers.skean2024.training import Training
from reprise.training import grid_tasks
from reprise.training.batches import batch_indices
from reprise.training.grid import Net, Task
from reprise.training.image_tasks import Network
from reprise.training.images import Data, assemble
from reprise.training.spec import Spec

RUN = ["images", "method", "learning_rate", "batch", "dim", "seed", "own_rate"]
SCALES = ("eigenvalues", "eigenvalues_of_correlation")
"""Eigenvalues of the embeddings' covariance, and of that of columns scaled to unit variance."""


def numbers(results: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The numbers of all tasks, one a row: `grid_tasks.perform` says which there are, and of each network
    `loss`, `diverged` (the step), online accuracies and traces, with the `step` and the `index` of an
    eigenvalue."""
    rows = pd.concat(results, ignore_index=True)
    return rows.assign(own_rate=rows["own_rate"].eq(True))


def perform(params: Training, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""

    def ask(other: Task) -> pd.DataFrame:
        return context.result(perform, params, other)

    if isinstance(task, Net) and dict(task.columns)["method"] == MATCHED:
        task = replace(task, spec=matched(task.spec, task.source.load()))
    return grid_tasks.perform(params, task, context, progress, _log, ask)


def matched(spec: Spec, data: Data) -> Spec:
    """The spec of the method `MATCHED` with its variance weight."""
    return replaced(spec, {"objective.variance_weight": matched_weight(spec, data)})


@torch.no_grad()
def matched_weight(spec: Spec, data: Data) -> float:
    """1 / |ZᵀZ|²_F of the first batch's embeddings at initialisation, averaged over both views. With this
    weight, the term without logarithm has the gradient of FroSSL's term: w ∇E = ∇ log E."""
    views = Views(spec.augmentation, spec.normalisation)
    index = batch_indices(spec.seed, 0, spec.batch, len(data.labels))
    numbers = views.draw(len(index), generator(spec.seed, "views/0"))
    student = assemble(spec, data.channels).student
    energies = [
        objectives.gram_energy(unit_columns(student(view)[1]))
        for view in views.of(data.images, index, numbers)
    ]
    return float(1 / torch.stack(energies).mean())


def _log(network: Network, net: Net) -> Iterator[dict[str, object]]:
    """The numbers in a network's log; none of a network before training."""
    if not net.spec.steps:
        return
    diverged = math.nan if network.diverged is None else float(network.diverged)
    yield {"what": "diverged", "value": diverged, "step": math.nan, "index": math.nan}
    for record in network.log:
        step = record["step"]
        if "eigenvalues" in record:
            yield {"what": "loss", "step": step, "value": record["loss"]}
            yield {"what": "view_correlation", "step": step, "value": record["view_correlation"]}
            for scale in SCALES:
                values = np.array(record[scale])
                yield {"what": f"entropy of {scale}", "step": step, "value": entropy(values)}
                for index, value in enumerate(values[:TOP], 1):
                    yield {"what": scale, "step": step, "index": index, "value": value}
        if "probe_top1" in record:
            for k in (1, 5):
                yield {"what": f"online_top{k}", "step": step + 1, "value": 100 * record[f"probe_top{k}"]}


def entropy(eigenvalues: Float[np.ndarray, " dim"]) -> float:
    """-Σ p ln p in nats, with p the eigenvalues divided by their sum (Section 5.2); NaN for a collapsed
    batch."""
    total = eigenvalues.sum()
    return float(special.entr(eigenvalues / total).sum()) if total > 0 else math.nan


def pilot_table(numbers: pd.DataFrame) -> pd.DataFrame:
    """One row per method and rate of the grid: its pilots' mean `held_out` accuracy in %, NaN if one diverged
    or a grid of one rate needed none, and whether the rate is the `chosen` one."""
    cell = ["images", "method", "learning_rate"]
    pilots = numbers.loc[numbers["what"] == "held_out"].groupby(cell)["value"]
    accuracies = pilots.agg(lambda values: values.mean(skipna=False)).reset_index()
    own = numbers.loc[numbers["own_rate"], cell].drop_duplicates().assign(chosen=True)
    table = accuracies.rename(columns={"value": "held_out"}).merge(own, how="outer", on=cell)
    return table.assign(chosen=table["chosen"].notna())


def probe_table(numbers: pd.DataFrame) -> pd.DataFrame:
    """One row per run and set of labels (`data_set`): the linear probe's accuracies; `start`, the top-1
    accuracy of a probe of the initial representation; what raw pixels tell (`PIXELS`); `supervised`,
    a supervised network's accuracy, if there is one; and `diverged`, the step at which the run diverged, or
    NaN."""
    label_columns = ["data_set", "seed"]
    labelled = numbers[numbers["labels"].notna()].rename(columns={"labels": "data_set"})
    probed = labelled[labelled["what"].isin(Accuracy._fields)]
    wide = probed.pivot(index=[*RUN, "data_set"], columns="what", values="value").reset_index()
    others = labelled[labelled["what"].isin([*PIXELS, "supervised"])]
    references = others.pivot(index="data_set", columns="what", values="value")
    starts = wide[wide["method"] == START].set_index(label_columns)["top1"].rename("start")
    diverged = numbers.loc[numbers["what"] == "diverged", [*RUN, "value"]].rename(
        columns={"value": "diverged"}
    )
    return wide.join(starts, on=label_columns).join(references, on="data_set").merge(diverged, on=RUN)


def online_table(numbers: pd.DataFrame, looks: pd.DataFrame) -> pd.DataFrame:
    """The online probe's `top1` and `top5` of each run at each look; NaN after a divergence.

    Args:
        looks: one row per look, with its `step`.
    """
    runs = numbers.loc[numbers["what"] == "diverged", RUN].merge(looks, how="cross")
    online = numbers[numbers["what"].isin(["online_top1", "online_top5"])].astype({"step": int})
    wide = online.pivot(index=[*RUN, "step"], columns="what", values="value")
    wide = wide.reindex(columns=["online_top1", "online_top5"]).reset_index()
    return runs.merge(wide, how="left", on=[*RUN, "step"]).rename(
        columns={"online_top1": "top1", "online_top5": "top5"}
    )
