"""Files on disk, written as drafts and renamed when complete: a kill at any instant, a full disk or an error
leaves either the old file or the new one."""

import glob
import hashlib
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from reprise.errors import RepriseError


def sha256(content: bytes | memoryview) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def write(file: Path, content: bytes) -> None:
    """Writes one file atomically, as `write_files` does."""
    write_files({file: lambda draft: draft.write_bytes(content)})


def write_files(files: Mapping[Path, Callable[[Path], Any]]) -> None:
    """Writes each file as a draft next to it, and renames the drafts once all are complete. The files are
    flushed to disk when this returns. Drafts that a killed process of this machine has left are removed.

    Raises:
        RepriseError: if a folder cannot be written.
    """
    for file in files:
        if not file.name or (file.exists() and not file.is_file()):
            raise RepriseError(f"{file}: not a regular file; name another one to write to")
    drafts = {file: file.with_name(f".{platform.node()}-{os.getpid()}.{file.name}") for file in files}
    try:
        for file, draft in drafts.items():
            with writing(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                for left in _abandoned(file):
                    left.unlink(missing_ok=True)
                files[file](draft)
                flush(draft)
        for file, draft in drafts.items():
            with writing(file):
                os.replace(draft, file)
                flush(file.parent)  # makes the new name durable, too
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink()


def _abandoned(file: Path) -> Iterator[Path]:
    """A file's drafts by processes of this machine that have ended."""
    own = f".{platform.node()}-"
    for draft in file.parent.glob(f"{glob.escape(own)}*.{glob.escape(file.name)}"):
        process = draft.name.removeprefix(own).removesuffix(f".{file.name}")
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            yield draft
        except (ValueError, PermissionError):  # another file's draft; a process of another user
            continue


def flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an OSError into a message that names the path."""
    try:
        yield
    except OSError as error:
        raise RepriseError(
            f"{path}: cannot be written ({error.strerror or error}); free space or give write access there; "
            "what was there before is unchanged"
        ) from None
