"""Imports modules from what their files hold now.

Python takes a compiled module (`.pyc`) for that of any file of the same size and date, and `rsync -t` and
`cp -p` give these to another content. The hash that a result is kept under would then be of code that did not
compute it.
"""

import importlib.util
import marshal
import sys
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

IMPORTED: dict[str, bytes] = {}
"""File -> the hash of the source that was imported from it, of the package's modules and a user's."""
PACKAGES: dict[str, Path | None] = {"reprise": None}
"""Top-level package whose code is in the keys of results (this one, those of papers elsewhere) -> its folder,
where Python would not find it."""
CHECKED_HASH = (0b11).to_bytes(4, "little")
"""Flags of a compiled module that holds a hash of its source, which Python compares, too (PEP 552)."""


class Finder:
    """Finds modules where Python does, by the names of their top-level packages.

    Args:
        places: top-level package -> its folder, where Python would not find it.
    """

    def __init__(self, names: Container[str], places: Mapping[str, Path | None] | None = None) -> None:
        self._names, self._places = names, places or {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in self._names:
            return None
        if place := self._places.get(fullname):
            path = [str(place.parent)]
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Compiles a module again unless its compiled one holds the hash of its source."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        IMPORTED[path] = importlib.util.source_hash(source)
        header = importlib.util.MAGIC_NUMBER + CHECKED_HASH + IMPORTED[path]
        compiled = importlib.util.cache_from_source(path)
        with suppress(OSError), open(compiled, "rb") as file:
            if file.read(len(header)) == header:
                return super().get_code(fullname)
        code = self.source_to_code(source, path)
        if not sys.dont_write_bytecode:
            self.set_data(compiled, header + marshal.dumps(code))
        return code


def verify(spec: ModuleSpec | None, code: CodeType) -> None:
    """Verifies a module that Python has imported by itself. Other loaders, of archives or of tools that
    rewrite code, have no `.pyc` of Python's, or another code than their file's.

    Raises:
        ImportError: if the code that runs is not that of its file.
    """
    if spec is None or spec.origin is None or type(spec.loader) is not SourceFileLoader:
        return
    file = spec.origin
    source = Path(file).read_bytes()
    IMPORTED[file] = importlib.util.source_hash(source)
    if code != compile(source, file, "exec", dont_inherit=True):
        compiled = Path(importlib.util.cache_from_source(file))
        with suppress(OSError):
            compiled.unlink()
        raise ImportError(
            f"{file} has another content than {compiled}, of the same size and date, which was deleted: "
            "start again"
        )


def adopt(package: str, folder: Path | None = None) -> None:
    """Imports a package, from now on, as this one is imported; its code is then in the keys of results.

    Args:
        package: a name that may have dots; what counts is the top-level package.
        folder: of a top-level package that Python does not find by itself.
    """
    name = package.partition(".")[0]
    PACKAGES.setdefault(name, folder)
    for module in [each for key, each in [*sys.modules.items()] if key.partition(".")[0] == name]:
        file = getattr(module, "__file__", None)
        if file and file not in IMPORTED:  # imported before it was adopted
            IMPORTED[file] = _hash(file)


def folders() -> list[Path]:
    """The folders of `PACKAGES`, this one first."""
    specs = filter(None, map(importlib.util.find_spec, PACKAGES))
    return [Path(place) for spec in specs for place in (spec.submodule_search_locations or ())]


def edited(folder: Path) -> list[str]:
    """The files below a folder that hold another source now than when they were imported."""
    return [file for file in IMPORTED if folder in Path(file).parents and _hash(file) != IMPORTED[file]]


def _hash(file: str) -> bytes:
    try:
        return importlib.util.source_hash(Path(file).read_bytes())
    except OSError:
        return b""


verify(__spec__, sys._getframe().f_code)
sys.meta_path.insert(0, Finder(PACKAGES, PACKAGES))
