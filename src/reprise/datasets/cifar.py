"""CIFAR-10 and CIFAR-100, read by torchvision, which checks each file's MD5 sum before it unpickles the
file."""

from dataclasses import dataclass
from pathlib import Path

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.files import size
from reprise.datasets.recipes import Normalisation
from reprise.errors import RepriseError

IMAGE_BYTES = 3 * 32 * 32
COUNTS = {"train": 50_000, "test": 10_000}


@dataclass(frozen=True, kw_only=True)
class Cifar(DataSet):
    """A folder of pickles, each with images of 3x32x32 bytes and their labels.

    Attributes:
        files: number of images in each file, by split.
        names: file with the class names.
    """

    folder: str
    archive: str
    files: dict[str, dict[str, int]]
    names: str

    def check(self, root: Path) -> None:
        folder, images = root / self.folder, {**self.files["train"], **self.files["test"]}
        missing = [file for file in (*images, self.names) if not (folder / file).is_file()]
        self.require(folder, missing, f"unpack {self.archive} in {root}", stand_in="shapes")
        for file, count in images.items():
            length, minimum = size(folder / file), count * IMAGE_BYTES
            if length < minimum:
                raise RepriseError(
                    f"{folder / file}: truncated: {length} bytes; its {count} images take {minimum}; unpack "
                    f"{self.archive} again"
                )

    def load(self, root: Path, split: str) -> Labelled:
        from torchvision import datasets

        with self.md5_sums_named(root):
            dataset = getattr(datasets, self.name.upper())(root, train=split == "train", download=False)
        images = dataset.data.transpose(0, 3, 1, 2)
        return self.as_published(images, dataset.targets, sum(self.files[split].values()), dataset.classes)


CIFAR10 = Cifar(
    name="cifar10",
    normalisation=Normalisation((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    counts=COUNTS,
    folder="cifar-10-batches-py",
    archive="cifar-10-python.tar.gz",
    files={
        "train": {f"data_batch_{number}": 10_000 for number in range(1, 6)},
        "test": {"test_batch": 10_000},
    },
    names="batches.meta",
)
CIFAR100 = Cifar(
    name="cifar100",
    normalisation=Normalisation((0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)),
    classes=100,
    counts=COUNTS,
    folder="cifar-100-python",
    archive="cifar-100-python.tar.gz",
    files={"train": {"train": 50_000}, "test": {"test": 10_000}},
    names="meta",
)
