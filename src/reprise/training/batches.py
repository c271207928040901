"""The batches of a training run, read ahead while the previous step computes."""

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
    """The input of one step.

    Attributes:
        index: the samples of the whole batch, across all processes.
        read: the data from which `Views.made` makes the views of this process's rows.
        numbers: the random numbers that determine those views, [view, share, draw].
    """

    index: Int[Tensor, " batch"]
    read: Tensor
    numbers: Float[Tensor, "view share draw"]


def batch_indices(seed: int, step: int, batch: int, samples: int) -> Int[Tensor, " batch"]:
    """The samples of a step; each epoch has a new order, and drops an incomplete last batch."""
    epoch, place = divmod(step, samples // batch)
    return _order(seed, epoch, samples)[place * batch : (place + 1) * batch]


@lru_cache(2)
def _order(seed: int, epoch: int, samples: int) -> Int[Tensor, " sample"]:
    return torch.randperm(samples, generator=generator(seed, f"order/{epoch}"))


class Ahead(Generic[T]):
    """A function of the step that computes the next step's value in a thread: files are read and decoded
    while the device computes."""

    def __init__(self, function: Callable[[int], T], steps: int) -> None:
        self._function, self._steps = function, steps
        self._thread = ThreadPoolExecutor(1)
        self._pending: dict[int, Future[T]] = {}

    def __call__(self, step: int) -> T:
        future = self._pending.pop(step, None) or self._thread.submit(self._function, step)
        if step + 1 < self._steps:
            self._pending[step + 1] = self._thread.submit(self._function, step + 1)
        return future.result()
