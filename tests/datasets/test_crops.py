"""Batched crops against torchvision's own."""

import math

import numpy as np
import pytest
import torch
from torchvision.transforms import InterpolationMode, v2

from reprise.datasets.crops import BICUBIC, DRAWS, TRIES, random_boxes, resized_crop


def uniform(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("size", [5, 8, 28])
def test_a_crop_is_torchvisions_for_every_box(size):
    boxes = torch.tensor(
        [
            (top, left, height, width)
            for height in range(1, size + 1)
            for top in range(size - height + 1)
            for width in (1, size // 2, size - 1, size)
            for left in {0, (size - width) // 2, size - width}
        ]
    )
    images = uniform(len(boxes), size, size)
    found = resized_crop(images, boxes)
    for box, image, ours in zip(boxes.tolist(), images, found, strict=True):
        theirs = v2.functional.resized_crop(image[None], *box, size=[size, size], antialias=True)[0]
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_images_of_any_leading_shape_and_type_keep_both():
    images, boxes = uniform(2, 3, 4, 6, 6).double(), torch.tensor([1, 2, 3, 4]).expand(2, 3, 4, 4)
    found = resized_crop(images, boxes)
    assert (found.shape, found.dtype) == (images.shape, torch.float64)
    torch.testing.assert_close(found[1, 2], resized_crop(images[1, 2], boxes[1, 2]))


def test_the_whole_image_stays_as_it_is():
    images = uniform(3, 7, 7)
    assert torch.equal(resized_crop(images, torch.tensor([0, 0, 7, 7]).expand(3, 4)), images)


def torchvisions_box(numbers, size, scale, ratio, monkeypatch):
    """The box that `RandomResizedCrop` makes of the same uniform numbers: top, left, height, width."""
    rest, place = iter(numbers[: 2 * TRIES].tolist()), iter(numbers[2 * TRIES :].tolist())

    class Drawn:
        def uniform_(self, low, high):
            return torch.as_tensor(float(low) + (float(high) - float(low)) * next(rest), dtype=torch.float64)

    with monkeypatch.context() as patch:
        patch.setattr(torch, "empty", lambda n: Drawn())
        patch.setattr(
            torch, "randint", lambda low, high, size: torch.tensor(math.floor(next(place) * (high - low)))
        )
        crop = v2.RandomResizedCrop(8, scale, ratio, antialias=True)
        made = crop.make_params([torch.zeros(1, *((size, size) if isinstance(size, int) else size))])
    return [made[name] for name in ("top", "left", "height", "width")]


@pytest.mark.parametrize(
    ("size", "scale", "ratio"),
    [
        (28, (0.5, 1.0), (0.5, 1.5)),
        (8, (0.5, 1.0), (0.5, 1.5)),
        (32, (0.08, 1.0), (0.75, 4 / 3)),
        (9, (0.9, 1.0), (3.0, 4.0)),  # never fits: too wide
        (9, (0.9, 1.0), (0.2, 0.3)),  # too high
        (9, (0.95, 1.0), (0.3, 3.0)),  # seldom
        (9, (0.85, 1.0), (0.7, 1.5)),  # often at a later try
        ((40, 20), (0.3, 1.0), (0.75, 4 / 3)),  # high, often at a later try
        ((21, 50), (0.08, 1.0), (0.75, 4 / 3)),
        ((10, 33), (0.9, 1.0), (0.75, 4 / 3)),  # never fits: the image is too wide
    ],
)
def test_a_box_is_torchvisions_for_the_same_uniform_numbers(size, scale, ratio, monkeypatch):
    numbers = uniform(400, DRAWS)
    sizes = size if isinstance(size, int) else torch.tensor(size)
    found = random_boxes(numbers, sizes, scale, ratio)
    expected = [torchvisions_box(row, size, scale, ratio, monkeypatch) for row in numbers]
    np.testing.assert_array_equal(found, expected)
    never = scale[0] == 0.9
    assert (len(found.unique(dim=0)) == 1) == never


def test_boxes_of_the_largest_numbers_lie_inside_the_image():
    numbers = torch.full((1, DRAWS), 1 - 2**-24)
    for size in range(2, 40):
        top, left, height, width = random_boxes(numbers, size, (0.5, 0.9), (0.9, 1.1))[0].tolist()
        assert top + height <= size
        assert left + width <= size


@pytest.mark.parametrize("size", [5, 28])
def test_a_bicubic_crop_is_torchvisions(size):
    boxes = random_boxes(uniform(200, DRAWS), size, (0.02, 1.0), (0.5, 2.0))
    images = uniform(len(boxes), size, size)
    found = resized_crop(images, boxes, BICUBIC)
    for box, image, ours in zip(boxes.tolist(), images, found, strict=True):
        theirs = v2.functional.resized_crop(
            image[None], *box, size=[size, size], interpolation=InterpolationMode.BICUBIC, antialias=True
        )[0]
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-5)
