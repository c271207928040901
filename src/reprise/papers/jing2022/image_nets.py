"""The networks of the image experiments, measured as in the authors' code: in evaluation mode, on the test
set."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import nan
from pathlib import Path

from torch import Tensor, no_grad

from reprise.datasets.catalogue import DATA_SETS
from reprise.datasets.recipes import RECIPES, Recipe, Strengths
from reprise.diagnostics.spectra import normalised_log_spectrum
from reprise.networks.projectors import Diagonal, Identity, Linear, LowRank, Projector
from reprise.objectives import infonce_other_view
from reprise.papers.jing2022.image_settings import PARTS, Training
from reprise.study.experiment import Task
from reprise.study.settings import replaced
from reprise.training.image_tasks import Network, features, observed, probe, task, work
from reprise.training.images import Data
from reprise.training.methods import DirectCLR, Student, name_of
from reprise.training.spec import Spec

Labels = dict[str, tuple[Tensor, Tensor]]
"""Name -> labels of the training and test images."""


def spec(training: Training, net: str, seed: int, samples: int, objective: str | None = None) -> Spec:
    """The spec of a trained network.

    Args:
        net: one of `NETS`.
        samples: number of training images.
        objective: another loss to train with instead of the published one.
    """
    hyperparameters: dict[str, float | int | bool | None] = {"temperature": training.temperature}
    if net == "directclr":
        hyperparameters["dimensions"] = training.d0
    return training.spec(
        objective=objective or name_of(DirectCLR if net == "directclr" else infonce_other_view),
        hyperparameters={} if objective else hyperparameters,
        augmentation=augmentation(training),
        normalisation=DATA_SETS[training.data_set].normalisation,
        projector=projector(training, net),
        steps=max(1, round(training.epochs * (samples // training.batch))),
        seed=seed,
    )


def projector(training: Training, net: str) -> Projector:
    """The projector between the representation and the loss; DirectCLR selects its sub-vector in the
    objective."""
    projectors: dict[str, Projector] = {
        "nonlinear": training.projector,
        "linear": Linear(out=training.projector.dims[-1]),
        "low_rank": LowRank(rank=training.d0),
        "diagonal": Diagonal(),
        "none": Identity(),
        "directclr": Identity(),
    }
    return projectors[net]


def augmentation(training: Training) -> Recipe:
    """The configured recipe at the configured strengths."""

    def at_strength(strengths: Strengths) -> Strengths:
        return replace(
            strengths,
            scale=(training.crop, 1.0),
            brightness=training.jitter,
            contrast=training.jitter,
            saturation=strengths.saturation / strengths.brightness * training.jitter,
            hue=training.hue,
        )

    recipe = RECIPES[training.recipe]
    return Recipe(at_strength(recipe.first), at_strength(recipe.second))


def trained(
    name: str,
    training: Training,
    net: str,
    seed: int,
    labels: Labels,
    root: Path,
    columns: Mapping[str, object],
    parts: tuple[str, ...] = ("all",),
    objective: str | None = None,
) -> Task:
    """A network as a task, whose table has one row per number.

    `what` is `representation` or `embedding`, with ln of the `index`-th singular value of the covariance of
    unit vectors, or `probe`, with the `labels`, the `part` of the representation that it reads, and a top-1
    accuracy in %. If the network diverged, every `value` is missing.

    Args:
        columns: further constant columns.
        parts: the parts (of `PARTS`) to probe.
        objective: another loss to train with instead of the published one.
    """
    data = training.source.load()
    net_spec = spec(training, net, seed, len(data.labels), objective)

    def observe(network: Network) -> Iterator[dict[str, object]]:
        if network.diverged is None:
            yield from measured(network.student, net_spec, training, data, labels, parts)
        else:  # the rows of the initial network, without values
            start = observed(replaced(net_spec, {"steps": 0}), training.source, root)
            yield from (
                row | {"value": nan}
                for row in measured(start.student, net_spec, training, data, labels, parts)
            )

    return task(
        name, lambda: net_spec, training.source, observe,
        columns=columns, root=root, device=training.device, work=work(net_spec),
    )  # fmt: skip


def start(
    name: str,
    training: Training,
    seed: int,
    labels: Labels,
    root: Path,
    columns: Mapping[str, object],
    parts: tuple[str, ...] = ("all",),
) -> Task:
    """The same for the initial network of SimCLR with a nonlinear projector; all networks of a seed start
    from its encoder."""
    data = training.source.load()
    net_spec = replaced(spec(training, "nonlinear", seed, len(data.labels)), {"steps": 0})

    def observe(network: Network) -> Iterator[dict[str, object]]:
        return measured(network.student, net_spec, training, data, labels, parts)

    return task(
        name, lambda: net_spec, training.source, observe,
        columns=columns, root=root, device=training.device, work=work(net_spec),
    )  # fmt: skip


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
            accuracy = probe(training.probe, *fit, net_spec.seed)
            yield {"what": "probe", "labels": name, "part": part, "value": 100 * accuracy.top1}
    with no_grad():
        vectors = {"representation": test, "embedding": student.projector(test)}
    for what, values in vectors.items():
        logs = normalised_log_spectrum(values).tolist()
        yield from ({"what": what, "index": index, "value": value} for index, value in enumerate(logs, 1))
