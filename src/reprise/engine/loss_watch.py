"""Watches what a user's loss depends on outside its own file, while its code runs: files and folders are
noted, and what no result's key can cover is refused.

Python reports each file that it opens (`sys.addaudithook`). Libraries written in other languages open files
without it, such as TorchScript's, safetensors' and Parquet's: of these, a file counts that the loss's code
names in a constant, or passes to or gets from a function in Python.
"""

import os
import stat
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NoReturn

from reprise.errors import RepriseError
from reprise.storage import closure

UNCOVERED = "which no result's key covers"
PROCESSES = {
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.fork",
    "os.forkpty",
}
NETWORK = {"socket.gethostname", "socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"}
COMPILERS = ("torch/_dynamo/", "torch/_inductor/", "triton/", "numba/")
"""Folders of libraries that compile a loss: their programs and caches follow from its code."""
CALLERS = ("reprise/objectives/own.py", "reprise/storage/user_code.py")
"""Our modules that execute a loss's file and call the loss."""
MACHINE = ("/proc/", "/sys/")
MAPPING = ("<frozen os>", "<frozen _collections_abc>", os.__file__, "_collections_abc.py")
EXPANDING = {"expandvars", "substitute", "safe_substitute", "convert"}
"""Functions of the standard library that put variables into a text."""
LONGEST = 4096
"""Characters of a path."""

IMPORT, NEUTRAL, OURS, COMPILER, LIBRARY, USER = "import", "neutral", "ours", "compiler", "library", "user"
_stat = os.stat


class Watch:
    """Notes what the loss's code reads, or refuses what was not noted before.

    Attributes:
        files: absolute paths of files and folders, also of those that are not there.
        libraries: names of libraries imported by a name put together at run time.
        refusal: the first thing that was refused; empty if there is none.
    """

    def __init__(self, known: Iterable[str] | None = None) -> None:
        """
        Args:
            known: the files and folders that may be read; by default all, which are then noted.
        """
        self.files: set[str] = set()
        self.libraries: set[str] = set()
        self.refusal = ""
        self._known = None if known is None else frozenset(known)
        self._loaded: set[str] = set()
        self._named: set[str] = set()
        self._new: set[str] = set()
        self._changed: set[str] = set()
        self._made: set[str] = set()
        self._began = time.time()

    def audit(self, event: str, details: Sequence[Any]) -> None:
        """An audit hook, added by `sys.addaudithook` or called from another hook."""
        if event == "open":
            if not isinstance(details[0], int) and _is_by_loss():
                self._opened(details[0], details[2] or 0)
        elif event in ("os.listdir", "os.scandir"):
            if not isinstance(details[0], int) and _is_by_loss(importing=False):
                self._read(details[0] or ".")
        elif event == "os.mkdir":
            if _is_by_loss() and not _mode(_absolute(details[0])):
                self._made.add(_absolute(details[0]))
        elif event == "import":
            if details[1] and _is_by_loss():  # a compiled module
                self._read(details[1])
        elif event == "ctypes.dlopen":
            if details[0] and _is_by_loss():
                name = os.fsdecode(details[0])
                self._loaded.add(name) if "/" not in name else self._read(name)
        elif event == "sqlite3.connect":
            name = os.fsdecode(details[0]).removeprefix("file:").partition("?")[0]
            if name and name != ":memory:" and _is_by_loss():
                self._read(name)
        elif event in PROCESSES and _is_by_loss(libraries=False):
            self._refuse(f"starts another process, {UNCOVERED}; compute in the file itself")
        elif event in NETWORK and _is_by_loss():
            self._refuse(f"asks the network, {UNCOVERED}; save what it needs in a file")
        elif event == "builtins.input" and _is_by_loss():
            self._refuse(f"asks for input, {UNCOVERED}; write the value into the file")

    def start(self) -> None:
        """Watches the rest of the life of this process, which has been forked for that, also for what Python
        does not report."""
        _guards.clear()
        _trials.append(self)
        for name, module in [*sys.modules.items()]:  # to be read again, and noted
            file = getattr(module, "__file__", None)
            if name != "__main__" and file and _kind(file) == USER:
                del sys.modules[name]
        for variables in ("environ", "environb"):
            setattr(os, variables, _Environment(getattr(os, variables), self._variable))
        os.stat = self._asking
        sys.addaudithook(self.audit)
        sys.setprofile(self._called)
        threading.setprofile(self._called)

    def stop(self) -> None:
        """Ends what slows Python down, and completes the files."""
        sys.setprofile(None)
        os.stat = _stat
        files = {name: getattr(sys.modules.get(name), "__file__", None) for name in self.libraries}
        self.libraries = {name for name, file in files.items() if file and _kind(file) in (LIBRARY, COMPILER)}
        self.files |= {path for path in self._named - self._changed if not self._is_made(path)}
        if self._loaded:
            mapped = {line.split(maxsplit=5)[-1] for line in _lines("/proc/self/maps")}
            self.files |= {path for path in mapped if Path(path).name.startswith(tuple(self._loaded))}

    def _opened(self, name: Any, flags: int) -> None:
        path = _absolute(name)
        is_written = bool(flags & (os.O_WRONLY | os.O_RDWR))
        is_new = bool(flags & (os.O_TRUNC | os.O_EXCL))
        if path == os.devnull or path in self._new or self._is_made(path) or not _is_file_of_user(path):
            return
        if is_written:
            if path in self.files or not (is_new or flags & os.O_WRONLY):
                self._refuse(
                    f"reads and changes {_shown(path)}, so that it depends on earlier calls; open it for "
                    "reading alone"
                )
            self._changed.add(path)
            if is_new:
                self._new.add(path)
        else:
            self._read(path)

    def _read(self, name: Any) -> None:
        path = _absolute(name)
        if path == os.devnull or self._is_made(path) or not _is_file_of_user(path):
            return
        mode = _mode(path)
        if path.startswith(MACHINE) or (mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))):
            if not _is_by_loss(libraries=False):  # a library that asks for the number of cores
                return
            self._refuse(f"reads {path}, {UNCOVERED}; write the value into the file")
        if self._known is not None and path not in self._known:
            self._refuse(
                f"reads {_shown(path)}, which it did not when it was tried, so that no result's key covers "
                "it; read it at the top of the file"
            )
        self.files.add(path)

    def _is_made(self, path: str) -> bool:
        """Tells if the loss itself has made a folder that the path is, or lies in."""
        return any(path == folder or path.startswith(f"{folder}/") for folder in self._made)

    def _variable(self, name: str) -> None:
        frame: FrameType | None = sys._getframe(2)
        while frame and (
            frame.f_code.co_filename.endswith(MAPPING)
            or (frame.f_code.co_name in EXPANDING and _kind(frame.f_code.co_filename) in (NEUTRAL, IMPORT))
        ):
            frame = frame.f_back
        if frame and _kind(frame.f_code.co_filename) == USER:
            what = f"the environment variable {name}" if name else "all environment variables"
            self._refuse(f"reads {what}, {UNCOVERED}; write the value into the file")

    def _asking(self, path: Any, **options: Any) -> os.stat_result:
        """A substitute for `os.stat`, by which a loss may ask if there is a file."""
        is_by_loss = not isinstance(path, int) and _is_by_loss(libraries=False, importing=False)
        if is_by_loss and _absolute(path) not in self._changed and not stat.S_ISDIR(_mode(_absolute(path))):
            self._read(path)
        return _stat(path, **options)

    def _called(self, frame: FrameType, event: str, value: Any) -> None:
        """A profiling function (`sys.setprofile`)."""
        if event not in ("call", "return"):
            return
        code, caller = frame.f_code, frame.f_back
        is_called_by_loss = caller is not None and _kind(caller.f_code.co_filename) == USER
        if _kind(code.co_filename) == USER:
            self._name(_constants(code))
            if "__import__" in code.co_names:
                self.libraries |= {*map(_top, _constants(code))}
        elif not is_called_by_loss:
            return
        elif code.co_name == "import_module":
            self.libraries.add(_top(frame.f_locals.get("name")))
        self._name([value, *frame.f_locals.values()])

    def _name(self, values: Iterable[Any]) -> None:
        """Notes those values that are the path of a file which was there before the trial."""
        for value in values:
            if isinstance(value, (str, bytes, os.PathLike)):
                try:
                    path = _absolute(value)
                    if len(path) < LONGEST and stat.S_ISREG(_mode(path)) and _is_file_of_user(path):
                        self._named |= {path} if _stat(path).st_ctime < self._began else set()
                except (AttributeError, TypeError, ValueError, OSError):
                    continue  # AttributeError: a Path that is being made

    def _refuse(self, what: str) -> NoReturn:
        self.refusal = self.refusal or what
        raise RepriseError(what)


_trials: list[Watch] = []
"""The watch of a process that has been forked to try a loss."""
_guards: list[Watch] = []
"""Watches of this process, the innermost last."""


@contextmanager
def guarded(known: Iterable[str]) -> Iterator[None]:
    """Refuses within the context what a loss reads that is not known. Python's hook stays, and does nothing
    afterwards."""
    _add_hook()
    _guards.append(Watch(known))
    try:
        yield
    finally:
        _guards.pop()


@cache
def _add_hook() -> None:
    sys.addaudithook(lambda event, details: _guards[-1].audit(event, details) if _guards else None)


class _Environment(os._Environ):
    """The environment's variables; says which of them are read."""

    def __init__(self, original: Any, note: Callable[[str], None]) -> None:
        super().__init__(*(vars(original)[name] for name in ("_data", "encodekey", "decodekey", "encodevalue",
                                                             "decodevalue")))  # fmt: skip
        self._note = note

    def __getitem__(self, key: Any) -> Any:
        self._note(os.fsdecode(key))
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[Any]:
        self._note("")
        return super().__iter__()


def _is_by_loss(libraries: bool = True, importing: bool = True) -> bool:
    """Tells if the loss's code does what is done now, not a library for its own use while it is imported.

    Args:
        libraries: whether what a library does for the loss counts.
        importing: whether what Python does to import the loss's modules counts.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    is_within_library = False
    while frame:
        kind = _kind(frame.f_code.co_filename)
        if kind == USER:
            return _is_called_as_loss(frame)
        if kind == NEUTRAL and frame.f_code.co_name == "_rmtree_safe_fd":
            return False  # deletes what it opens, by names relative to other folders
        if kind in (OURS, COMPILER) or (kind == LIBRARY and not libraries):
            return False
        if kind == IMPORT and (is_within_library or not importing):
            return False
        is_within_library |= kind == LIBRARY
        frame = frame.f_back
    # A process that tries a loss has no other threads than the loss's, such as those of a pool.
    return bool(_trials) and threading.current_thread() is not threading.main_thread()


def _is_called_as_loss(frame: FrameType) -> bool:
    """Tells if a user's code runs because a loss was loaded or called, not in a notebook's progress bar."""
    caller = frame.f_back
    while caller and _kind(caller.f_code.co_filename) != OURS:
        caller = caller.f_back
    return caller is None or caller.f_code.co_filename.endswith(CALLERS)


@cache
def _kind(file: str) -> str:
    """The kind of code in a file, by its owner."""
    if file.startswith("<"):
        return IMPORT if file.startswith("<frozen importlib") else NEUTRAL
    path = os.path.abspath(file)
    if "/torchinductor_" in path:
        return COMPILER
    if path.startswith(f"{sys.base_prefix}/share/locale/"):  # translations of Python's messages
        return NEUTRAL
    if path.startswith(_package()):  # also where it is installed among the libraries
        return OURS
    if "site-packages" in path or "dist-packages" in path:
        return COMPILER if any(f"-packages/{folder}" in path for folder in COMPILERS) else LIBRARY
    return NEUTRAL if path.startswith(_standard()) else USER


@cache
def _package() -> str:
    return f"{Path(sys.modules[closure.PACKAGE].__path__[0]).absolute()}/"


@cache
def _standard() -> tuple[str, ...]:
    """The folders of Python's standard library."""
    return tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib"))


def _is_file_of_user(path: str) -> bool:
    """Tells if a file or folder is not the environment's, nor the package's code, nor bytecode of either."""
    if "/__pycache__/" in path:
        return False
    kind = _kind(path)
    return kind == USER or (kind == OURS and not path.endswith(".py"))


def _absolute(name: Any) -> str:
    """An absolute path, for a compiled file that of its source."""
    path = os.path.abspath(os.fsdecode(name))
    with suppress(ValueError):
        return source_from_cache(path)
    return path


def _mode(path: str) -> int:
    try:
        return _stat(path).st_mode
    except (OSError, ValueError):
        return 0


def _shown(path: str) -> str:
    """A path, relative to the working directory if it is below."""
    return path.removeprefix(f"{os.getcwd()}/")


def _lines(file: str) -> list[str]:
    """The lines of a file; none where there is no such file."""
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _constants(code: CodeType) -> Iterator[Any]:
    for constant in code.co_consts:
        yield from constant if isinstance(constant, (tuple, frozenset)) else (constant,)


def _top(name: Any) -> str:
    return name.split(".")[0] if isinstance(name, str) else ""
