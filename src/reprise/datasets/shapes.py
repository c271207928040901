"""The stand-ins `shapes` and `shapes-80`: rendered images of one object each, whose factors are all known.

Shape, colour, place, size, rotation, texture, light and backdrop are independent, so that no other factor
tells the shape. Image i of a seed is the same whatever the number of images: any prefix is a data set.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8
from numpy import ndarray as Array

Plane = Float[Array, "image pixel"]
"""Coordinates or distances in units of the object's radius."""


@dataclass(frozen=True)
class Style:
    """Ranges of what varies besides shape and colour.

    Attributes:
        radius: of the object, as a share of the image's side.
        backdrop_value, backdrop_saturation: of the backdrop's colour; its hue is any.
    """

    radius: tuple[float, float]
    backdrop_value: tuple[float, float]
    backdrop_saturation: tuple[float, float]


DARK = Style(radius=(0.24, 0.38), backdrop_value=(0.05, 0.3), backdrop_saturation=(0.0, 0.6))
"""The object stands out by its brightness, whatever becomes of its hue."""
BRIGHT = Style(radius=DARK.radius, backdrop_value=(0.6, 1.0), backdrop_saturation=(0.5, 1.0))
"""The same but for bright backdrops: their colour tells images apart, a short cut that leaves the shape
unlearnt where hues are hardly jittered. The negative control."""

COLOURS = ("red", "orange", "yellow", "green", "cyan", "blue", "violet", "pink")
HUES = np.array([0.0, 0.08, 0.16, 0.33, 0.5, 0.62, 0.76, 0.9])
RIPPLES: dict[str, Callable[[Plane, Plane], Plane]] = {
    "stripes": lambda x, y: np.sin(x),
    "checks": lambda x, y: np.sin(x) * np.sin(y),
    "rings": lambda x, y: np.sin(1.3 * np.hypot(x, y)),
}
"""Textures, darker where positive."""
TEXTURES = ("plain", *RIPPLES)


def _box(x: Plane, y: Plane, width: float, height: float) -> Plane:
    return np.maximum(abs(x) - width, abs(y) - height)


def turned(x: Plane, y: Plane, angle: float | Float[Array, "image 1"]) -> tuple[Plane, Plane]:
    """The coordinates along axes that are turned by an angle in radians."""
    return np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x


def _triangle(x: Plane, y: Plane) -> Plane:
    return np.maximum(abs(x) * 3**0.5 / 2 + y / 2, -y) - 0.52


def _star(x: Plane, y: Plane) -> Plane:
    """Five points: in the fifth around each, the line from the point to the notch."""
    angle = np.arctan2(x, y) / (2 * np.pi / 5)
    angle = abs(angle - np.round(angle)) * (2 * np.pi / 5)
    across, up, radius = np.sin(angle), np.cos(angle), np.hypot(x, y)
    tip, notch = 1.05, 0.45 * np.array([np.sin(np.pi / 5), np.cos(np.pi / 5)])
    normal = np.array([tip - notch[1], notch[0]]) / np.hypot(tip - notch[1], notch[0])
    return radius * (across * normal[0] + up * normal[1]) - tip * normal[1]


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
"""Signed distances to the outline, negative inside; nearly so for some outside."""


@dataclass(frozen=True)
class Rendered:
    """Images and what they show, as indices of `SHAPES`, `COLOURS` and `TEXTURES`."""

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
"""Images rendered at a time: what fits the processor's cache."""


def render(count: int, *, seed: int, split: int = 0, size: int = 32, style: Style = DARK) -> Rendered:
    """The first `count` images of a seed's split.

    Shapes take turns, and colours do within a shape: 80 images in a row are the 80 classes.
    """
    numbers = np.random.default_rng([seed, split]).random((count, DRAWS))
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

    def between(low: float, high: float) -> Float[Array, "image 1"]:
        return low + (high - low) * next(draw)

    right, up = pixels(size)
    # Most of the object lies within the image.
    radius = between(*style.radius)
    room = 0.5 - 0.6 * radius - 0.1
    x, y = right - between(-1, 1) * room, up - between(-1, 1) * room
    x, y = (axis / radius for axis in turned(x, y, between(0, 2 * np.pi)))
    cover = covered(shape, x, y, radius, size)
    pattern = patterned(texture, x, y, between(6, 11), between(0.2, 0.45))
    tint = hsv(HUES[colour][:, None] + between(-0.02, 0.02), between(0.6, 1.0), between(0.8, 1.0))
    ground = hsv(between(0, 1), between(*style.backdrop_saturation), between(*style.backdrop_value))
    gloss, shade = (
        lit(right, up, slope, towards)
        for slope, towards in [(between(0, 0.6), between(0, 2 * np.pi)) for _ in range(2)]
    )
    painted = cover[:, None] * tint * (pattern * gloss)[:, None]
    painted += (1 - cover)[:, None] * ground * shade[:, None]
    return as_bytes(painted, size)


def pixels(size: int) -> tuple[Float[Array, "1 pixel"], Float[Array, "1 pixel"]]:
    """How far to the right and up of the image's middle each pixel is, as shares of the side."""
    centres = (np.arange(size) + 0.5) / size - 0.5
    right, up = (axis.reshape(1, -1) for axis in np.meshgrid(centres, -centres))
    return right, up


def covered(
    shape: Int[Array, " image"], x: Plane, y: Plane, radius: Float[Array, "image 1"], size: int
) -> Plane:
    """How much of each pixel the shape covers, 0 to 1.

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
    """The texture's brightness: 1, and less by `depth` where it is dark."""
    pattern = np.ones_like(x)
    for name, ripple in RIPPLES.items():
        of = texture == TEXTURES.index(name)
        pattern[of] -= depth[of] * (ripple(waves[of] * x[of], waves[of] * y[of]) > 0)
    return pattern


def lit(
    right: Float[Array, "1 pixel"],
    up: Float[Array, "1 pixel"],
    slope: Float[Array, "image 1"],
    towards: Float[Array, "image 1"],
) -> Plane:
    """Light that grows in a direction: 1 in the middle."""
    return 1 + slope * (np.cos(towards) * right + np.sin(towards) * up)


def as_bytes(painted: Float[Array, "image 3 pixel"], size: int) -> UInt8[Array, "image 3 size size"]:
    """Colours in [0, 1], clipped, as bytes."""
    return (255 * np.clip(painted, 0, 1) + 0.5).astype(np.uint8).reshape(-1, 3, size, size)


def hsv(
    hue: Float[Array, "image 1"], saturation: Float[Array, "image 1"], value: Float[Array, "image 1"]
) -> Float[Array, "image 3 1"]:
    """Red, green and blue of a hue in circles."""
    distance = 6 * abs((hue - [3 / 6, 5 / 6, 1 / 6] + 0.5) % 1 - 0.5)
    return (value * (1 - saturation * np.clip(2 - distance, 0, 1)))[..., None]
