"""Random crops of many images at once, each resized to a square: torchvision's RandomResizedCrop."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

TRIES = 10
DRAWS = 2 * TRIES + 2
"""Uniform numbers that a box takes: area and aspect ratio of each try, then the place."""


def random_boxes(
    uniform: Float[Tensor, "*sample draw"],
    size: int | tuple[int, int],
    scale: tuple[float, float],
    ratio: tuple[float, float],
) -> Int[Tensor, "*sample 4"]:
    """(top, left, height, width) of RandomResizedCrop's boxes; the largest one in the centre, of an allowed
    ratio, where no try fits into the image.

    Args:
        uniform: numbers in [0, 1), `DRAWS` of them a box.
        size: height and width of the images, in pixels; one number for square ones.
        scale: lowest and highest share of the image's area.
        ratio: lowest and highest width/height, whose logarithm is uniform.
    """
    uniform = uniform.double()  # so that a number next to 1 does not become one
    height, width = (size, size) if isinstance(size, int) else size
    whole = torch.tensor([height, width], device=uniform.device)
    area, aspect = uniform[..., : 2 * TRIES].unflatten(-1, (TRIES, 2)).unbind(-1)
    area = height * width * (scale[0] + (scale[1] - scale[0]) * area)
    aspect = torch.exp(math.log(ratio[0]) + (math.log(ratio[1]) - math.log(ratio[0])) * aspect)
    sides = torch.stack([area / aspect, area * aspect], -1).sqrt().round()
    fits = ((sides > 0) & (sides <= whole)).all(-1)
    first = fits.int().argmax(-1)[..., None, None].expand(*fits.shape[:-1], 1, 2)
    nearest = min(max(width / height, ratio[0]), ratio[1])
    largest = (
        torch.tensor([width / nearest, height * nearest]).double().round().to(whole.device).minimum(whole)
    )
    found = fits.any(-1, keepdim=True)
    box = torch.where(found, sides.gather(-2, first).squeeze(-2), largest)
    place = torch.where(found, uniform[..., 2 * TRIES :] * (whole - box + 1), (whole - box) / 2).floor()
    return torch.cat([place, box], -1).long()


@dataclass(frozen=True)
class Filter:
    """What interpolates between pixels.

    Attributes:
        weight: of a pixel, by its distance from the place looked at; in pixels.
        reach: the distance from which on it is zero.
    """

    weight: Callable[[Tensor], Tensor]
    reach: int


def _keys(distance: Tensor) -> Tensor:
    """Keys' cubic convolution with a = -1/2, as in Pillow."""
    near = (1.5 * distance - 2.5) * distance**2 + 1
    far = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return torch.where(distance < 1, near, far)


BILINEAR = Filter(lambda distance: 1 - distance, reach=1)
BICUBIC = Filter(_keys, reach=2)
FILTERS = {"bilinear": BILINEAR, "bicubic": BICUBIC}


def resized_crop(
    images: Float[Tensor, "*sample size size"], boxes: Int[Tensor, "*sample 4"], kind: Filter = BILINEAR
) -> Float[Tensor, "*sample size size"]:
    """The part of each image in its box, at the whole image's size: rows @ image @ columnsᵀ, because
    interpolation is linear in rows and in columns."""
    rows, columns = resizing(boxes, images, kind)
    return rows @ images @ columns.mT


def resizing(
    boxes: Int[Tensor, "*sample 4"], images: Float[Tensor, "*image size size"], kind: Filter
) -> tuple[Float[Tensor, "*sample size size"], Float[Tensor, "*sample size size"]]:
    """The matrices that stretch each box's rows and columns to as many as the images have, of their type and
    on their device.

    Centres of pixels lie at halves; what the filter would take from beyond the box, its other pixels share.
    """
    boxes, size = boxes.to(images.device), images.shape[-1]
    starts, lengths = boxes.unflatten(-1, (2, 2)).movedim(-2, 0)[..., None].double()
    centre = (torch.arange(size, device=boxes.device) + 0.5) * lengths / size - 0.5
    taps = torch.arange(1 - kind.reach, 1 + kind.reach, device=boxes.device)
    at = centre.floor()[..., None] + taps
    weight = kind.weight((centre[..., None] - at).abs())
    weight = weight.where((at >= 0) & (at < lengths[..., None]), 0)
    weight = (weight / weight.sum(-1, keepdim=True)).to(images)
    pixel = (starts[..., None] + at).long().clamp(0, size - 1)
    matrices = weight.new_zeros(*pixel.shape[:-1], size).scatter_add_(-1, pixel, weight)
    rows, columns = matrices.unbind(-3)
    return rows, columns
