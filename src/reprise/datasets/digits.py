"""The stand-in `digits`: scikit-learn's, 0 to 240 in steps of 15."""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.files import require_sha256
from reprise.datasets.recipes import Normalisation

SHA256 = "30aa855cd90427ff3c4996b3f40109597c57049f8a038cc52db1efeac8ad2e26"
"""SHA-256 of an array with a row per image, its pixels and its label, as 64-bit floating-point numbers."""
TEST = 360
"""Number of test images: the last fifth."""


class Digits(DataSet):
    def load(self, root: Path, split: str) -> Labelled:
        # The file that `sklearn.datasets.load_digits` reads; importing scikit-learn takes most of a second.
        file = distribution("scikit-learn").locate_file("sklearn/datasets/data/digits.csv.gz")
        rows = np.loadtxt(str(file), delimiter=",")
        require_sha256("data set 'digits'", rows, SHA256)
        start, end = {"train": (0, -TEST), "test": (-TEST, None), "train+test": (0, None)}[split]
        images, labels = rows[start:end, :64].reshape(-1, 1, 8, 8), rows[start:end, 64]
        return (15 * images).astype("uint8"), labels.astype(int)


DIGITS = Digits(
    name="digits",
    normalisation=Normalisation((0.287,), (0.354,)),
    counts={"train": 1_797 - TEST, "test": TEST, "train+test": 1_797},
    channels=1,
    side=8,
)
