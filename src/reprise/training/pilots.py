"""Pilots: short or whole trainings at every learning rate of a grid, of which the one that is best on
held-out samples chooses. Imports no torch, because a run's plan names their seed."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxtyping import Int
    from torch import Generator, Tensor

PILOT_SEED = 1000
"""The first of the pilots' seeds, which no compared network has."""
HELD_OUT = 5
"""A fifth of the training samples is held out."""


def held_out(count: int, generator: "Generator") -> 'tuple[Int[Tensor, " tested"], Int[Tensor, " learned"]]':
    """Indices of a random fifth of `count` training samples, to be tested on, and of the others, to learn
    from."""
    import torch

    order, place = torch.randperm(count, generator=generator), torch.arange(count) % HELD_OUT
    return order[place == 0], order[place > 0]


def chosen(accuracies: Mapping[float, float]) -> float:
    """The learning rate with the best accuracy; among equals, and if no pilot stayed finite, the lowest.

    Args:
        accuracies: by learning rate, each pilot's on the held-out samples; NaN if it diverged.
    """
    finite = {rate: value for rate, value in accuracies.items() if not math.isnan(value)}
    best = max(finite.values(), default=math.nan)
    return min([rate for rate, value in finite.items() if value == best] or accuracies)
