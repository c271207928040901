"""Observations of the networks: online probes and traces from the log, and final linear probes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from scipy import special

from reprise import objectives
from reprise.datasets.augment import Views
from reprise.diagnostics.probes import Accuracy
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024.lineup import MATCHED
from reprise.papers.skean2024.nets import START, Plan, Run, spec, task_name, with_starts
from reprise.papers.skean2024.training import Training
from reprise.study.experiment import Context, Task
from reprise.study.settings import replaced
from reprise.training import methods
from reprise.training.batches import batch_indices
from reprise.training.image_settings import Source
from reprise.training.image_tasks import Network, features, probe, task
from reprise.training.images import Data, assemble
from reprise.training.spec import Spec

OBJECTIVES: dict[str, type[methods.Method] | methods.Loss] = {
    "nt_xent": objectives.nt_xent,
    "vicreg": objectives.vicreg,
    "barlow_twins": objectives.barlow_twins,
    "w_mse": objectives.w_mse,
    "frossl": objectives.frossl,
    "frossl_no_logs": objectives.frossl_no_logs,
    "frossl_no_logs_unit_trace": objectives.frossl_no_logs_unit_trace,
    "swav": methods.SwAV,
    "moco": methods.MoCo,
    "simsiam": methods.SimSiam,
    "byol": methods.BYOL,
    "dino": methods.DINO,
    "corinfomax": methods.CorInfoMax,
}
"""The objectives named in `lineup`, so that an edit of one of them reruns the experiments."""

RUN = list(Run._fields)
TOP = 14
"""Number of eigenvalues in Figure 3."""
SCALES = ("eigenvalues", "eigenvalues_of_correlation")
"""Eigenvalues of the embeddings' covariance, and of that of columns scaled to unit variance."""
HELD_OUT = 5
"""To choose a learning rate, a probe learns from all labelled images but every fifth."""


def tasks(params: Training, plan: Plan, runs: Sequence[Run], source: Source, context: Context) -> list[Task]:
    """One task per run, whose table has one row per number: the run's columns, `what` and `value`, and where
    applicable the `step`, the `index` of an eigenvalue or the `labels` of a linear probe.

    `what` is `loss`, `diverged` (the step), an online accuracy, a trace, or a result of `probes`. Networks at
    initialisation, whose method is `start`, have only the latter; all networks of a seed start from the same
    encoder.
    """
    return [_task(params, plan, run, source, context.root) for run in with_starts(runs)]


def _task(params: Training, plan: Plan, run: Run, source: Source, root: Path) -> Task:
    run_spec = _with_code(spec(params, run, plan))

    def observe(network: Network) -> Iterator[dict[str, object]]:
        if run_spec.steps:
            yield from _log(network)
        yield from probes(params, network, run_spec, {name: labelled(params, name) for name in plan.probed})

    return task(
        task_name(run),
        lambda: matched(run_spec, source.load()) if run.method == MATCHED else run_spec,
        source,
        observe,
        columns=run._asdict(),
        root=root,
        device=params.device,
    )


def _with_code(run_spec: Spec) -> Spec:
    """The spec; its objective's name comes from the objective, so that the tables' hash covers that code. A
    loss that is not the paper's keeps its name."""
    objective = OBJECTIVES.get(run_spec.objective)
    return replaced(run_spec, {"objective": methods.name_of(objective)}) if objective else run_spec


def labelled(params: Training, name: str) -> Data:
    """The images and labels of a data set on which linear probes are trained."""
    return Source(name=name, root=params.root, first=params.images, first_test=params.images).load()


def matched(spec: Spec, data: Data) -> Spec:
    """The spec of the method `MATCHED` with its variance weight."""
    return replaced(
        spec, {"hyperparameters": {**spec.hyperparameters, "variance_weight": matched_weight(spec, data)}}
    )


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


def probes(
    params: Training, network: Network, run_spec: Spec, labelled: Mapping[str, Data]
) -> Iterator[dict[str, object]]:
    """Accuracies in % for the labels of each data set: `validation` on held-out training images, to choose a
    learning rate, and `top1` and `top5` on the test images; NaN if the probe diverges."""
    data = next(iter(labelled.values()))  # all have the same images
    train, test = (
        features(network.student, run_spec, images, params.device)
        for images in (data.images, data.test_images)
    )
    order = torch.randperm(len(train), generator=generator(run_spec.seed, "held out"))
    held_out, learned = order[::HELD_OUT], order[torch.arange(len(order)) % HELD_OUT > 0]
    fit = partial(probe, params.probe, seed=run_spec.seed)
    for name, data in labelled.items():
        try:
            validation = fit(train, data.labels, train, data.labels, rows=learned, test_rows=held_out)
            final = fit(train, data.labels, test, data.test_labels)
        except RepriseError:
            validation = final = Accuracy(math.nan, math.nan)
        shares = {"validation": validation.top1, "top1": final.top1, "top5": final.top5}
        yield from ({"what": what, "labels": name, "value": 100 * share} for what, share in shares.items())


def _log(network: Network) -> Iterator[dict[str, object]]:
    """The numbers in a network's log."""
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


def probe_table(numbers: pd.DataFrame) -> pd.DataFrame:
    """One row per run and set of labels (`data_set`): the linear probe's accuracies; `start`, the top-1
    accuracy of a probe of the initial representation; and `diverged`, the step at which the run diverged, or
    NaN."""
    label_columns = ["data_set", "seed"]
    probed = numbers[numbers["labels"].notna()].rename(columns={"labels": "data_set"})
    wide = probed.pivot(index=[*RUN, "data_set"], columns="what", values="value").reset_index()
    starts = wide[wide["method"] == START].set_index(label_columns)["top1"].rename("start")
    diverged = numbers.loc[numbers["what"] == "diverged", [*RUN, "value"]].rename(
        columns={"value": "diverged"}
    )
    return wide.join(starts, on=label_columns).merge(diverged, on=RUN)


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
