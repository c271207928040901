"""All diagnostics of a trained network, and the accuracy by which a pilot chooses a learning rate: what the
reference and the comparison of objectives have in common."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reprise.annex.diagnose.classes import linear_accuracy, probes
from reprise.annex.diagnose.measures import values
from reprise.annex.diagnose.moments import gather
from reprise.datasets.augment import Views, normalised
from reprise.datasets.recipes import Normalisation, Recipe
from reprise.diagnostics.probes import nearest_neighbours, representations
from reprise.numerics.streams import generator
from reprise.training.images import Data
from reprise.training.methods import Student
from reprise.training.pilots import PILOT_SEED, held_out

LAYERS = ("representation", "embedding")


def two_views(
    data: Data, augmentation: Recipe, normalisation: Normalisation
) -> tuple[Float[Tensor, "image channel side side"], Float[Tensor, "image channel side side"]]:
    """Two random views of each test image, the same for every network."""
    views, count = Views(augmentation, normalisation), len(data.test_labels)
    numbers = views.draw(count, generator(0, "views of the reference"))
    first, second = views.of(data.test_images, torch.arange(count), numbers)
    return first, second


@torch.no_grad()
def of_student(
    student: Student, views: Sequence[Tensor], labels: Int[Tensor, " image"]
) -> Iterator[dict[str, object]]:
    """The rows of `of_embeddings` for a network's representations and embeddings.

    Args:
        student: in evaluation mode, on the CPU.
        views: as from `two_views`.
    """
    outputs = [student(view) for view in views]
    for layer, pair in zip(LAYERS, zip(*outputs, strict=True), strict=True):
        rows = of_embeddings([z.numpy() for z in pair], labels.numpy())
        yield from ({"layer": layer, **row} for row in rows)


def of_embeddings(
    pair: Sequence[Float[np.ndarray, "sample dim"]], labels: Int[np.ndarray, " sample"]
) -> Iterator[dict[str, object]]:
    """One row a diagnostic of two views, or of the first: `diagnostic`, `value`, and `share`, the value over
    what the diagnostic's scale divides by."""
    for each in values(gather(pair, LAYERS)):
        if each.view != "2":
            yield {"diagnostic": each.measure.name, "value": each.value, "share": each.value / each.limit}
    for probe in probes(pair[0], labels):
        yield {"diagnostic": probe.name, "value": probe.value, "share": probe.value}


def probe_of_images(student: Student, data: Data, normalisation: Normalisation) -> float:
    """Accuracy of a linear classifier of representations without augmentation, which learns from the training
    images and is tested on the test images.

    Args:
        student: on the CPU.
    """
    plain = partial(normalised, normalisation=normalisation)
    train, test = (
        representations(student.encoder, plain, images).numpy() for images in (data.images, data.test_images)
    )
    return linear_accuracy(train, data.labels.numpy(), test, data.test_labels.numpy())


def held_out_accuracy(student: Student, data: Data, normalisation: Normalisation) -> float:
    """Accuracy of nearest neighbours of a network's representations, on a random fifth of the training
    images.

    Args:
        student: on the CPU.
    """
    r = representations(student.encoder, partial(normalised, normalisation=normalisation), data.images)
    return neighbours_held_out(r, data.labels)


def neighbours_held_out(r: Float[Tensor, "sample features"], labels: Int[Tensor, " sample"]) -> float:
    """Accuracy of the majority of the 20 nearest neighbours, on a random fifth of the samples."""
    tested, learned = held_out(len(r), generator(PILOT_SEED, "held out"))
    return nearest_neighbours(r[learned], labels[learned], r[tested], labels[tested], k=20)
