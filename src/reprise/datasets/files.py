"""Messages about files of data sets that cannot be read or are other ones."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numpy import ndarray as Array

from reprise.errors import RepriseError


@contextmanager
def files_named(data_set: str) -> Iterator[None]:
    """Says which file or folder cannot be read, and of which data set.

    Raises:
        RepriseError: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise RepriseError(
            f"data set '{data_set}': {place}not readable: {error.strerror or error}; copy it again, or give "
            "read access there"
        ) from None


def require_sha256(what: str, data: Array, expected: str) -> None:
    """Checks data that an installed package brings along.

    Args:
        what: names the data in the message.
        expected: SHA-256 of its bytes, in C order.

    Raises:
        RepriseError: if they differ.
    """
    if hashlib.sha256(data.tobytes()).hexdigest() != expected:
        raise RepriseError(
            f"{what}: not the data that the published results were made from; install its package in the "
            "version of constraints.txt: make environment"
        )


def size(file: Path) -> int:
    """Bytes in a file.

    Raises:
        RepriseError: if it cannot be read.
    """
    try:
        return file.stat().st_size
    except OSError as error:
        raise RepriseError(f"{file}: not readable: {error.strerror}") from None
