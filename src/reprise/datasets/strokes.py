"""The stand-in `strokes`: the ten digits as a pen draws them, grey on black, of MNIST's size.

A digit is a few curves. Its shape is bent by a random smooth displacement; slant, turn, height, width,
thickness and brightness are random too. As in MNIST, digits are about 20 pixels high and centred by their
mass. Image i of a seed does not depend on the number of images, so any prefix is a data set too.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int, UInt8
from numpy import ndarray as Array

from reprise.datasets.data_set import DataSet, Labelled
from reprise.datasets.recipes import Normalisation
from reprise.numerics.streams import stream

Curve = tuple[tuple[float, float], ...]
"""Points that a smooth curve passes through, as (right, down) in units of the digit's height."""

DIGITS: tuple[tuple[Curve, ...], ...] = (
    (
        ((0.3, 0), (0.07, 0.18), (0, 0.5), (0.07, 0.82), (0.3, 1), (0.53, 0.82), (0.6, 0.5), (0.53, 0.18),
         (0.3, 0)),
    ),
    (((0.12, 0.22), (0.34, 0)), ((0.34, 0), (0.34, 1))),
    (
        ((0.03, 0.24), (0.12, 0.05), (0.32, 0), (0.54, 0.12), (0.52, 0.36), (0.3, 0.66), (0, 1)),
        ((0, 1), (0.6, 1)),
    ),
    (
        ((0.04, 0.1), (0.28, 0), (0.52, 0.12), (0.48, 0.36), (0.24, 0.46)),
        ((0.24, 0.46), (0.52, 0.56), (0.57, 0.8), (0.34, 1), (0.02, 0.9)),
    ),
    (((0.42, 0), (0, 0.66)), ((0, 0.66), (0.6, 0.66)), ((0.42, 0), (0.42, 1))),
    (
        ((0.55, 0), (0.12, 0)),
        ((0.12, 0), (0.07, 0.44)),
        ((0.07, 0.44), (0.32, 0.36), (0.56, 0.5), (0.56, 0.78), (0.32, 1), (0.01, 0.9)),
    ),
    (
        ((0.48, 0.02), (0.2, 0.24), (0.03, 0.62), (0.1, 0.92), (0.32, 1), (0.54, 0.82), (0.46, 0.56),
         (0.2, 0.56), (0.05, 0.74)),
    ),
    (((0.02, 0), (0.58, 0)), ((0.58, 0), (0.24, 1))),
    (
        ((0.3, 0), (0.07, 0.2), (0.3, 0.46), (0.57, 0.76), (0.3, 1), (0.03, 0.76), (0.3, 0.46), (0.53, 0.2),
         (0.3, 0)),
    ),
    (
        ((0.53, 0.22), (0.32, 0), (0.07, 0.18), (0.12, 0.42), (0.36, 0.46), (0.53, 0.22)),
        ((0.53, 0.22), (0.46, 1)),
    ),
)  # fmt: skip
"""The curves of each digit."""

PIECES = 4
"""Straight pieces between two points of a curve."""
WAVES = 2
"""Sines in the displacement along each axis, functions of the other coordinate."""
DRAWS = 4 * WAVES + 6
PerImage = Float[Array, "image 1 1"]
Ends = Float[Array, "image piece 2"]
"""A coordinate of the pieces' two ends, in pixels from the middle."""
BLOCK = 128
"""Images rendered at a time: few enough for the processor's cache."""
SIZE = 28
RADII = 0.7, 1.7
REACH = RADII[1] + 0.5
"""Pixels from its middle to which a stroke's ink reaches."""


def render(
    count: int, *, seed: int, split: int = 0
) -> tuple[UInt8[Array, "image 1 28 28"], Int[Array, " image"]]:
    """The first `count` images of a seed's split, and their digits, which cycle from 0 to 9."""
    numbers = stream(seed, split).random((count, DRAWS))
    digit = np.arange(count) % len(DIGITS)
    images = np.empty((count, SIZE * SIZE), np.uint8)
    for start in range(0, count, BLOCK):
        for kind, curves in enumerate(DIGITS):
            rows = start + np.flatnonzero(digit[start : start + BLOCK] == kind)
            images[rows] = _drawn(np.concatenate([_pieces(curve) for curve in curves]), numbers[rows])
    return images.reshape(count, 1, SIZE, SIZE), digit


def _pieces(curve: Curve) -> Float[Array, "piece 2 2"]:
    """The curve (a Catmull-Rom spline, closed if it ends where it starts) as pieces from one point to the
    next."""
    points = np.array(curve)
    before, after = (points[-2], points[1]) if curve[0] == curve[-1] else (points[0], points[-1])
    padded = np.concatenate([[before], points, [after]])
    t = np.arange(PIECES)[:, None] / PIECES
    spans = [
        b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))
        for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False)
    ]
    path = np.concatenate([*spans, points[-1:]])
    return np.stack([path[:-1], path[1:]], 1)


def _drawn(
    pieces: Float[Array, "piece 2 2"], numbers: Float[Array, "image draw"]
) -> UInt8[Array, "image pixel"]:
    draw = iter(numbers.T[:, :, None, None])

    def uniform(low: float, high: float) -> PerImage:
        return low + (high - low) * next(draw)

    x, y = pieces[None, :, :, 0] - 0.3, pieces[None, :, :, 1] - 0.5
    x, y = x + _displacement(y, uniform), y + _displacement(x, uniform)
    x, y = uniform(0.75, 1.25) * x - uniform(-0.25, 0.4) * y, y
    turn, height = uniform(-0.15, 0.15), uniform(17.0, 20.5)
    x, y = height * (np.cos(turn) * x - np.sin(turn) * y), height * (np.sin(turn) * x + np.cos(turn) * y)
    radius, brightness = uniform(*RADII)[:, :, 0], uniform(0.85, 1.0)[:, :, 0]
    lengths = np.hypot(x[..., 1] - x[..., 0], y[..., 1] - y[..., 0])
    right, down = (
        axis - ((axis.mean(-1) * lengths).sum(1) / lengths.sum(1))[:, None, None] for axis in (x, y)
    )
    ink = np.clip(0.5 + radius - _distance(right, down), 0, 1)
    return (255 * brightness * ink + 0.5).astype(np.uint8)


def _displacement(along: Ends, uniform: Callable[[float, float], PerImage]) -> Ends:
    """Sines of random amplitude and phase, of half a wave per height and its multiples."""
    return sum(
        uniform(-0.06, 0.06) * np.sin(np.pi * wave * along + uniform(0, 2 * np.pi))
        for wave in range(1, WAVES + 1)
    )


def _distance(right: Ends, down: Ends) -> Float[Array, "image pixel"]:
    """Each pixel's distance from the nearest piece; infinite where no ink of any radius reaches."""
    (x, y), (dx, dy) = (
        (axis[:, :, None, 0] for axis in (right, down)),
        (axis[:, :, None, 1] - axis[:, :, None, 0] for axis in (right, down)),
    )
    reach = int(np.ceil(REACH + 0.5 + np.sqrt((dx**2 + dy**2).max(initial=0)) / 2))
    offsets = np.arange(-reach, reach + 1)
    middle = (SIZE - 1) / 2
    column = np.rint(x + dx / 2 + middle).astype(int) + np.tile(offsets, len(offsets))
    row = np.rint(y + dy / 2 + middle).astype(int) + np.repeat(offsets, len(offsets))
    u, v = column - middle - x, row - middle - y
    nearest = np.clip((u * dx + v * dy) / (dx**2 + dy**2), 0, 1)
    squares = (u - nearest * dx) ** 2 + (v - nearest * dy) ** 2
    is_inside = (column >= 0) & (column < SIZE) & (row >= 0) & (row < SIZE)
    images = np.full((len(right), SIZE * SIZE), np.inf)
    number = np.broadcast_to(np.arange(len(right))[:, None, None], column.shape)
    pixel = SIZE * row + column
    np.minimum.at(images, (number[is_inside], pixel[is_inside]), squares[is_inside])
    return np.sqrt(images)


COUNTS = {"train": 5000, "test": 2000}
"""Number of images in each split."""
SEED = 0


class Strokes(DataSet):
    def load(self, root: Path, split: str) -> Labelled:
        return render(self.counts[split], seed=SEED, split=tuple(self.counts).index(split))


STROKES = Strokes(
    name="strokes", normalisation=Normalisation((0.121,), (0.287,)), counts=COUNTS, channels=1, side=SIZE
)
