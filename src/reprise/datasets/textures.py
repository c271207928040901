"""The stand-ins `textures` and `textures-40`, of 32 pixels, and `textures-16` and `textures-16-40`, of 16:
rendered patterns that fill the image, which raw pixels do not tell apart.

A pattern's phase, direction, period, colours, contrast and light are random and independent of its class, so
that two images of a class have no pixels in common: a nearest neighbour of raw pixels has little to go by,
and local structure decides, wherever it lies. Image i of a seed does not depend on the number of images, so
any prefix is a data set too.

What natural images have and these lack: objects, their parts and occlusion, a spectrum that falls with the
frequency, and classes that differ in many ways at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int, UInt8
from numpy import ndarray as Array

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.recipes import Normalisation
from reprise.datasets.shapes import BLOCK, Plane, as_bytes, hsv, lit, pixels, turned
from reprise.numerics.streams import stream


def _triangle_wave(phase: Plane) -> Plane:
    """Triangle wave from -1 to 1, with the period and the sign of a sine."""
    return np.arcsin(np.sin(phase)) * 2 / np.pi


def _line(phase: Plane) -> Plane:
    """Positive in a quarter of the period."""
    return np.cos(phase) - 0.7


def _bricks(u: Plane, v: Plane) -> Plane:
    """Joints between bricks twice as long as high, every other row moved by half a brick."""
    row = np.floor(v / (2 * np.pi))
    return np.maximum(_line(v), _line(u / 2 + np.pi * (row % 2)))


PATTERNS: dict[str, Callable[[Plane, Plane], Plane]] = {
    "stripes": lambda u, v: np.sin(u),
    "checks": lambda u, v: np.sin(u) * np.sin(v),
    "dots": lambda u, v: np.cos(u) + np.cos(v) - 0.8,
    "grid": lambda u, v: np.maximum(_line(u), _line(v)),
    "bricks": _bricks,
    "zigzags": lambda u, v: np.sin(u + 2.5 * _triangle_wave(v / 1.5)),
    "waves": lambda u, v: np.sin(u + 2.5 * np.sin(v / 1.5)),
    "dashes": lambda u, v: np.minimum(_line(u), np.sin(v / 1.5)) + 0.1,
    "triangles": lambda u, v: np.sin(u) + np.sin(-u / 2 + v * 3**0.5 / 2) + np.sin(-u / 2 - v * 3**0.5 / 2),
    "plaid": lambda u, v: np.sin(u) + np.sin(v / 2),
}
"""Functions of two phases, along perpendicular directions; light where positive."""
SIZES = {"coarse": (8.0, 11.0), "fine": (4.5, 6.0)}
"""Ranges of the period in pixels of a 32-pixel image."""
EDGES = {"soft": 1.0, "sharp": 6.0}
"""Slope from dark to light."""

DRAWS = 18


@dataclass(frozen=True)
class Rendered:
    """Images and their contents, as indices into `PATTERNS`, `SIZES` and `EDGES`."""

    images: UInt8[Array, "image 3 size size"]
    pattern: Int[Array, " image"]
    scale: Int[Array, " image"]
    edge: Int[Array, " image"]

    @property
    def kind(self) -> Int[Array, " image"]:
        """The 40 classes of `textures-40`: (pattern * 2 + scale) * 2 + edge."""
        return (self.pattern * len(SIZES) + self.scale) * len(EDGES) + self.edge


def render(count: int, *, seed: int, split: int = 0, size: int = 32) -> Rendered:
    """Renders the first `count` images of a seed's split.

    Patterns cycle, and scales and edges cycle within a pattern: any 40 consecutive images show all 40
    classes.
    """
    numbers = stream(seed, split).random((count, DRAWS))
    index = np.arange(count)
    pattern = index % len(PATTERNS)
    scale = index // len(PATTERNS) % len(SIZES)
    edge = index // (len(PATTERNS) * len(SIZES)) % len(EDGES)
    images = np.empty((count, 3, size, size), np.uint8)
    for start in range(0, count, BLOCK):
        rows = slice(start, start + BLOCK)
        images[rows] = _paint(pattern[rows], scale[rows], edge[rows], numbers[rows], size)
    return Rendered(images, pattern, scale, edge)


def _paint(
    pattern: Int[Array, " image"],
    scale: Int[Array, " image"],
    edge: Int[Array, " image"],
    numbers: Float[Array, "image draw"],
    size: int,
) -> UInt8[Array, "image 3 size size"]:
    draw = iter(numbers.T[:, :, None])

    def uniform(low: float | Float[Array, "image 1"], high: float | Float[Array, "image 1"]) -> Plane:
        return low + (high - low) * next(draw)

    right, up = pixels(size)
    u, v = turned(right, up, uniform(0, 2 * np.pi))
    low, high = np.array(list(SIZES.values()))[scale].T[:, :, None]
    waves = 2 * np.pi * 32 / uniform(low, high)
    stretch = uniform(0.85, 1.15)
    u, v = (waves * u * stretch + uniform(0, 40 * np.pi), waves * v / stretch + uniform(0, 40 * np.pi))
    height = np.empty_like(u)
    for kind, function in enumerate(PATTERNS.values()):
        height[pattern == kind] = function(u[pattern == kind], v[pattern == kind])
    slope = np.array(list(EDGES.values()))[edge][:, None]
    cover = (1 + np.tanh(slope * height)) / 2
    light = hsv(uniform(0, 1), uniform(0, 0.8), uniform(0.65, 1.0))
    dark = hsv(uniform(0, 1), uniform(0, 0.8), uniform(0.05, 0.4))
    gloss = lit(right, up, uniform(0, 0.8), uniform(0, 2 * np.pi))
    canvas = (cover[:, None] * light + (1 - cover)[:, None] * dark) * gloss[:, None]
    return as_bytes(canvas, size)


@dataclass(frozen=True, kw_only=True)
class Textures(DataSet):
    """Rendered textures, all of one seed."""

    detailed: bool = False
    """True if the class is the pattern, its scale and its edge, and not the pattern alone."""

    def load(self, root: Path, split: str) -> Labelled:
        number = tuple(self.counts).index(split)
        rendered = render(self.counts[split], seed=0, split=number, size=self.side)
        return rendered.images, rendered.kind if self.detailed else rendered.pattern


TEXTURES_10 = Textures(
    name="textures", normalisation=Normalisation((0.383,), (0.233,)), counts={"train": 5000, "test": 2000}
)
TEXTURES_40 = replace(
    TEXTURES_10,
    name="textures-40",
    classes=len(PATTERNS) * len(SIZES) * len(EDGES),
    detailed=True,
)
TEXTURES_16, TEXTURES_16_40 = (
    replace(data_set, name=data_set.name.replace("textures", "textures-16"), side=16)
    for data_set in (TEXTURES_10, TEXTURES_40)
)
