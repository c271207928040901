"""Networks as tasks of an experiment: each is trained, or read from the cache, and then observed."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jaxtyping import Float, Int
from torch import Tensor

from reprise.datasets.augment import normalised
from reprise.datasets.folders import Images
from reprise.diagnostics.probes import Accuracy, linear_probe, representations
from reprise.study.experiment import Task
from reprise.training.image_settings import Probe, Source
from reprise.training.images import assemble
from reprise.training.launch import train_on_all_gpus
from reprise.training.methods import Student
from reprise.training.models import model
from reprise.training.spec import Spec

Features = Float[Tensor, "sample features"]


class Network(NamedTuple):
    """What an experiment observes of a network.

    Attributes:
        student: in evaluation mode.
        log: the record of each step; empty for an untrained network.
        diverged: the step at which the loss was first not finite, or None.
    """

    student: Student
    log: list[dict[str, Any]]
    diverged: int | None


def task(
    name: str,
    spec: Callable[[], Spec],
    source: Source,
    observe: Callable[[Network], Iterable[Mapping[str, object]]],
    *,
    columns: Mapping[str, object],
    root: Path,
    device: str = "cpu",
) -> Task:
    """The task whose table holds the rows that `observe` returns for a network.

    Args:
        name: unique in the experiment.
        spec: returns the network's spec; called when the task runs.
        columns: constant columns that identify this network's rows.
        root: the checkout.
    """

    def make(progress: Callable[[float], None]) -> pd.DataFrame:
        network = observed(spec(), source, root, device=device, progress=progress)
        return pd.DataFrame([{**row, **columns} for row in observe(network)])

    return Task(name, make)


def observed(
    spec: Spec,
    source: Source,
    root: Path,
    *,
    device: str = "cpu",
    progress: Callable[[float], None] = lambda share: None,
) -> Network:
    """A network from the cache, or trained now; on CUDA, all GPUs train it together.

    A spec without steps gives a network at random initialisation, which depends only on the encoder, the
    projector and the seed.
    """
    if not spec.steps:
        return Network(assemble(spec, source.load().channels).eval().student, [], None)
    if device == "cuda":
        train_on_all_gpus(spec, source, root)
    trained = model(spec, source.load(), root, progress, device=device)
    return Network(trained.method.student, trained.log, trained.diverged)


def features(student: Student, spec: Spec, images: Images, device: str = "cpu") -> Features:
    """Representations of the images, without augmentation."""
    encoder = student.to(device).encoder
    return representations(encoder, partial(normalised, normalisation=spec.normalisation), images, device)


def probe(
    settings: Probe,
    train: Features,
    labels: Int[Tensor, " sample"],
    test: Features,
    test_labels: Int[Tensor, " sample"],
    seed: int,
    **rows: Int[Tensor, " row"],
) -> Accuracy:
    """Test accuracies of a linear classifier trained on the training features.

    Args:
        rows: `rows` and `test_rows`, as for `linear_probe`.

    Raises:
        RepriseError: if it diverges.
    """
    return linear_probe(
        train, labels, test, test_labels,
        optimiser=settings.optimiser.build, schedule=settings.schedule,
        epochs=settings.epochs, batch=settings.batch, seed=seed, **rows,
    )  # fmt: skip
