"""Locks between processes, which the system releases when a process ends, however it ends."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from reprise.errors import RepriseError
from reprise.storage.disk import writing

LOCK = ".lock"
"""End of the name of a lock file."""


class Busy(RepriseError):
    """Another process holds the lock, and the caller did not want to wait."""


@contextmanager
def locked(file: Path, *, shared: bool = False, wait: bool = True) -> Iterator[bool]:
    """Locks a file for one process at a time, or for several that share it. The system releases the lock when
    a process ends, however it ends. A process that has to wait reports this on stderr.

    Yields:
        Whether it had to wait for another process, which may have made what the caller wants.

    Raises:
        Busy: if another process holds the lock and `wait` is false.
        RepriseError: if the file cannot be written or locked.
    """
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    waited = False
    while True:
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            handle = file.open("a", encoding="utf-8")
        with handle:
            if not _lock_at_once(handle, mode):
                if not wait:
                    raise Busy(f"{file.parent}: another process is at work here")
                print(
                    f"{file.parent}: waiting for another process at work here",
                    file=sys.stderr,
                    flush=True,
                )
                _flock(handle, mode)
                waited = True
            if not _is_open(file, handle):
                continue  # another process removed the file while we waited
            yield waited
            return


def _lock_at_once(handle: IO[str], mode: int) -> bool:
    """Takes the lock without waiting; returns whether that succeeded."""
    try:
        _flock(handle, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _flock(handle: IO[str], mode: int) -> None:
    try:
        fcntl.flock(handle, mode)
    except BlockingIOError:
        raise
    except OSError as error:
        raise RepriseError(
            f"{handle.name}: this file system cannot lock files (flock: {error.strerror}); mount it with "
            "locks (on Lustre, the option `flock`), or put the checkout on another one"
        ) from None


def _is_open(file: Path, handle: IO[str]) -> bool:
    """Tells if the path still refers to the open file."""
    try:
        return os.path.samestat(file.stat(), os.fstat(handle.fileno()))
    except FileNotFoundError:
        return False
