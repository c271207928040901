"""Images that stay on disk and are decoded one minibatch at a time."""

import hashlib
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Int, UInt8
from PIL import Image, ImageOps
from torch import Tensor

from reprise.errors import RepriseError

MARGIN = 1 / 16
"""Share of the shorter side that evaluation crops at each end: 224 of 256 pixels remain."""

Boxes = Callable[[int, tuple[int, int]], Int[Tensor, "view 4"]]
"""Maps i and the (height, width) of a minibatch's i-th image to (top, left, height, width) of its crops."""


class Images(Protocol):
    """Images by index, as bytes [batch, channel, size, size]: a tensor in memory, or a `Folder` on disk."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> UInt8[Tensor, "batch channel size size"]: ...


class Files:
    """Images in files, decoded by a pool of threads.

    Attributes:
        size: height and width of the decoded images, in pixels.
    """

    def __init__(self, files: Sequence[str | Path], size: int = 224, workers: int | None = None) -> None:
        """
        Args:
            workers: number of decoding threads; by default one per core available to this process.
        """
        self.size = size
        self._files = list(files)
        self._workers = workers or len(os.sched_getaffinity(0))
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def fingerprint(self) -> str:
        """SHA-256 of the files' names, with their folders, and sizes: hashing the contents would take
        hours."""
        digest = hashlib.sha256(f"{self.size}".encode())
        for file in map(Path, self._files):
            digest.update(f"{file.parent.name}/{file.name} {file.stat().st_size}\n".encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: Int[Tensor, " batch"]) -> UInt8[Tensor, "batch 3 size size"]:
        """The middle of each image, for evaluation: torchvision's Resize(256) and CenterCrop(224)."""

        def middle(position: int) -> UInt8[Tensor, "3 size size"]:
            image = ImageOps.fit(
                self._read(position), (self.size, self.size), Image.Resampling.BILINEAR, bleed=MARGIN
            )
            return _bytes(image)

        return torch.stack(list(self._threads().map(middle, index.tolist())))

    def crops(
        self, index: Int[Tensor, " batch"], boxes: Boxes, interpolations: Sequence[str]
    ) -> UInt8[Tensor, "view batch 3 size size"]:
        """Crops of each image, cut at full size and then resized by Pillow, as the papers' pipelines do.

        Each file is decoded once.

        Args:
            boxes: gives the crops' boxes, one per view.
            interpolations: `bilinear` or `bicubic` for each view.
        """
        kinds = [Image.Resampling[name.upper()] for name in interpolations]

        def cut(task: tuple[int, int]) -> UInt8[Tensor, "view 3 size size"]:
            image, views = self._read(task[1]), []
            view_boxes = boxes(task[0], (image.height, image.width)).tolist()
            for (top, left, height, width), kind in zip(view_boxes, kinds, strict=True):
                box = image.crop((left, top, left + width, top + height))
                views.append(_bytes(box.resize((self.size, self.size), kind)))
            return torch.stack(views)

        return torch.stack(list(self._threads().map(cut, enumerate(index.tolist()))), 1)

    def _threads(self) -> ThreadPoolExecutor:
        """This process's thread pool: a fork inherits the pool but not its threads."""
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = os.getpid(), ThreadPoolExecutor(self._workers)
        return self._pool[1]

    def _read(self, index: int) -> Image.Image:
        file = self._files[index]
        try:
            with Image.open(file) as image:
                return image.convert("RGB")
        except OSError as error:
            raise RepriseError(f"{file}: not an image that can be decoded: {error}; copy it again") from None


class Folder(Files):
    """Images in root/CLASS/*, in torchvision's ImageFolder layout.

    Attributes:
        labels: the class of each image, as an index into `classes`.
        classes: class names, sorted.
    """

    def __init__(self, root: str | Path, size: int = 224, workers: int | None = None) -> None:
        """Lists the files.

        Args:
            size, workers: as for `Files`.

        Raises:
            FileNotFoundError: from torchvision, if there is no class or a class has no images.
        """
        from torchvision.datasets import ImageFolder

        listing = ImageFolder(str(root))
        super().__init__([file for file, _ in listing.samples], size, workers)
        self.classes: list[str] = listing.classes
        self.labels = torch.tensor(listing.targets)


def _bytes(image: Image.Image) -> UInt8[Tensor, "3 size size"]:
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)
