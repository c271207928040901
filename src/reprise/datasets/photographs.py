"""The stand-in `photographs`: natural images that need no download, cut from scikit-learn's two
photographs."""

import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from reprise.numerics.streams import generator

SIZE = 32
"""Side of a crop, in pixels."""


def crops(count: int) -> tuple[UInt8[Tensor, "crop 3 size size"], Int[Tensor, " crop"]]:
    """Crops at distinct, uniformly drawn positions, and the photograph that each comes from.

    Crop i does not depend on `count`, so any prefix is a data set too.
    """
    from sklearn.datasets import load_sample_images  # takes a second to import

    photographs = torch.stack([torch.tensor(image) for image in load_sample_images().images])
    tiles = photographs.unfold(1, SIZE, 1).unfold(2, SIZE, 1)  # photograph, row, column; channel, crop
    places = tiles.shape[:3]
    crop_numbers = torch.randperm(places.numel(), generator=generator(0, "photographs"))[:count]
    positions = torch.unravel_index(crop_numbers, places)
    return tiles[positions].contiguous(), positions[0]
