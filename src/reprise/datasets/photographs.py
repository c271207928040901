"""The stand-in `photographs`: natural images that need no download, cut from scikit-learn's two
photographs."""

from pathlib import Path

import numpy as np

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.recipes import Normalisation

SIZE = 32
"""Side of a crop, in pixels."""
CROPS = {"train": slice(0, 5000), "test": slice(5000, 7000)}
"""Those of each split."""


class Photographs(DataSet):
    """The classes are the photographs."""

    def load(self, root: Path, split: str) -> Labelled:
        images, labels = crops(max(part.stop for part in CROPS.values()))
        return images[CROPS[split]], labels[CROPS[split]]


PHOTOGRAPHS = Photographs(
    name="photographs",
    normalisation=Normalisation((0.405,), (0.331,)),
    counts={split: part.stop - part.start for split, part in CROPS.items()},
    side=SIZE,
    classes=2,
)


def crops(count: int) -> Labelled:
    """Crops at distinct, uniformly drawn positions, and the photograph that each comes from.

    Crop i does not depend on `count`, so any prefix is a data set too.
    """
    import torch
    from sklearn.datasets import load_sample_images  # takes a second to import

    from reprise.numerics.streams import generator

    photographs = np.stack(load_sample_images().images)
    tiles = np.lib.stride_tricks.sliding_window_view(photographs, (SIZE, SIZE), (1, 2))
    places = tiles.shape[:3]  # photograph, row, column; channel, crop
    crop_numbers = torch.randperm(np.prod(places), generator=generator(0, "photographs"))[:count]
    positions = np.unravel_index(crop_numbers.numpy(), places)
    return tiles[positions], positions[0]
