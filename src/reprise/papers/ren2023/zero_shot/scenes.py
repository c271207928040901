"""The stand-in `scenes`: rendered images of one to three objects with captions, in MSCOCO-2014's format.

A category is a colour and a shape, 80 in all, with decreasing frequencies. Captions name the colour and shape
of every object and sometimes its size; only the image shows texture, light and backdrop. Scene i of a seed's
split does not depend on the number of scenes.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from numpy import ndarray as Array
from PIL import Image

from reprise.datasets.shapes import (
    BLOCK,
    COLOURS,
    DARK,
    HUES,
    SHAPES,
    TEXTURES,
    as_bytes,
    covered,
    hsv,
    lit,
    patterned,
    pixels,
    turned,
)
from reprise.numerics.streams import stream
from reprise.storage.disk import writing

SPLITS = ("pretrain", "train", "val")
"""Disjoint splits; `pretrain` trains the encoders, in the role of ImageNet and of a text corpus."""
CATEGORIES = tuple(f"{colour} {shape}" for shape in SHAPES for colour in COLOURS)
RARITY = 0.5
"""The k-th most frequent category has a frequency proportional to 1 / k^RARITY, from first to last a factor
of 9."""
MIXED = 37
"""The k-th most frequent category has number 37 k mod 80, so that frequency reveals neither colour nor
shape."""

SLOTS = 3
"""Maximum number of objects, each in its own quadrant."""
QUADRANTS = np.array([(-1, 1), (1, 1), (-1, -1), (1, -1)]) * 0.21875
"""Centres (right, up) as shares of the side; evaluation crops a sixteenth at each border."""
RADIUS = (0.13, 0.19)
MEDIUM = sum(RADIUS) / 2
"""Objects with a smaller radius are called small, others large."""

CAPTIONS = 5
"""Captions per scene."""
TEMPLATES = (
    "{}", "there is {}", "a picture of {}", "this is a picture with {}", "{} on a dark ground"
)  # fmt: skip
QUALITY = 95
"""JPEG quality."""

SCENE_DRAWS, OBJECT_DRAWS, CAPTION_DRAWS = 10, 13, 1 + 2 * SLOTS
"""Random numbers per scene, object and caption."""


@dataclass(frozen=True)
class Layout:
    """The contents of scenes before painting; radii and positions are shares of the image's side.

    Attributes:
        there: whether a slot holds an object.
        category: index into `CATEGORIES`.
        radius: the object's radius.
        right, up: offset of the object's centre from the image's.
        looks: random numbers that determine each object's appearance.
        backdrop: random numbers that determine each scene's backdrop.
        captions: the `CAPTIONS` captions of each scene.
    """

    there: Bool[Array, "scene slot"]
    category: Int[Array, "scene slot"]
    radius: Float[Array, "scene slot"]
    right: Float[Array, "scene slot"]
    up: Float[Array, "scene slot"]
    looks: Float[Array, "scene slot draw"]
    backdrop: Float[Array, "scene draw"]
    captions: list[tuple[str, ...]]


def lay_out(count: int, *, seed: int, split: str) -> Layout:
    """Lays out the first `count` scenes of a seed's split."""
    sizes = (SCENE_DRAWS, SLOTS * OBJECT_DRAWS, CAPTIONS * CAPTION_DRAWS)
    numbers = stream(seed, SPLITS.index(split)).random((count, sum(sizes)))
    scene, objects, captions = np.split(numbers, np.cumsum(sizes)[:-1], axis=1)
    objects = objects.reshape(count, SLOTS, OBJECT_DRAWS)
    there = np.arange(SLOTS) < 1 + (scene[:, :1] * SLOTS).astype(int)
    share = np.arange(1, len(CATEGORIES) + 1) ** -RARITY
    rank = np.searchsorted(np.cumsum(share) / share.sum(), objects[..., 0])
    category = rank * MIXED % len(CATEGORIES)
    radius = _rescale(objects[..., 1], *RADIUS)
    centre = QUADRANTS[np.argsort(scene[:, 1:5], axis=1)[:, :SLOTS]]
    margin = np.abs(QUADRANTS).max() - radius
    right, up = (centre[..., axis] + _rescale(objects[..., 2 + axis], -1, 1) * margin for axis in (0, 1))
    caption_numbers = captions.reshape(count, CAPTIONS, CAPTION_DRAWS)
    texts = [
        _captions(category[i, there[i]], radius[i, there[i]] < MEDIUM, caption_numbers[i])
        for i in range(count)
    ]
    return Layout(there, category, radius, right, up, objects[..., 4:], scene[:, 5:], texts)


def _captions(
    category: Int[Array, " object"], small: Bool[Array, " object"], numbers: Float[Array, "caption draw"]
) -> tuple[str, ...]:
    def phrase(index: int, with_size: bool) -> str:
        size = ("small " if small[index] else "large ") if with_size else ""
        words = f"{size}{CATEGORIES[category[index]]}"
        return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"

    def caption(draw: Float[Array, " draw"]) -> str:
        order = np.argsort(draw[1 : 1 + len(category)])
        *phrases, last_phrase = (phrase(index, draw[1 + SLOTS + index] < 0.5) for index in order)
        listing = f"{', '.join(phrases)} and {last_phrase}" if phrases else last_phrase
        return TEMPLATES[int(draw[0] * len(TEMPLATES))].format(listing)

    return tuple(caption(draw) for draw in numbers)


def attributes(present: Bool[Array, "scene category"]) -> Bool[Array, "scene attribute"]:
    """Presence in a scene of each shape, then of each colour, without the categories, which say which colour
    goes with which shape."""
    grid = present.reshape(-1, len(SHAPES), len(COLOURS))
    return np.concatenate([grid.any(2), grid.any(1)], axis=1)


def paint(layout: Layout, size: int) -> Iterator[UInt8[Array, "3 size size"]]:
    """Yields the painted scenes, `size` pixels a side."""
    for start in range(0, len(layout.there), BLOCK):
        yield from _paint(layout, np.arange(start, min(start + BLOCK, len(layout.there))), size)


def _paint(layout: Layout, rows: Int[Array, " scene"], size: int) -> UInt8[Array, "scene 3 size size"]:
    right, up = pixels(size)
    hue, saturation, value, slope, direction = layout.backdrop[rows].T[:, :, None]
    ground = hsv(hue, _rescale(saturation, *DARK.backdrop_saturation), _rescale(value, *DARK.backdrop_value))
    canvas = ground * lit(right, up, _rescale(slope, 0, 0.6), _rescale(direction, 0, 2 * np.pi))[:, None]
    for slot in range(SLOTS):
        has_object = layout.there[rows, slot]
        selection = rows[has_object], slot
        angle, texture, waves, depth, hue, saturation, value, slope, direction = layout.looks[selection].T[
            :, :, None
        ]
        shape, colour = np.divmod(layout.category[selection], len(COLOURS))
        radius = layout.radius[selection][:, None]
        x, y = right - layout.right[selection][:, None], up - layout.up[selection][:, None]
        x, y = (axis / radius for axis in turned(x, y, _rescale(angle, 0, 2 * np.pi)))
        cover = covered(shape, x, y, radius, size)[:, None]
        pattern = patterned(
            (texture[:, 0] * len(TEXTURES)).astype(int), x, y, _rescale(waves, 6, 11),
            _rescale(depth, 0.2, 0.45),
        )  # fmt: skip
        light = lit(right, up, _rescale(slope, 0, 0.6), _rescale(direction, 0, 2 * np.pi))
        hues = HUES[colour][:, None] + _rescale(hue, -0.02, 0.02)
        tint = hsv(hues, _rescale(saturation, 0.6, 1), _rescale(value, 0.8, 1))
        canvas[has_object] = cover * tint * (pattern * light)[:, None] + (1 - cover) * canvas[has_object]
    return as_bytes(canvas, size)


def _rescale(number: Float[Array, "*any"], low: float, high: float) -> Float[Array, "*any"]:
    return low + (high - low) * number


def write(root: Path, split: str, count: int, *, seed: int, size: int) -> None:
    """Writes a split in MSCOCO-2014's layout.

    The files are ROOT/val2014/COCO_val2014_000000000001.jpg and so on, and ROOT/annotations/
    captions_val2014.json and instances_val2014.json.

    Raises:
        RepriseError: if the split cannot be written.
    """
    folder = root / f"{split}2014"
    layout = lay_out(count, seed=seed, split=split)
    names = [f"COCO_{split}2014_{i + 1:012d}.jpg" for i in range(count)]
    with writing(folder):
        folder.mkdir(parents=True)
        for name, picture in zip(names, paint(layout, size), strict=True):
            Image.fromarray(picture.transpose(1, 2, 0)).save(folder / name, quality=QUALITY)
    images = [{"id": i + 1, "file_name": name, "width": size, "height": size} for i, name in enumerate(names)]
    content: dict[str, dict[str, Any]] = {
        "captions": {"images": images, "annotations": _caption_records(layout)},
        "instances": {
            "images": images,
            "annotations": _instances(layout, size),
            "categories": [
                {"id": i + 1, "name": name, "supercategory": name.split()[1]}
                for i, name in enumerate(CATEGORIES)
            ],
        },
    }

    annotations = root / "annotations"
    with writing(annotations):
        annotations.mkdir(exist_ok=True)
        for kind, records in content.items():
            (annotations / f"{kind}_{split}2014.json").write_text(json.dumps(records))


def _caption_records(layout: Layout) -> list[dict[str, Any]]:
    pairs = [(i, caption) for i, captions in enumerate(layout.captions) for caption in captions]
    return [{"id": n + 1, "image_id": i + 1, "caption": text} for n, (i, text) in enumerate(pairs)]


def _instances(layout: Layout, size: int) -> list[dict[str, Any]]:
    """Object records: boxes in pixels from the upper left, which also serve as outlines."""
    records = []
    for number, (i, slot) in enumerate(np.argwhere(layout.there)):
        radius = layout.radius[i, slot]
        left, top = 0.5 + layout.right[i, slot] - radius, 0.5 - layout.up[i, slot] - radius
        x, y, side = (round(float(size * share), 2) for share in (left, top, 2 * radius))
        outline = [x, y, x + side, y, x + side, y + side, x, y + side]
        records.append(
            {
                "id": number + 1,
                "image_id": int(i) + 1,
                "category_id": int(layout.category[i, slot]) + 1,
                "bbox": [x, y, side, side],
                "area": round(side * side, 2),
                "segmentation": [outline],
                "iscrowd": 0,
            }
        )
    return records
