"""What code and which of the package's files really run and are read, seen by Python itself and not by the
syntax trees that hashes are made of."""

import gc
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import reprise

SOURCE = Path(reprise.__file__).parent
_watched: list[set[Path]] = []


class Function(NamedTuple):
    """A function of the package: its file below the package, the line it begins at (that of its first
    decorator), and its name."""

    file: str
    line: int
    name: str

    def __str__(self):
        return f"{self.file}:{self.line} {self.name}"


class Ran:
    """What ran: `code` objects of any origin, and `files` of the package that were opened, modules apart."""

    def __init__(self):
        self.code, self.files = set(), set()

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


@contextmanager
def traced():
    """What runs meanwhile, in this thread and in those that start meanwhile."""
    ran = Ran()
    gc.collect()  # or generators that were left unfinished before are closed, and run, meanwhile

    def trace(frame, event, argument):
        ran.code.add(frame.f_code)  # and returns None, so that the function's lines are not traced

    before, before_of_threads = sys.gettrace(), threading.gettrace()
    _watched.append(ran.files)
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        yield ran
    finally:
        sys.settrace(before)
        threading.settrace(before_of_threads)
        _watched.remove(ran.files)


def _note(event, arguments):
    if event == "open" and _watched and isinstance(arguments[0], str):
        file = Path(arguments[0])
        if file.is_relative_to(SOURCE) and file.suffix not in (".py", ".pyc", ".nbi", ".nbc"):
            for files in _watched:
                files.add(file.relative_to(SOURCE))


sys.addaudithook(_note)
