"""Every data set by name. Does not import torch, because a run's plan reads it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import AfterValidator

from reprise.datasets import (
    cifar,
    digits,
    imagenet,
    mnist,
    photographs,
    shapes,
    stl10,
    strokes,
    textures,
)
from reprise.datasets.data_set import DataSet
from reprise.datasets.files import files_named
from reprise.errors import RepriseError

if TYPE_CHECKING:
    from torch import Tensor

    from reprise.datasets.folders import Images

DATA_SETS: dict[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        digits.DIGITS,
        strokes.STROKES,
        photographs.PHOTOGRAPHS,
        photographs.PHOTOGRAPHS_MANY,
        photographs.PHOTOGRAPHS_16,
        photographs.PHOTOGRAPHS_64,
        shapes.SHAPES_10,
        shapes.SHAPES_64,
        shapes.SHAPES_80,
        shapes.SHAPES_16,
        shapes.SHAPES_16_80,
        shapes.SHAPES_BRIGHT,
        textures.TEXTURES_10,
        textures.TEXTURES_40,
        textures.TEXTURES_16,
        textures.TEXTURES_16_40,
        mnist.MNIST,
        cifar.CIFAR10,
        cifar.CIFAR100,
        imagenet.IMAGENET,
        stl10.STL10,
    )
}
"""
| name | size | train | test | |
|---|---|---|---|---|
| `mnist` | 1x28x28 | 60,000 | 10,000 | |
| `cifar10`, `cifar100` | 3x32x32 | 50,000 | 10,000 | |
| `stl10` | 3x96x96 | 5,000 | 8,000 | `unlabelled` 100,000; `train+unlabelled` |
| `imagenet` | 3x224x224 | 1,281,167 | 50,000 | a `Folder` |
| `digits` | 1x8x8 | 1,437 | 360 | scikit-learn's, 0 to 240 in steps of 15; `train+test` |
| `strokes` | 1x28x28 | 5,000 | 2,000 | rendered; digits, for MNIST |
| `photographs` | 3x32x32 | 5,000 | 2,000 | crops of scikit-learn's two; classes: the photographs |
| `photographs-many` | 3x32x32 | 5,000 | 2,000 | crops of nine; train and test crops do not overlap |
| `photographs-16` | 3x16x16 | 5,000 | 2,000 | the same crops at half the resolution |
| `photographs-64` | 3x64x64 | 20,000 | 4,000 | larger crops of the nine |
| `shapes` | 3x32x32 | 5,000 | 2,000 | rendered; 10 shapes |
| `shapes-64` | 3x64x64 | 20,000 | 4,000 | the same objects, and more of them, at twice the resolution |
| `shapes-80` | | | | the same images, classes shape * 8 + colour |
| `shapes-16`, `shapes-16-80` | 3x16x16 | 5,000 | 2,000 | the same objects at half the resolution |
| `shapes-bright` | | | | bright backdrops; the negative control |
| `textures` | 3x32x32 | 5,000 | 2,000 | rendered; 10 patterns, which raw pixels do not tell apart |
| `textures-40` | | | | the same images, classes (pattern * 2 + scale) * 2 + edge |
| `textures-16`, `textures-16-40` | 3x16x16 | 5,000 | 2,000 | the same patterns at half the resolution |
"""

MANY_CLASSES = {
    "shapes": "shapes-80", "shapes-16": "shapes-16-80",
    "textures": "textures-40", "textures-16": "textures-16-40",
}  # fmt: skip
"""Rendered data sets, and those that have more classes of the same images, so that a network serves both."""


def images_of(name: str) -> str:
    """The data set of few classes with the images of one of `MANY_CLASSES`; any other data set itself."""
    return next((few for few, many in MANY_CLASSES.items() if many == name), name)


def known(name: str) -> str:
    """The name, if it is a data set's.

    Raises:
        ValueError: if not; it names the known ones.
    """
    if name not in DATA_SETS:
        raise ValueError(f"unknown data set '{name}'; allowed: {', '.join(DATA_SETS)}")
    return name


DataSetName = Annotated[str, AfterValidator(known)]
"""The type of a setting that takes any data set."""


def check(name: str, root: str | Path, split: str = "train") -> None:
    """Checks that `load(name, root, split)` will find the files it needs.

    Args:
        root: folder that holds MNIST/raw/, cifar-10-batches-py/, cifar-100-python/ or stl10_binary/ in
            torchvision's layout, or ImageNet's train/ and val/; stand-ins ignore it.

    Raises:
        RepriseError: if the data set or split is unknown, or a file is missing, truncated or of another kind;
            it names the file, what was expected and what to do.
    """
    try:
        data_set = DATA_SETS[known(name)]
    except ValueError as error:
        raise RepriseError(str(error)) from None
    if split not in data_set.counts:
        raise RepriseError(f"data set '{name}' has no split '{split}'; allowed: {', '.join(data_set.counts)}")
    with files_named(name):
        data_set.check(_absolute(root))


def load(name: str, root: str | Path, split: str = "train") -> "tuple[Images, Tensor]":
    """A split's images and their classes, -1 for images without a label.

    All data sets except ImageNet are loaded into memory.

    Raises:
        RepriseError: see `check`; also if a file's MD5 sum, the number of images or the number of classes
            differs from the published one.
    """
    import torch

    check(name, root, split)
    with files_named(name):
        images, labels = DATA_SETS[name].load(_absolute(root), split)
    if isinstance(images, np.ndarray):
        images = torch.from_numpy(np.ascontiguousarray(images))
    return images, torch.from_numpy(labels).long()


def _absolute(root: str | Path) -> Path:
    return Path(root).expanduser().absolute()
