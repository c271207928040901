"""Figures as small pictures that a page can hold."""

import base64
from functools import partial
from pathlib import Path

import PIL
from PIL import Image

from reprise.execute.kept import closure_hash
from reprise.storage import store

WIDE, SMALL = 840, 200
"""Pixels: of a figure on the page, of its thumbnail."""
QUALITY = 34
"""Of AVIF: lines and letters stay sharp, at a tenth of the PNG's size."""
KIND = "pictures"
"""Of the cache's entries."""
PICTURE = "picture.avif"


def embedded(file: Path, width: int, root: Path) -> str:
    """A PNG as a data URI that holds it as AVIF, at most so many pixels wide. The same PNG gives the same
    bytes. Encoding is most of the time that a report takes, so the cache keeps the picture, under the hash of
    the PNG, the width and what encodes it.

    Args:
        root: the checkout.
    """
    encoder = [closure_hash((__name__, "_encode")), PIL.__version__]
    key = store.key_of(encoder, store.sha256(file.read_bytes()), width)
    what = f"{file.parent.name}/{file.stem}, {width} pixels wide"
    with store.kept(root, KIND, key, what, partial(_encode, file, width)) as entry:
        content = (entry.folder / PICTURE).read_bytes()
    return f"data:image/avif;base64,{base64.b64encode(content).decode('ascii')}"


def _encode(file: Path, width: int, folder: Path) -> None:
    with Image.open(file) as image:
        picture = image.convert("RGB")
    if picture.width > width:
        height = round(picture.height * width / picture.width)
        picture = picture.resize((width, height), Image.Resampling.LANCZOS)
    picture.save(folder / PICTURE, "AVIF", quality=QUALITY, speed=8, max_threads=1)
