"""Figures as thumbnails that a page can hold."""

import base64
from functools import partial
from pathlib import Path

from PIL import Image

from reprise.engine.memo import code_and_versions
from reprise.storage import disk, records, store

WIDTH = 200
"""Width of a thumbnail, in pixels."""
QUALITY = 34
"""Quality of the AVIF: lines and letters stay sharp, at a tenth of the PNG's size."""
KIND = "pictures"
"""Kind of the cache's entries."""
PICTURE = "picture.avif"


def thumbnail(file: Path, root: Path) -> str:
    """A PNG as a data URI that holds it as a small AVIF. The same PNG gives the same bytes. Encoding takes
    seconds, so the cache keeps the picture, under the hash of the PNG and what encodes it.

    Args:
        root: the checkout.
    """
    key = records.key_of(code_and_versions((__name__, "_encode")), disk.sha256(file.read_bytes()))
    what = f"{file.parent.name}/{file.stem}"
    with store.cached(root, KIND, key, what, partial(_encode, file)) as entry:
        content = (entry.folder / PICTURE).read_bytes()
    return f"data:image/avif;base64,{base64.b64encode(content).decode('ascii')}"


def _encode(file: Path, folder: Path) -> None:
    with Image.open(file) as image:
        picture = image.convert("RGB")
    picture.thumbnail((WIDTH, WIDTH * picture.height), Image.Resampling.LANCZOS)
    picture.save(folder / PICTURE, "AVIF", quality=QUALITY, speed=8, max_threads=1)
