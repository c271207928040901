"""Executes a user's Python file, and says in one line what went wrong in it and where."""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from reprise.errors import RepriseError
from reprise.sources import Finder

LONGEST = 300
"""Characters of another program's message that are shown."""


def executed(file: Path) -> ModuleType:
    """Executes a file as a module with a name of its own, each time anew. It may import the modules beside
    it, as a script may, and keeps them; other files do not see them, because they are then unloaded.

    Raises:
        RepriseError: if there is no such file, or executing it raises anything or exits; the message names
            file and line.
    """
    if not file.is_file():
        raise RepriseError(f"no file {file.resolve()}")
    name = f"_reprise_user_file_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    former = sys.modules.get(name)
    with explained(file), _modules_beside(file):
        sys.modules[name] = module  # where dataclasses look for the module of a class
        try:
            # Compiled here: the cache of compiled files takes an edit within a second for no edit.
            exec(compile(file.read_bytes(), str(file), "exec", dont_inherit=True), vars(module))
        finally:
            del sys.modules[name]
            if former is not None:
                sys.modules[name] = former
    return module


@contextmanager
def explained(file: Path, line: int = 1) -> Iterator[None]:
    """Turns whatever a user's code raises, also `sys.exit`, into one line with the place in that file or in a
    module beside it. Ctrl-C stays Ctrl-C.

    Args:
        line: of what is called, for what is raised about it elsewhere.

    Raises:
        RepriseError: `FILE:LINE: TypeError: ...`, with the notes that the exception has.
    """
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        message = "; ".join([_what(error), *getattr(error, "__notes__", ())])
        raise RepriseError(f"{_place(error, file, line)}: {message}") from error


def _place(error: BaseException, file: Path, line: int) -> str:
    """`FILE:LINE` of the innermost of the user's lines that led to the error."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno or 1}"
    folder, place = file.resolve().parent, f"{file}:{line}"
    for frame, number in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename).resolve()
        if path.is_relative_to(folder) and path.relative_to(folder).parts[0] in _names_beside(folder):
            place = f"{frame.f_code.co_filename}:{number}"
    return place


def _what(error: BaseException) -> str:
    if isinstance(error, RepriseError):
        return str(error)
    if isinstance(error, SystemExit):
        return "calls sys.exit"
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    if isinstance(error, ImportError) and "relative import" in text:
        shown += "; import a module beside the file by its name, without a dot"
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


@contextmanager
def _modules_beside(file: Path) -> Iterator[None]:
    """Lets a file import the modules beside it, also those named like one that is loaded already, and then
    unloads them: a file in another folder may have modules of the same names."""
    folder = file.resolve().parent
    modules = {Path(name).stem for name in _names_beside(folder)}

    def loaded() -> dict[str, ModuleType]:
        return {name: module for name, module in [*sys.modules.items()] if name.partition(".")[0] in modules}

    hidden = {name: module for name, module in loaded().items() if not _lies_in(folder, module)}
    for name in hidden:
        del sys.modules[name]
    kept, path, wrote = set(loaded()), [*sys.path], sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True  # leave nothing in the user's folder
    finder = Finder(modules)
    sys.meta_path.insert(0, finder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.dont_write_bytecode = wrote
        sys.path[:] = path
        for name in set(loaded()) - kept:
            del sys.modules[name]
        sys.modules.update(hidden)


def _names_beside(folder: Path) -> set[str]:
    """The files and packages in a folder that Python can import."""
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return packages | {path.name for path in folder.glob("*.py")}


def _lies_in(folder: Path, module: ModuleType) -> bool:
    origin = getattr(module, "__file__", None)
    return origin is not None and Path(origin).resolve().is_relative_to(folder)
