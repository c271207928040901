"""The stand-in `digits`: scikit-learn's, 0 to 240 in steps of 15."""

from pathlib import Path

import numpy as np

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.files import require_sha256
from reprise.datasets.recipes import Normalisation

SHA256 = "30aa855cd90427ff3c4996b3f40109597c57049f8a038cc52db1efeac8ad2e26"
"""SHA-256 of an array with a row per image, its pixels and its label, as 64-bit floating-point numbers."""
TEST = 360
"""The last fifth is held out."""


class Digits(DataSet):
    def load(self, root: Path, split: str) -> Labelled:
        from sklearn.datasets import load_digits  # takes a second to import

        digits = load_digits()
        rows = np.column_stack([digits.images.reshape(-1, 64), digits.target])
        require_sha256("data set 'digits'", rows, SHA256)
        start, end = {"train": (0, -TEST), "test": (-TEST, None), "train+test": (0, None)}[split]
        part = slice(start, end)
        return (15 * digits.images[part, None]).astype("uint8"), digits.target[part]


DIGITS = Digits(
    name="digits",
    normalisation=Normalisation((0.287,), (0.354,)),
    counts={"train": 1_797 - TEST, "test": TEST, "train+test": 1_797},
    channels=1,
    side=8,
)
