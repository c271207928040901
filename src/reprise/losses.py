"""A loss of two views as a setting: a published one by name, or a user's own; checked without torch, for a
run's plan."""

import re
from typing import Annotated

from pydantic import AfterValidator

from reprise.closure import functions


def names() -> list[str]:
    """The published losses that `objectives.resolve` knows."""
    return sorted(functions("reprise.objectives", "z1", "z2"))


def _known(name: str) -> str:
    if not re.fullmatch(r".+\.py:\w+", name) and name not in names():
        raise ValueError(f"unknown loss; allowed: {', '.join(names())}, or path/mine.py:my_loss")
    return name


Loss = Annotated[str, AfterValidator(_known)]
