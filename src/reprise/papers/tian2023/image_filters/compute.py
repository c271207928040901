"""Trains the net on images without and with random crops and, as a control, a linear net without crops."""

import math
from collections.abc import Iterator
from functools import cache
from itertools import islice

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from reprise.contract.experiment import Context, Progress
from reprise.contract.tidy import Axes, tidy
from reprise.datasets.catalogue import load
from reprise.datasets.crops import BILINEAR, DRAWS, random_boxes, resizing
from reprise.networks.dense import Weights, default_init
from reprise.numerics.streams import Streams
from reprise.papers.tian2023.descent import descend
from reprise.papers.tian2023.image_filters import measures
from reprise.papers.tian2023.image_filters.experiment import (
    ARMS,
    FIELDS,
    WITH_UNTRAINED,
    Params,
    Task,
    tasks,
)
from reprise.papers.tian2023.receptive_fields import Block, Net
from reprise.papers.tian2023.sequences import Arm
from reprise.training.replicas import left_of_start

SPLIT = {"mnist": "train", "strokes": "train", "digits": "train+test"}
PATCHES = 2000
"""Images whose patches the filters are matched with."""
BLOCK = 32
"""Minibatches prepared at once."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """The final and the untrained filters of the first seed, statistics of all filters during training, and
    `patterns`: the final filters beside untrained ones."""
    (filter_table,) = context.results(perform, params, tasks(params, context.objective)).values()
    size, checkpoints = math.isqrt(filter_table.shape[1]), checkpoints_of(params.steps)
    shape = len(checkpoints), len(ARMS), params.seeds, len(FIELDS), params.filters, size, size
    snapshots = torch.tensor(filter_table.to_numpy()).view(shape)
    start = _start(params, size)[0].mT.unflatten(-1, (size, size)).double()
    remainder = left_of_start(
        learning_rate=params.learning_rate,
        momentum=params.momentum,
        weight_decay=params.weight_decay,
        steps=params.steps,
    )
    course = []
    for step, snapshot in zip(checkpoints, snapshots, strict=True):
        filters = snapshot.double()
        learned = measures.learned(filters, remainder[step] * start)
        course.append(statistics(filters, learned))
    last = torch.cat([filters, start[None]])
    counted = torch.cat([learned, torch.ones_like(learned[:1])])
    axes: Axes = {"seed": params.seed_range(params.seeds), "field": FIELDS}
    filter_axes: Axes = {"unit": range(params.filters), "row": range(size), "column": range(size)}
    first = last[:, 0].float()
    return {
        "filters": tidy(
            {"arm": WITH_UNTRAINED, "field": FIELDS, **filter_axes},
            weight=first,
            learned=counted[:, 0, ..., None, None].expand(first.shape),
        ),
        "statistics": tidy(
            {"step": checkpoints, "arm": ARMS, **axes},
            **{name: torch.stack([each[name] for each in course]) for name in course[0]},
        ),
        "patterns": tidy({"arm": WITH_UNTRAINED, **axes}, **_patterns(params, last, counted)),
    }


def _patterns(
    params: Params,
    filters: Float[Tensor, "arm seed field unit row column"],
    counted: Bool[Tensor, "arm seed field unit"],
) -> dict[str, Float[Tensor, "arm seed field"]]:
    """Effective rank of each field's counted filters and their mean match with the images."""
    patches = quadrants(_images(params.data_set, params.root)[:PATCHES, None])
    patches = patches.unflatten(-1, filters.shape[-2:]).double()
    match = torch.stack([measures.match(arm, patches) for arm in filters])
    return {
        "effective_rank": measures.effective_rank(filters, counted),
        "match": measures.mean_over(match, counted),
    }


@cache
def _images(data_set: str, root: str) -> Float[Tensor, "sample row column"]:
    images = load(data_set, root, SPLIT[data_set])[0][:, 0]
    return images / images.max()  # in [0, 1]; for scikit-learn's digits, exact multiples of 1/16


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The filters at every checkpoint: one column per pixel, one row per checkpoint, arm, seed, field and
    unit, in this order; replica = arm * seeds + seed."""
    images = _images(params.data_set, params.root)
    activations = [params.activation, params.activation, "linear"]
    arms = [
        Arm(activation, context.objective or Arm.objective, variance=params.variance_gradient)
        for activation in activations
    ]
    descent = descend(
        Net(arms, pooled_statistics=params.pooled_statistics, temperature=params.temperature),
        [weights.expand(len(ARMS), *weights.shape) for weights in _start(params, images.shape[-1] // 2)],
        minibatches(images, params),
        learning_rate=params.learning_rate,
        momentum=params.momentum,
        weight_decay=params.weight_decay,
        steps=params.steps,
        checkpoints=checkpoints_of(params.steps),
        progress=lambda step: progress(step / params.steps),
    )
    filters = torch.stack([lower.mT for _, (lower, _) in descent]).flatten(0, -2)
    return pd.DataFrame(filters.numpy(), columns=[f"pixel{pixel}" for pixel in range(filters.shape[-1])])


def _start(params: Params, size: int) -> Weights:
    """Initial weights of both layers for each seed, [seed, field, in, out]."""
    seeds, fields, pixels, units = params.seed_range(params.seeds), len(FIELDS), size**2, params.filters
    lower = default_init(Streams(seeds, "first layer"), fields, pixels, units, inputs=pixels)
    upper = default_init(Streams(seeds, "top layer"), fields, units, params.outputs, inputs=fields * units)
    return [lower, upper]


def checkpoints_of(steps: int) -> list[int]:
    """Twenty equally spaced steps, without step 0, where nothing has been learned."""
    return sorted({steps * k // 20 for k in range(1, 21)} - {0})


def minibatches(images: Float[Tensor, "sample row column"], params: Params) -> Iterator[Block]:
    """Two views of each image, cut into fields, for every arm; all arms of a seed see the same images.

    Without augmentation both views are the image itself. A field's rows are the views of all samples.
    """
    seeds, batch = params.seed_range(params.seeds), params.batch_size
    order, boxes = epochs(seeds, len(images), batch), Streams(seeds, "crops")
    row = torch.arange(2 * batch).view(2, batch, 1).expand(len(seeds), BLOCK, -1, -1, len(FIELDS))
    size, cut = images.shape[-1], quadrants(images[None])
    stretch = stretches(size)
    while True:
        index = torch.stack(list(islice(order, BLOCK)), 1)
        box = random_boxes(boxes.uniform(BLOCK, 2, batch, DRAWS), size, params.crop_scale, params.crop_ratio)
        top, left, height, width = box.unbind(-1)
        rows, columns = stretch[top, height - 1], stretch[left, width - 1]
        cropped = rows @ images[index][:, :, None] @ columns.mT
        x = cut.new_empty(len(ARMS), len(seeds), BLOCK, len(FIELDS), 2 * batch, cut.shape[-1])
        x.unflatten(-2, (2, batch))[::2] = cut[:, index].movedim(0, 2)[:, :, :, None]  # plain and linear
        x[1] = quadrants(cropped)
        yield Block(row, x)


def stretches(size: int) -> Float[Tensor, "start length size size"]:
    """The matrix of `crops.resizing` for every first pixel and length, from 1 on, of a crop's side: looked
    up, because computing it takes longer than the crop."""
    pixels = torch.arange(size)
    start, length = torch.meshgrid(pixels, pixels + 1, indexing="ij")
    boxes = torch.stack([start, start, length, length], -1)
    return resizing(boxes, torch.empty(size, size), BILINEAR)[0]


def epochs(seeds: range, samples: int, batch_size: int) -> Iterator[Int[Tensor, "seed batch"]]:
    """Yields minibatches of one permutation after the other; each drops the samples that fill no
    minibatch."""
    streams, usable = Streams(seeds, "order"), samples // batch_size * batch_size
    while True:
        yield from streams.uniform(samples).argsort(dim=-1, stable=True)[:, :usable].split(batch_size, 1)


def quadrants(
    views: Float[Tensor, "*arm view sample row column"],
) -> Float[Tensor, "*arm field view_sample pixel"]:
    """Cuts views into the four disjoint receptive fields, in the order of `FIELDS`, each as a vector."""
    size = views.shape[-1] // 2
    cut = views.flatten(-4, -3).unflatten(-1, (2, size)).unflatten(-3, (2, size))
    # ..., view_sample, vertical half, row, horizontal half, column
    *arms, samples, _, _, _, _ = cut.shape
    halves = cut.movedim((-4, -2), (-5, -4))
    return halves.reshape(*arms, len(FIELDS), samples, size**2)


def statistics(
    filters: Float[Tensor, "*field unit row column"], learned: Bool[Tensor, "*field unit"]
) -> dict[str, Float[Tensor, "*field"]]:
    """Statistics of each field's learned filters: mean shares of power at high frequencies, effective rank,
    and their number. Without learned filters all but the number are NaN."""
    shares = {
        name: measures.mean_over(measures.high_frequency_share(filters, with_mean=with_mean), learned)
        for name, with_mean in (("high_frequency_share", True), ("high_frequency_share_without_mean", False))
    }
    return {
        **shares,
        "effective_rank": measures.effective_rank(filters, learned),
        "learned": learned.double().sum(-1),
    }
