"""What is kept on the disk: written all or none, under a lock, and checked when it is read.

Whatever is kept is a folder of files with a sealed record of how they were made, which has each file's
SHA-256 and its own. It is written as a draft beside its place and moved there when it is complete, so that a
run killed at any instant, a full disk or an error leaves either what was there or the new.

Result tables lie in `results/TIER/KEY/NAME/`, with the record `run.json`. What was only made on the way to
them lies in the cache, `results/cache/KIND/KEY/`, with the record `record.json`, under a key over all that it
depends on: the tables of tasks, trained nets, features. A damaged entry of the cache is made again; damaged
results are refused, with the command that makes them again.

An empty file `.KEY.done` says of which key results are, to those who look at names alone, as Snakemake does.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import pandas as pd

from reprise.errors import RepriseError

CACHE = Path("results") / "cache"
TASKS = "tasks"
TABLE = "table.parquet"
RECORD, CACHE_RECORD = "run.json", "record.json"
DRAFT, READY, LOCK = ".draft-", ".ready", ".lock"
DONE, SEAL = ".done", "seal"

VERSIONS = {name: metadata.version(name) for name in ("torch", "torchvision")}
"""What numbers depend on beside our code and the kind of device."""

ASKER: ContextVar[str] = ContextVar("asker", default="")
"""Who asks for entries of the cache now: a line of words."""


def key_of(*what: object) -> str:
    """32 hexadecimal digits over what JSON makes of it, and the versions of torch and torchvision."""
    return hashlib.sha256(json.dumps([*what, VERSIONS], sort_keys=True).encode()).hexdigest()[:32]


# The cache.


@dataclass(frozen=True)
class Entry:
    """A place in the cache, `results/cache/KIND/KEY/`.

    Attributes:
        folder: holds the files and the record, when they are complete.
        hit: whether it was there before it was asked for.
    """

    folder: Path
    hit: bool = False

    @property
    def draft(self) -> Path:
        """The folder of what is not complete; there a long computation may leave what it goes on from."""
        return self.folder.with_name(f".{self.folder.name}")

    @property
    def lock(self) -> Path:
        """Also the list of those who have asked for the entry, a line each."""
        return self.folder.with_name(f".{self.folder.name}{LOCK}")

    @property
    def askers(self) -> set[str]:
        """Those who have asked for it, by the names that `asking` was given."""
        with suppress(FileNotFoundError):
            return {line for line in self.lock.read_text(errors="replace").splitlines() if line}
        return set()

    @property
    def record(self) -> dict[str, Any]:
        """How it was made; nothing when it is unfinished or damaged."""
        with suppress(ValueError):
            return _record(self.folder / CACHE_RECORD)
        return {}

    def verified(self) -> dict[str, Any]:
        """The record, after comparing each file with its SHA-256.

        Raises:
            ValueError: naming the file that is missing or is not the one that was written.
        """
        return _compare(self.folder, _record(self.folder / CACHE_RECORD), CACHE_RECORD)


@contextmanager
def kept(
    root: Path, kind: str, key: str, what: str, make: Callable[[Path], Mapping[str, Any] | None]
) -> Iterator[Entry]:
    """The entry of the cache under `key`, which is made if it is not there whole; locked meanwhile, so that
    of several processes that ask for it at once one makes it and the others wait.

    Args:
        root: the checkout.
        what: it is, in words.
        make: writes the files into a folder that is empty, and may return more for the record. The folder's
            parent, `Entry.draft`, outlives a kill.

    Raises:
        RepriseError: when the cache cannot be written.
    """
    entry = Entry(root / CACHE / kind / key)
    with locked(entry.lock):
        if ASKER.get() and ASKER.get() not in entry.askers:
            with writing(entry.lock), entry.lock.open("a") as opened:
                opened.write(f"\n{ASKER.get()}\n")  # the line before may be cut short, by a kill
        hit = _is_whole(entry)
        if not hit:
            _make(entry, what, make)
        shutil.rmtree(entry.draft, ignore_errors=True)
        yield Entry(entry.folder, hit)


def _is_whole(entry: Entry) -> bool:
    """Whether it is there; if it is damaged, that is said on stderr."""
    if not entry.folder.is_dir():
        return False
    try:
        return bool(entry.verified())
    except ValueError as damage:
        print(f"{damage}; made again", file=sys.stderr, flush=True)
        return False


def _make(entry: Entry, what: str, make: Callable[[Path], Mapping[str, Any] | None]) -> None:
    files, start = entry.draft / "files", time.perf_counter()
    try:
        with writing(entry.folder):
            for former in (entry.folder, files):  # damaged, and of a killed process
                shutil.rmtree(former, ignore_errors=True)
            files.mkdir(parents=True)
        facts = make(files) or {}
        record = {
            **facts,
            "what": what,
            "key": entry.folder.name,
            "versions": VERSIONS,
            "made_for": ASKER.get(),
            "seconds": round(time.perf_counter() - start, 3),
            "sha256": _sums(files),
        }
        with writing(entry.folder):
            write(files / CACHE_RECORD, seal(record).encode())
            os.rename(files, entry.folder)
    finally:
        shutil.rmtree(files, ignore_errors=True)
        with suppress(OSError):  # it holds what to go on from
            entry.draft.rmdir()


def kept_table(root: Path, key: str, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The table of a task, `kept`. Both ways it comes from the file, so that a resumed run ends with the same
    bytes.

    Args:
        key: over all that the experiment's tables depend on.
        name: of the task.
    """

    def make_file(folder: Path) -> None:
        write(folder / TABLE, make().to_parquet(index=False))

    with kept(root, TASKS, key_of(key, name), name, make_file) as entry:
        return pd.read_parquet(entry.folder / TABLE)


@contextmanager
def asking(asker: str) -> Iterator[None]:
    """Meanwhile, what is asked of the cache is asked for by this one: a line of words."""
    token = ASKER.set(asker)
    try:
        yield
    finally:
        ASKER.reset(token)


def entries(root: Path, kind: str = "*") -> list[Entry]:
    """All that the cache holds, the unfinished too."""
    places = {
        path.with_name(path.name.removeprefix(".").removesuffix(LOCK))
        for path in (root / CACHE).glob(f"{kind}/*")
    }
    return [Entry(folder) for folder in sorted(places)]


def remove(entry: Entry) -> bool:
    """Removes it, unless a process is at work there; whether that could be done."""
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
    """Writes `tables` and the record of their making into `folder`, replacing what was there only at the end.

    Args:
        key: hexadecimal digits over all that the tables depend on.
        record: how they were made.

    Raises:
        RepriseError: when a table is empty or the folder cannot be written.
    """
    for name, table in tables.items():
        if table.empty:
            raise RepriseError(f"{folder / name}: the table is empty; a computation must return observations")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _move_into_place(folder)
        for left in folder.glob(f"{DRAFT}*"):  # by killed runs
            shutil.rmtree(left, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=folder))
        try:
            for name, table in tables.items():
                table.to_parquet(draft / f"{name}.parquet", index=False)
            sealed = seal({**record, "key": key, "sha256": _sums(draft)})
            (draft / RECORD).write_text(sealed)
            (draft / marker(key)).touch()
            os.rename(draft, folder / READY)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        _move_into_place(folder)


def _move_into_place(folder: Path) -> None:
    """Moves complete results to their names; after a kill in between, the next reader or writer goes on."""
    ready = folder / READY
    if ready.is_dir():
        for former in folder.glob(marker("*")):
            former.unlink()
        # The record follows the tables, and the marker the record.
        for file in sorted(ready.iterdir(), key=lambda file: (file.suffix == DONE, file.name == RECORD)):
            os.replace(file, folder / file.name)
        ready.rmdir()


def marker(key: str) -> str:
    """The name of the file that says that a folder holds the finished results of this key."""
    return f".{key}{DONE}"


def load_record(folder: Path, how_to_make: str) -> dict[str, Any]:
    """The record of how the tables in `folder` were made.

    Raises:
        RepriseError: when there are none, or the record is unreadable.
    """
    with writing(folder):
        _move_into_place(folder)
    if not (folder / RECORD).is_file():
        raise RepriseError(f"{folder / RECORD}: no finished results here; make them with: {how_to_make}")
    with _naming(how_to_make):
        return _record(folder / RECORD)


def load_tables(folder: Path, how_to_make: str) -> dict[str, pd.DataFrame]:
    """The tables in `folder`, after comparing each with its SHA-256.

    Raises:
        RepriseError: when a table is missing or is not the one that was written.
    """
    record = load_record(folder, how_to_make)
    with _naming(how_to_make):
        _compare(folder, record, RECORD)
    return {Path(name).stem: pd.read_parquet(folder / name) for name in record["sha256"]}


@contextmanager
def _naming(how_to_make: str) -> Iterator[None]:
    """Turns what was found damaged into a message that says what to do."""
    try:
        yield
    except ValueError as damage:
        raise RepriseError(f"{damage}; make it again with: {how_to_make}") from None


# What both are made of.


def seal(record: Mapping[str, Any]) -> str:
    """A record as JSON, with the SHA-256 of all the rest as its last entry."""
    return json.dumps({**record, SEAL: _digest(record)}, indent=1) + "\n"


def unseal(text: str) -> dict[str, Any]:
    """The record that `seal` wrote.

    Raises:
        ValueError: when it is not whole.
    """
    record = json.loads(text)
    if not isinstance(record, dict) or record.pop(SEAL, None) != _digest(record):
        raise ValueError("not the record that was written")
    return record


def _digest(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _record(file: Path) -> dict[str, Any]:
    """A sealed record; raises ValueError when it is missing or damaged."""
    try:
        return unseal(file.read_text())
    except FileNotFoundError:
        raise ValueError(f"{file}: missing") from None
    except ValueError:
        raise ValueError(f"{file}: damaged, not the record that was written") from None


def _sums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file in a folder, by its name."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): sha256(file.read_bytes()) for file in sorted(files)}


def _compare(folder: Path, record: dict[str, Any], name_of_record: str) -> dict[str, Any]:
    """The record; raises ValueError when a file is not the one that it tells of."""
    for name, expected in record["sha256"].items():
        file = folder / name
        if not file.is_file():
            raise ValueError(f"{file}: missing")
        content = file.read_bytes()
        if sha256(content) != expected:
            raise ValueError(
                f"{file}: truncated or altered ({len(content)} bytes, its SHA-256 is not the one in "
                f"{name_of_record})"
            )
    return record


def sha256(content: bytes) -> str:
    """Hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def write(file: Path, content: bytes) -> None:
    """`write_files` of one."""
    write_files({file: lambda draft: draft.write_bytes(content)})


def write_files(files: Mapping[Path, Callable[[Path], Any]]) -> None:
    """Writes each file through a draft beside it; none takes its place before all are complete. They are on
    the disk when this returns.

    Raises:
        RepriseError: when a folder cannot be written.
    """
    drafts = {file: file.with_name(f".{os.getpid()}.{file.name}") for file in files}
    try:
        for file, draft in drafts.items():
            with writing(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                files[file](draft)
                _flush(draft)
        for file, draft in drafts.items():
            with writing(file):
                os.replace(draft, file)
                _flush(file.parent)  # the new name, too
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink()


def _flush(place: Path) -> None:
    opened = os.open(place, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turns the operating system's refusals into a message that names the place."""
    try:
        yield
    except OSError as error:
        raise RepriseError(
            f"{place}: cannot be written ({error.strerror or error}); free space or give write access there; "
            "what was there before is unchanged"
        ) from None


class Busy(RepriseError):
    """Another process holds the lock, and this one was not to wait."""


@contextmanager
def locked(file: Path, *, shared: bool = False, wait: bool = True) -> Iterator[bool]:
    """Held by one process at a time, or by several that are content to share it; the system frees it when a
    process ends, however it does. Who has to wait says so on stderr.

    Yields:
        Whether another process held it first, and may have made what this one wants.

    Raises:
        Busy: when another process holds it, and this one does not `wait`.
        RepriseError: when the file cannot be written or locked.
    """
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    waited = False
    while True:
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            opened = file.open("a")
        with opened:
            with writing(file):
                if not _lock_at_once(opened, how):
                    if not wait:
                        raise Busy(f"{file.parent}: another process is at work here")
                    print(
                        f"{file.parent}: waiting for another process at work here",
                        file=sys.stderr,
                        flush=True,
                    )
                    fcntl.flock(opened, how)
                    waited = True
            if not _is_open(file, opened):
                continue  # its entry was removed meanwhile
            yield waited
            return


def _lock_at_once(opened: IO[str], how: int) -> bool:
    """Whether nobody else held it."""
    try:
        fcntl.flock(opened, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_open(file: Path, opened: IO[str]) -> bool:
    """Whether the file under this name is the opened one."""
    try:
        return os.path.samestat(file.stat(), os.fstat(opened.fileno()))
    except FileNotFoundError:
        return False
