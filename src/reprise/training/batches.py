"""Which images a step takes, and what is read of them while the step before is computed."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from reprise.numerics.streams import generator

T = TypeVar("T")


class Batch(NamedTuple):
    """What a step begins with.

    Attributes:
        index: of its samples, those of all processes.
        read: what this process makes its rows' views of, by `Views.made`.
        numbers: those that determine the views, [view, share, draw].
    """

    index: Int[Tensor, " batch"]
    read: Tensor
    numbers: Float[Tensor, "view share draw"]


def batch_indices(seed: int, step: int, batch: int, samples: int) -> Int[Tensor, " batch"]:
    """The samples of a step: each epoch goes through all in a new order, bar a rest smaller than a batch."""
    epoch, place = divmod(step, samples // batch)
    return _order(seed, epoch, samples)[place * batch : (place + 1) * batch]


@lru_cache(2)
def _order(seed: int, epoch: int, samples: int) -> Int[Tensor, " sample"]:
    return torch.randperm(samples, generator=generator(seed, f"order/{epoch}"))


class Ahead(Generic[T]):
    """A function of the step whose next value is found by a thread while this step's is used: files are read
    and decoded while the device computes."""

    def __init__(self, of: Callable[[int], T], steps: int) -> None:
        self._of, self._steps = of, steps
        self._thread = ThreadPoolExecutor(1)
        self._found: dict[int, Future[T]] = {}

    def __call__(self, step: int) -> T:
        found = self._found.pop(step, None) or self._thread.submit(self._of, step)
        if step + 1 < self._steps:
            self._found[step + 1] = self._thread.submit(self._of, step + 1)
        return found.result()
