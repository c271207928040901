"""Images with labels: real data sets, read by torchvision's own loaders, and their stand-ins."""

from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor

from reprise.datasets import files

Images = Float[Tensor, "sample row column"]
Labels = Int[Tensor, " sample"]


def load(name: str, root: str | Path) -> tuple[Images, Labels]:
    """A data set's training images, in [0, 1], and their classes.

    Args:
        name: `mnist`: 60,000 of 28x28; `digits`: scikit-learn's 1797 of 8x8, which need no files.
        root: the folder that holds MNIST/raw/; a package's data set takes no notice of it.

    Raises:
        RepriseError: see `files.check`.
    """
    files.check(name, root)
    return {"digits": _digits, "mnist": _mnist}[name](Path(root).expanduser())


def _digits(_: Path) -> tuple[Images, Labels]:
    from sklearn.datasets import load_digits  # takes a second to import

    found = load_digits()
    return torch.from_numpy(found.images).float() / 16, torch.from_numpy(found.target).long()


def _mnist(root: Path) -> tuple[Images, Labels]:
    from torchvision.datasets import MNIST

    found = MNIST(root, train=True, download=False)
    return found.data.float() / 255, found.targets
