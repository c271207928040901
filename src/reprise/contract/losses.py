"""Losses on two views as a setting: a published one by name, or a user's own. They are validated without
torch, so that planning a run stays fast."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BeforeValidator

from reprise.contract.settings import Settings, ours
from reprise.errors import RepriseError
from reprise.storage.closure import Foreign, functions
from reprise.storage.closure import foreign as foreign_file
from reprise.storage.user_code import explained


def names() -> list[str]:
    """The published losses that `objectives.resolve` knows."""
    return sorted(functions("reprise.objectives", "z1", "z2"))


def foreign(name: str) -> Foreign:
    """The code that a user's loss, `path/mine.py:my_loss`, depends on: its file, the local modules that it
    imports, and the package's symbols that they use.

    Raises:
        RepriseError: if the file is missing, or one of the files cannot be read or is not Python.
    """
    file = Path(name.rpartition(":")[0])
    if not file.is_file():
        raise RepriseError(f"objective '{name}': no file {file.resolve()}")
    try:
        with explained(file):
            return foreign_file(file)
    except RepriseError as error:
        raise RepriseError(f"objective '{name}': {error}") from None


class Seen(NamedTuple):
    """Dependencies that a trial of a user's loss has shown.

    Attributes:
        files: absolute paths of the files and folders that the loss reads, besides its code (`foreign`).
        libraries: the libraries of others that the loss imports.
    """

    files: frozenset[str] = frozenset()
    libraries: frozenset[str] = frozenset()


_seen: dict[str, Seen] = {}


def note(name: str, found: Seen) -> None:
    """Notes for this process what a loss was seen to depend on."""
    _seen[os.path.abspath(name)] = found


def seen(name: str) -> Seen:
    """Dependencies that the trial of a loss has shown; none if this process has not noted them."""
    return _seen.get(os.path.abspath(name), Seen())


def states(files: Iterable[str]) -> dict[str, str]:
    """Present digests of files and folders: the SHA-256 of a file's content, or of a folder's names; by path,
    which is relative to the working directory if it is below."""
    return {path.removeprefix(f"{os.getcwd()}/"): _state(Path(path)) for path in sorted(files)}


def _state(path: Path) -> str:
    try:
        if path.is_dir():
            names = sorted(name for name in os.listdir(path) if name != "__pycache__")
            return hashlib.sha256("/".join(names).encode(errors="surrogateescape")).hexdigest()
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        return f"not readable ({error.strerror})"


def _known(name: str) -> str:
    if not re.fullmatch(r".+\.py:\w+", name) and name not in names():
        raise ValueError(f"unknown loss; allowed: {', '.join(names())}, or path/mine.py:my_loss")
    return name


def _as_tuple(value: Any) -> Any:
    return (_known(value),) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("names a loss twice")
    return names


LossName = Annotated[str, AfterValidator(_known)]
Losses = Annotated[tuple[LossName, ...], BeforeValidator(_as_tuple), AfterValidator(_each_once)]
"""One loss, or a list of losses."""


class TakesLosses(Settings):
    """Settings of an experiment that trains with a loss on two views.

    The experiment runs once more with each loss named in `objective`, everything else unchanged; in the
    tables, the column `setting` of these rows holds the loss's name. The rows of the published loss do not
    change, and claims read only those.
    """

    objective: Losses = ours(
        (), "losses to show beside the published one, each by its name or as path/mine.py:my_loss"
    )


def labels(names: Sequence[str]) -> dict[str, str]:
    """Legend labels of losses. A user's loss is labelled by its function's name, or in full if that is not
    unique."""
    short = {name: name.rpartition(":")[2] for name in names}
    counts = Counter(short.values())
    # matplotlib leaves labels that start with an underscore out of a legend.
    return {
        name: label if counts[label] == 1 and not label.startswith("_") else name
        for name, label in short.items()
    }
