"""STL-10, read from ROOT/stl10_binary/ as torchvision reads it."""

import hashlib
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.files import size
from reprise.datasets.recipes import Normalisation
from reprise.errors import RepriseError

COUNTS = {"train": 5_000, "test": 8_000, "unlabeled": 100_000}
"""Number of images in each file, NAME_X.bin."""
IMAGE_BYTES = 3 * 96 * 96
BLOCK = 1000
"""Images read at a time."""
CLASS_NAMES = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")


class Stl10(DataSet):
    def check(self, root: Path) -> None:
        folder, remedy = root / "stl10_binary", f"unpack stl10_binary.tar.gz in {root}"
        sizes = {f"{part}_X.bin": count * IMAGE_BYTES for part, count in COUNTS.items()}
        sizes |= {f"{part}_y.bin": COUNTS[part] for part in ("train", "test")}
        missing = [file for file in (*sizes, "class_names.txt") if not (folder / file).is_file()]
        self.require(folder, missing, remedy, stand_in="shapes")
        for file, expected in sizes.items():
            if (length := size(folder / file)) != expected:
                raise RepriseError(f"{folder / file}: {length} bytes, expected {expected}; {remedy} again")
        names = tuple((folder / "class_names.txt").read_text(errors="replace").split())
        if names != CLASS_NAMES:
            raise RepriseError(
                f"{folder / 'class_names.txt'}: names {', '.join(names) or 'nothing'}; expected "
                f"{', '.join(CLASS_NAMES)}; {remedy} again"
            )

    def load(self, root: Path, split: str) -> Labelled:
        """The images are in memory once, 27,648 bytes each; torchvision's loader holds them twice."""
        parts = split.replace("unlabelled", "unlabeled").split("+")
        images = np.empty((sum(COUNTS[part] for part in parts), 3, 96, 96), np.uint8)
        labels = np.zeros(len(images), np.uint8)  # in the files they count from 1
        start = 0
        for part in parts:
            rows = slice(start, start + COUNTS[part])
            _read(root / "stl10_binary" / f"{part}_X.bin", images[rows].swapaxes(2, 3))
            if part != "unlabeled":
                _read(root / "stl10_binary" / f"{part}_y.bin", labels[rows])
            start = rows.stop
        return self.as_published(images, labels.astype(np.int64) - 1, len(images), list(CLASS_NAMES))


def _read(file: Path, array: UInt8[np.ndarray, "item *shape"]) -> None:
    """Fills an array of bytes with those of a file, `BLOCK` items at a time.

    Raises:
        RepriseError: if the file's MD5 sum is not the published one.
    """
    from torchvision.datasets import STL10

    digest = hashlib.md5(usedforsecurity=False)
    with file.open("rb") as opened:
        for start in range(0, len(array), BLOCK):
            block = array[start : start + BLOCK]
            content = opened.read(block.nbytes)
            digest.update(content)
            block[:] = np.frombuffer(content, np.uint8).reshape(block.shape)
    if digest.hexdigest() != dict(STL10.train_list + STL10.test_list)[file.name]:
        raise RepriseError(
            f"{file}: its MD5 sum differs from the published one; unpack stl10_binary.tar.gz again"
        )


STL10 = Stl10(
    name="stl10",
    normalisation=Normalisation((0.4914, 0.4823, 0.4466), (0.247, 0.243, 0.261)),
    counts={"train": 5_000, "test": 8_000, "unlabelled": 100_000, "train+unlabelled": 105_000},
    side=96,
)
