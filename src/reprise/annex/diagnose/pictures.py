"""The images of a user's folder: found, decoded one by one, and counted where they are left out or scaled."""

import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image, ImageOps
from torch import Tensor

from reprise.annex.diagnose.contents import START, no_data, words
from reprise.datasets.folders import MARGIN
from reprise.errors import RepriseError

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".ppm")
ARCHIVE = "__MACOSX"
"""The folder in archives by macOS that repeats all names, for what is not an image."""


class Found(NamedTuple):
    """Images found in a folder.

    Attributes:
        files: the images at any depth, sorted.
        skipped: what was skipped, each with its number: hidden files and folders, whose names begin with a
            dot, and `__MACOSX`; files with other endings than `SUFFIXES`; folders that links lead to again.
    """

    files: list[Path]
    skipped: dict[str, int]


class Picture(NamedTuple):
    """A decoded picture.

    Attributes:
        pixels: the middle square.
        scaled: whether its values had more than eight bits, and were scaled from their own range.
    """

    pixels: UInt8[Tensor, "3 size size"]
    scaled: bool


def found(folder: Path) -> Found:
    """The images in a folder.

    Raises:
        RepriseError: if there is no such folder or no image in it.
    """
    if not folder.is_dir():
        raise RepriseError(f"{folder}: no such folder of images")
    files, hidden, others, again = [], 0, 0, 0
    seen: set[str] = set()
    for place, folders, names in os.walk(folder, followlinks=True):
        if (real := os.path.realpath(place)) in seen:  # a link to a folder around it would go on for ever
            folders.clear()
            again += 1
            continue
        seen.add(real)
        shown = [Path(place, name) for name in names if not _is_hidden(name)]
        images = [file for file in shown if file.suffix.lower() in SUFFIXES]
        hidden += sum(map(_is_hidden, [*folders, *names]))
        others += len(shown) - len(images)
        files += images
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
    if not files:
        raise RepriseError(f"{folder}: no image in it; expected files that end in {', '.join(SUFFIXES)}")
    skipped = {
        "Hidden files and folders, skipped": hidden,
        f"Files that do not end in {', '.join(SUFFIXES)}, skipped": others,
        "Folders that links lead to again, skipped": again,
    }
    return Found(sorted(files), skipped)


def picture(file: Path, size: int) -> Picture:
    """Decodes the middle of an image, as `datasets.folders.Files` does. Values of 16 bits and floats, which
    Pillow would clip at 255, are scaled from their own lowest and highest.

    Raises:
        RepriseError: if it cannot be decoded, or has NaN or infinity.
    """
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(file) as image:
            scaled = image.mode in ("I", "F") or image.mode.startswith("I;16")
            colours = (_eight_bits(image) if scaled else image).convert("RGB")
    except Exception as error:  # a decoder may raise anything; also Pillow's limit on the number of pixels
        raise RepriseError(
            f"{file}: not an image that can be decoded: {_reason(file, error)}; --skip-bad goes on without it"
        ) from None
    fitted = ImageOps.fit(colours, (size, size), Image.Resampling.BILINEAR, bleed=MARGIN)
    return Picture(torch.from_numpy(np.array(fitted).transpose(2, 0, 1)), scaled)


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name == ARCHIVE


def _eight_bits(image: Image.Image) -> Image.Image:
    values = np.asarray(image, np.float64)
    if not np.isfinite(values).all():
        raise ValueError("NaN or infinity among its pixels")
    low, high = values.min(), values.max()
    levels = (values - low) * (255 / (high - low)) if high > low else np.zeros_like(values)
    return Image.fromarray(levels.round().astype(np.uint8))


def _reason(file: Path, error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    with file.open("rb") as stream:
        reason = no_data(stream.read(START))
    is_whole = isinstance(error, ValueError | Image.DecompressionBombError)
    return reason or words(error) + "; copy it again" * (not is_whole)
