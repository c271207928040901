"""Chooses two classes, trains on them, classifies the embeddings, and times the steps."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from reprise.bench.timing import seconds
from reprise.datasets.catalogue import load
from reprise.errors import RepriseError
from reprise.networks.dense import Weights
from reprise.objectives import Objective, resolve
from reprise.papers.esser2024.digit_classes.params import PAIRS, Params, check, task_name
from reprise.papers.esser2024.limiting_dynamics.dynamics import (
    ODES,
    check_step,
    eigenpairs,
    euler_step,
    gradient_step,
)
from reprise.papers.esser2024.losses import cross_moment, symmetric
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.study.experiment import Context, Task
from reprise.training.replicas import sgd

Array = np.ndarray

METHODS = ("start", "descent", *ODES)
"""The untrained net, projected gradient descent, and Euler's method on each ODE."""
ODE_STEPS = 200
"""Steps per timing, because one takes microseconds."""


@dataclass(frozen=True)
class Images:
    """Images as vectors and their classes, in random order.

    Attributes:
        x: shape [sample, pixel].
        y: shape [sample].
    """

    x: Float[Array, "sample pixel"]
    y: Int[Array, " sample"]


SPLIT = {"mnist": "train", "digits": "train+test"}


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Computes four tables. Accuracies are test accuracies of a linear support vector machine, in percent.

    `pairs`: accuracy on raw pixels for every pair of classes, one row per split (`seed`). `pixels`: accuracy
    on raw pixels of the chosen pair, one row per seed, averaged over splits. `accuracy`: accuracy on
    embeddings of the chosen pair, one row per `z`, method and seed, averaged over the same splits.
    `step_seconds`: CPU time of a step of (11) and of (12), one row per method, width and repeat (`seed`).

    With another loss than the published one only `accuracy`, after projected gradient descent on it.
    """
    pairs, *embedding_accuracies = context.results(tasks(params, context))
    accuracy = pd.concat(embedding_accuracies, ignore_index=True)
    if context.objective:
        return {"accuracy": accuracy}
    pair = _choose_pair(_images(params), pairs, params)
    pixels = {
        "seed": range(params.seeds),
        "first": pair.first,
        "second": pair.second,
        "accuracy": _accuracies(pair.x, pair, params),
    }
    return {
        "pairs": pairs,
        "pixels": pd.DataFrame(pixels),
        "accuracy": accuracy,
        "step_seconds": _times(pair.c[0], pair.eigenvalues[0], pair.vectors[0], params),
    }


def tasks(params: Params, context: Context) -> list[Task]:
    """A task for raw pixels, which chooses the two classes, and one for each embedding dimension, which uses
    them."""
    check(params)
    images = _images(params)
    pairs = Task(PAIRS, lambda _: _pairs(images, params))

    @cache
    def chosen_pair() -> Pair:
        return _choose_pair(images, context.result(pairs), params)

    accuracies = partial(_embedding_accuracies, params, chosen_pair, context.objective)
    return [pairs, *(Task(task_name(z), partial(accuracies, z)) for z in params.embedding_dims)]


def _images(params: Params) -> Images:
    images, labels = load(params.data_set, params.root, SPLIT[params.data_set])
    brightness = torch.as_tensor(images).flatten(1).double()
    return Images((brightness / brightness.max()).numpy(), labels.numpy())


class Pair(NamedTuple):
    """The pair of classes that is hardest to separate by raw pixels.

    Attributes:
        first, second: the classes.
        samples: equal numbers of images of both classes, for each seed.
        x: these images, centred if the settings ask for it.
        c, eigenvalues, vectors: the matrix C of each seed and its eigenpairs.
    """

    first: int
    second: int
    samples: list[Images]
    x: Float[Tensor, "seed sample pixel"]
    c: Tensor
    eigenvalues: Tensor
    vectors: Tensor


def _choose_pair(images: Images, pairs: pd.DataFrame, params: Params) -> Pair:
    first, second = least_separable(pairs)
    samples = [
        _sample(images, (first, second), params.per_class, _stream(seed, "images"))
        for seed in range(params.seeds)
    ]
    x = torch.from_numpy(np.stack([data.x for data in samples]))
    if params.centred:
        x = x - x.mean(1, keepdim=True)
    c = _c(x, params)
    values, vectors = eigenpairs(c)
    where = f"{params.per_class} images of each class"
    check_step(values.numpy(), params.embedding_dims, params.learning_rate, where)
    return Pair(first, second, samples, x, c, values, vectors)


def _accuracies(embeddings: Float[Tensor, "seed sample z"], pair: Pair, params: Params) -> list[float]:
    """Mean accuracy over the splits, by seed."""
    return [
        _over_splits(Images(z, data.y), seed, params)
        for seed, (z, data) in enumerate(zip(embeddings.numpy(), pair.samples, strict=True))
    ]


def _embedding_accuracies(
    params: Params,
    choose: Callable[[], Pair],
    objective: str | None,
    z: int,
    progress: Callable[[float], None],
) -> pd.DataFrame:
    pair = choose()
    if objective:
        maps = {"descent": _descend(pair.x, resolve(objective), z, params, progress)}
    else:
        outputs = _train(pair.c, pair.eigenvalues, pair.vectors, z, params, progress)
        maps = {method: pair.vectors @ q for method, q in zip(METHODS, outputs, strict=True)}
    rows = [
        {"z": z, "method": method, "seed": seed, "accuracy": accuracy}
        for method, linear_map in maps.items()
        for seed, accuracy in enumerate(_accuracies(pair.x @ linear_map, pair, params))
    ]
    return pd.DataFrame(rows)


def least_separable(pairs: pd.DataFrame) -> tuple[int, int]:
    """The pair of classes with the lowest mean accuracy on raw pixels, or the first of several."""
    by_pair = pairs.groupby(["first", "second"], as_index=False)["accuracy"].mean()
    row = by_pair.loc[by_pair["accuracy"].idxmin()]
    return int(row["first"]), int(row["second"])


def _pairs(images: Images, params: Params) -> pd.DataFrame:
    """Accuracy on raw pixels for every pair of classes, with a new random sample for each split."""
    pairs = combinations(np.unique(images.y).tolist(), 2)
    rows = []
    for (first, second), split in product(pairs, range(params.selection_splits)):
        rng = _stream(split, f"pair {first} {second}")
        accuracy = _accuracy(_sample(images, (first, second), params.per_class, rng), rng, params)
        rows.append({"first": first, "second": second, "seed": split, "accuracy": accuracy})
    return pd.DataFrame(rows)


def _sample(images: Images, classes: tuple[int, int], per_class: int, rng: np.random.Generator) -> Images:
    """A random sample with `per_class` images of each class.

    Raises:
        RepriseError: if a class has fewer.
    """
    members = [np.flatnonzero(images.y == label) for label in classes]
    for label, indices in zip(classes, members, strict=True):
        if len(indices) < per_class:
            raise RepriseError(
                f"per_class {per_class}: class {label} has {len(indices)} images; make it as few or fewer"
            )
    sample = np.concatenate([rng.permutation(indices)[:per_class] for indices in members])
    rng.shuffle(sample)
    return Images(images.x[sample], images.y[sample])


def _c(x: Float[Tensor, "seed sample pixel"], params: Params) -> Float[Tensor, "seed pixel pixel"]:
    """C of the mean contrastive loss; each seed has its own positives and negatives."""
    return symmetric(cross_moment(x, *_positives_and_negatives(x, params), reduction="mean"))


def _positives_and_negatives(
    x: Float[Tensor, "seed sample pixel"], params: Params
) -> tuple[Float[Tensor, "seed sample pixel"], Float[Tensor, "seed sample pixel"]]:
    positive, negative = x.clone(), x.clone()
    for seed in range(len(x)):
        rng = _stream(seed, "views")
        positive[seed] += params.positive_variance**0.5 * torch.from_numpy(rng.normal(size=x[seed].shape))
        negative[seed] = x[seed, torch.from_numpy(rng.permutation(x.shape[1]))]
    return positive, negative


def _train(
    c: Float[Tensor, "seed d d"],
    values: Float[Tensor, "seed d"],
    vectors: Float[Tensor, "seed d d"],
    z: int,
    params: Params,
    progress: Callable[[float], None],
) -> list[Float[Tensor, "seed d z"]]:
    """The outputs q on the eigenvectors of C, by each method, from one start per seed."""
    w1, w2 = orthonormal_start(range(params.seeds), params.width, c.shape[-1], z)
    start = vectors.mT @ w1.mT @ w2
    for step in range(params.steps):
        progress(step / params.steps)
        w1, w2 = gradient_step((w1, w2), c, params.learning_rate)
    outputs = [start, vectors.mT @ w1.mT @ w2]
    for ode in ODES.values():
        q = start
        for _ in range(params.steps):
            q = euler_step(ode, q, values, params.learning_rate)
        outputs.append(q)
    return outputs


def _descend(
    x: Float[Tensor, "seed sample d"],
    loss: Objective,
    z: int,
    params: Params,
    progress: Callable[[float], None],
) -> Float[Tensor, "seed d z"]:
    """Q of the outputs Qᵀ x after projected gradient descent on a loss of the images and their positives,
    from the initial weights of `_train`."""
    positive, _ = _positives_and_negatives(x, params)

    def loss_of_weights(weights: Weights) -> Tensor:
        linear_map = weights[0].mT @ weights[1]
        return loss(x @ linear_map, positive @ linear_map)

    *_, (_, (w1, w2)) = sgd(
        list(orthonormal_start(range(params.seeds), params.width, x.shape[-1], z)),
        loss_of_weights,
        learning_rate=params.learning_rate,
        steps=params.steps,
        checkpoints={params.steps},
        project=polar,
        progress=lambda step: progress(step / params.steps),
    )
    return w1.mT @ w2


def _over_splits(data: Images, seed: int, params: Params) -> float:
    """Mean accuracy over splits, which depend on the seed only."""
    streams = [_stream(split, f"splits of seed {seed}") for split in range(params.splits)]
    return float(np.mean([_accuracy(data, rng, params) for rng in streams]))


def _accuracy(data: Images, rng: np.random.Generator, params: Params) -> float:
    """Test accuracy in percent of a linear support vector machine on a random split."""
    from sklearn.svm import SVC  # takes a second to import

    order = rng.permutation(len(data.y))
    train, test = np.split(order, [round(params.train_share * len(order))])
    machine = SVC(kernel="linear", C=params.svm_c).fit(data.x[train], data.y[train])
    return 100 * float(machine.score(data.x[test], data.y[test]))


def _times(
    c: Float[Tensor, "d d"], values: Float[Tensor, " d"], vectors: Float[Tensor, "d d"], params: Params
) -> pd.DataFrame:
    """Times the steps; each repeat covers all widths, so that a slow spell of the machine affects all
    alike."""
    rate, z = params.learning_rate, params.embedding_dims[0]
    rows = []
    for repeat, width in product(range(params.repeats), params.timed_widths):
        w1, w2 = (w[0] for w in orthonormal_start([0], width, len(c), z))
        q = vectors.mT @ w1.mT @ w2
        descent = _seconds(partial(gradient_step, (w1, w2), c, rate), 1)
        ode = _seconds(partial(euler_step, ODES["printed"], q, values, rate), ODE_STEPS)
        for method, duration in (("descent", descent), ("ode", ode)):
            rows.append({"method": method, "width": width, "seed": repeat, "seconds": duration})
    return pd.DataFrame(rows)


def _seconds(step: Callable[[], object], steps: int) -> float:
    """Seconds per step, from timing `steps` of them."""

    def work() -> None:
        for _ in range(steps):
            step()

    return seconds(work) / steps


def _stream(seed: int, purpose: str) -> np.random.Generator:
    """Random numbers that depend on the seed and on their purpose."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
