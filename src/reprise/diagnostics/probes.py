"""What a frozen representation is worth to a simple classifier."""

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad, softmax

from reprise.datasets.folders import Images
from reprise.errors import RepriseError
from reprise.numerics.streams import generator

CHUNK = 256
"""Images, or rows of a table of distances, at a time."""

Features = Float[Tensor, "sample features"]
Labels = Int[Tensor, " sample"]


class Accuracy(NamedTuple):
    """Shares of the test samples whose class is the first, or among the first five, that a classifier
    names."""

    top1: float
    top5: float


@torch.no_grad()
def representations(
    encoder: nn.Module, plain: Callable[[Tensor], Tensor], images: Images, device: str = "cpu"
) -> Features:
    """What the encoder, in evaluation mode, makes of images; on the device.

    Args:
        plain: makes an encoder's input of images, without augmentation.
        images: as of `training.images.Data`.
    """
    training = encoder.training
    encoder.eval()
    try:
        parts = torch.arange(len(images)).split(CHUNK)
        blocks = (encoder(plain(images[part].to(device))).float() for part in parts)
        first = next(blocks)
        # In place, because `torch.cat` holds all features twice.
        features = first.new_empty(len(images), *first.shape[1:])
        for part, block in zip(parts, chain([first], blocks), strict=True):
            features[part[0] : part[-1] + 1] = block
        return features
    finally:
        encoder.train(training)


def accuracy(scores: Float[Tensor, "sample class"], labels: Labels, k: int) -> float:
    """The share of samples whose class is among the k of highest score."""
    return _among_highest(scores, labels, k).double().mean().item()


def _among_highest(scores: Float[Tensor, "sample class"], labels: Labels, k: int) -> Bool[Tensor, " sample"]:
    """Whether a sample's class is among the k of highest score."""
    named = scores.topk(min(k, scores.shape[1])).indices
    return (named == labels.to(named.device)[:, None]).any(1)


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
) -> Accuracy:
    """Trains a linear classifier on fixed features and tests it. The last, smaller batch of an epoch counts.

    Beside the features it takes the memory of a few minibatches and 8 bytes a training sample, for its order.

    Args:
        optimiser: built for the classifier's weights.
        schedule: from the step and the number of steps to the factor on the optimiser's learning rate.

    Raises:
        RepriseError: when the classifier diverges.
    """
    room = train.new_ones(min(batch, len(train)), train.shape[1] + 1)  # a minibatch, and the bias's input
    weights = train.new_zeros(int(train_labels.max()) + 1, room.shape[1])
    descent = optimiser([weights])
    learning_rate = descent.param_groups[0]["lr"]
    wanted = train_labels.to(train.device)
    minus_one = train.new_full((1, len(room)), -1.0)
    order = generator(seed, "linear probe")
    steps = epochs * -(-len(train) // batch)
    for step in range(steps):
        if step % (steps // epochs) == 0:
            batches = iter(torch.randperm(len(train), generator=order).to(train.device).split(batch))
        index = next(batches)
        features = room[: len(index)]
        features[:, :-1] = train.index_select(0, index)  # a third of the time of train[index]
        descent.param_groups[0]["lr"] = learning_rate * schedule(step, steps)
        # The gradient of cross-entropy, without autograd. Classes come first: a few long rows take softmax
        # and products a fifth of the time of many short ones.
        error = softmax(weights @ features.mT, 0)
        error.scatter_add_(0, wanted.index_select(0, index)[None], minus_one)
        weights.grad = error @ features / len(features)
        descent.step()
    hits = []
    for part, labels in zip(test.split(CHUNK), test_labels.split(CHUNK), strict=True):
        scores = pad(part.to(train.device), (0, 1), value=1.0) @ weights.mT
        if not scores.isfinite().all():
            raise RepriseError(f"the linear probe diverged at learning rate {learning_rate}; lower it")
        hits.append(torch.stack([_among_highest(scores, labels, k) for k in (1, 5)]))
    return Accuracy(*torch.cat(hits, 1).double().mean(1).tolist())
