"""The rendered data sets, at any number of pixels."""

from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.annex.diagnose.trained import two_views
from reprise.datasets import shapes, textures
from reprise.datasets.catalogue import DATA_SETS
from reprise.datasets.recipes import SHAPES
from reprise.training.images import Data


@cache
def rendered(name: str, size: int, images: int, test_images: int) -> Data:
    """Images of ten classes, those of the catalogue but for their size."""
    tensors = []
    for split, count in enumerate((images, test_images)):
        if name == "textures":
            texture = textures.render(count, seed=0, split=split, size=size)
            pixels, labels = texture.images, texture.pattern
        else:
            shape = shapes.render(count, seed=shapes.SEED, split=split, size=size)
            pixels, labels = shape.images, shape.shape
        tensors += [torch.from_numpy(pixels), torch.from_numpy(labels)]
    return Data(*tensors)


@cache
def views_of(
    name: str, size: int, images: int, test_images: int
) -> tuple[Float[Tensor, "image channel side side"], Float[Tensor, "image channel side side"]]:
    """Two random views of each test image, the same for every network."""
    return two_views(rendered(name, size, images, test_images), SHAPES, DATA_SETS[name].normalisation)
