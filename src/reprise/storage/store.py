"""Result tables and the cache on disk: written atomically under a lock, and verified on reading.

Each result or cache entry is a folder of files with a sealed record of how they were made, which holds the
SHA-256 of each file and of itself. It is written as a draft and renamed when complete, so that a kill at any
instant, a full disk or an error leaves either the old version or the new one.

Result tables lie in `results/TIER/KEY/NAME/`, with the record `run.json`. Intermediate results (tables of
tasks, trained networks, features) lie in the cache, `results/cache/KIND/KEY/`, with the record `record.json`,
under a key over everything that they depend on. A damaged cache entry is recomputed; damaged results are
refused, with the command that recomputes them.

The name of an empty file `.KEY.done` holds the key of the results, for Snakemake, which sees only names.

Files that lie beside others in one folder, such as a drawing, have a sealed record among them
(`write_sealed`), which is renamed last: after a kill, files and record do not match.
"""

import fcntl
import glob
import hashlib
import io
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import pandas as pd

from reprise.errors import RepriseError

CACHE = Path("results") / "cache"
TASKS, VIEWS = "tasks", "views"
"""Kinds of cache entries that serve an experiment until it is finished."""
MODELS = "models"
"""The kind of trained networks, which all experiments share."""
TABLE = "table.parquet"
RECORD, CACHE_RECORD = "run.json", "record.json"
DRAFT, READY, LOCK = ".draft-", ".ready", ".lock"
DONE, SEAL = ".done", "seal"

ASKER: ContextVar[str] = ContextVar("asker", default="")
"""The run that currently asks for cache entries, described in one line."""
WAITS: ContextVar[bool] = ContextVar("waits", default=True)
"""Whether who asks for an entry that another process makes waits for it."""


def key_of(*what: object) -> str:
    """32 hexadecimal digits over the JSON of the arguments. For the code and the libraries that it uses, one
    of them is from `versions.code_and_versions`."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


# The cache.


class MadeElsewhere(BaseException):
    """Another process makes the entry that was asked for, and the caller did not want to wait. It is no
    Exception, so that no computation on the way takes it for a failure of its own."""


@dataclass
class _Spent:
    """What the entries took, and are called, that were asked for while another one was made."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    asked: list[str] = field(default_factory=list)


SPENT: ContextVar[_Spent | None] = ContextVar("spent", default=None)
"""Of the entry that is being made now."""


@dataclass(frozen=True)
class Entry:
    """A cache entry, `results/cache/KIND/KEY/`.

    Attributes:
        folder: holds the files and the record once they are complete.
        hit: whether it already existed when it was asked for.
    """

    folder: Path
    hit: bool = False

    @property
    def draft(self) -> Path:
        """The folder of an incomplete entry, where a long computation may save what it resumes from."""
        return self.folder.with_name(f".{self.folder.name}")

    @property
    def lock(self) -> Path:
        """The lock file, which also lists the entry's askers, one per line."""
        return self.folder.with_name(f".{self.folder.name}{LOCK}")

    @property
    def used(self) -> float:
        """When it was last asked for, in seconds since 1970; 0 for an entry without a lock file."""
        with suppress(FileNotFoundError):
            return self.lock.stat().st_mtime
        return 0.0

    @property
    def askers(self) -> set[str]:
        """All runs that have asked for the entry, by the names given to `asking`."""
        with suppress(FileNotFoundError):
            return {
                line for line in self.lock.read_text(encoding="utf-8", errors="replace").splitlines() if line
            }
        return set()

    @property
    def record(self) -> dict[str, Any]:
        """How the entry was made; empty if it is unfinished or damaged."""
        with suppress(ValueError):
            return _record(self.folder / CACHE_RECORD)
        return {}

    def verified(self) -> dict[str, Any]:
        """Returns the record after verifying each file's SHA-256.

        Raises:
            ValueError: naming the file that is missing or altered.
        """
        return _compare(self.folder, _record(self.folder / CACHE_RECORD), CACHE_RECORD)


@contextmanager
def cached(
    root: Path, kind: str, key: str, what: str, make: Callable[[Path], Mapping[str, Any] | None]
) -> Iterator[Entry]:
    """The cache entry under `key`, made first unless it exists intact. It is locked meanwhile: if several
    processes ask for it at once, one makes it and the others wait, or within `not_waiting` go on without it.

    The record of a new entry has the `seconds` and `cpu_seconds` that making it took, without those of other
    entries that were `asked` for meanwhile, each `KIND/KEY`. Views count as part of what asked for them.

    Args:
        root: the checkout.
        what: description of the entry.
        make: writes the files into an empty folder, and may return further fields of the record. The folder's
            parent, `Entry.draft`, survives a kill.

    Raises:
        RepriseError: if the cache cannot be written.
        MadeElsewhere: within `not_waiting`, if another process makes the entry.
    """
    entry, start, before = Entry(root / CACHE / kind / key), time.perf_counter(), cpu_seconds()
    with _locked(entry, kind):
        if ASKER.get() and ASKER.get() not in entry.askers:
            with writing(entry.lock), entry.lock.open("a", encoding="utf-8") as file:
                file.write(f"\n{ASKER.get()}\n")  # a kill may have cut the previous line short
        with writing(entry.lock):
            entry.lock.touch()  # its date says when the entry was last used
        hit = _is_intact(entry)
        if not hit:
            _make(entry, what, make)
        shutil.rmtree(entry.draft, ignore_errors=True)
        if kind != VIEWS and (outer := SPENT.get()):
            outer.seconds += time.perf_counter() - start
            outer.cpu_seconds += cpu_seconds() - before
            outer.asked.append(f"{kind}/{key}")
        yield Entry(entry.folder, hit)


@contextmanager
def _locked(entry: Entry, kind: str) -> Iterator[None]:
    """Locks an entry. Views are waited for in any case: a training that needs them has begun."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(entry.lock, wait=WAITS.get() or kind == VIEWS))
        except Busy:
            raise MadeElsewhere(str(entry.folder)) from None
        yield


@contextmanager
def not_waiting() -> Iterator[None]:
    """Within the context, `cached` raises MadeElsewhere where it would wait for another process."""
    token = WAITS.set(False)
    try:
        yield
    finally:
        WAITS.reset(token)


def cpu_seconds() -> float:
    """CPU time of this process, and of those of its children that have ended."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _is_intact(entry: Entry) -> bool:
    """Whether the entry exists and is intact; reports damage on stderr."""
    if not entry.folder.is_dir():
        return False
    try:
        return bool(entry.verified())
    except ValueError as damage:
        print(f"{damage}; made again", file=sys.stderr, flush=True)
        return False


def _make(entry: Entry, what: str, make: Callable[[Path], Mapping[str, Any] | None]) -> None:
    files, start, before = entry.draft / "files", time.perf_counter(), cpu_seconds()
    inner = _Spent()
    token = SPENT.set(inner)
    try:
        with writing(entry.folder):
            for former in (entry.folder, files):  # a damaged entry, and a killed process's files
                shutil.rmtree(former, ignore_errors=True)
            files.mkdir(parents=True)
        with _undeleted(files):
            facts = make(files) or {}
        with writing(files):
            sums = _flushed_sums(files)
        record = {
            **facts,
            "what": what,
            "key": entry.folder.name,
            "made_for": ASKER.get(),
            "seconds": round(time.perf_counter() - start - inner.seconds, 3),
            "cpu_seconds": round(cpu_seconds() - before - inner.cpu_seconds, 3),
            "asked": inner.asked,
            "sha256": sums,
        }
        with writing(entry.folder):
            write(files / CACHE_RECORD, seal(record).encode())
            os.rename(files, entry.folder)
            _flush(entry.folder.parent)
    finally:
        SPENT.reset(token)
        shutil.rmtree(files, ignore_errors=True)
        with suppress(OSError):  # not empty: it holds what to resume from
            entry.draft.rmdir()


@contextmanager
def _undeleted(folder: Path) -> Iterator[None]:
    """Refuses a folder that was deleted within the context, even if files were written there again since."""
    with writing(folder):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield
        with writing(folder):
            if not os.path.samestat(folder.stat(), os.fstat(descriptor)):
                raise OSError("it was deleted meanwhile")
    finally:
        os.close(descriptor)


def cached_table(root: Path, asker: str, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The cached table of a task. New or cached, it is read from the file, so that a resumed run ends with
    the same bytes.

    Args:
        asker: the run, `TIER KEY/NAME HEX`; the digits are over everything that its tables depend on.
        name: name of the task.
    """

    def make_file(folder: Path) -> None:
        write(folder / TABLE, make().to_parquet(index=False))

    with cached(root, TASKS, key_of(asker, name), name, make_file) as entry:
        return pd.read_parquet(entry.folder / TABLE)


@contextmanager
def asking(asker: str) -> Iterator[None]:
    """Sets the run that asks for cache entries within the context; `asker` describes it in one line."""
    token = ASKER.set(asker)
    try:
        yield
    finally:
        ASKER.reset(token)


def entries(root: Path, kind: str = "*") -> list[Entry]:
    """All cache entries, including unfinished ones."""
    folders = {
        path.with_name(path.name.removeprefix(".").removesuffix(LOCK))
        for path in (root / CACHE).glob(f"{kind}/*")
    }
    return [Entry(folder) for folder in sorted(folders)]


def remove(entry: Entry) -> bool:
    """Removes the entry unless a process holds it; returns whether it was removed."""
    try:
        with locked(entry.lock, wait=False):
            for folder in (entry.folder, entry.draft):
                with writing(folder), suppress(FileNotFoundError):
                    shutil.rmtree(folder)
            entry.lock.unlink()
    except Busy:
        return False
    return True


# Result tables.


def save_tables(
    folder: Path, tables: Mapping[str, pd.DataFrame], key: str, record: Mapping[str, Any]
) -> None:
    """Writes `tables` and their record into `folder`, replacing previous results only at the end.

    Args:
        key: hexadecimal digits over everything that the tables depend on.
        record: how they were made.

    Raises:
        RepriseError: if a table is empty or the folder cannot be written.
    """
    for name, table in tables.items():
        if table.empty:
            raise RepriseError(f"{folder / name}: the table is empty; a computation must return observations")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _move_into_place(folder)
        for stale in folder.glob(f"{DRAFT}*"):  # left by killed runs
            shutil.rmtree(stale, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=folder))
        try:
            for name, table in tables.items():
                table.to_parquet(draft / f"{name}.parquet", index=False)
            sealed = seal({**record, "key": key, "sha256": _flushed_sums(draft)})
            (draft / RECORD).write_text(sealed, encoding="utf-8")
            (draft / marker(key)).touch()
            _flush(draft / RECORD)
            os.rename(draft, folder / READY)
            _flush(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        _move_into_place(folder)


def _move_into_place(folder: Path) -> None:
    """Moves complete results to their final names; after a kill, the next reader or writer finishes this.
    Readers and the writer may do so at once: what another process has moved is passed over."""
    ready = folder / READY
    with suppress(FileNotFoundError):  # nothing is ready, or not any more
        # The tables first, then the record, then the marker.
        files = sorted(ready.iterdir(), key=lambda file: (file.suffix == DONE, file.name == RECORD))
        names = {file.name for file in files}
        for former in folder.glob(marker("*")):
            if former.name not in names:
                former.unlink(missing_ok=True)
        for file in files:
            with suppress(FileNotFoundError):
                os.replace(file, folder / file.name)
        with suppress(OSError):  # the next results are ready
            ready.rmdir()


def marker(key: str) -> str:
    """Name of the file that marks a folder as holding finished results of this key."""
    return f".{key}{DONE}"


def load_record(folder: Path, how_to_make: str) -> dict[str, Any]:
    """The record of how the tables in `folder` were made.

    Raises:
        RepriseError: if there are no finished results, or the record is damaged.
    """
    with writing(folder):
        _move_into_place(folder)
    if not (folder / RECORD).is_file():
        raise RepriseError(f"{folder / RECORD}: no finished results here; make them with: {how_to_make}")
    with _naming(how_to_make):
        record = _record(folder / RECORD)
        if not isinstance(record.get("key"), str):
            raise ValueError(f"{folder / RECORD}: damaged, not the record that was written")
        return record


def load_tables(folder: Path, how_to_make: str) -> dict[str, pd.DataFrame]:
    """Loads the tables in `folder` after verifying each file's SHA-256.

    Raises:
        RepriseError: if a table is missing or altered.
    """
    return load_results(folder, how_to_make)[0]


def load_results(folder: Path, how_to_make: str) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """Loads the tables in `folder` as `load_tables` does, and the record that holds their SHA-256. Each file
    is read once, so that no other process replaces it between its verification and its use.

    Raises:
        RepriseError: if a table is missing or altered.
    """
    record = load_record(folder, how_to_make)
    with _naming(how_to_make):
        contents = {
            name: _verified(folder / name, expected, RECORD) for name, expected in record["sha256"].items()
        }
    return {Path(name).stem: pd.read_parquet(io.BytesIO(data)) for name, data in contents.items()}, record


def is_whole(folder: Path) -> bool:
    """Tells if the files of the results in a folder are those that their record lists."""
    try:
        with writing(folder):
            _move_into_place(folder)
        return bool(_compare(folder, _record(folder / RECORD), RECORD))
    except (ValueError, RepriseError):
        return False


@contextmanager
def _naming(how_to_make: str) -> Iterator[None]:
    """Adds to a message about damage the command that recomputes the results."""
    try:
        yield
    except ValueError as damage:
        raise RepriseError(f"{damage}; make it again with: {how_to_make}") from None


# Files beside others.


def write_sealed(record: Path, files: Mapping[Path, Callable[[Path], Any]], facts: Mapping[str, Any]) -> None:
    """Writes files as `write_files` does and, last, their sealed record.

    Args:
        record: the record's file, in the folder of the files.
        facts: how they were made.

    Raises:
        RepriseError: if a folder cannot be written.
    """
    sums: dict[str, str] = {}

    def summed(file: Path, draft: Path) -> None:
        files[file](draft)
        sums[file.name] = sha256(draft.read_bytes())

    def sealed(draft: Path) -> None:
        draft.write_text(seal({**facts, "sha256": sums}), encoding="utf-8")

    write_files({**{file: partial(summed, file) for file in files}, record: sealed})


def load_sealed(record: Path, names: Iterable[str]) -> dict[str, Any]:
    """The record that `write_sealed` wrote, after verifying each file's SHA-256.

    Args:
        names: of the files that it must be of.

    Raises:
        ValueError: naming the file that is missing or altered.
    """
    content = _record(record)
    if set(content.get("sha256", ())) != set(names):
        raise ValueError(f"{record}: a record of other files")
    return _compare(record.parent, content, record.name)


# Shared by all.


def seal(record: Mapping[str, Any]) -> str:
    """Encodes a record as JSON, with the SHA-256 of the other entries as its last entry."""
    return json.dumps({**record, SEAL: _digest(record)}, indent=1) + "\n"


def unseal(text: str) -> dict[str, Any]:
    """Decodes a record written by `seal`.

    Raises:
        ValueError: if it is not intact.
    """
    try:
        record = json.loads(text)
        is_intact = isinstance(record, dict) and record.pop(SEAL, None) == _digest(record)
    except RecursionError:  # lists in lists, which no record of ours has
        is_intact = False
    if not is_intact:
        raise ValueError("not the record that was written")
    return record


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _record(file: Path) -> dict[str, Any]:
    """Reads a sealed record; raises ValueError if it is missing or damaged."""
    try:
        record = unseal(file.read_text(encoding="utf-8"))
        if not _names_files_inside(record.get("sha256")):
            raise ValueError("not one of this version")
        return record
    except FileNotFoundError:
        raise ValueError(f"{file}: missing") from None
    except OSError as error:
        raise ValueError(f"{file}: not readable ({error.strerror})") from None
    except ValueError:
        raise ValueError(f"{file}: damaged, not the record that was written") from None


def _names_files_inside(sums: Any) -> bool:
    """Whether the SHA-256 sums of a record are of files in its own folder."""
    return isinstance(sums, dict) and not any(
        ".." in Path(name).parts or Path(name).is_absolute() or "\0" in name for name in sums
    )


def _flushed_sums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file in a folder, by relative path, after flushing them to disk.

    Raises:
        OSError: if there is none, or a file or folder cannot be read.
    """

    def refuse(error: OSError) -> None:  # `os.walk` would leave the folder out
        raise error

    sums = {}
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        for file in (Path(place, name) for name in sorted(names)):
            _flush(file)
            sums[str(file.relative_to(folder))] = sha256(file.read_bytes())
        _flush(Path(place))
    if not sums:
        raise OSError("it holds no files")
    return sums


def _compare(folder: Path, record: dict[str, Any], name_of_record: str) -> dict[str, Any]:
    """Returns the record; raises ValueError if a file does not match it, or it lists none."""
    if not record["sha256"]:
        raise ValueError(f"{folder / name_of_record}: lists no files")
    for name, expected in record["sha256"].items():
        _verified(folder / name, expected, name_of_record)
    return record


def _verified(file: Path, expected: str, name_of_record: str) -> bytes:
    """The content of a file; raises ValueError if its SHA-256 is another."""
    if not file.is_file():
        raise ValueError(f"{file}: missing")
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file}: not readable ({error.strerror})") from None
    if sha256(content) != expected:
        raise ValueError(
            f"{file}: truncated or altered ({len(content)} bytes, its SHA-256 is not the one in "
            f"{name_of_record})"
        )
    return content


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
                _flush(draft)
        for file, draft in drafts.items():
            with writing(file):
                os.replace(draft, file)
                _flush(file.parent)  # makes the new name durable, too
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


def _flush(path: Path) -> None:
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
    """Whether the path still refers to the open file."""
    try:
        return os.path.samestat(file.stat(), os.fstat(handle.fileno()))
    except FileNotFoundError:
        return False
