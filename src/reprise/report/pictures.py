"""Figures as small pictures that a page can hold."""

import base64
import io
from pathlib import Path

from PIL import Image

WIDE, SMALL = 840, 200
"""Pixels: of a figure on the page, of its thumbnail."""
QUALITY = 34
"""Of AVIF: lines and letters stay sharp, at a tenth of the PNG's size."""


def embedded(file: Path, width: int) -> str:
    """A PNG as a data URI that holds it as AVIF, at most so many pixels wide. The same PNG gives the same
    bytes."""
    with Image.open(file) as image:
        picture = image.convert("RGB")
    if picture.width > width:
        height = round(picture.height * width / picture.width)
        picture = picture.resize((width, height), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    picture.save(content, "AVIF", quality=QUALITY, speed=8, max_threads=1)
    return f"data:image/avif;base64,{base64.b64encode(content.getvalue()).decode('ascii')}"
