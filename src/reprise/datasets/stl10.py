"""STL-10, read by torchvision from ROOT/stl10_binary/."""

from pathlib import Path

from reprise.datasets.data_set import DataSet, Labelled, size
from reprise.datasets.recipes import Normalisation
from reprise.errors import RepriseError

COUNTS = {"train": 5_000, "test": 8_000, "unlabeled": 100_000}
"""Number of images in each file, NAME_X.bin; torchvision's loader needs all of them."""
IMAGE_BYTES = 3 * 96 * 96
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
        from torchvision.datasets import STL10

        torchvision_split = split.replace("unlabelled", "unlabeled")
        with self.md5_sums_named(root):
            dataset = STL10(root, split=torchvision_split, download=False)
        expected = sum(COUNTS[part] for part in torchvision_split.split("+"))
        return self.as_published(dataset.data, dataset.labels, expected, dataset.classes)


STL10 = Stl10(
    name="stl10",
    normalisation=Normalisation((0.4914, 0.4823, 0.4466), (0.247, 0.243, 0.261)),
    counts={"train": 5_000, "test": 8_000, "unlabelled": 100_000, "train+unlabelled": 105_000},
    side=96,
)
