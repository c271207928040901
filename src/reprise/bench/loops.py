"""The hot loops as rows of one table: the time of a unit of work, the least possible, and the times of other
implementations of the same work."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

import pandas as pd
import torch

from reprise.bench.timing import seconds

PRODUCT = (2048, 2048, 2048)
"""Sizes n, k and m of the matrix product that measures the processor's speed."""
CONVOLUTION = (8, 256, 32)
"""Images, channels and pixels a side of the 3x3 convolution that measures it too: libraries differ, and on
some processors convolutions are more than twice as fast."""


class Loop(NamedTuple):
    """A loop that was timed.

    Attributes:
        name: what is trained, and its size.
        unit: the work that the times are of.
        seconds: of the unit.
        floor: seconds that the unit takes at least.
        bound: what the floor is.
        anchors: another implementation of the same work -> its seconds.
    """

    name: str
    unit: str
    seconds: float
    floor: float
    bound: str
    anchors: Mapping[str, float]


def table(loops: Iterable[Loop]) -> pd.DataFrame:
    """One row per loop and anchor, in microseconds of a unit."""
    rows = [
        {
            "loop": loop.name,
            "unit": loop.unit,
            "us": 1e6 * loop.seconds,
            "floor": loop.bound,
            "floor_us": 1e6 * loop.floor,
            "over_floor": loop.seconds / loop.floor,
            "anchor": anchor,
            "anchor_us": 1e6 * theirs,
            "anchor_over_loop": theirs / loop.seconds,
        }
        for loop in loops
        for anchor, theirs in loop.anchors.items()
    ]
    return pd.DataFrame(rows)


@cache
def product_speed(precision: str, device: str = "cpu") -> float:
    """Operations a second in a large product of matrices or a large convolution, whichever is faster; a
    product and its sum are two."""
    dtype = getattr(torch, precision)
    n, k, m = PRODUCT
    a, b = (torch.randn(size, device=device).to(dtype) for size in ((n, k), (k, m)))
    images, channels, side = CONVOLUTION
    x = torch.randn(images, channels, side, side, device=device).to(dtype, memory_format=torch.channels_last)
    w = torch.randn(channels, channels, 3, 3, device=device).to(dtype, memory_format=torch.channels_last)
    return max(
        2 * n * k * m / seconds(lambda: torch.mm(a, b), device),
        2 * 9 * channels**2 * side**2 * images / seconds(lambda: torch.conv2d(x, w, padding=1), device),
    )
