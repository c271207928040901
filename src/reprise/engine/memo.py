"""Keeps what follows from the package's files from one process to the next: hashes of closures, the
libraries that they use, and which figures and tables a module draws; also digests of the user's data, by the
data's place, sizes and dates, and what users' losses were seen to read.

Reading the syntax trees takes a second and importing matplotlib a third of one, in each plan, drawing and
check. Like Python's compiled modules, what was found out is kept beside the package, in `__pycache__`, and
counts until the content of any of its files changes.
"""

import atexit
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

from reprise import sources
from reprise.engine import elsewhere
from reprise.storage import closure, versions
from reprise.storage.closure import Symbol

Json = TypeVar("Json", str, list)
"""A value that JSON returns as it was."""


class Memo:
    """Values that follow from the files of a package and from their own names, by name.

    Args:
        packages: the folders of this package and of papers elsewhere.
        file: where they are kept.
    """

    def __init__(self, packages: Sequence[Path], file: Path) -> None:
        self._packages, self._file = packages, file
        self._state = fingerprint(*packages)
        self._dates: tuple = ()
        self._values = self._read()
        self._has_new = False

    def value(self, name: str, make: Callable[[], Json]) -> Json:
        """The value of this name, made only if no process has made it."""
        if name not in self._values:
            self._values[name] = make()
            self._has_new = True
        return self._values[name]

    def write(self) -> None:
        """Writes new values for later processes, unless a file of the package was edited meanwhile, so that
        it is not known from which content they were made, or the folder cannot be written to."""
        if not self._has_new or not self.is_current():
            return
        content = {"package": self._state, "values": self._read() | self._values}
        new = self._file.with_suffix(f".{os.getpid()}")
        try:
            self._file.parent.mkdir(exist_ok=True)
            new.write_text(json.dumps(content))
            new.replace(self._file)
        except OSError:
            with suppress(OSError):
                new.unlink()

    def is_current(self) -> bool:
        """Tells if the package's files are as they were when this process imported them, or first looked at
        them."""
        dates = tuple(_dates(*self._packages))
        if dates != self._dates:
            if fingerprint(*self._packages) != self._state or any(map(sources.edited, self._packages)):
                return False
            self._dates = dates
        return True

    def _read(self) -> dict:
        """The values that other processes wrote for the same package."""
        try:
            content = json.loads(self._file.read_text())
            return dict(content["values"]) if content["package"] == self._state else {}
        except (OSError, ValueError, KeyError, TypeError):  # missing or damaged
            return {}


def fingerprint(*packages: Path) -> str:
    """Hash over Python's version and the names and content of the packages' files."""
    digest = hashlib.sha256(sys.version.encode())
    for package in packages:
        for file in map(Path, _files(package)):
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(package.parent)} {content}\n".encode())
    return digest.hexdigest()


def _files(package: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(names):
            yield os.path.join(folder, name)


def _dates(*packages: Path) -> Iterator[tuple[str, int, int]]:
    """Each file's name, inode and time of the last change, which the system sets and no program can set
    back."""
    for package in packages:
        for file in _files(package):
            with suppress(OSError):  # a file that has gone since
                status = os.stat(file)
                yield file, status.st_ino, status.st_ctime_ns


@cache
def of_package() -> Memo:
    """The memo of this package; new values are written when the process ends."""
    elsewhere.packages()
    packages = sources.folders()
    memo = Memo(packages, packages[0] / "__pycache__" / "memo.json")
    atexit.register(memo.write)
    return memo


def closure_hash(*symbols: Symbol, extra: bytes = b"") -> str:
    """`storage.closure.closure_hash`, kept."""
    name = hashlib.sha256(repr(sorted(symbols)).encode() + extra).hexdigest()
    return of_package().value(name, partial(closure.closure_hash, *symbols, extra=extra))


def libraries(*symbols: Symbol) -> list[str]:
    """`storage.closure.libraries`, kept."""
    name = f"libraries {hashlib.sha256(repr(sorted(symbols)).encode()).hexdigest()}"
    return of_package().value(name, lambda: sorted(closure.libraries(*symbols)))


def code_and_versions(*symbols: Symbol, extra: bytes = b"") -> str:
    """`storage.versions.code_and_versions`, kept but for the versions."""
    return versions.joined(closure_hash(*symbols, extra=extra), versions.of(libraries(*symbols)))
