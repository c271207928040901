"""Hashes of closures (`storage.closure`), kept from one process to the next.

Reading the package's syntax trees takes a second, and every plan, drawing and check needs the hashes. Like
Python's compiled modules, they are kept beside the package, in `__pycache__`. They hold as long as no file of
the package changes in content.
"""

import atexit
import hashlib
import json
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from reprise.storage.closure import PACKAGE, Symbol, closure_hash

SUFFIXES = (".py", ".csv", ".j2")
"""Of the files that a closure can hold."""


class Hashes:
    """The hashes of closures in the package as it is now.

    Args:
        package: the package's folder.
        file: where they are kept.
    """

    def __init__(self, package: Path, file: Path) -> None:
        self._package, self._file = package, file
        self._state = fingerprint(package)
        self._known = self._read()
        self._is_new = False

    def __call__(self, *symbols: Symbol, extra: bytes = b"") -> str:
        """The same as `closure_hash`."""
        name = hashlib.sha256(repr(sorted(symbols)).encode() + extra).hexdigest()
        if name not in self._known:
            self._known[name] = closure_hash(*symbols, extra=extra)
            self._is_new = True
        return self._known[name]

    def keep(self) -> None:
        """Writes new hashes for later processes, unless a file of the package was edited meanwhile, so that
        it is not known from which content they were made, or the folder cannot be written to."""
        if not self._is_new or fingerprint(self._package) != self._state:
            return
        content = {"package": self._state, "hashes": self._read() | self._known}
        new = self._file.with_suffix(f".{os.getpid()}")
        try:
            self._file.parent.mkdir(exist_ok=True)
            new.write_text(json.dumps(content))
            new.replace(self._file)
        except OSError:
            with suppress(OSError):
                new.unlink()

    def _read(self) -> dict[str, str]:
        """The hashes that other processes kept of the same package."""
        try:
            content = json.loads(self._file.read_text())
            return dict(content["hashes"]) if content["package"] == self._state else {}
        except (OSError, ValueError, KeyError, TypeError):  # missing or damaged
            return {}


def fingerprint(package: Path) -> str:
    """Hash over Python's version and the names and content of a package's files."""
    digest = hashlib.sha256(sys.version.encode())
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for name in sorted(name for name in names if name.endswith(SUFFIXES)):
            file = Path(folder, name)
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(package)} {content}\n".encode())
    return digest.hexdigest()


@cache
def of_package() -> Hashes:
    """The hashes of closures in this package, which are kept when the process ends."""
    package = Path(sys.modules[PACKAGE].__path__[0])
    hashes = Hashes(package, package / "__pycache__" / "closures.json")
    atexit.register(hashes.keep)
    return hashes
