"""What is seen of the networks: online probes and traces from the log, and linear probes of the end."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from scipy import special

from reprise.diagnostics.probes import Accuracy
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.papers.skean2024.lineup import MATCHED
from reprise.papers.skean2024.nets import Plan, Run, labelled, matched, spec
from reprise.papers.skean2024.training import Training
from reprise.study.experiment import Context, Task
from reprise.study.settings import replaced
from reprise.training.image_settings import Source
from reprise.training.image_tasks import Network, features, probe, task, work
from reprise.training.images import Data
from reprise.training.spec import Spec

RUN = list(Run._fields)
START = "start"
TOP = 14
"""Eigenvalues that Figure 3 shows."""
SCALES = ("eigenvalues", "eigenvalues_of_correlation")
"""Of the covariance of the embeddings as they are, and with columns of unit variance."""
HELD_OUT = 5
"""A learning rate is chosen by a probe that learns from all but every fifth labelled image."""


def tasks(params: Training, plan: Plan, runs: Sequence[Run], source: Source, context: Context) -> list[Task]:
    """One for each run, whose table has a row a number: the run's columns, `what`, and `value`, with the
    `step`, the `index` of an eigenvalue or the `labels` of a linear probe where there is one.

    `what` is `loss`, `diverged` (the step), an online accuracy, a trace, or one of `probes`. Networks at
    initialisation, whose method is `start`, have only the latter; all of a seed have the same encoder.
    """
    starts = {(run.images, run.seed): run._replace(method=START) for run in runs}
    return [_task(params, plan, run, source, context.root) for run in (*starts.values(), *runs)]


def _task(params: Training, plan: Plan, run: Run, source: Source, root: Path) -> Task:
    own = spec(params, run._replace(method="frossl") if run.method == START else run, plan)
    if run.method == START:
        own = replaced(own, {"steps": 0})

    def observe(network: Network) -> Iterator[dict[str, object]]:
        if own.steps:
            yield from _log(network)
        yield from probes(params, network, own, {name: labelled(params, name) for name in plan.probed})

    return task(
        "/".join(f"{value:g}" if isinstance(value, float) else str(value) for value in run),
        lambda: matched(own, source.load()) if run.method == MATCHED else own,
        source,
        observe,
        columns=run._asdict(),
        root=root,
        device=params.device,
        work=work(own),
    )


def probes(
    params: Training, network: Network, own: Spec, labelled: Mapping[str, Data]
) -> Iterator[dict[str, object]]:
    """Accuracies in % by the labels of each data set: `validation`, on held-out training images, by which a
    learning rate is chosen, and `top1` and `top5` on the test images; NaN when the probe diverges."""
    data = next(iter(labelled.values()))  # all have the same images
    train, test = (
        features(network.student, own, images, params.device) for images in (data.images, data.test_images)
    )
    order = torch.randperm(len(train), generator=generator(own.seed, "held out"))
    held, learned = order[::HELD_OUT], order[torch.arange(len(order)) % HELD_OUT > 0]
    fit = partial(probe, params.probe, seed=own.seed)
    for name, data in labelled.items():
        try:
            validation = fit(train[learned], data.labels[learned], train[held], data.labels[held])
            tested = fit(train, data.labels, test, data.test_labels)
        except RepriseError:
            validation = tested = Accuracy(math.nan, math.nan)
        shares = {"validation": validation.top1, "top1": tested.top1, "top5": tested.top5}
        yield from ({"what": what, "labels": name, "value": 100 * share} for what, share in shares.items())


def _log(network: Network) -> Iterator[dict[str, object]]:
    """What a network's steps recorded."""
    diverged = math.nan if network.diverged is None else float(network.diverged)
    yield {"what": "diverged", "value": diverged}
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
    """-Σ p ln p, p the eigenvalues divided by their sum, in nats (Section 5.2); NaN for a collapsed batch."""
    total = eigenvalues.sum()
    return float(special.entr(eigenvalues / total).sum()) if total > 0 else math.nan


def probe_table(seen: pd.DataFrame) -> pd.DataFrame:
    """A row a run and set of labels, the `data_set`: accuracies of the linear probe; `start`, top-1 of that
    of the initial representation; the step at which the run diverged, NaN if it did not."""
    of_labels = ["data_set", "seed"]
    probed = seen[seen["labels"].notna()].rename(columns={"labels": "data_set"})
    wide = probed.pivot(index=[*RUN, "data_set"], columns="what", values="value").reset_index()
    starts = wide[wide["method"] == START].set_index(of_labels)["top1"].rename("start")
    diverged = seen.loc[seen["what"] == "diverged", [*RUN, "value"]].rename(columns={"value": "diverged"})
    return wide.join(starts, on=of_labels).merge(diverged, on=RUN)


def online_table(seen: pd.DataFrame, looks: pd.DataFrame) -> pd.DataFrame:
    """The online probe's `top1` and `top5` of each run at each look; NaN after a divergence.

    Args:
        looks: a row a look, with its `step`.
    """
    runs = seen.loc[seen["what"] == "diverged", RUN].merge(looks, how="cross")
    online = seen[seen["what"].isin(["online_top1", "online_top5"])].astype({"step": int})
    wide = online.pivot(index=[*RUN, "step"], columns="what", values="value").reset_index()
    return runs.merge(wide, how="left", on=[*RUN, "step"]).rename(
        columns={"online_top1": "top1", "online_top5": "top5"}
    )
