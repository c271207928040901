"""MNIST, read by torchvision from ROOT/MNIST/raw/."""

import hashlib
import math
from pathlib import Path

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.files import size
from reprise.datasets.recipes import Normalisation
from reprise.errors import RepriseError

UNSIGNED_BYTES = 0x08
LABELS_START = 8
"""Bytes of the header of a file of labels."""
FILES = {
    "train-images-idx3-ubyte": 3,
    "train-labels-idx1-ubyte": 1,
    "t10k-images-idx3-ubyte": 3,
    "t10k-labels-idx1-ubyte": 1,
}
"""The number of dimensions of the array in each file; torchvision's loader needs all four files."""
MD5 = {
    "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
    "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
    "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
    "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
}
"""MD5 sums of the unpacked files; torchvision knows the sums of the packed files alone."""
FORMER = ("training.pt", "test.pt")
"""Files of older versions, which torchvision reads in place of the unpacked files."""


class Mnist(DataSet):
    def check(self, root: Path) -> None:
        folder = root / "MNIST" / "raw"
        missing = [file for file in FILES if not (folder / file).is_file()]
        all_packed = all((folder / f"{file}.gz").is_file() for file in missing)
        remedy = "unpack them: gunzip *.gz" if all_packed else "put MNIST's unpacked IDX files there"
        self.require(folder, missing, remedy, stand_in="strokes")
        shapes = {file: _shape(folder / file, dimensions) for file, dimensions in FILES.items()}
        for part in ("train", "t10k"):
            (images, *sides), (labels,) = (shapes[file] for file in FILES if file.startswith(part))
            if images != labels:
                raise RepriseError(f"data set 'mnist': {folder}: {images} {part} images, but {labels} labels")
            if not images or sides != [self.side, self.side]:
                raise RepriseError(
                    f"{folder / part}-images-idx3-ubyte: {images} images of {sides[0]}x{sides[1]} pixels; "
                    f"expected images of {self.side}x{self.side}; copy or download it again"
                )
            _require_digits(folder / f"{part}-labels-idx1-ubyte", self.classes)

    def load(self, root: Path, split: str) -> Labelled:
        from torchvision.datasets import MNIST

        with self.md5_sums_named(root):
            dataset = MNIST(root, train=split == "train", download=False)
        return dataset.data[:, None].numpy(), dataset.targets.numpy()


MNIST = Mnist(
    name="mnist",
    normalisation=Normalisation((0.1307,), (0.3081,)),
    counts={"train": 60_000, "test": 10_000},
    channels=1,
    side=28,
)


def require_published(root: Path) -> None:
    """Checks that what `MNIST.load` would read are the published images and labels.

    Raises:
        RepriseError: naming the file that is not.
    """
    folder = root / "MNIST" / "processed"
    if any((folder / name).exists() for name in FORMER):
        raise RepriseError(
            f"data set 'mnist': {folder}: {' and '.join(FORMER)} of an older torchvision would be read "
            f"instead of the files in {root / 'MNIST' / 'raw'}; remove them"
        )
    for name, published in MD5.items():
        file = root / "MNIST" / "raw" / name
        if hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest() != published:
            raise RepriseError(
                f"data set 'mnist': {file}: its MD5 sum differs from the published one, of 60,000 images to "
                "train on and 10,000 to test with; copy or download it again, or name the data set 'strokes'"
            )


def _require_digits(file: Path, classes: int) -> None:
    """Raises RepriseError if a file of labels holds others than 0 to `classes` - 1, naming the first."""
    labels = file.read_bytes()[LABELS_START:]
    wrong = next((number for number, label in enumerate(labels) if label >= classes), None)
    if wrong is not None:
        raise RepriseError(
            f"{file}: label {wrong} is {labels[wrong]}, expected 0 to {classes - 1}; copy or download it "
            "again"
        )


def _shape(file: Path, dimensions: int) -> list[int]:
    """Sizes of the array in an IDX file; the first is its number of images or labels.

    The header holds two zeros, the type of the numbers, the number of dimensions, and their sizes, 4 bytes
    each.
    """
    remedy = "copy or download it again"
    try:
        with file.open("rb") as stream:
            header = stream.read(4 + 4 * dimensions)
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}") from None
    length, magic = size(file), bytes((0, 0, UNSIGNED_BYTES, dimensions))
    if header[:4] != magic[: len(header)]:
        raise RepriseError(
            f"{file}: starts with {header[:4].hex()}, but an IDX file of bytes in {dimensions} dimensions "
            f"starts with {magic.hex()}; {remedy}"
        )
    sizes = [int.from_bytes(header[start : start + 4], "big") for start in range(4, len(header), 4)]
    expected = len(header) + math.prod(sizes)
    if len(header) < 4 + 4 * dimensions or length != expected:
        promise = f", its header says {expected}" if len(header) == 4 + 4 * dimensions else ""
        raise RepriseError(f"{file}: truncated or damaged: {length} bytes{promise}; {remedy}")
    return sizes
