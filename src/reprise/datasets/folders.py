"""Images that stay on disk and are decoded when they are needed."""

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Int, UInt8
from PIL import Image, ImageOps
from torch import Tensor

from reprise.datasets.files import size
from reprise.errors import RepriseError

MARGIN = 1 / 16
"""Share of the shorter side that evaluation crops at each end: 224 of 256 pixels remain."""

Boxes = Callable[[Int[Tensor, "batch 2"]], Int[Tensor, "view batch 4"]]
"""Maps the heights and widths of a minibatch's images to (top, left, height, width) of their crops."""


class Images(Protocol):
    """Images by index, as bytes [batch, channel, size, size]: a tensor in memory, or a `Folder` on disk."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> UInt8[Tensor, "batch channel size size"]: ...


class Files:
    """Images in files, decoded by the process that asks for them; `reading` decodes in several processes.

    Attributes:
        size: height and width of the decoded images, in pixels.
    """

    def __init__(self, files: Sequence[str | Path], size: int = 224) -> None:
        self.size = size
        # An array, because processes that are forked later would copy a million strings when they use them.
        self._files = np.array([os.fsencode(file) for file in files], dtype=bytes)

    @cache  # noqa: B019, of the few objects that live as long as the process
    def fingerprint(self) -> str:
        """SHA-256 of the files' names, with their folders, and sizes: hashing the contents would take
        hours. Sizes are read once, because a network's file system may take minutes."""
        digest = hashlib.sha256(f"{self.size}".encode())
        for file in map(Path, map(os.fsdecode, self._files)):
            digest.update(os.fsencode(f"{file.parent.name}/{file.name} {size(file)}\n"))
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: slice | Int[Tensor, " batch"]) -> UInt8[Tensor, "batch 3 size size"]:
        """The middle of each image, for evaluation: torchvision's Resize(256) and CenterCrop(224)."""
        files = self._named(index)
        pixels = self._pixels(len(files))
        for image, file in zip(pixels, files, strict=True):
            fitted = ImageOps.fit(
                _decoded(file), (self.size, self.size), Image.Resampling.BILINEAR, bleed=MARGIN
            )
            image[:] = _channels_first(fitted)
        return torch.from_numpy(pixels)

    def crops(
        self, index: slice | Int[Tensor, " batch"], boxes: Boxes, interpolations: Sequence[str]
    ) -> UInt8[Tensor, "view batch 3 size size"]:
        """Crops of each image, cut at full size and then resized by Pillow, as the papers' pipelines do.

        Each file is decoded once. All of the minibatch's images are in memory at full size.

        Args:
            interpolations: `bilinear` or `bicubic` for each view.
        """
        images = [_decoded(file) for file in self._named(index)]
        sizes = torch.tensor([(image.height, image.width) for image in images])
        pixels = self._pixels(len(interpolations), len(images))
        kinds = [Image.Resampling[name.upper()] for name in interpolations]
        for views, kind, view_boxes in zip(pixels, kinds, boxes(sizes).tolist(), strict=True):
            for view, image, (top, left, height, width) in zip(views, images, view_boxes, strict=True):
                box = image.crop((left, top, left + width, top + height))
                view[:] = _channels_first(box.resize((self.size, self.size), kind))
        return torch.from_numpy(pixels)

    def _named(self, index: slice | Int[Tensor, " batch"]) -> list[bytes]:
        return self._files[index if isinstance(index, slice) else index.numpy()].tolist()

    def _pixels(self, *shape: int) -> UInt8[np.ndarray, "*shape 3 size size"]:
        return np.empty((*shape, 3, self.size, self.size), np.uint8)


class Folder(Files):
    """Images in root/CLASS/*, in torchvision's ImageFolder layout.

    Attributes:
        labels: the class of each image, as an index into `classes`.
        classes: class names, sorted.
    """

    def __init__(self, root: str | Path, size: int = 224) -> None:
        """Lists the files.

        Args:
            size: as for `Files`.

        Raises:
            FileNotFoundError: from torchvision, if there is no class or a class has no images.
        """
        from torchvision.datasets import ImageFolder

        listing = ImageFolder(str(root))
        super().__init__([file for file, _ in listing.samples], size)
        self.classes: list[str] = listing.classes
        self.labels = torch.tensor(listing.targets)


def _decoded(file: bytes) -> Image.Image:
    try:
        with Image.open(os.fsdecode(file)) as image:
            return image.convert("RGB")
    except Exception as error:  # a decoder may raise anything; also Pillow's limit on the number of pixels
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RepriseError(
            f"{os.fsdecode(file)}: not an image that can be decoded: {reason}; copy it again"
        ) from None


def _channels_first(image: Image.Image) -> UInt8[np.ndarray, "3 size size"]:
    return np.asarray(image).transpose(2, 0, 1)
