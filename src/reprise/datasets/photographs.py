"""The stand-in `photographs`: natural images without a download, cut from scikit-learn's two photographs."""

import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from reprise.numerics.streams import generator

SIZE = 32
"""Side of a crop, in pixels."""


def crops(count: int) -> tuple[UInt8[Tensor, "crop 3 size size"], Int[Tensor, " crop"]]:
    """Crops at different places, all as likely, and which photograph each is from.

    Any prefix is a data set: crop i is the same whatever the number of crops.
    """
    from sklearn.datasets import load_sample_images  # takes a second to import

    photographs = torch.stack([torch.tensor(image) for image in load_sample_images().images])
    tiles = photographs.unfold(1, SIZE, 1).unfold(2, SIZE, 1)  # photograph, row, column; channel, crop
    places = tiles.shape[:3]
    chosen = torch.randperm(places.numel(), generator=generator(0, "photographs"))[:count]
    at = torch.unravel_index(chosen, places)
    return tiles[at].contiguous(), at[0]
