"""Chooses two classes, trains on them, classifies the embeddings, and times the steps."""

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from reprise.contract.experiment import Context, Progress
from reprise.datasets.catalogue import load
from reprise.errors import RepriseError
from reprise.numerics.streams import stream
from reprise.objectives import resolve
from reprise.papers.esser2024.digit_classes import linear, nonlinear
from reprise.papers.esser2024.digit_classes.experiment import Pairs, Params, Task, check, embeddings
from reprise.papers.esser2024.digit_classes.timing import solution_times, step_times
from reprise.papers.esser2024.limiting_dynamics.dynamics import (
    ODES,
    check_step,
    eigenpairs,
)
from reprise.papers.esser2024.losses import cross_moment, symmetric

Array = np.ndarray

METHODS = ("start", "descent", *ODES, "limit")
"""The untrained net, projected gradient descent, Euler's method on each ODE, and where all three end: the
eigenvectors of C with the smallest eigenvalues."""


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
    """Computes five tables. Accuracies are test accuracies of a linear support vector machine, in percent.

    `pairs`: accuracy on raw pixels for every pair of classes, one row per split (`seed`). `pixels`: accuracy
    on raw pixels of the chosen pair, one row per seed, averaged over splits. `accuracy`: accuracy on
    embeddings of the chosen pair, one row per `z`, method or activation, and seed, averaged over the same
    splits; and of linear maps, how much of the eigenvector of C that separates the two classes best they
    hold, from 0 to 1. `step_seconds`: CPU time of a step of (11), of (12) and of a nonlinear net, one row per
    method, width and repeat (`seed`). `solution_seconds`: likewise of the solution of (12), its set-up
    included, and of as many steps of the nonlinear net.

    With another loss than the published one only `accuracy`, after projected gradient descent on it.
    """
    pairs = context.result(perform, params, Pairs())
    results = context.results(perform, params, embeddings(params))
    accuracy = pd.concat(results.values(), ignore_index=True)
    if context.objective:
        return {"accuracy": accuracy}
    pair = _chosen_pair(params, context)
    pixels = {
        "seed": params.seed_range(params.seeds),
        "first": pair.first,
        "second": pair.second,
        "accuracy": _accuracies(pair.x, pair, params),
    }
    triplets = _triplets(pair.x[:1], params)
    steps = step_times(pair.c[0], pair.eigenvalues[0], pair.vectors[0], triplets, params)
    return {
        "pairs": pairs,
        "pixels": pd.DataFrame(pixels),
        "accuracy": accuracy,
        "step_seconds": steps,
        "solution_seconds": solution_times(steps, triplets, params),
    }


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""
    check(params)
    if isinstance(task, Pairs):
        return _pairs(_images(params.data_set, params.root), params)
    return _embedding_accuracies(params, _chosen_pair(params, context), context.objective, task.z, progress)


@lru_cache(maxsize=1)
def _images(data_set: str, root: str) -> Images:
    images, labels = load(data_set, root, SPLIT[data_set])
    brightness = torch.as_tensor(images).flatten(1).double()
    return Images((brightness / brightness.max()).numpy(), labels.numpy())


class Pair(NamedTuple):
    """The pair of classes that is hardest to separate by raw pixels.

    Attributes:
        first, second: the classes.
        samples: equal numbers of images of both classes, for each seed.
        x: these images, centred if the settings ask for it.
        c, eigenvalues, vectors: the matrix C of each seed and its eigenpairs.
        separating: each seed's eigenvector along which the classes are farthest apart, in units of their
            spread.
    """

    first: int
    second: int
    samples: list[Images]
    x: Float[Tensor, "seed sample pixel"]
    c: Tensor
    eigenvalues: Tensor
    vectors: Tensor
    separating: Float[Tensor, "seed pixel"]


@lru_cache(maxsize=1)
def _chosen_pair(params: Params, context: Context) -> Pair:
    """The chosen pair, which all embedding dimensions share."""
    images = _images(params.data_set, params.root)
    return _choose_pair(images, context.result(perform, params, Pairs()), params)


def _choose_pair(images: Images, pairs: pd.DataFrame, params: Params) -> Pair:
    first, second = least_separable(pairs)
    samples = [
        _sample(images, (first, second), params.per_class, stream(seed, "images"))
        for seed in params.seed_range(params.seeds)
    ]
    x = torch.from_numpy(np.stack([data.x for data in samples]))
    if params.centred:
        x = x - x.mean(1, keepdim=True)
    c = _c(x, params)
    values, vectors = eigenpairs(c)
    where = f"{params.per_class} images of each class"
    check_step(values.numpy(), params.embedding_dims, params.learning_rate, where)
    index = torch.stack(
        [_separation(z, data.y == first).argmax() for z, data in zip(x @ vectors, samples, strict=True)]
    )
    separating = vectors.gather(2, index[:, None, None].expand(-1, vectors.shape[1], 1))[..., 0]
    return Pair(first, second, samples, x, c, values, vectors, separating)


def _separation(
    z: Float[Tensor, "sample direction"], is_first: Bool[Array, " sample"]
) -> Float[Tensor, " direction"]:
    """The squared distance of the two classes' means along each direction, over the sum of their
    variances."""
    one, other = z[torch.from_numpy(is_first)], z[torch.from_numpy(~is_first)]
    return (one.mean(0) - other.mean(0)).square() / (one.var(0) + other.var(0)).clamp(min=1e-12)


def _accuracies(embeddings: Float[Tensor, "seed sample z"], pair: Pair, params: Params) -> list[float]:
    """Mean accuracy over the splits, by seed; the embeddings may be those of the first seeds alone."""
    seeds = params.seed_range(len(embeddings))
    return [
        _over_splits(Images(z, data.y), seed, params)
        for seed, z, data in zip(seeds, embeddings.numpy(), pair.samples, strict=False)
    ]


def _embedding_accuracies(
    params: Params, pair: Pair, objective: str | None, z: int, progress: Progress
) -> pd.DataFrame:
    parts = 1 + len(params.activations)
    if objective:
        maps = {
            "descent": linear.descended(
                *_triplets(pair.x, params)[:2], resolve(objective), z, params, progress
            )
        }
    else:
        outputs = linear.trained(
            pair.c, pair.eigenvalues, pair.vectors, z, params, partial(_report, progress, 0, parts)
        )
        outputs.append(torch.eye(pair.c.shape[-1], z, dtype=pair.c.dtype).expand(params.seeds, -1, -1))
        maps = {method: pair.vectors @ q for method, q in zip(METHODS, outputs, strict=True)}
    rows = [
        {"z": z, "method": method, "seed": seed, "separating": separating, "accuracy": accuracy}
        for method, linear_map in maps.items()
        for seed, separating, accuracy in zip(
            params.seed_range(params.seeds),
            (pair.separating[:, None] @ linear_map).square().sum((1, 2)).tolist(),
            _accuracies(pair.x @ linear_map, pair, params),
            strict=True,
        )
    ]
    for number, activation in enumerate(() if objective else params.activations, 1):
        x = pair.x[: params.nonlinear_seeds]
        seeds = params.seed_range(len(x))
        embeddings = nonlinear.trained(
            _triplets(x, params),
            activation,
            seeds,
            width=params.width,
            z=z,
            learning_rate=params.learning_rate,
            steps=params.steps,
            progress=partial(_report, progress, number, parts),
        )
        rows += [
            {"z": z, "method": activation, "seed": seed, "separating": np.nan, "accuracy": accuracy}
            for seed, accuracy in zip(seeds, _accuracies(embeddings, pair, params), strict=True)
        ]
    return pd.DataFrame(rows)


def _report(progress: Progress, done: int, parts: int, share: float) -> None:
    progress((done + share) / parts)


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
        rng = stream(split, f"pair {first} {second}")
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
    for place, seed in enumerate(params.seed_range(len(x))):
        rng = stream(seed, "views")
        positive[place] += params.positive_variance**0.5 * torch.from_numpy(rng.normal(size=x[place].shape))
        negative[place] = x[place, torch.from_numpy(rng.permutation(x.shape[1]))]
    return positive, negative


def _over_splits(data: Images, seed: int, params: Params) -> float:
    """Mean accuracy over splits, which depend on the seed only."""
    streams = [stream(split, f"splits of seed {seed}") for split in range(params.splits)]
    return float(np.mean([_accuracy(data, rng, params) for rng in streams]))


def _accuracy(data: Images, rng: np.random.Generator, params: Params) -> float:
    """Test accuracy in percent of a linear support vector machine on a random split."""
    from sklearn.svm import SVC  # takes a second to import

    order = rng.permutation(len(data.y))
    train, test = np.split(order, [round(params.train_share * len(order))])
    machine = SVC(kernel="linear", C=params.svm_c).fit(data.x[train], data.y[train])
    return 100 * float(machine.score(data.x[test], data.y[test]))


def _triplets(x: Float[Tensor, "seed sample pixel"], params: Params) -> nonlinear.Triplets:
    return (x, *_positives_and_negatives(x, params))
