"""Images that stay on the disk, and are decoded a minibatch at a time."""

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
"""What evaluation leaves out at each end of the shorter side: 224 of 256 remain."""

Boxes = Callable[[int, tuple[int, int]], Int[Tensor, "view 4"]]
"""(top, left, height, width) of the crops from the minibatch's i-th image, given its height and width."""


class Images(Protocol):
    """Images by index, as bytes [batch, channel, size, size]: a tensor in memory, or a `Folder` that reads
    them from the disk."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> UInt8[Tensor, "batch channel size size"]: ...


class Files:
    """Images in files, decoded by threads.

    Attributes:
        size: height and width of what is read, in pixels.
    """

    def __init__(self, files: Sequence[str | Path], size: int = 224, workers: int | None = None) -> None:
        """
        Args:
            workers: threads that decode; one for each core that this process may use.
        """
        self.size = size
        self._files = list(files)
        self._workers = workers or len(os.sched_getaffinity(0))
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def fingerprint(self) -> str:
        """SHA-256 of the files' names, with each one's folder, and lengths: to read them would take hours."""
        digest = hashlib.sha256(f"{self.size}".encode())
        for file in map(Path, self._files):
            digest.update(f"{file.parent.name}/{file.name} {file.stat().st_size}\n".encode())
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: Int[Tensor, " batch"]) -> UInt8[Tensor, "batch 3 size size"]:
        """The middle of each image, as it is evaluated: torchvision's Resize(256) and CenterCrop(224)."""

        def middle(one: int) -> UInt8[Tensor, "3 size size"]:
            fitted = ImageOps.fit(
                self._read(one), (self.size, self.size), Image.Resampling.BILINEAR, bleed=MARGIN
            )
            return _bytes(fitted)

        return torch.stack(list(self._threads().map(middle, index.tolist())))

    def crops(
        self, index: Int[Tensor, " batch"], boxes: Boxes, interpolations: Sequence[str]
    ) -> UInt8[Tensor, "view batch 3 size size"]:
        """Parts of each image, cut out of the whole and then resized by Pillow, as the papers' pipelines do;
        each file is decoded once.

        Args:
            interpolations: of each view, `bilinear` or `bicubic`.
        """
        kinds = [Image.Resampling[name.upper()] for name in interpolations]

        def cut(task: tuple[int, int]) -> UInt8[Tensor, "view 3 size size"]:
            image, made = self._read(task[1]), []
            of_views = boxes(task[0], (image.height, image.width)).tolist()
            for (top, left, height, width), kind in zip(of_views, kinds, strict=True):
                box = image.crop((left, top, left + width, top + height))
                made.append(_bytes(box.resize((self.size, self.size), kind)))
            return torch.stack(made)

        return torch.stack(list(self._threads().map(cut, enumerate(index.tolist()))), 1)

    def _threads(self) -> ThreadPoolExecutor:
        """Of this process: a fork has the pool, but not its threads."""
        if self._pool is None or self._pool[0] != os.getpid():
            self._pool = os.getpid(), ThreadPoolExecutor(self._workers)
        return self._pool[1]

    def _read(self, index: int) -> Image.Image:
        file = self._files[index]
        try:
            with Image.open(file) as opened:
                return opened.convert("RGB")
        except OSError as error:
            raise RepriseError(f"{file}: not an image that can be decoded: {error}; copy it again") from None


class Folder(Files):
    """Images in root/CLASS/*, in torchvision's ImageFolder layout.

    Attributes:
        labels: of all images, the classes in the order of their names.
        classes: names.
    """

    def __init__(self, root: str | Path, size: int = 224, workers: int | None = None) -> None:
        """Lists the files.

        Args:
            workers: as of `Files`.

        Raises:
            FileNotFoundError: torchvision's, where there is no class or a class without images.
        """
        from torchvision.datasets import ImageFolder

        listed = ImageFolder(str(root))
        super().__init__([file for file, _ in listed.samples], size, workers)
        self.classes: list[str] = listed.classes
        self.labels = torch.tensor(listed.targets)


def _bytes(image: Image.Image) -> UInt8[Tensor, "3 size size"]:
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)
