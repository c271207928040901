"""Images with labels: real data sets, read by torchvision's own loaders, and their stand-ins."""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from reprise.datasets import catalogue, photographs, shapes
from reprise.datasets.folders import Folder, Images
from reprise.errors import RepriseError

SHAPES = {"train": 5000, "test": 2000}
"""Images of the rendered stand-ins, 32x32, of the seed below."""
SHAPES_SEED = 0
PHOTOGRAPHS = {"train": slice(0, 5000), "test": slice(5000, 7000)}
"""Which crops of scikit-learn's two photographs."""
DIGITS_TEST = 360
"""scikit-learn's last digits are held out: a fifth."""

Labels = Int[Tensor, " sample"]


def load(name: str, root: str | Path, split: str = "train") -> tuple[Images, Labels]:
    """A split of a data set, and the images' classes; -1 where there is no label.

    In memory, but for ImageNet:

    | name | size | train | test | |
    |---|---|---|---|---|
    | `mnist` | 1x28x28 | 60,000 | 10,000 | |
    | `cifar10`, `cifar100` | 3x32x32 | 50,000 | 10,000 | |
    | `stl10` | 3x96x96 | 5,000 | 8,000 | `unlabelled` 100,000; `train+unlabelled` |
    | `imagenet` | 3x224x224 | 1,281,167 | 50,000 | a `Folder` |
    | `digits` | 1x8x8 | 1,437 | 360 | scikit-learn's, 0 to 240 in steps of 15; `train+test` |
    | `photographs` | 3x32x32 | 5,000 | 2,000 | crops of scikit-learn's two; class: of which |
    | `shapes` | 3x32x32 | 5,000 | 2,000 | rendered; 10 shapes |
    | `shapes-80` | | | | the same images, classes shape * 8 + colour |
    | `shapes-bright` | | | | bright backdrops: the negative control |

    Args:
        root: see `catalogue.check`; a stand-in takes no notice of it.

    Raises:
        RepriseError: see `catalogue.check`; also for a file whose MD5 sum is not the published one, and where
            the loader finds another number of images or classes than published.
    """
    catalogue.check(name, root, split)
    root = Path(root).expanduser()
    if name == "digits":
        return _digits(split)
    if name == "photographs":
        found, labels = photographs.crops(max(part.stop for part in PHOTOGRAPHS.values()))
        return found[PHOTOGRAPHS[split]], labels[PHOTOGRAPHS[split]]
    if name in catalogue.STAND_INS:
        return _shapes(name, split)
    if name == "imagenet":
        return _imagenet(root, split)
    try:
        return {"mnist": _mnist, "stl10": _stl10}.get(name, _cifar)(name, root, split)
    except RuntimeError as error:  # torchvision's, whose integrity check does not say which file
        raise RepriseError(
            f"data set '{name}': {root.absolute()}: torchvision finds an MD5 sum that is not the published "
            f"one ({error}); unpack the archive again"
        ) from None


def _digits(split: str) -> tuple[Images, Labels]:
    from sklearn.datasets import load_digits  # takes a second to import

    found = load_digits()
    start, end = {"train": (0, -DIGITS_TEST), "test": (-DIGITS_TEST, None), "train+test": (0, None)}[split]
    part = slice(start, end)
    images = torch.from_numpy(15 * found.images[part]).byte()
    return images[:, None], torch.from_numpy(found.target[part]).long()


def _shapes(name: str, split: str) -> tuple[Images, Labels]:
    style = shapes.BRIGHT if name == "shapes-bright" else shapes.DARK
    number = catalogue.SPLITS[name].index(split)
    rendered = shapes.render(SHAPES[split], seed=SHAPES_SEED, split=number, style=style)
    labels = rendered.shape_and_colour if name == "shapes-80" else rendered.shape
    return torch.from_numpy(rendered.images), torch.from_numpy(labels).long()


def _mnist(name: str, root: Path, split: str) -> tuple[Images, Labels]:
    from torchvision.datasets import MNIST

    found = MNIST(root, train=split == "train", download=False)
    return found.data[:, None], found.targets


def _cifar(name: str, root: Path, split: str) -> tuple[Images, Labels]:
    """torchvision unpickles a file only after its MD5 sum has been found to be the published one."""
    from torchvision.datasets import CIFAR10, CIFAR100

    found = {"cifar10": CIFAR10, "cifar100": CIFAR100}[name](root, train=split == "train", download=False)
    images = torch.from_numpy(found.data).permute(0, 3, 1, 2).contiguous()
    expected = sum(catalogue.CIFAR[name].images[split].values())
    return _as_published(name, images, torch.tensor(found.targets), expected, found.classes)


def _stl10(name: str, root: Path, split: str) -> tuple[Images, Labels]:
    from torchvision.datasets import STL10

    spelt = split.replace("unlabelled", "unlabeled")
    found = STL10(root, split=spelt, download=False)
    labels = torch.from_numpy(found.labels.astype(np.int64))
    expected = sum(catalogue.STL10[part] for part in spelt.split("+"))
    images = torch.from_numpy(np.ascontiguousarray(found.data))
    return _as_published(name, images, labels, expected, found.classes)


def _imagenet(root: Path, split: str) -> tuple[Images, Labels]:
    part = "val" if split == "test" else "train"
    try:
        found = Folder(root / part)
    except FileNotFoundError as error:  # a class without images
        raise RepriseError(f"data set 'imagenet': {root.absolute() / part}: {error}") from None
    return _as_published("imagenet", found, found.labels, catalogue.IMAGENET[part], found.classes)


def _as_published(
    name: str, images: Images, labels: Labels, expected: int, classes: list[str]
) -> tuple[Images, Labels]:
    outside = ((labels < -1) | (labels >= catalogue.CLASSES[name])).any()
    if len(images) != expected or len(classes) != catalogue.CLASSES[name] or outside:
        raise RepriseError(
            f"data set '{name}': {len(images)} images of {len(classes)} classes, labels from "
            f"{int(labels.min())} to {int(labels.max())}; expected {expected} of {catalogue.CLASSES[name]}, "
            f"labels from 0; copy the data set again"
        )
    return images, labels
