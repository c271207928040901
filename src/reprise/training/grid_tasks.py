"""Performs the tasks of a grid of networks (`training.grid`)."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import cycle, islice, product
from statistics import fmean

import pandas as pd

from reprise.contract.experiment import Context, Progress
from reprise.diagnostics.probes import Accuracy
from reprise.errors import RepriseError
from reprise.evidence.learning import PIXELS
from reprise.numerics.streams import generator
from reprise.training.baselines import pixel_baselines
from reprise.training.grid import Net, Pilot, Pixels, Supervised, Task
from reprise.training.image_settings import ImageTraining, Source
from reprise.training.image_tasks import Features, Network, features, observed, probe, random_views
from reprise.training.pilots import chosen, held_out
from reprise.training.supervised import supervised_accuracy

Row = Mapping[str, object]
Ask = Callable[[Task], pd.DataFrame]
"""Gives the table of another task."""


def perform(
    params: ImageTraining,
    task: Task,
    context: Context,
    progress: Progress,
    observe: Callable[[Network, Net], Iterable[Row]],
    ask: Ask,
) -> pd.DataFrame:
    """The table of a task, one row per number: the network's columns, `what` and `value`.

    Of a network it holds what `observe` returns, and `top1` and `top5` of its final linear probes, in %, with
    their `labels`; of a pilot `held_out` alone; of the references `PIXELS` or `supervised`, in %.

    Args:
        observe: the rows of a network, whose learning rate has been chosen.
    """
    device = params.device
    match task:
        case Pixels(labels):
            shares = pixel_baselines(labels, params.probe, seed=0, device=device)
            return _reference(labels, dict(zip(PIXELS, shares, strict=True)))
        case Supervised(spec, labels):
            share = supervised_accuracy(spec, labels, context.root, device=device, progress=progress)
            return _reference(labels, {"supervised": share})
        case Net():
            net = settled(task, ask)
            network = observed(net.spec, net.source, context.root, device=device, progress=progress)
            if isinstance(net, Pilot):
                share = held_out_accuracy(params, net, network)
                rows: list[Row] = [{"what": "held_out", "value": 100 * share}]
            else:
                rows = [*observe(network, net), *probes(params, net, network)]
            return pd.DataFrame([{**dict(net.columns), **row} for row in rows])


def settled(net: Net, ask: Ask) -> Net:
    """The network at the learning rate that its pilots choose."""
    accuracies: dict[float, list[float]] = {}
    # Two processes that need the same pilots share them, instead of one waiting for the other.
    for pilot in net.pilots[:: 1 if net.spec.seed % 2 else -1]:
        found = float(ask(pilot)["value"].item())
        accuracies.setdefault(pilot.spec.optimiser.learning_rate, []).append(found)
    means = {rate: fmean(values) for rate, values in accuracies.items()}  # NaN if one diverged
    return net.at_rate(chosen(means)) if means else net


def _reference(labels: Source, shares: Mapping[str, float]) -> pd.DataFrame:
    return pd.DataFrame(
        [{"what": what, "labels": labels.name, "value": 100 * share} for what, share in shares.items()]
    )


def probes(params: ImageTraining, net: Net, network: Network) -> Iterator[Row]:
    """The final linear probes of a network, for the labels of each data set and each `part` of the
    representation; NaN if a probe diverges, or the network has."""
    data_sets = {source.name: source.load() for source in net.probed}
    if not data_sets:
        return
    data = next(iter(data_sets.values()))  # all have the same images
    train, test = (
        features(network.student, net.spec, images, params.device)
        for images in (data.images, data.test_images)
    )
    for part, (name, data) in product(net.parts, data_sets.items()):
        columns = slice(part.first, part.last)
        fit = train[:, columns], data.labels, test[:, columns], data.test_labels, net.spec.seed
        found = Accuracy(math.nan, math.nan)
        if network.diverged is None:
            with suppress(RepriseError):  # the probe diverged
                found = probe(params.probe, *fit, views=_views(params, net, network, columns))
        for what, share in found._asdict().items():
            yield {"what": what, "labels": name, "part": part.name, "value": 100 * share}


def _views(params: ImageTraining, net: Net, network: Network, columns: slice) -> Iterator[Features] | None:
    """A part of the representations of augmented training images for each epoch of a probe, if it has such:
    `net.views` of them in turn."""
    if not net.views:
        return None
    images = net.probed[0].load().images
    views = (r[:, columns] for r in random_views(network.student, net.spec, images, params.device))
    return cycle(list(islice(views, net.views))) if net.views < params.probe.epochs else views


def held_out_accuracy(params: ImageTraining, net: Net, network: Network) -> float:
    """The linear probe's accuracy on a random fifth of the training images, the same at every rate; NaN if
    the training or the probe diverged."""
    if network.diverged is not None:
        return math.nan
    (source,) = net.probed
    data = source.load()
    r = features(network.student, net.spec, data.images, params.device)
    tested, learned = held_out(len(r), generator(net.spec.seed, "held out"))
    fit = r, data.labels, r, data.labels, net.spec.seed
    try:
        return probe(params.probe, *fit, rows=learned, test_rows=tested).top1
    except RepriseError:
        return math.nan
