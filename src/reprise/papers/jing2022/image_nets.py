"""The networks of the image experiments, measured as in the authors' code: in evaluation mode, on the test
set."""

from collections.abc import Iterator, Mapping
from itertools import cycle, islice
from math import nan
from pathlib import Path

import pandas as pd
from torch import Tensor, no_grad

from reprise.contract.experiment import Progress
from reprise.contract.settings import replaced
from reprise.diagnostics.spectra import normalised_log_spectrum
from reprise.objectives import infonce_other_view
from reprise.papers.jing2022.image_settings import PARTS, Training, spec, start_spec
from reprise.training.image_tasks import Network, features, observed, probe, random_views, table
from reprise.training.images import Data
from reprise.training.methods import DirectCLR, Student, name_of
from reprise.training.spec import Spec

Labels = dict[str, tuple[Tensor, Tensor]]
"""Name -> labels of the training and test images."""


def published(net: str) -> str:
    """The name of a network's published objective."""
    return name_of(DirectCLR if net == "directclr" else infonce_other_view)


def trained(
    training: Training,
    net: str,
    seed: int,
    labels: Labels,
    root: Path,
    columns: Mapping[str, object],
    parts: tuple[str, ...] = ("all",),
    objective: str | None = None,
    *,
    progress: Progress,
) -> pd.DataFrame:
    """The table of a trained network, one row per number.

    `what` is `representation` or `embedding`, with ln of the `index`-th singular value of the covariance of
    unit vectors, or `probe`, with the `labels`, the `part` of the representation that it reads, and a top-1
    accuracy in %. If the network diverged, every `value` is missing.

    Args:
        columns: further constant columns.
        parts: the parts (of `PARTS`) to probe.
        objective: another loss to train with instead of the published one.
    """
    data = training.source.load()
    net_spec = spec(training, net, seed, len(data.labels), objective or published(net))

    def observe(network: Network) -> Iterator[dict[str, object]]:
        if network.diverged is None:
            yield from measured(network.student, net_spec, training, data, labels, parts)
        else:  # the rows of the initial network, without values
            start = observed(replaced(net_spec, {"steps": 0}), training.source, root)
            yield from (
                row | {"value": nan}
                for row in measured(start.student, net_spec, training, data, labels, parts)
            )

    return table(
        net_spec, training.source, observe,
        columns=columns, root=root, device=training.device, progress=progress,
    )  # fmt: skip


def start(
    training: Training,
    seed: int,
    labels: Labels,
    root: Path,
    columns: Mapping[str, object],
    parts: tuple[str, ...] = ("all",),
    *,
    progress: Progress,
) -> pd.DataFrame:
    """The same for the initial network of SimCLR with a nonlinear projector; all networks of a seed start
    from its encoder."""
    data = training.source.load()
    net_spec = start_spec(training, seed, published("nonlinear"))

    def observe(network: Network) -> Iterator[dict[str, object]]:
        return measured(network.student, net_spec, training, data, labels, parts)

    return table(
        net_spec, training.source, observe,
        columns=columns, root=root, device=training.device, progress=progress,
    )  # fmt: skip


def augmented(
    student: Student, net_spec: Spec, training: Training, data: Data, part: slice
) -> Iterator[Tensor] | None:
    """A part of the representations of augmented training images for each epoch of a probe, if it has such:
    `probe_views` of them in turn."""
    if not training.probe_views:
        return None
    views = (view[:, part] for view in random_views(student, net_spec, data.images, training.device))
    few = training.probe_views < training.probe.epochs
    return cycle(list(islice(views, training.probe_views))) if few else views


def measured(
    student: Student, net_spec: Spec, training: Training, data: Data, labels: Labels, parts: tuple[str, ...]
) -> Iterator[dict[str, object]]:
    """The rows of one network. The device holds the features of all images once, which are
    4 * (training + test images) * features bytes."""
    train, test = (
        features(student, net_spec, images, training.device) for images in (data.images, data.test_images)
    )
    columns = dict(zip(PARTS, (slice(None), slice(training.d0), slice(training.d0, None)), strict=True))
    for part in parts:
        for name, (train_labels, test_labels) in labels.items():
            fit = train[:, columns[part]], train_labels, test[:, columns[part]], test_labels
            views = augmented(student, net_spec, training, data, columns[part])
            accuracy = probe(training.probe, *fit, net_spec.seed, views=views)
            yield {"what": "probe", "labels": name, "part": part, "value": 100 * accuracy.top1}
    with no_grad():
        vectors = {"representation": test, "embedding": student.projector(test)}
    for what, values in vectors.items():
        logs = normalised_log_spectrum(values).tolist()
        yield from ({"what": what, "index": index, "value": value} for index, value in enumerate(logs, 1))
