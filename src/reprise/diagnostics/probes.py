"""Probes of frozen representations: a linear classifier, and the nearest neighbours."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad, softmax

from reprise.datasets.folders import Images
from reprise.datasets.reading import chunks
from reprise.errors import RepriseError
from reprise.numerics.streams import generator

CHUNK = 256
"""Number of images, or of rows of a distance matrix, per chunk."""

Features = Float[Tensor, "sample features"]
Labels = Int[Tensor, " sample"]


class Accuracy(NamedTuple):
    """Top-1 and top-5 accuracy, as shares of the test samples."""

    top1: float
    top5: float


@torch.no_grad()
def representations(
    encoder: nn.Module, plain: Callable[[Tensor], Tensor], images: Images, device: str = "cpu"
) -> Features:
    """The encoder's representations of images, computed in evaluation mode, on `device`.

    Images in files are decoded `CHUNK` at a time, ahead of the encoder. The memory needed is that of the
    features, 4 * sample * features bytes (10.5 GB for ImageNet's 1,281,167 images and ResNet50's 2048
    features), and of the encoder on one chunk.

    Args:
        plain: turns images into the encoder's input without augmenting them.
        images: as in `training.images.Data`.

    Returns:
        Features of shape [sample, features].

    Example:
        >>> images = torch.zeros(5, 3, 8, 8, dtype=torch.uint8)
        >>> representations(nn.Flatten(), torch.Tensor.float, images).shape
        torch.Size([5, 192])
    """
    training = encoder.training
    encoder.eval()
    try:
        parts = (part.to(device, non_blocking=True) for part in chunks(images, CHUNK))
        blocks = (encoder(plain(part)).float() for part in parts)
        first_block = next(blocks)
        # Written in place, because `torch.cat` would hold all features twice.
        features = first_block.new_empty(len(images), *first_block.shape[1:])
        for part, block in zip(features.split(CHUNK), chain([first_block], blocks), strict=True):
            part.copy_(block)
        return features
    finally:
        encoder.train(training)


def accuracy(scores: Float[Tensor, "sample class"], labels: Labels, k: int) -> float:
    """Top-k accuracy: the share of samples whose class is among the k highest scores.

    Range: 0 to 1.

    Example:
        >>> accuracy(torch.eye(3), torch.tensor([0, 1, 0]), 1) == 2 / 3
        True
    """
    return _among_highest(scores, labels, k).double().mean().item()


def _among_highest(scores: Float[Tensor, "sample class"], labels: Labels, k: int) -> Bool[Tensor, " sample"]:
    """Tells for each sample if its class is among the k highest scores."""
    predictions = scores.topk(min(k, scores.shape[1])).indices
    return (predictions == labels.to(predictions.device)[:, None]).any(1)


def linear_probe(
    train: Features,
    train_labels: Labels,
    test: Features,
    test_labels: Labels,
    *,
    optimiser: Callable[[list[Tensor]], torch.optim.Optimizer],
    schedule: Callable[[int, int], float],
    epochs: int = 100,
    batch: int = 256,
    seed: int = 0,
    rows: Int[Tensor, " learned"] | None = None,
    test_rows: Int[Tensor, " tested"] | None = None,
    views: Iterator[Features] | None = None,
) -> Accuracy:
    """Trains a linear classifier on fixed features and tests it.

    An epoch includes its last, smaller batch. Besides the features, 4 * (sample + test) * features bytes,
    training needs memory for a few minibatches and 16 bytes per training sample for labels and order: the
    features are not copied.

    Args:
        optimiser: built for the classifier's weights.
        schedule: from the step and the number of steps to the factor on the optimiser's learning rate.
        rows, test_rows: the samples of `train` to learn from, and those of `test` to test on; by default
            all.
        views: features of augmented training images, other ones for each epoch, instead of `train`.

    Example:
        >>> x, y = torch.eye(2).repeat(8, 1), torch.arange(2).repeat(8)
        >>> sgd = lambda weights: torch.optim.SGD(weights, 1.0)
        >>> linear_probe(x, y, x, y, optimiser=sgd, schedule=lambda step, steps: 1.0, epochs=5).top1
        1.0

    Raises:
        RepriseError: if the classifier diverges.
    """
    rows, test_rows = (
        torch.arange(len(features)) if chosen is None else chosen
        for features, chosen in ((train, rows), (test, test_rows))
    )
    buffer = train.new_ones(min(batch, len(rows)), train.shape[1] + 1)  # a minibatch and the bias's input
    weights = train.new_zeros(int(train_labels[rows].max()) + 1, buffer.shape[1])
    descent = optimiser([weights])
    learning_rate = descent.param_groups[0]["lr"]
    targets = train_labels.to(train.device)
    minus_one = train.new_full((1, len(buffer)), -1.0)
    order = generator(seed, "linear probe")
    steps = epochs * -(-len(rows) // batch)
    for step in range(steps):
        if step % (steps // epochs) == 0:
            shuffled = rows[torch.randperm(len(rows), generator=order)]
            batches = iter(shuffled.to(train.device).split(batch))
            train = next(views) if views else train
        index = next(batches)
        features = buffer[: len(index)]
        features[:, :-1] = train.index_select(0, index)  # three times as fast as train[index]
        descent.param_groups[0]["lr"] = learning_rate * schedule(step, steps)
        # The gradient of cross-entropy, without autograd. Classes are the first dimension: softmax and
        # products are five times as fast on a few long rows as on many short ones.
        error = softmax(weights @ features.mT, 0)
        error.scatter_add_(0, targets.index_select(0, index)[None], minus_one)
        weights.grad = error @ features / len(features)
        descent.step()
    hits = []
    for chunk in test_rows.split(CHUNK):
        labels = test_labels.index_select(0, chunk.to(test_labels.device))
        features = test.index_select(0, chunk.to(test.device)).to(train.device)
        scores = pad(features, (0, 1), value=1.0) @ weights.mT
        if not scores.isfinite().all():
            raise RepriseError(f"the linear probe diverged at learning rate {learning_rate}; lower it")
        hits.append(torch.stack([_among_highest(scores, labels, k) for k in (1, 5)]))
    return Accuracy(*torch.cat(hits, 1).double().mean(1).tolist())


def nearest_neighbours(
    train: Features, train_labels: Labels, test: Features, test_labels: Labels, *, k: int
) -> float:
    """Top-1 accuracy, as a share, of the majority among the k training samples of highest cosine similarity.

    Among classes with as many neighbours, the one with the nearest neighbour wins. Besides the features,
    `CHUNK` rows of the similarity matrix are in memory at a time.

    Range: 0 to 1.

    Example:
        >>> x, y = torch.eye(3), torch.arange(3)
        >>> nearest_neighbours(x, y, 2 * x, y, k=1)
        1.0
    """
    lengths = torch.linalg.vector_norm(train, dim=1).clamp_min(torch.finfo(train.dtype).tiny)
    targets, hits = train_labels.to(train.device), []
    for rows, labels in zip(test.split(CHUNK), test_labels.split(CHUNK), strict=True):
        # A test sample's own length does not change the order of its neighbours.
        similarity = rows.to(train.device) @ train.mT / lengths
        neighbours = targets[similarity.topk(min(k, len(train))).indices]
        votes = (neighbours[:, :, None] == neighbours[:, None]).sum(2)
        predictions = neighbours.gather(1, votes.argmax(1, keepdim=True))[:, 0]  # the first of the highest
        hits.append(predictions == labels.to(train.device))
    return torch.cat(hits).double().mean().item()
