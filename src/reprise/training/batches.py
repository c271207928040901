"""The batches of a training run; files are read ahead while the previous steps compute."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from reprise.datasets.augment import Pixels, Views
from reprise.datasets.folders import Folder, Images
from reprise.datasets.reading import ahead
from reprise.numerics.streams import generator

PIECE = 32
"""Images that a worker process decodes at a time."""

Rendering = Callable[[int], Pixels]
"""Returns the views of a step, this process's rows."""
ViewCache = Callable[[Rendering], Rendering]
"""Returns the same views as a rendering does, which it may have kept."""


def at_each_step(render: Rendering) -> Rendering:
    """Keeps nothing: every step's views are rendered when it comes."""
    return render


class Batch(NamedTuple):
    """The input of one step.

    Attributes:
        index: the samples of the whole batch, across all processes.
        pixels: the views of this process's rows, before normalisation.
    """

    index: Int[Tensor, " batch"]
    pixels: Pixels


@dataclass(frozen=True)
class Batches:
    """The batches of a training run, each a function of the seed and the step.

    Attributes:
        samples: number of images.
        batch: size of the whole batch.
        rows: this process's rows of every batch.
        keep: for the views of images in memory.
    """

    images: Images
    samples: int
    views: Views
    seed: int
    batch: int
    rows: slice
    keep: ViewCache = at_each_step

    def between(self, start: int, end: int, device: str) -> Iterator[Batch]:
        """The batches of the steps from `start` to before `end`.

        Images in files are decoded ahead, at least one batch: in shared memory they take 2 * 3 * size² bytes
        an image, 300 KB at 224 pixels.

        Args:
            device: where views are computed.
        """
        if not isinstance(self.images, Folder):
            pixels = self.keep(partial(self._rendered, device=device))
            for step in range(start, end):
                yield Batch(self._index(step), pixels(step))
            return
        tasks = range(start * self._pieces, end * self._pieces)
        pinned = torch.device(device).type == "cuda"
        pieces = ahead(self._piece, tasks, depth=self._pieces, pinned=pinned)
        for step in range(start, end):
            parts = [next(pieces).to(device, non_blocking=True) for _ in range(self._pieces)]
            pixels = self.views.pixels(torch.cat(parts, 1), self._numbers(step), device)
            yield Batch(self._index(step), pixels)

    def _rendered(self, step: int, device: str) -> Pixels:
        numbers = self._numbers(step)
        read = self.views.read(self.images, self._index(step)[self.rows], numbers)
        return self.views.pixels(read, numbers, device)

    @property
    def _pieces(self) -> int:
        """Number of pieces of a batch."""
        return -(-(self.rows.stop - self.rows.start) // PIECE)

    def _piece(self, task: int) -> Tensor:
        step, piece = divmod(task, self._pieces)
        rows = slice(piece * PIECE, (piece + 1) * PIECE)
        index = self._index(step)[self.rows][rows]
        return self.views.read(self.images, index, self._numbers(step)[:, rows])

    def _index(self, step: int) -> Int[Tensor, " batch"]:
        return batch_indices(self.seed, step, self.batch, self.samples)

    def _numbers(self, step: int) -> Float[Tensor, "view share draw"]:
        # Drawn on the CPU for the whole batch, so that they depend on neither the processes nor the device.
        return self.views.draw(self.batch, generator(self.seed, f"views/{step}"))[:, self.rows]


def batch_indices(seed: int, step: int, batch: int, samples: int) -> Int[Tensor, " batch"]:
    """The samples of a step; each epoch has a new order, and drops an incomplete last batch."""
    epoch, place = divmod(step, samples // batch)
    return _order(seed, epoch, samples)[place * batch : (place + 1) * batch]


@lru_cache(2)
def _order(seed: int, epoch: int, samples: int) -> Int[Tensor, " sample"]:
    return torch.randperm(samples, generator=generator(seed, f"order/{epoch}"))
