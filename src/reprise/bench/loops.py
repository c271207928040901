"""The hot loops as rows of one table: what a unit of work takes here, the least that it could, and what other
implementations of the same work take."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

import pandas as pd
import torch

from reprise.bench.timing import seconds

PRODUCT = (2048, 2048, 2048)
"""Sizes n, k and m of the matrix product that measures the processor's speed."""


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
    """Operations a second in a large product of matrices; a product and its sum are two."""
    n, k, m = PRODUCT
    a, b = (torch.randn(size, device=device).to(getattr(torch, precision)) for size in ((n, k), (k, m)))
    return 2 * n * k * m / seconds(lambda: torch.mm(a, b), device)
