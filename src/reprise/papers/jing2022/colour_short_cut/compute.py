"""Trains SimCLR on dark backdrops of any hue, and on bright ones that keep their hue; probes for shape."""

from collections.abc import Iterator
from math import nan

import pandas as pd

from reprise.contract.experiment import Context, Progress
from reprise.contract.settings import replaced
from reprise.papers.jing2022.colour_short_cut.experiment import (
    Params,
    Task,
    check,
    probe_settings,
    source,
    spec,
    tasks,
)
from reprise.training.image_tasks import Network, features, observed, probe, table
from reprise.training.images import Data
from reprise.training.methods import Student
from reprise.training.spec import Spec

STRETCHES = 20
"""Number of parts of the training over which the loss is averaged."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `losses`, the mean loss of each stretch of a training, by its last step; `probes`, a linear
    probe's accuracy for shape, in % of the test images, before and after training."""
    results = context.results(perform, params, tasks(params, context.objective))
    rows = pd.concat(results.values(), ignore_index=True)
    return {
        name: rows.loc[rows["table"] == name, ["arm", "seed", "step", column]].reset_index(drop=True)
        for name, column in (("losses", "loss"), ("probes", "accuracy"))
    }


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task: the rows of both tables."""
    check(params)
    net_spec = spec(params, *task, context.objective)
    images = source(params, task.arm)

    def observe(network: Network) -> Iterator[dict[str, object]]:
        start = observed(replaced(net_spec, {"steps": 0}), images, context.root)
        ends = {0: accuracy(params, net_spec, start.student, images.load()), net_spec.steps: nan}
        if network.diverged is None:
            ends[net_spec.steps] = accuracy(params, net_spec, network.student, images.load())
        yield from ({"table": "probes", "step": step, "accuracy": value} for step, value in ends.items())
        for step, loss in stretches(network.log, net_spec.steps).items():
            yield {"table": "losses", "step": step, "loss": loss}

    return table(net_spec, images, observe, columns=task._asdict(), root=context.root, progress=progress)


def stretches(log: list[dict], steps: int) -> pd.Series:
    """The mean loss over each stretch, by the stretch's last step; NaN after a divergence."""
    losses = pd.DataFrame(log, columns=["step", "loss"])
    length = -(-steps // STRETCHES)
    last = (losses["step"] // length + 1) * length
    ends = [min(end, steps) for end in range(length, steps + length, length)]
    return losses.groupby(last.clip(upper=steps))["loss"].mean().reindex(ends)


def accuracy(params: Params, net_spec: Spec, student: Student, data: Data) -> float:
    """Accuracy in % of a linear probe on representations scaled to unit variance over the training images."""
    train, test = (features(student, net_spec, images) for images in (data.images, data.test_images))
    mean, std = train.mean(0), train.std(0).clamp_min(1e-6)
    fit = (train - mean) / std, data.labels, (test - mean) / std, data.test_labels
    return 100 * probe(probe_settings(params), *fit, net_spec.seed).top1
