"""Result tables and the cache on disk: written atomically under a lock, and verified on reading.

Each result or cache entry is a folder of files with a sealed record of how they were made, which holds the
SHA-256 of each file and of itself. It is written as a draft and renamed when complete, so that a kill at any
instant, a full disk or an error leaves either the old version or the new one.

Result tables lie in `results/TIER/KEY/NAME/`, with the record `run.json`. Intermediate results (tables of
tasks, trained networks, features) lie in the cache, `results/cache/KIND/KEY/`, with the record `record.json`,
under a key over everything that they depend on. A damaged cache entry is recomputed; damaged results are
refused, with the command that recomputes them.

The name of an empty file `.KEY.done` holds the key of the results, for Snakemake, which sees only names.
"""

import io
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.errors import RepriseError
from reprise.storage import records
from reprise.storage.disk import flush, write, writing
from reprise.storage.locks import LOCK, Busy, locked

CACHE = Path("results") / "cache"
TASKS, VIEWS = "tasks", "views"
"""Kinds of cache entries that serve an experiment until it is finished."""
MODELS = "models"
"""The kind of trained networks, which all experiments share."""
TABLE = "table.parquet"
RECORD, CACHE_RECORD = "run.json", "record.json"
DRAFT, READY, DONE = ".draft-", ".ready", ".done"

ASKER: ContextVar[str] = ContextVar("asker", default="")
"""The run that currently asks for cache entries, described in one line."""
WAITS: ContextVar[bool] = ContextVar("waits", default=True)
"""True if an asker waits for an entry that another process makes."""


# The cache.


class MadeElsewhere(BaseException):
    """Another process makes the entry that was asked for, and the caller did not want to wait. It is no
    Exception, so that no computation on the way takes it for a failure of its own."""


@dataclass
class _Spent:
    """The times and the names of the entries that were asked for while another one was made."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    asked: list[str] = field(default_factory=list)


SPENT: ContextVar[_Spent | None] = ContextVar("spent", default=None)
"""Times and names of the entries that the entry being made now has asked for."""


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
        """The time of the last request, in seconds since 1970; 0 for an entry without a lock file."""
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
        """The record of how the entry was made; empty if the entry is unfinished or damaged."""
        with suppress(ValueError):
            return records.read(self.folder / CACHE_RECORD)
        return {}

    def verified(self) -> dict[str, Any]:
        """Returns the record after verifying each file's SHA-256.

        Raises:
            ValueError: naming the file that is missing or altered.
        """
        return records.compare(self.folder, records.read(self.folder / CACHE_RECORD), CACHE_RECORD)


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
    """Tells if the entry exists and is intact; reports damage on stderr."""
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
            sums = records.flushed_sums(files)
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
            write(files / CACHE_RECORD, records.seal(record).encode())
            os.rename(files, entry.folder)
            flush(entry.folder.parent)
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

    with cached(root, TASKS, records.key_of(asker, name), name, make_file) as entry:
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
            sealed = records.seal({**record, "key": key, "sha256": records.flushed_sums(draft)})
            (draft / RECORD).write_text(sealed, encoding="utf-8")
            (draft / marker(key)).touch()
            flush(draft / RECORD)
            os.rename(draft, folder / READY)
            flush(folder)
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
        record = records.read(folder / RECORD)
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
            name: records.verified(folder / name, expected, RECORD)
            for name, expected in record["sha256"].items()
        }
    return {Path(name).stem: pd.read_parquet(io.BytesIO(data)) for name, data in contents.items()}, record


def is_whole(folder: Path) -> bool:
    """Tells if the files of the results in a folder are those that their record lists."""
    try:
        with writing(folder):
            _move_into_place(folder)
        return bool(records.compare(folder, records.read(folder / RECORD), RECORD))
    except (ValueError, RepriseError):
        return False


@contextmanager
def _naming(how_to_make: str) -> Iterator[None]:
    """Adds to a message about damage the command that recomputes the results."""
    try:
        yield
    except ValueError as damage:
        raise RepriseError(f"{damage}; make it again with: {how_to_make}") from None
