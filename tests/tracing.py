"""A tracer of the code that really runs, seen by Python itself and not by the syntax trees that hashes are
made of."""

import gc
import importlib
import pkgutil
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import reprise
from reprise import sources
from reprise.engine import memo
from reprise.storage import closure

SOURCE = Path(reprise.__file__).parent
BESIDE = "engine/registry.py"
"""The file that finds the functions that a hash is of, and computes nothing itself."""


class Function(NamedTuple):
    """A function of the package: its file below the package, the line it begins at (that of its first
    decorator), and its name."""

    file: str
    line: int
    name: str

    def __str__(self):
        return f"{self.file}:{self.line} {self.name}"


class Ran:
    """Record of a run: `code` objects of any origin, and the files that were opened."""

    def __init__(self):
        self.code = set()
        self.opened = set()

    @property
    def functions(self):
        """The package's functions. A module's body runs when it is imported, or when numba first compiles
        what is in it, and is none."""
        return {
            Function(str(Path(code.co_filename).relative_to(SOURCE)), code.co_firstlineno, code.co_qualname)
            for code in self.code
            if code.co_name != "<module>" and Path(code.co_filename).is_relative_to(SOURCE)
            if code.co_filename.endswith(".py")
        }

    @property
    def data_files(self):
        """The package's files that were read and hold no code, below the package."""
        files = (Path(file) for file in self.opened)
        return {
            str(file.relative_to(SOURCE))
            for file in files
            if file.is_relative_to(SOURCE) and file.suffix != ".py" and "__pycache__" not in file.parts
        }


_tracing = []
"""Records that are being made: a hook for files cannot be taken away."""


def _note_opened(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and _tracing and not _is_fingerprint():
        for ran in _tracing:
            ran.opened.add(arguments[0])


def _is_fingerprint():
    """Tells if every file of the package is read now to see if one was edited, which no step depends on."""
    frame = sys._getframe(2)
    while frame and frame.f_code not in (memo.fingerprint.__code__, sources._hash.__code__):
        frame = frame.f_back
    return frame is not None


sys.addaudithook(_note_opened)


@contextmanager
def traced():
    """Records what runs and is read meanwhile, in this thread and in those that start meanwhile."""
    ran = Ran()
    gc.collect()  # or generators that were left unfinished before are closed, and run, meanwhile

    def trace(frame, event, argument):
        ran.code.add(frame.f_code)  # and returns None, so that the function's lines are not traced

    before, before_of_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    _tracing.append(ran)
    try:
        yield ran
    finally:
        _tracing.remove(ran)
        sys.settrace(before)
        threading.settrace(before_of_threads)


def import_everything():
    """Imports every module: code that runs at import is no part of a step."""
    for module in pkgutil.walk_packages(reprise.__path__, "reprise."):
        importlib.import_module(module.name)


def forget_results():
    """Clears the caches of results: what was computed before would not run again."""
    ours = [module for name, module in sys.modules.items() if name.startswith("reprise.")]
    for value in (value for module in ours for value in vars(module).values()):
        if hasattr(value, "cache_clear") and value.__module__ != closure.__name__:
            value.cache_clear()
