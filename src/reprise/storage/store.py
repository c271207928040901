"""Result tables on disk: written all or none, checked when read.

A folder of results holds `TABLE.parquet` files and `run.json`, which names how they were made, each one's
SHA-256 and its own. They are written into a hidden folder in it and moved out when complete, so that a run
killed at any instant, a full disk or an error leaves either the former results or the new ones. The record's
`key` stands for all that the tables depend on; an empty file `.KEY.done` says it to those who look at names
alone, as Snakemake does.
"""

import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from reprise.errors import RepriseError

RECORD = "run.json"
DRAFT, READY, KEPT, LOCK = ".draft-", ".ready", ".kept", ".lock"
DONE, SEAL = ".done", "seal"


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
            sums = {}
            for name, table in tables.items():
                file = draft / f"{name}.parquet"
                table.to_parquet(file, index=False)
                sums[file.name] = _sha256(file)
            (draft / RECORD).write_text(seal({**record, "key": key, "sha256": sums}))
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


def keep(folder: Path, key: str, name: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """The table that `make` computes, or that an earlier run under the same `key` had computed as `name`.

    It is kept in a hidden folder in `folder` until `forget`; its file's name has its SHA-256 and how long it
    took. A damaged one is made again. Both ways the table comes from the file, so that a resumed run ends
    with the same bytes. Of several processes that want it at once, one computes and the others wait.

    Raises:
        RepriseError: when the folder cannot be written.
    """
    kept = folder / KEPT / key
    stem = hashlib.sha256(name.encode()).hexdigest()[:16]
    with locked(kept / f".{stem}{LOCK}"):
        for file in kept.glob(f"{stem}.*.parquet"):
            if _sha256(file) == file.suffixes[0][1:]:
                return pd.read_parquet(file)
            file.unlink()
        start = time.perf_counter()
        table = make()
        draft = kept / f".{stem}"
        with writing(folder):
            try:
                table.to_parquet(draft, index=False)
                milliseconds = round(1000 * (time.perf_counter() - start))
                file = kept / f"{stem}.{_sha256(draft)}.{milliseconds}.parquet"
                os.replace(draft, file)
            finally:
                draft.unlink(missing_ok=True)
    return pd.read_parquet(file)


def seconds_spent(folder: Path, key: str) -> float:
    """How long all that is kept under a key took to make."""
    return sum(int(file.suffixes[1][1:]) for file in (folder / KEPT / key).glob("*.parquet")) / 1000


def forget(folder: Path) -> None:
    """Removes what was kept in `folder`, by this run and by killed ones."""
    shutil.rmtree(folder / KEPT, ignore_errors=True)


def load_record(folder: Path, how_to_make: str) -> dict[str, Any]:
    """The record of how the tables in `folder` were made.

    Raises:
        RepriseError: when there are none, or the record is unreadable.
    """
    file = folder / RECORD
    with writing(folder):
        _move_into_place(folder)
    if not file.is_file():
        raise RepriseError(f"{file}: no finished results here; make them with: {how_to_make}")
    try:
        return unseal(file.read_text())
    except ValueError:
        raise RepriseError(
            f"{file}: damaged, not the record that was written; make it again with: {how_to_make}"
        ) from None


def load_tables(folder: Path, how_to_make: str) -> dict[str, pd.DataFrame]:
    """The tables in `folder`, after comparing each with its SHA-256.

    Raises:
        RepriseError: when a table is missing or is not the one that was written.
    """
    tables = {}
    for name, expected in load_record(folder, how_to_make)["sha256"].items():
        file = folder / name
        if not file.is_file():
            raise RepriseError(f"{file}: missing; make it again with: {how_to_make}")
        if _sha256(file) != expected:
            raise RepriseError(
                f"{file}: truncated or altered ({file.stat().st_size} bytes, its SHA-256 is not the one in "
                f"{RECORD}); make it again with: {how_to_make}"
            )
        tables[file.stem] = pd.read_parquet(file)
    return tables


def write_files(files: Mapping[Path, Callable[[Path], None]]) -> None:
    """Writes each file through a draft beside it; none takes its place before all are complete.

    Raises:
        RepriseError: when a folder cannot be written.
    """
    drafts: dict[Path, Path] = {}
    try:
        for file, write in files.items():
            with writing(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                drafts[file] = file.with_name(f".{os.getpid()}.{file.name}")
                write(drafts[file])
        for file, draft in drafts.items():
            with writing(file):
                os.replace(draft, file)
    finally:
        _remove(drafts.values())


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


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


@contextmanager
def locked(file: Path, *, shared: bool = False) -> Iterator[bool]:
    """Held by one process at a time, or by several that are content to share it; the system frees it when a
    process ends, however it does. Who has to wait says so on stderr.

    Yields:
        Whether another process held it first, and may have made what this one wants.

    Raises:
        RepriseError: when the file cannot be written or locked.
    """
    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        opened = file.open("w")
    with opened:
        with writing(file):
            waited = not _lock_at_once(opened, how)
            if waited:
                print(f"{file.parent}: waiting for another process at work here", file=sys.stderr, flush=True)
                fcntl.flock(opened, how)
        yield waited


def _lock_at_once(opened: IO[str], how: int) -> bool:
    """Whether nobody else held it."""
    try:
        fcntl.flock(opened, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
