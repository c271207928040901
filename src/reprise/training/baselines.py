"""Baselines of raw pixels: a representation is evidence only if it tells more about the classes."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from reprise.contract.settings import replaced
from reprise.datasets.augment import greyscale, unit_floats
from reprise.datasets.folders import Images
from reprise.datasets.reading import ahead
from reprise.diagnostics.probes import CHUNK, nearest_neighbours
from reprise.errors import RepriseError
from reprise.numerics.streams import generator
from reprise.training.costs import PIXEL_IMAGES, PIXEL_SIDE
from reprise.training.image_settings import Probe, Source
from reprise.training.image_tasks import probe
from reprise.training.pilots import held_out

NEIGHBOURS = (1, 5)
RATES = (0.1, 0.01, 0.001)
"""Factors on the linear probe's learning rate; on pixels the best is often a hundredth of it."""
DRAFT = 4
"""A rate is chosen by probes of a quarter of the epochs, to save time."""

Pixels = Float[Tensor, "sample pixels"]
Labels = Int[Tensor, " sample"]
Classifier = Callable[[Pixels, Labels, Pixels, Labels], float]
"""Function from training samples and labels, and test samples and labels, to an accuracy."""


class Candidate(NamedTuple):
    """A classifier with certain settings.

    Attributes:
        draft: a cheaper one, by which the settings are chosen.
        final: the one that is tested.
    """

    draft: Classifier
    final: Classifier


class PixelBaselines(NamedTuple):
    """Top-1 accuracies on raw pixels, as shares of the test images.

    Attributes:
        neighbours: of the nearest neighbours.
        linear: of a linear probe.
    """

    neighbours: float
    linear: float


def pixel_baselines(source: Source, settings: Probe, seed: int, device: str = "cpu") -> PixelBaselines:
    """The accuracies of the best nearest neighbours and of the best linear probe on raw pixels.

    The number of neighbours, in `NEIGHBOURS`, the linear probe's rate, a factor in `RATES`, and for each of
    them the pixels, `centred` or `standardised`, are those with the highest accuracy on held-out training
    images. The choice then learns from all training images and is tested.

    Images larger than `PIXEL_SIDE` are averaged down, and of a larger set `PIXEL_IMAGES` images at equal
    distances are used, which takes less than 4 GB besides the source.

    Args:
        seed: of the choice of held-out images and of the probe's order.
        device: where the classifiers run.

    Raises:
        RepriseError: if the linear probe diverges at all rates.
    """
    data = source.load()
    rows, test_rows = _spaced(len(data.labels)), _spaced(len(data.test_labels))
    train, test = (
        _read(images, index).to(device)
        for images, index in ((data.images, rows), (data.test_images, test_rows))
    )
    pairs = [centred(train, test), (standardised(train), standardised(test))]

    def neighbours(k: int) -> Candidate:
        classifier = partial(nearest_neighbours, k=k)
        return Candidate(classifier, classifier)

    def linear(factor: float) -> Candidate:
        rate = factor * settings.optimiser.learning_rate
        scaled = [
            replaced(settings, {"optimiser.learning_rate": rate, "epochs": epochs})
            for epochs in (-(-settings.epochs // DRAFT), settings.epochs)
        ]
        return Candidate(*(partial(_linear, of, seed) for of in scaled))

    best = partial(
        _best, pairs=pairs, labels=data.labels[rows], test_labels=data.test_labels[test_rows], seed=seed
    )
    return PixelBaselines(best(list(map(neighbours, NEIGHBOURS))), best(list(map(linear, RATES))))


def centred(
    train: Float[Tensor, "sample channel side side"], test: Float[Tensor, "tested channel side side"]
) -> tuple[Pixels, Pixels]:
    """All channels, minus the mean training image."""
    mean = train.mean(0)
    return (train - mean).flatten(1), (test - mean).flatten(1)


def standardised(images: Float[Tensor, "sample channel side side"]) -> Pixels:
    """Each image's grey at mean 0 and variance 1; 0 for an image of one grey."""
    grey = greyscale(images)[:, 0].flatten(1)
    grey = grey - grey.mean(1, keepdim=True)
    return grey / grey.std(1, correction=0, keepdim=True).clamp_min(1e-6)


def _linear(
    settings: Probe, seed: int, train: Pixels, labels: Labels, test: Pixels, test_labels: Labels
) -> float:
    return probe(settings, train, labels, test, test_labels, seed).top1


def _best(
    candidates: Sequence[Candidate],
    pairs: Sequence[tuple[Pixels, Pixels]],
    labels: Labels,
    test_labels: Labels,
    seed: int,
) -> float:
    """Test accuracy of the candidate and the pair of training and test pixels that are best on held-out
    training samples."""
    tested, learned = held_out(len(labels), generator(seed, "held out"))

    def validation(choice: tuple[Candidate, tuple[Pixels, Pixels]]) -> float:
        candidate, (train, _) = choice
        try:
            return candidate.draft(train[learned], labels[learned], train[tested], labels[tested])
        except RepriseError:  # the probe diverged
            return 0.0

    candidate, (train, test) = max(product(candidates, pairs), key=validation)
    return candidate.final(train, labels, test, test_labels)


def _spaced(count: int) -> Int[Tensor, " row"]:
    """Indices of at most `PIXEL_IMAGES` of `count` images, at equal distances: a folder lists class after
    class."""
    used = min(count, PIXEL_IMAGES)
    return torch.arange(used) * count // used


def _read(images: Images, rows: Int[Tensor, " row"]) -> Float[Tensor, "row channel side side"]:
    """The chosen images in [0, 1], of at most `PIXEL_SIDE` pixels a side."""
    parts = rows.split(CHUNK)
    read = images.__getitem__
    blocks = map(read, parts) if isinstance(images, Tensor) else ahead(read, parts)
    return torch.cat([_small(unit_floats(block)) for block in blocks])


def _small(
    images: Float[Tensor, "block channel height width"],
) -> Float[Tensor, "block channel side side"]:
    return adaptive_avg_pool2d(images, PIXEL_SIDE) if images.shape[-1] > PIXEL_SIDE else images
