"""The stand-in `scenes`: rendered images of one to three objects with captions, written as MSCOCO-2014 is.

A category is a colour and a shape, 80 in all, the first ones more frequent than the last. Captions name
colour and shape of every object, and sometimes its size; texture, light and backdrop are the image's alone.
Scene i of a seed's split is the same whatever the number of scenes.
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
from reprise.storage.store import writing

SPLITS = ("pretrain", "train", "val")
"""Disjoint: `pretrain` is for encoders that are frozen afterwards, as ImageNet and a text corpus are."""
CATEGORIES = tuple(f"{colour} {shape}" for shape in SHAPES for colour in COLOURS)
RARITY = 0.5
"""The k-th category has a frequency in proportion to 1 / k^RARITY: the first is 9 times as frequent as the
last."""
MIXED = 37
"""The k-th is of number 37 k mod 80, so that frequencies tell neither colour nor shape."""

SLOTS = 3
"""Objects at most, each in a quadrant of its own."""
QUADRANTS = np.array([(-1, 1), (1, 1), (-1, -1), (1, -1)]) * 0.21875
"""Centres, right and up, as shares of the side; evaluation leaves out a sixteenth at each border."""
RADIUS = (0.13, 0.19)
MEDIUM = sum(RADIUS) / 2
"""Objects of a smaller radius are small, others large."""

CAPTIONS = 5
"""Of a scene."""
TEMPLATES = (
    "{}", "there is {}", "a picture of {}", "this is a picture with {}", "{} on a dark ground"
)  # fmt: skip
QUALITY = 95
"""Of the JPEG files."""

OF_SCENE, OF_OBJECT, OF_CAPTION = 10, 13, 1 + 2 * SLOTS
"""Random numbers of each."""


@dataclass(frozen=True)
class Layout:
    """What scenes hold, before they are painted; radii and places are shares of the image's side.

    Attributes:
        there: which slots hold an object.
        category: index of `CATEGORIES`.
        right, up: of the object's centre, from the image's.
        looks: random numbers of each object's look; `backdrop`: of the scene's.
        captions: `CAPTIONS` of each scene.
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
    """The first `count` scenes of a seed's split."""
    sizes = (OF_SCENE, SLOTS * OF_OBJECT, CAPTIONS * OF_CAPTION)
    numbers = np.random.default_rng([seed, SPLITS.index(split)]).random((count, sum(sizes)))
    scene, objects, captions = np.split(numbers, np.cumsum(sizes)[:-1], axis=1)
    objects = objects.reshape(count, SLOTS, OF_OBJECT)
    there = np.arange(SLOTS) < 1 + (scene[:, :1] * SLOTS).astype(int)
    share = np.arange(1, len(CATEGORIES) + 1) ** -RARITY
    rank = np.searchsorted(np.cumsum(share) / share.sum(), objects[..., 0])
    category = rank * MIXED % len(CATEGORIES)
    radius = _between(objects[..., 1], *RADIUS)
    centre = QUADRANTS[np.argsort(scene[:, 1:5], axis=1)[:, :SLOTS]]
    room = np.abs(QUADRANTS).max() - radius
    right, up = (centre[..., axis] + _between(objects[..., 2 + axis], -1, 1) * room for axis in (0, 1))
    told = captions.reshape(count, CAPTIONS, OF_CAPTION)
    described = [
        _captions(category[i, there[i]], radius[i, there[i]] < MEDIUM, told[i]) for i in range(count)
    ]
    return Layout(there, category, radius, right, up, objects[..., 4:], scene[:, 5:], described)


def _captions(
    category: Int[Array, " object"], small: Bool[Array, " object"], numbers: Float[Array, "caption draw"]
) -> tuple[str, ...]:
    def phrase(which: int, tell_size: bool) -> str:
        size = ("small " if small[which] else "large ") if tell_size else ""
        words = f"{size}{CATEGORIES[category[which]]}"
        return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"

    def caption(draw: Float[Array, " draw"]) -> str:
        order = np.argsort(draw[1 : 1 + len(category)])
        *first, last = (phrase(which, draw[1 + SLOTS + which] < 0.5) for which in order)
        listed = f"{', '.join(first)} and {last}" if first else last
        return TEMPLATES[int(draw[0] * len(TEMPLATES))].format(listed)

    return tuple(caption(draw) for draw in numbers)


def paint(layout: Layout, size: int) -> Iterator[UInt8[Array, "3 size size"]]:
    """The scenes, one after the other, of `size` pixels a side."""
    for start in range(0, len(layout.there), BLOCK):
        yield from _paint(layout, np.arange(start, min(start + BLOCK, len(layout.there))), size)


def _paint(layout: Layout, rows: Int[Array, " scene"], size: int) -> UInt8[Array, "scene 3 size size"]:
    right, up = pixels(size)
    hue, saturation, value, slope, towards = layout.backdrop[rows].T[:, :, None]
    ground = hsv(hue, _between(saturation, *DARK.backdrop_saturation), _between(value, *DARK.backdrop_value))
    painted = ground * lit(right, up, _between(slope, 0, 0.6), _between(towards, 0, 2 * np.pi))[:, None]
    for slot in range(SLOTS):
        here = layout.there[rows, slot]
        of = rows[here], slot
        angle, texture, waves, depth, hue, saturation, value, slope, towards = layout.looks[of].T[:, :, None]
        shape, colour = np.divmod(layout.category[of], len(COLOURS))
        radius = layout.radius[of][:, None]
        x, y = right - layout.right[of][:, None], up - layout.up[of][:, None]
        x, y = (axis / radius for axis in turned(x, y, _between(angle, 0, 2 * np.pi)))
        cover = covered(shape, x, y, radius, size)[:, None]
        pattern = patterned(
            (texture[:, 0] * len(TEXTURES)).astype(int), x, y, _between(waves, 6, 11),
            _between(depth, 0.2, 0.45),
        )  # fmt: skip
        light = lit(right, up, _between(slope, 0, 0.6), _between(towards, 0, 2 * np.pi))
        hues = HUES[colour][:, None] + _between(hue, -0.02, 0.02)
        tint = hsv(hues, _between(saturation, 0.6, 1), _between(value, 0.8, 1))
        painted[here] = cover * tint * (pattern * light)[:, None] + (1 - cover) * painted[here]
    return as_bytes(painted, size)


def _between(number: Float[Array, "*any"], low: float, high: float) -> Float[Array, "*any"]:
    return low + (high - low) * number


def write(root: Path, split: str, count: int, *, seed: int, size: int) -> None:
    """Writes a split in MSCOCO-2014's layout.

    ROOT/val2014/COCO_val2014_000000000001.jpg and so on, ROOT/annotations/captions_val2014.json and
    instances_val2014.json.

    Raises:
        RepriseError: when it cannot be written.
    """
    folder = root / f"{split}2014"
    layout = lay_out(count, seed=seed, split=split)
    names = [f"COCO_{split}2014_{i + 1:012d}.jpg" for i in range(count)]
    with writing(folder):
        folder.mkdir(parents=True)
        for name, pixels_of in zip(names, paint(layout, size), strict=True):
            Image.fromarray(pixels_of.transpose(1, 2, 0)).save(folder / name, quality=QUALITY)
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
    pairs = [(i, caption) for i, of in enumerate(layout.captions) for caption in of]
    return [{"id": n + 1, "image_id": i + 1, "caption": text} for n, (i, text) in enumerate(pairs)]


def _instances(layout: Layout, size: int) -> list[dict[str, Any]]:
    """Boxes in pixels from the upper left, with the box for an outline."""
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
