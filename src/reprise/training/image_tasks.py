"""Tasks of an experiment on a network, which is trained, or read from the cache, and observed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor, no_grad

from reprise.contract.experiment import Progress
from reprise.datasets.augment import Views, normalised
from reprise.datasets.folders import Images
from reprise.datasets.reading import ahead
from reprise.datasets.recipes import CROPS_AND_FLIPS
from reprise.diagnostics.probes import CHUNK, Accuracy, linear_probe, representations
from reprise.numerics.streams import generator
from reprise.training.image_settings import Probe, Source
from reprise.training.images import assemble
from reprise.training.launch import train_on_all_gpus
from reprise.training.methods import Student
from reprise.training.models import model
from reprise.training.spec import Spec

Features = Float[Tensor, "sample features"]


class Network(NamedTuple):
    """A network as an experiment observes it.

    Attributes:
        student: in evaluation mode.
        log: the record of each step; empty for an untrained network.
        diverged: the step at which the loss was first not finite, or None.
    """

    student: Student
    log: list[dict[str, Any]]
    diverged: int | None


def table(
    spec: Spec,
    source: Source,
    observe: Callable[[Network], Iterable[Mapping[str, object]]],
    *,
    columns: Mapping[str, object],
    root: Path,
    device: str = "cpu",
    progress: Progress,
) -> pd.DataFrame:
    """The rows that `observe` returns for a network.

    Args:
        columns: constant columns that identify this network's rows.
        root: the checkout.
    """
    network = observed(spec, source, root, device=device, progress=progress)
    return pd.DataFrame([{**row, **columns} for row in observe(network)])


def observed(
    spec: Spec,
    source: Source,
    root: Path,
    *,
    device: str = "cpu",
    progress: Progress = lambda share: None,
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


@no_grad()
def random_views(student: Student, spec: Spec, images: Images, device: str = "cpu") -> Iterator[Features]:
    """Representations, in evaluation mode, of a random crop and flip of each image, and of others at each
    turn, for ever; they depend on the spec's seed."""
    views, encoder = Views(CROPS_AND_FLIPS, spec.normalisation), student.to(device).eval().encoder
    parts = torch.arange(len(images)).split(CHUNK)
    for turn in count():

        def numbers(part: int, turn: int = turn) -> Float[Tensor, "view batch draw"]:
            draw = generator(spec.seed, f"views of the probe {turn} {part}")
            return views.draw(len(parts[part]), draw)

        def read(part: int, numbers: Callable = numbers) -> Tensor:
            return views.read(images, parts[part], numbers(part))

        order = range(len(parts))
        pixels = map(read, order) if isinstance(images, Tensor) else ahead(read, order)
        both = torch.empty(2, len(images), spec.encoder.dim, device=device)
        for part, pixel in zip(order, pixels, strict=True):
            for row, view in zip(both, views.made(pixel, numbers(part), device), strict=True):
                row[parts[part]] = encoder(view).float()
        yield from both


def probe(
    settings: Probe,
    train: Features,
    labels: Int[Tensor, " sample"],
    test: Features,
    test_labels: Int[Tensor, " sample"],
    seed: int,
    **rest: Any,
) -> Accuracy:
    """Test accuracies of a linear classifier trained on the training features.

    Args:
        rest: `rows`, `test_rows` and `views`, as for `linear_probe`.

    Raises:
        RepriseError: if it diverges.
    """
    return linear_probe(
        train, labels, test, test_labels,
        optimiser=settings.optimiser.build, schedule=settings.schedule,
        epochs=settings.epochs, batch=settings.batch, seed=seed, **rest,
    )  # fmt: skip
