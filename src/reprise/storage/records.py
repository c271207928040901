"""Sealed records of how files were made: JSON with the SHA-256 of each file and of the record itself.

Files that lie beside others in one folder, such as a drawing, have a sealed record among them
(`write_sealed`), which is renamed last: after a kill, files and record do not match.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from reprise.storage.disk import flush, sha256, write_files

SEAL = "seal"


def key_of(*what: object) -> str:
    """32 hexadecimal digits over the JSON of the arguments. For the code and the libraries that it uses, one
    of them is from `versions.code_and_versions`."""
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:32]


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


def read(file: Path) -> dict[str, Any]:
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
    """Tells if the SHA-256 sums of a record are of files in its own folder."""
    return isinstance(sums, dict) and not any(
        ".." in Path(name).parts or Path(name).is_absolute() or "\0" in name for name in sums
    )


def flushed_sums(folder: Path) -> dict[str, str]:
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
            flush(file)
            sums[str(file.relative_to(folder))] = sha256(file.read_bytes())
        flush(Path(place))
    if not sums:
        raise OSError("it holds no files")
    return sums


def compare(folder: Path, record: dict[str, Any], name_of_record: str) -> dict[str, Any]:
    """Returns the record; raises ValueError if a file does not match it, or it lists none."""
    if not record["sha256"]:
        raise ValueError(f"{folder / name_of_record}: lists no files")
    for name, expected in record["sha256"].items():
        verified(folder / name, expected, name_of_record)
    return record


def verified(file: Path, expected: str, name_of_record: str) -> bytes:
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
    content = read(record)
    if set(content.get("sha256", ())) != set(names):
        raise ValueError(f"{record}: a record of other files")
    return compare(record.parent, content, record.name)
