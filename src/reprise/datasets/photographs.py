"""The stand-ins `photographs`, `photographs-many`, `photographs-16` and `photographs-64`: crops of
photographs that lie in installed packages and need no download.

`photographs` is cut from scikit-learn's two, the others from nine, all in colour. NOTICE names their authors
and licences.

Of those in scikit-image's wheel, two are left out: the motorcycle, whose licence it does not name, and the
retina, a disc on black.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Int, UInt8
from numpy import ndarray as Array

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.files import require_sha256
from reprise.datasets.recipes import Normalisation
from reprise.numerics.streams import generator

SHA256 = {
    "china": "e701459344fd69797154c91add3bb5d70e5ed1a61d8bed889bab3a796104698d",
    "flower": "3202904ed246795bf616c66d7859cd7c6080eff736c6e38dc5cc62779742033f",
    "astronaut": "a8c429c18afa7b0fd5673e598d73a21225d94c864a71bbb3885126fdecb41071",
    "cat": "416b729128bfb2c3d1eb69bf9b1734a796293abc17939267b2dc94f8a5784031",
    "coffee": "0ce2b51640b9c95f19617f03eabf40c3f0368589cc1ee1190b70966165ac184f",
    "hubble_deep_field": "9a3ea9548188f81e63435188456e74de45a981ebeb791e265abe79a26d3b528b",
    "immunohistochemistry": "c5b3ef509a92f16d4c29be8cf0300fe75d53e13a3ce650159db932caea8dcc1b",
    "rocket": "3d4435cc745752b7f9724df88c6e18817de3ce7e3d2d71c55f85f7831e68f197",
    "grace_hopper": "f7f982de68dd296af67ee51b2a95a2e5658f7bf064c6536520b66bae8d01fc34",
}
"""SHA-256 of each photograph's pixels, row by row; another decoder of JPEG may round them differently."""
SIZE = 32
"""Side of a crop, in pixels."""
CROPS = {"train": slice(0, 5000), "test": slice(5000, 7000)}
"""Indices of the crops of each split."""


class Photographs(DataSet):
    """The classes are the photographs."""

    def load(self, root: Path, split: str) -> Labelled:
        images, labels = crops(max(part.stop for part in CROPS.values()))
        return images[CROPS[split]], labels[CROPS[split]]


PHOTOGRAPHS = Photographs(
    name="photographs",
    normalisation=Normalisation((0.405,), (0.331,)),  # the mean of the channels' deviations
    counts={split: part.stop - part.start for split, part in CROPS.items()},
    side=SIZE,
    classes=2,
)


def crops(count: int) -> Labelled:
    """Crops at distinct, uniformly drawn positions, and the photograph that each comes from.

    Crop i does not depend on `count`, so any prefix is a data set too.
    """
    import torch
    from sklearn.datasets import load_sample_image  # takes a second to import

    photographs = np.stack(
        [_published(name, load_sample_image(f"{name}.jpg")) for name in ("china", "flower")]
    )
    tiles = np.lib.stride_tricks.sliding_window_view(photographs, (SIZE, SIZE), (1, 2))
    places = tiles.shape[:3]  # photograph, row, column; channel, crop
    crop_numbers = torch.randperm(np.prod(places), generator=generator(0, "photographs"))[:count]
    positions = np.unravel_index(crop_numbers.numpy(), places)
    return tiles[positions], positions[0]


TRAINED = 0.7
"""The left part of a photograph's width that train crops lie in; test crops lie in the rest."""


@dataclass(frozen=True, kw_only=True)
class ManyPhotographs(DataSet):
    """The classes are the nine photographs, in turn."""

    pooled: int = 1
    """Pixels of a photograph, a side, whose mean is a pixel of an image."""

    def load(self, root: Path, split: str) -> Labelled:
        images, labels = crops_of_many(self.counts[split], split, self.side * self.pooled)
        if self.pooled == 1:
            return images, labels
        blocks = images.reshape(*images.shape[:2], self.side, self.pooled, self.side, self.pooled)
        return (blocks.mean((3, 5)) + 0.5).astype(np.uint8), labels


PHOTOGRAPHS_MANY = ManyPhotographs(
    name="photographs-many",
    normalisation=Normalisation((0.371,), (0.281,)),  # the mean of the channels' deviations
    counts=PHOTOGRAPHS.counts,
    side=SIZE,
    classes=9,
)
PHOTOGRAPHS_16 = replace(
    PHOTOGRAPHS_MANY,
    name="photographs-16",
    normalisation=Normalisation((0.371,), (0.285,)),
    side=16,
    pooled=2,
)
PHOTOGRAPHS_64 = replace(
    PHOTOGRAPHS_MANY,
    name="photographs-64",
    normalisation=Normalisation((0.375,), (0.28,)),  # the mean of the channels' deviations
    counts={"train": 20_000, "test": 4000},
    side=64,
)


def crops_of_many(
    count: int, split: str, side: int
) -> tuple[UInt8[Array, "image 3 side side"], Int[Array, " image"]]:
    """Crops at distinct positions, drawn uniformly within each photograph; no train crop overlaps a test
    crop. Crop i does not depend on `count`.

    Args:
        side: of a crop, in pixels.
    """
    import torch

    photographs = many()
    images, labels = np.empty((count, 3, side, side), np.uint8), np.arange(count) % len(photographs)
    for label, (name, photograph) in enumerate(photographs.items()):
        edge = round(TRAINED * photograph.shape[1])
        part = photograph[:, :edge] if split == "train" else photograph[:, edge:]
        tiles = np.lib.stride_tricks.sliding_window_view(part, (side, side), (0, 1))
        places = tiles.shape[:2]  # row, column; channel, crop
        rows = labels == label
        order = torch.randperm(np.prod(places), generator=generator(0, f"photographs {name} {split}"))
        images[rows] = tiles[np.unravel_index(order[: rows.sum()].numpy(), places)]
    return images, labels


def many() -> Mapping[str, UInt8[Array, "row column 3"]]:
    """The nine photographs, by name.

    Raises:
        RepriseError: if one of them has other pixels than the published results were made from.
    """
    from matplotlib import cbook, image  # these take a second to import
    from skimage import data
    from sklearn.datasets import load_sample_image

    photographs = {
        **{name: load_sample_image(f"{name}.jpg") for name in ("china", "flower")},
        "astronaut": data.astronaut(),
        "cat": data.cat(),
        "coffee": data.coffee(),
        "hubble_deep_field": data.hubble_deep_field(),
        "immunohistochemistry": data.immunohistochemistry(),
        "rocket": data.rocket(),
        "grace_hopper": image.imread(cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)),
    }
    return {name: _published(name, photograph) for name, photograph in photographs.items()}


def _published(name: str, photograph: UInt8[Array, "row column 3"]) -> UInt8[Array, "row column 3"]:
    require_sha256(f"photograph '{name}'", photograph, SHA256[name])
    return photograph
