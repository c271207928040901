"""What is seen of the networks: online probes and traces from the log, and linear probes of the end."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from scipy import special
from torch import nn

from reprise.datasets.augment import NORMALISATIONS
from reprise.diagnostics.probes import SGD, Accuracy, linear_probe, representations
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.papers.skean2024.nets import Plan, Run, Sets, network, spec
from reprise.papers.skean2024.training import Training
from reprise.study.experiment import Context, Task
from reprise.training.images import Data, assemble
from reprise.training.models import Model
from reprise.training.schedules import Milestones

RUN = list(Run._fields)
START = "start"
TOP = 14
"""Eigenvalues that Figure 3 shows."""
SCALES = ("eigenvalues", "eigenvalues_of_correlation")
"""Of the covariance of the embeddings as they are, and with columns of unit variance."""
OPTIMISERS = {"sgd": SGD, "adam": torch.optim.Adam}
"""Of linear probes."""
HELD_OUT = 5
"""A learning rate is chosen by a probe that learns from all but every fifth labelled image."""


def probes(
    params: Training, encoder: nn.Module, labelled: Mapping[str, Data], seed: int
) -> Iterator[dict[str, object]]:
    """Accuracies in % by the labels of each data set: `validation`, of held-out training images, by which a
    learning rate is chosen, and `top1` and `top5` of the test images; NaN when the probe diverges."""
    name, data = next(iter(labelled.items()))  # all have the same images
    features = partial(representations, encoder.to(params.device), NORMALISATIONS[name], device=params.device)
    train, test = features(data.images), features(data.test_images)
    order = torch.randperm(len(train), generator=generator(seed, "held out"))
    held, learned = order[::HELD_OUT], order[torch.arange(len(order)) % HELD_OUT > 0]
    fit = partial(
        linear_probe,
        schedule=Milestones(at=params.probe_drops),
        optimiser=OPTIMISERS[params.probe_optimiser],
        learning_rate=params.probe_learning_rate,
        epochs=params.probe_epochs,
        seed=seed,
    )
    for labels, of in labelled.items():
        try:
            chosen = fit(train[learned], of.labels[learned], train[held], of.labels[held])
            tested = fit(train, of.labels, test, of.test_labels)
        except RepriseError:
            chosen = tested = Accuracy(math.nan, math.nan)
        found = {"validation": chosen.top1, "top1": tested.top1, "top5": tested.top5}
        yield from ({"what": what, "labels": labels, "value": 100 * share} for what, share in found.items())


def tasks(params: Training, plan: Plan, runs: Sequence[Run], loaded: Sets, context: Context) -> list[Task]:
    """One for each run, which sees a row a number: the run's columns, `what`, and `value`, with the `step`,
    the `index` of an eigenvalue or the `labels` of a linear probe where there is one.

    `what` is `loss`, `diverged` (the step), an online accuracy, a trace, or of `probes`. Of the networks at
    initialisation, whose method is `start`, there are only the latter; all of a seed have the same encoder.
    """
    starts = {(run.images, run.seed): run._replace(method=START) for run in runs}
    return [
        Task(
            "/".join(f"{value:g}" if isinstance(value, float) else str(value) for value in run),
            partial(_observe, params, plan, run, loaded, context.root),
            work=1 if run.method == START else plan.steps,
        )
        for run in (*starts.values(), *runs)
    ]


def _observe(
    params: Training, plan: Plan, run: Run, loaded: Sets, root: Path, told: Callable[[float], None]
) -> pd.DataFrame:
    if run.method == START:
        of = spec(params, run._replace(method="frossl"), plan)
        encoder, rows = assemble(of, loaded.training.channels).student.encoder, []
    else:
        model = network(params, spec(params, run, plan), run, loaded.training, root, told)
        encoder, rows = model.method.student.encoder, list(_read(model))
    rows += probes(params, encoder, loaded.labelled, run.seed)
    table = pd.DataFrame(rows, columns=["what", "step", "index", "labels", "value"])
    return table.assign(**run._asdict())


def _read(model: Model) -> Iterator[dict[str, object]]:
    """A network's log."""
    diverged = math.nan if model.diverged is None else float(model.diverged)
    yield {"what": "diverged", "value": diverged}
    for record in model.log:
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
