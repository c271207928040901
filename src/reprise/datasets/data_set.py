"""Base class of the data sets, each of which has a module of its own and a line in `catalogue.DATA_SETS`.

A run's plan imports every data set, so their modules import torch and torchvision inside `load` only.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from jaxtyping import Int, UInt8
from numpy import ndarray as Array

from reprise.datasets.recipes import Normalisation
from reprise.errors import RepriseError

if TYPE_CHECKING:
    from reprise.datasets.folders import Folder

Labelled = tuple[Union[UInt8[Array, "image channel size size"], "Folder"], Int[Array, " image"]]
"""Images, in memory or on disk, and their classes, which count from 0; -1 for an image without a label."""


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """Labelled images. By default a stand-in, which needs no files.

    Attributes:
        normalisation: of a real data set, as solo-learn and DirectCLR have it; of a stand-in, the mean and
            deviation of all numbers of its training images, unless a comment says otherwise.
        counts: number of images in each split.
        channels: 1 or 3.
        side: pixels, of the square images that networks get.
        in_memory: whether `load` reads all images of a split.
        classes: number of classes.
    """

    name: str
    normalisation: Normalisation
    counts: Mapping[str, int]
    channels: int = 3
    side: int = 32
    in_memory: bool = True
    classes: int = 10

    def check(self, root: Path) -> None:
        """Checks that `load` will find the files it needs: that they are present, complete and of the right
        kind. A run's plan waits for this, so it looks at sizes, headers and names only.

        Raises:
            RepriseError: naming the file, what was expected and what to do.
        """

    def load(self, root: Path, split: str) -> Labelled:
        """Reads or makes a split, after `check`; MD5 sums and file counts, which take longer, are checked
        here.

        Raises:
            RepriseError: if a file's MD5 sum, the number of images or the number of classes differs from the
                published one.
        """
        raise NotImplementedError

    def require(self, folder: Path, missing: list[str], remedy: str, stand_in: str) -> None:
        """Raises RepriseError if any file is missing."""
        if missing:
            raise RepriseError(
                f"data set '{self.name}': {folder} lacks {', '.join(missing)}; {remedy}, or name another "
                f"root or, as a stand-in, the data set '{stand_in}'"
            )

    def as_published(self, images: Any, labels: Any, expected: int, classes: list[str]) -> Labelled:
        """The images and labels, if their numbers are the published ones."""
        labels = np.asarray(labels, np.int64)
        out_of_range = ((labels < -1) | (labels >= self.classes)).any()
        if len(images) != expected or len(classes) != self.classes or out_of_range:
            raise RepriseError(
                f"data set '{self.name}': {len(images)} images of {len(classes)} classes, labels from "
                f"{labels.min()} to {labels.max()}; expected {expected} of {self.classes}, labels from 0; "
                f"copy the data set again"
            )
        return images, labels

    @contextmanager
    def md5_sums_named(self, root: Path) -> Iterator[None]:
        """Says which data set fails torchvision's integrity check, which does not name the file."""
        try:
            yield
        except RuntimeError as error:
            raise RepriseError(
                f"data set '{self.name}': {root}: a file's MD5 sum differs from the published one "
                f"(torchvision: {error}); unpack the archive again"
            ) from None
