"""A loss of two views as a setting: a published one by name, or a user's own; checked without torch, for a
run's plan."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from reprise.errors import RepriseError
from reprise.storage.closure import Foreign, functions
from reprise.storage.closure import foreign as foreign_file


def names() -> list[str]:
    """The published losses that `objectives.resolve` knows."""
    return sorted(functions("reprise.objectives", "z1", "z2"))


def foreign(name: str) -> Foreign:
    """What a user's loss, `path/mine.py:my_loss`, brings: its file, the modules beside it that it imports,
    and what they use of the package.

    Raises:
        RepriseError: when the file is missing, or one of them is not Python.
    """
    file = Path(name.rpartition(":")[0])
    if not file.is_file():
        raise RepriseError(f"objective '{name}': no file {file.resolve()}")
    try:
        return foreign_file(file)
    except (SyntaxError, ValueError) as error:
        raise RepriseError(f"objective '{name}': not readable as Python: {error}") from None


def _known(name: str) -> str:
    if not re.fullmatch(r".+\.py:\w+", name) and name not in names():
        raise ValueError(f"unknown loss; allowed: {', '.join(names())}, or path/mine.py:my_loss")
    return name


Loss = Annotated[str, AfterValidator(_known)]
