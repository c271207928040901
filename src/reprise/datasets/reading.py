"""Images read ahead: worker processes decode files while this process computes."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import torch
from jaxtyping import UInt8
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from reprise.datasets.folders import Images
from reprise.errors import RepriseError
from reprise.numerics.processes import can_fork, cores

T = TypeVar("T")


def workers() -> int:
    """Number of worker processes: one for each core that this process may use, shared with the other
    processes of a training by `torchrun`."""
    return max(1, cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def ahead(
    function: Callable[[T], Tensor], tasks: Sequence[T], *, depth: int = 1, pinned: bool = False
) -> Iterator[Tensor]:
    """`function(task)` of each task in order, computed ahead by `workers()` processes, whose number has no
    effect on the values; where processes do not start as forks, by this one when it is asked for.

    Results that wait lie in shared memory (/dev/shm): at most `depth`, or two for each worker.

    Args:
        depth: results that may wait, at least.
        pinned: whether the results lie in page-locked memory, from which a GPU copies while it computes.

    Raises:
        RepriseError: from the function.
    """
    count = min(workers(), len(tasks))
    if not can_fork():  # into another process the function, with the images, would go as a copy
        yield from map(function, tasks)
        return
    if not count:
        return
    results = DataLoader(
        _Results(function),
        batch_size=None,
        sampler=tasks,
        num_workers=count,
        multiprocessing_context="fork",
        prefetch_factor=max(2, -(-depth // count)),
        pin_memory=pinned,
        generator=torch.Generator(),  # otherwise the loader draws from the global one
    )
    for result in results:
        if isinstance(result, RepriseError):
            raise result
        yield result


class _Results(Dataset, Generic[T]):
    """A function as a data set, which the loader's workers call. An error is a result: raised in a worker, it
    would arrive with the worker's traceback as its message."""

    def __init__(self, function: Callable[[T], Tensor]) -> None:
        self._function = function

    def __getitem__(self, task: T) -> Tensor | RepriseError:
        try:
            return self._function(task)
        except RepriseError as error:
            return error


def chunks(
    images: Images, size: int, rows: range | None = None
) -> Iterator[UInt8[Tensor, "chunk channel size size"]]:
    """The images in order, `size` at a time; those in files are decoded ahead.

    Args:
        rows: a part of them, without gaps; by default all.
    """
    if rows is None:
        rows = range(len(images))
    parts = [slice(start, min(start + size, rows.stop)) for start in rows[::size]]
    if isinstance(images, Tensor):
        return (images[part] for part in parts)
    return ahead(images.__getitem__, parts)
