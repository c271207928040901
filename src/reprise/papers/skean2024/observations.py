"""Observations of the networks: online probes and traces from the log, and final linear probes."""

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

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
from reprise.errors import RepriseError
from reprise.evidence.learning import PIXELS
from reprise.numerics.streams import generator
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024.lineup import MATCHED, TOP
from reprise.papers.skean2024.nets import (
    START,
    Budget,
    Pilot,
    Pixels,
    Run,
    Supervised,
    Task,
    at_rate,
    own_plan,
    own_source,
    pilot_plan,
    pilots,
    spec,
)
from reprise.papers.skean2024.training import OneDataSet, Training
from reprise.training import methods
from reprise.training.baselines import pixel_baselines
from reprise.training.batches import batch_indices
from reprise.training.image_settings import Source
from reprise.training.image_tasks import Network, features, probe, table
from reprise.training.images import Data, assemble
from reprise.training.pilots import chosen, held_out
from reprise.training.spec import Spec
from reprise.training.supervised import supervised_accuracy

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

S = TypeVar("S", bound=Training)

RUN = [*Run._fields, "own_rate"]
SCALES = ("eigenvalues", "eigenvalues_of_correlation")
"""Eigenvalues of the embeddings' covariance, and of that of columns scaled to unit variance."""


def perform(
    params: Training,
    plan: Budget,
    task: Task,
    source: Source,
    root: Path,
    progress: Progress,
    own: Callable[[Run], float],
) -> pd.DataFrame:
    """The table of one of `nets.tasks`, one row per number: the run's columns, whether its learning rate is
    its method's own (`own_rate`), `what` and `value`, and where applicable the `step`, the `index` of an
    eigenvalue or the `labels` of a linear probe.

    `what` is `loss`, `diverged` (the step), an online accuracy, a trace, or a result of `probes`. Networks at
    initialisation, whose method is `start`, have only the latter. Of pilots, each a task too, there is
    `held_out` alone, of the pixels of each data set what they tell (`PIXELS`), and of its supervised
    network, if the plan has one, `supervised`, the accuracy.

    Args:
        own: gives the learning rate of a run's method.
    """
    match task:
        case Pixels():
            shares = pixel_baselines(
                labelled(params, task.labels), params.probe, seed=0, device=params.device
            )
            return _reference(task.labels, dict(zip(PIXELS, shares, strict=True)))
        case Supervised():
            run_spec = spec(params, at_rate(task.run, params.learning_rates[0]), plan)
            images = labelled(params, task.labels)
            share = supervised_accuracy(run_spec, images, root, device=params.device, progress=progress)
            return _reference(task.labels, {"supervised": share})
        case Pilot():
            return _pilot(params, pilot_plan(params, plan), task.run, source, root, progress)
        case Run():
            return _run(params, plan, task, source, root, progress, own)


def perform_own(params: OneDataSet, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task on the settings' data set, as `perform` returns it."""
    plan, source = own_plan(params), own_source(params)

    def own(run: Run) -> float:
        return own_rate(perform_own, params, run, context)

    return perform(params, plan, task, source, context.root, progress, own)


def _run(
    params: Training,
    plan: Budget,
    run: Run,
    source: Source,
    root: Path,
    progress: Progress,
    own: Callable[[Run], float],
) -> pd.DataFrame:
    def observe(network: Network, run_spec: Spec) -> Iterator[dict[str, object]]:
        if run_spec.steps:
            yield from _log(network)
        if plan.probed:
            data_sets = {name: labelled(params, name).load() for name in plan.probed}
            yield from probes(params, network, run_spec, data_sets)

    settled = at_rate(run, own(run))
    return _network(params, plan, settled, source, root, progress, observe, own=run != settled)


def _pilot(
    params: Training, plan: Budget, pilot: Run, source: Source, root: Path, progress: Progress
) -> pd.DataFrame:
    def observe(network: Network, run_spec: Spec) -> Iterator[dict[str, object]]:
        share = held_out_accuracy(params, network, run_spec, labelled(params, *plan.probed).load())
        yield {"what": "held_out", "value": 100 * share}

    return _network(params, plan, pilot, source, root, progress, observe, own=False)


def _reference(name: str, shares: Mapping[str, float]) -> pd.DataFrame:
    """The rows of what probes are compared with on a data set."""
    rows = [{"what": what, "labels": name, "value": 100 * share} for what, share in shares.items()]
    return pd.DataFrame(rows).assign(own_rate=False)


def own_rate(
    perform: Callable[[S, Task, Context, Progress], pd.DataFrame], params: S, run: Run, context: Context
) -> float:
    """The learning rate that the pilots of a run choose; the grid's only one without pilots.

    Args:
        perform: performs the tasks of the run's pilots.
    """
    accuracies = {}
    # Two processes that need the same pilots share them, instead of one waiting for the other.
    for pilot in pilots(params, run)[:: 1 if run.seed % 2 else -1]:
        table = context.result(perform, params, Pilot(pilot))
        accuracies[float(pilot.learning_rate)] = table["value"].item()
    return chosen(accuracies) if accuracies else params.learning_rates[0]


def _network(
    params: Training,
    plan: Budget,
    run: Run,
    source: Source,
    root: Path,
    progress: Progress,
    observe: Callable[[Network, Spec], Iterator[dict[str, object]]],
    own: bool,
) -> pd.DataFrame:
    """The table of a network; `own` says whether its learning rate is its method's own."""
    run_spec = _with_code(spec(params, run, plan))
    return table(
        matched(run_spec, source.load()) if run.method == MATCHED else run_spec,
        source,
        lambda network: observe(network, run_spec),
        columns={**run._asdict(), "own_rate": own},
        root=root,
        device=params.device,
        progress=progress,
    )


def _with_code(run_spec: Spec) -> Spec:
    """The spec; its objective's name comes from the objective, so that the tables' hash covers that code. A
    loss that is not the paper's keeps its name."""
    objective = OBJECTIVES.get(run_spec.objective)
    return replaced(run_spec, {"objective": methods.name_of(objective)}) if objective else run_spec


def labelled(params: Training, name: str) -> Source:
    """The images and labels of a data set on which linear probes are trained."""
    return Source(name=name, root=params.root, first=params.images, first_test=params.images)


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
    """Accuracies in % on the test images, `top1` and `top5`, for the labels of each data set; NaN if the
    probe diverges."""
    data = next(iter(labelled.values()))  # all have the same images
    train, test = (
        features(network.student, run_spec, images, params.device)
        for images in (data.images, data.test_images)
    )
    for name, data in labelled.items():
        try:
            shares = probe(params.probe, train, data.labels, test, data.test_labels, run_spec.seed)
        except RepriseError:
            shares = Accuracy(math.nan, math.nan)
        for what, share in shares._asdict().items():
            yield {"what": what, "labels": name, "value": 100 * share}


def held_out_accuracy(params: Training, network: Network, run_spec: Spec, data: Data) -> float:
    """Top-1 accuracy, as a share, of a linear probe on a held-out fifth of the training images; NaN if the
    network or the probe diverged."""
    if network.diverged is not None:
        return math.nan
    train = features(network.student, run_spec, data.images, params.device)
    tested, learned = held_out(len(train), generator(run_spec.seed, "held out"))
    try:
        return probe(
            params.probe, train, data.labels, train, data.labels, run_spec.seed,
            rows=learned, test_rows=tested,
        ).top1  # fmt: skip
    except RepriseError:
        return math.nan


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


def pilot_table(numbers: pd.DataFrame) -> pd.DataFrame:
    """One row per method and rate of the grid: the pilot's `held_out` accuracy in %, NaN if it diverged or a
    grid of one rate needed none, and whether the rate is the `chosen` one."""
    cell = ["images", "method", "learning_rate"]
    accuracies = numbers.loc[numbers["what"] == "held_out", [*cell, "value"]]
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
