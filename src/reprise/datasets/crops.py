"""Random crops of many square images at once, each resized to the whole image's size: torchvision's
RandomResizedCrop, bilinear."""

import math
from functools import cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

TRIES = 10
DRAWS = 2 * TRIES + 2
"""Uniform numbers that a box takes: area and aspect ratio of each try, then the place."""


def random_boxes(
    uniform: Float[Tensor, "*sample draw"], size: int, scale: tuple[float, float], ratio: tuple[float, float]
) -> Int[Tensor, "*sample 4"]:
    """(top, left, height, width) of RandomResizedCrop's boxes; the largest one in the centre, of an allowed
    ratio, where no try fits into the image.

    Args:
        uniform: numbers in [0, 1), `DRAWS` of them a box.
        size: height and width of the images, in pixels.
        scale: lowest and highest share of the image's area.
        ratio: lowest and highest width/height, whose logarithm is uniform.
    """
    uniform = uniform.double()  # so that a number next to 1 does not become one
    area, aspect = uniform[..., : 2 * TRIES].unflatten(-1, (TRIES, 2)).unbind(-1)
    area = size**2 * (scale[0] + (scale[1] - scale[0]) * area)
    aspect = torch.exp(math.log(ratio[0]) + (math.log(ratio[1]) - math.log(ratio[0])) * aspect)
    sides = torch.stack([area / aspect, area * aspect], -1).sqrt().round()
    fits = ((sides > 0) & (sides <= size)).all(-1)
    first = fits.int().argmax(-1)[..., None, None].expand(*fits.shape[:-1], 1, 2)
    nearest = min(max(1.0, ratio[0]), ratio[1])
    largest = (size * torch.tensor([1 / nearest, nearest]).double()).round().clamp(max=size)
    found = fits.any(-1, keepdim=True)
    box = torch.where(found, sides.gather(-2, first).squeeze(-2), largest)
    place = torch.where(found, uniform[..., 2 * TRIES :] * (size - box + 1), (size - box) / 2).floor()
    return torch.cat([place, box], -1).long()


def resized_crop(
    images: Float[Tensor, "*sample size size"], boxes: Int[Tensor, "*sample 4"]
) -> Float[Tensor, "*sample size size"]:
    """The part of each image in its box, at the whole image's size: rows @ image @ columnsᵀ, because
    bilinear resizing is linear in rows and in columns."""
    resize = _resizing(images.shape[-1]).to(images)
    top, left, height, width = boxes.unbind(-1)
    return resize[height, top] @ images @ resize[width, left].mT


@cache
def _resizing(size: int) -> Float[Tensor, "length start size size"]:
    """The matrix that stretches pixels start to start + length - 1 to `size` pixels.

    Centres of pixels lie at halves; an output pixel beyond the outermost centres takes the outermost.
    """
    length = torch.arange(size + 1, dtype=torch.float64)[:, None, None, None]
    start = torch.arange(size, dtype=torch.float64)[:, None, None]
    centre = (torch.arange(size, dtype=torch.float64)[:, None] + 0.5) * length / size - 0.5
    at = start + centre.clamp(min=0).minimum((length - 1).clamp(min=0))
    return (1 - (at - torch.arange(size)).abs()).clamp(min=0)
