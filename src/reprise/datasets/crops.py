"""Random crops of many images at once, resized to squares: torchvision's RandomResizedCrop, batched."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

TRIES = 10
DRAWS = 2 * TRIES + 2
"""Uniform random numbers per box: area and aspect ratio for each try, then the position."""


def random_boxes(
    uniform: Float[Tensor, "*sample draw"],
    size: int | Int[Tensor, "*sample 2"],
    scale: tuple[float, float],
    ratio: tuple[float, float],
) -> Int[Tensor, "*sample 4"]:
    """RandomResizedCrop's boxes, as (top, left, height, width).

    If no try fits into the image, the box is the largest centred one with an allowed aspect ratio.

    Args:
        uniform: numbers in [0, 1), `DRAWS` per box.
        size: height and width of each image in pixels, or the side of square images.
        scale: lowest and highest share of the image's area.
        ratio: lowest and highest width/height, whose logarithm is uniform.
    """
    uniform = uniform.double()  # so that no number just below 1 rounds to 1
    image_size = torch.as_tensor(size, device=uniform.device).double().expand(*uniform.shape[:-1], 2)
    height, width = image_size.unbind(-1)
    area, aspect = uniform[..., : 2 * TRIES].unflatten(-1, (TRIES, 2)).unbind(-1)
    area = (height * width)[..., None] * (scale[0] + (scale[1] - scale[0]) * area)
    aspect = torch.exp(math.log(ratio[0]) + (math.log(ratio[1]) - math.log(ratio[0])) * aspect)
    sides = torch.stack([area / aspect, area * aspect], -1).sqrt().round()
    fits = ((sides > 0) & (sides <= image_size[..., None, :])).all(-1)
    first_fit = fits.int().argmax(-1)[..., None, None].expand(*fits.shape[:-1], 1, 2)
    nearest = (width / height).clamp(*ratio)
    largest = torch.stack([width / nearest, height * nearest], -1).round().minimum(image_size)
    any_fit = fits.any(-1, keepdim=True)
    box = torch.where(any_fit, sides.gather(-2, first_fit).squeeze(-2), largest)
    place = torch.where(
        any_fit, uniform[..., 2 * TRIES :] * (image_size - box + 1), (image_size - box) / 2
    ).floor()
    return torch.cat([place, box], -1).long()


@dataclass(frozen=True)
class Filter:
    """An interpolation filter.

    Attributes:
        weight: maps a pixel's distance from the sampled position, in pixels, to its weight.
        reach: distance in pixels beyond which the weight is zero.
    """

    weight: Callable[[Tensor], Tensor]
    reach: int


def _keys(distance: Tensor) -> Tensor:
    """Keys' cubic convolution kernel with a = -1/2, as in Pillow."""
    near_weight = (1.5 * distance - 2.5) * distance**2 + 1
    far_weight = ((-0.5 * distance + 2.5) * distance - 4) * distance + 2
    return torch.where(distance < 1, near_weight, far_weight)


BILINEAR = Filter(lambda distance: 1 - distance, reach=1)
BICUBIC = Filter(_keys, reach=2)
FILTERS = {"bilinear": BILINEAR, "bicubic": BICUBIC}


def resized_crop(
    images: Float[Tensor, "*sample size size"], boxes: Int[Tensor, "*sample 4"], kind: Filter = BILINEAR
) -> Float[Tensor, "*sample size size"]:
    """Crops each image to its box and resizes the crop to the image's size.

    Interpolation is linear in rows and in columns, so this is rows @ image @ columnsᵀ.
    """
    rows, columns = resizing(boxes, images, kind)
    return rows @ images @ columns.mT


def resizing(
    boxes: Int[Tensor, "*sample 4"], images: Float[Tensor, "*image size size"], kind: Filter
) -> tuple[Float[Tensor, "*sample size size"], Float[Tensor, "*sample size size"]]:
    """Matrices that stretch each box's rows and columns to the images' size, with their dtype and device.

    Pixel centres lie at half-integers. Weights outside the box are redistributed to the pixels inside.
    """
    boxes, size = boxes.to(images.device, non_blocking=True), images.shape[-1]
    starts, lengths = boxes.unflatten(-1, (2, 2)).movedim(-2, 0)[..., None].double()
    centre = (torch.arange(size, device=boxes.device) + 0.5) * lengths / size - 0.5
    taps = torch.arange(1 - kind.reach, 1 + kind.reach, device=boxes.device)
    position = centre.floor()[..., None] + taps
    weight = kind.weight((centre[..., None] - position).abs())
    weight = weight.where((position >= 0) & (position < lengths[..., None]), 0)
    weight = (weight / weight.sum(-1, keepdim=True)).to(images)
    pixel = (starts[..., None] + position).long().clamp(0, size - 1)
    matrices = weight.new_zeros(*pixel.shape[:-1], size).scatter_add_(-1, pixel, weight)
    rows, columns = matrices.unbind(-3)
    return rows, columns
