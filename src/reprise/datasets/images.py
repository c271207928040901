"""Labelled images: real data sets, read by torchvision's loaders, and stand-ins for them."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from reprise.datasets import catalogue, photographs, shapes
from reprise.datasets.folders import Folder, Images
from reprise.errors import RepriseError

SHAPES = {"train": 5000, "test": 2000}
"""Number of images in the rendered stand-ins, 32x32, which all use the seed below."""
SHAPES_SEED = 0
PHOTOGRAPHS = {"train": slice(0, 5000), "test": slice(5000, 7000)}
"""The crops of scikit-learn's two photographs that make each split."""
DIGITS_TEST = 360
"""The last fifth of scikit-learn's digits is held out."""

Labels = Int[Tensor, " sample"]


def load(name: str, root: str | Path, split: str = "train") -> tuple[Images, Labels]:
    """Loads a split of a data set: its images and their classes, -1 for images without a label.

    All data sets except ImageNet are loaded into memory.

    | name | size | train | test | |
    |---|---|---|---|---|
    | `mnist` | 1x28x28 | 60,000 | 10,000 | |
    | `cifar10`, `cifar100` | 3x32x32 | 50,000 | 10,000 | |
    | `stl10` | 3x96x96 | 5,000 | 8,000 | `unlabelled` 100,000; `train+unlabelled` |
    | `imagenet` | 3x224x224 | 1,281,167 | 50,000 | a `Folder` |
    | `digits` | 1x8x8 | 1,437 | 360 | scikit-learn's, 0 to 240 in steps of 15; `train+test` |
    | `photographs` | 3x32x32 | 5,000 | 2,000 | crops of scikit-learn's two; classes: the photographs |
    | `shapes` | 3x32x32 | 5,000 | 2,000 | rendered; 10 shapes |
    | `shapes-80` | | | | the same images, classes shape * 8 + colour |
    | `shapes-bright` | | | | bright backdrops; the negative control |

    Args:
        root: see `catalogue.check`; stand-ins ignore it.

    Raises:
        RepriseError: see `catalogue.check`; also if a file's MD5 sum, the number of images or the number of
            classes differs from the published one.
    """
    catalogue.check(name, root, split)
    root = Path(root).expanduser()
    if name == "digits":
        return _digits(split)
    if name == "photographs":
        crops, labels = photographs.crops(max(part.stop for part in PHOTOGRAPHS.values()))
        return crops[PHOTOGRAPHS[split]], labels[PHOTOGRAPHS[split]]
    if name in catalogue.STAND_INS:
        return _shapes(name, split)
    if name == "imagenet":
        return _imagenet(root, split)
    try:
        return {"mnist": _mnist, "stl10": _stl10}.get(name, _cifar)(name, root, split)
    except RuntimeError as error:  # torchvision's integrity check does not name the file
        raise RepriseError(
            f"data set '{name}': {root.absolute()}: a file's MD5 sum differs from the published one "
            f"(torchvision: {error}); unpack the archive again"
        ) from None


def _digits(split: str) -> tuple[Images, Labels]:
    from sklearn.datasets import load_digits  # takes a second to import

    digits = load_digits()
    start, end = {"train": (0, -DIGITS_TEST), "test": (-DIGITS_TEST, None), "train+test": (0, None)}[split]
    part = slice(start, end)
    images = torch.from_numpy(15 * digits.images[part]).byte()
    return images[:, None], torch.from_numpy(digits.target[part]).long()


def _shapes(name: str, split: str) -> tuple[Images, Labels]:
    style = shapes.BRIGHT if name == "shapes-bright" else shapes.DARK
    number = catalogue.SPLITS[name].index(split)
    dataset = shapes.render(SHAPES[split], seed=SHAPES_SEED, split=number, style=style)
    labels = dataset.shape_and_colour if name == "shapes-80" else dataset.shape
    return torch.from_numpy(dataset.images), torch.from_numpy(labels).long()


def _mnist(name: str, root: Path, split: str) -> tuple[Images, Labels]:
    from torchvision.datasets import MNIST

    dataset = MNIST(root, train=split == "train", download=False)
    return dataset.data[:, None], dataset.targets


def _cifar(name: str, root: Path, split: str) -> tuple[Images, Labels]:
    """torchvision checks each file's MD5 sum before it unpickles the file."""
    from torchvision.datasets import CIFAR10, CIFAR100

    dataset = {"cifar10": CIFAR10, "cifar100": CIFAR100}[name](root, train=split == "train", download=False)
    images = torch.from_numpy(dataset.data).permute(0, 3, 1, 2).contiguous()
    expected = sum(catalogue.CIFAR[name].images[split].values())
    return _as_published(name, images, torch.tensor(dataset.targets), expected, dataset.classes)


def _stl10(name: str, root: Path, split: str) -> tuple[Images, Labels]:
    from torchvision.datasets import STL10

    torchvision_split = split.replace("unlabelled", "unlabeled")
    dataset = STL10(root, split=torchvision_split, download=False)
    labels = torch.from_numpy(dataset.labels.astype(np.int64))
    expected = sum(catalogue.STL10[part] for part in torchvision_split.split("+"))
    images = torch.from_numpy(np.ascontiguousarray(dataset.data))
    return _as_published(name, images, labels, expected, dataset.classes)


def _imagenet(root: Path, split: str) -> tuple[Images, Labels]:
    part = "val" if split == "test" else "train"
    try:
        folder = Folder(root / part)
    except FileNotFoundError as error:  # a class without images
        raise RepriseError(f"data set 'imagenet': {root.absolute() / part}: {error}") from None
    return _as_published("imagenet", folder, folder.labels, catalogue.IMAGENET[part], folder.classes)


def _as_published(
    name: str, images: Images, labels: Labels, expected: int, classes: list[str]
) -> tuple[Images, Labels]:
    out_of_range = ((labels < -1) | (labels >= catalogue.CLASSES[name])).any()
    if len(images) != expected or len(classes) != catalogue.CLASSES[name] or out_of_range:
        raise RepriseError(
            f"data set '{name}': {len(images)} images of {len(classes)} classes, labels from "
            f"{int(labels.min())} to {int(labels.max())}; expected {expected} of {catalogue.CLASSES[name]}, "
            f"labels from 0; copy the data set again"
        )
    return images, labels
