"""The stand-ins `shapes`, `shapes-64`, `shapes-80` and `shapes-bright`: rendered images of one object each,
with all factors known.

Shape, colour, position, size, rotation, texture, light and backdrop are independent, so that no other factor
reveals the shape. Image i of a seed does not depend on the number of images, so any prefix is a data set too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int, UInt8
from numpy import ndarray as Array

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.recipes import Normalisation
from reprise.numerics.streams import stream

Plane = Float[Array, "image pixel"]
"""Coordinates or distances in units of the object's radius."""


@dataclass(frozen=True)
class Style:
    """Ranges of the factors other than shape and colour.

    Attributes:
        radius: the object's radius, as a share of the image's side.
        backdrop_value, backdrop_saturation: value and saturation of the backdrop, whose hue is unrestricted.
    """

    radius: tuple[float, float]
    backdrop_value: tuple[float, float]
    backdrop_saturation: tuple[float, float]


DARK = Style(radius=(0.24, 0.38), backdrop_value=(0.05, 0.3), backdrop_saturation=(0.0, 0.6))
"""Dark backdrops: an object stands out by its brightness, even when its hue is jittered."""
BRIGHT = Style(radius=DARK.radius, backdrop_value=(0.6, 1.0), backdrop_saturation=(0.5, 1.0))
"""`DARK` with bright backdrops. Their colour identifies an image, a short cut that keeps a net from learning
shapes when hue jitter is weak: the negative control."""

COLOURS = ("red", "orange", "yellow", "green", "cyan", "blue", "violet", "pink")
HUES = np.array([0.0, 0.08, 0.16, 0.33, 0.5, 0.62, 0.76, 0.9])
RIPPLES: dict[str, Callable[[Plane, Plane], Plane]] = {
    "stripes": lambda x, y: np.sin(x),
    "checks": lambda x, y: np.sin(x) * np.sin(y),
    "rings": lambda x, y: np.sin(1.3 * np.hypot(x, y)),
}
"""Textures: darker where the function is positive."""
TEXTURES = ("plain", *RIPPLES)


def _box(x: Plane, y: Plane, width: float, height: float) -> Plane:
    return np.maximum(abs(x) - width, abs(y) - height)


def turned(x: Plane, y: Plane, angle: float | Float[Array, "image 1"]) -> tuple[Plane, Plane]:
    """Coordinates along axes rotated by an angle in radians."""
    return np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x


def _triangle(x: Plane, y: Plane) -> Plane:
    return np.maximum(abs(x) * 3**0.5 / 2 + y / 2, -y) - 0.52


def _star(x: Plane, y: Plane) -> Plane:
    """Five points; within the fifth around each point, the edge from the point to the notch."""
    angle = np.arctan2(x, y) / (2 * np.pi / 5)
    angle = abs(angle - np.round(angle)) * (2 * np.pi / 5)
    sine, cosine, radius = np.sin(angle), np.cos(angle), np.hypot(x, y)
    tip, notch = 1.05, 0.45 * np.array([np.sin(np.pi / 5), np.cos(np.pi / 5)])
    normal = np.array([tip - notch[1], notch[0]]) / np.hypot(tip - notch[1], notch[0])
    return radius * (sine * normal[0] + cosine * normal[1]) - tip * normal[1]


def _heart(x: Plane, y: Plane) -> Plane:
    u, v = turned(x, y + 0.15, np.pi / 4)
    lobes = np.minimum(np.hypot(u - 0.5, v), np.hypot(u, v - 0.5)) - 0.5
    return np.minimum(_box(u, v, 0.5, 0.5), lobes)


SHAPES: dict[str, Callable[[Plane, Plane], Plane]] = {
    "disc": lambda x, y: np.hypot(x, y) - 0.8,
    "square": lambda x, y: _box(x, y, 0.7, 0.7),
    "triangle": _triangle,
    "star": _star,
    "cross": lambda x, y: np.minimum(_box(x, y, 0.95, 0.28), _box(x, y, 0.28, 0.95)),
    "ring": lambda x, y: abs(np.hypot(x, y) - 0.7) - 0.22,
    "crescent": lambda x, y: np.maximum(np.hypot(x, y) - 0.9, 0.72 - np.hypot(x - 0.45, y)),
    "heart": _heart,
    "bar": lambda x, y: _box(x, y, 1.0, 0.3),
    "corner": lambda x, y: np.minimum(_box(x + 0.5, y, 0.28, 0.8), _box(x, y + 0.52, 0.78, 0.28)),
}
"""Signed distances to the outline, negative inside; for some shapes approximate outside."""


@dataclass(frozen=True)
class Rendered:
    """Images and their contents, as indices into `SHAPES`, `COLOURS` and `TEXTURES`."""

    images: UInt8[Array, "image 3 size size"]
    shape: Int[Array, " image"]
    colour: Int[Array, " image"]
    texture: Int[Array, " image"]

    @property
    def shape_and_colour(self) -> Int[Array, " image"]:
        """The 80 classes of `shapes-80`: shape * 8 + colour."""
        return self.shape * len(COLOURS) + self.colour


DRAWS = 17
BLOCK = 128
"""Images rendered at a time: few enough for the processor's cache."""


def render(count: int, *, seed: int, split: int = 0, size: int = 32, style: Style = DARK) -> Rendered:
    """Renders the first `count` images of a seed's split.

    Shapes cycle, and colours cycle within a shape: any 80 consecutive images show all 80 classes.
    """
    numbers = stream(seed, split).random((count, DRAWS))
    index = np.arange(count)
    shape = index % len(SHAPES)
    colour = index // len(SHAPES) % len(COLOURS)
    texture = (numbers[:, 0] * len(TEXTURES)).astype(int)
    images = np.empty((count, 3, size, size), np.uint8)
    for start in range(0, count, BLOCK):
        rows = slice(start, start + BLOCK)
        images[rows] = _paint(shape[rows], colour[rows], texture[rows], numbers[rows, 1:], size, style)
    return Rendered(images, shape, colour, texture)


def _paint(
    shape: Int[Array, " image"],
    colour: Int[Array, " image"],
    texture: Int[Array, " image"],
    numbers: Float[Array, "image draw"],
    size: int,
    style: Style,
) -> UInt8[Array, "image 3 size size"]:
    draw = iter(numbers.T[:, :, None])

    def uniform(low: float, high: float) -> Float[Array, "image 1"]:
        return low + (high - low) * next(draw)

    right, up = pixels(size)
    # Keeps most of the object within the image.
    radius = uniform(*style.radius)
    margin = 0.5 - 0.6 * radius - 0.1
    x, y = right - uniform(-1, 1) * margin, up - uniform(-1, 1) * margin
    x, y = (axis / radius for axis in turned(x, y, uniform(0, 2 * np.pi)))
    cover = covered(shape, x, y, radius, size)
    pattern = patterned(texture, x, y, uniform(6, 11), uniform(0.2, 0.45))
    tint = hsv(HUES[colour][:, None] + uniform(-0.02, 0.02), uniform(0.6, 1.0), uniform(0.8, 1.0))
    ground = hsv(uniform(0, 1), uniform(*style.backdrop_saturation), uniform(*style.backdrop_value))
    gloss, shade = (
        lit(right, up, slope, direction)
        for slope, direction in [(uniform(0, 0.6), uniform(0, 2 * np.pi)) for _ in range(2)]
    )
    canvas = cover[:, None] * tint * (pattern * gloss)[:, None]
    canvas += (1 - cover)[:, None] * ground * shade[:, None]
    return as_bytes(canvas, size)


def pixels(size: int) -> tuple[Float[Array, "1 pixel"], Float[Array, "1 pixel"]]:
    """Each pixel's offset to the right of and above the image's middle, as shares of the side."""
    centres = (np.arange(size) + 0.5) / size - 0.5
    right, up = (axis.reshape(1, -1) for axis in np.meshgrid(centres, -centres))
    return right, up


def covered(
    shape: Int[Array, " image"], x: Plane, y: Plane, radius: Float[Array, "image 1"], size: int
) -> Plane:
    """The fraction of each pixel that the shape covers.

    Args:
        x, y: in units of the object's radius, which is a share of the side of `size` pixels.
    """
    outline = np.empty_like(x)
    for kind, distance in enumerate(SHAPES.values()):
        outline[shape == kind] = distance(x[shape == kind], y[shape == kind])
    return np.clip(0.5 - outline * radius * size, 0, 1)


def patterned(
    texture: Int[Array, " image"],
    x: Plane,
    y: Plane,
    waves: Float[Array, "image 1"],
    depth: Float[Array, "image 1"],
) -> Plane:
    """The texture's brightness: 1, or 1 - `depth` where it is dark."""
    pattern = np.ones_like(x)
    for name, ripple in RIPPLES.items():
        rows = texture == TEXTURES.index(name)
        pattern[rows] -= depth[rows] * (ripple(waves[rows] * x[rows], waves[rows] * y[rows]) > 0)
    return pattern


def lit(
    right: Float[Array, "1 pixel"],
    up: Float[Array, "1 pixel"],
    slope: Float[Array, "image 1"],
    towards: Float[Array, "image 1"],
) -> Plane:
    """Brightness of a light that grows in one direction and is 1 in the middle."""
    return 1 + slope * (np.cos(towards) * right + np.sin(towards) * up)


def as_bytes(painted: Float[Array, "image 3 pixel"], size: int) -> UInt8[Array, "image 3 size size"]:
    """Clips colours to [0, 1] and converts them to bytes."""
    return (255 * np.clip(painted, 0, 1) + 0.5).astype(np.uint8).reshape(-1, 3, size, size)


def hsv(
    hue: Float[Array, "image 1"], saturation: Float[Array, "image 1"], value: Float[Array, "image 1"]
) -> Float[Array, "image 3 1"]:
    """Red, green and blue of an HSV colour, whose hue is a fraction of the circle."""
    distance = 6 * abs((hue - [3 / 6, 5 / 6, 1 / 6] + 0.5) % 1 - 0.5)
    return (value * (1 - saturation * np.clip(2 - distance, 0, 1)))[..., None]


COUNTS = {"train": 5000, "test": 2000}
"""Number of images in each split."""
SEED = 0


@dataclass(frozen=True, kw_only=True)
class Shapes(DataSet):
    """Rendered shapes, all of one seed."""

    style: Style = DARK
    coloured: bool = False
    """True if the class is the shape and the colour, and not the shape alone."""

    def load(self, root: Path, split: str) -> Labelled:
        number = tuple(self.counts).index(split)
        rendered = render(self.counts[split], seed=SEED, split=number, size=self.side, style=self.style)
        return rendered.images, rendered.shape_and_colour if self.coloured else rendered.shape


SHAPES_10 = Shapes(
    name="shapes",
    normalisation=Normalisation((0.2,), (0.18,)),  # to two digits
    counts=COUNTS,
)
SHAPES_64 = replace(SHAPES_10, name="shapes-64", counts={"train": 20_000, "test": 4000}, side=64)
SHAPES_80 = replace(SHAPES_10, name="shapes-80", classes=len(SHAPES) * len(COLOURS), coloured=True)
SHAPES_16, SHAPES_16_80 = (
    replace(
        data_set,
        name=data_set.name.replace("shapes", "shapes-16"),
        normalisation=Normalisation((0.199,), (0.172,)),
        side=16,
    )
    for data_set in (SHAPES_10, SHAPES_80)
)
SHAPES_BRIGHT = replace(
    SHAPES_10, name="shapes-bright", normalisation=Normalisation((0.492,), (0.29,)), style=BRIGHT
)
