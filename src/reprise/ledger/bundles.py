"""Bundles: tables and records of finished experiments in one ZIP file, with a sealed manifest that holds the
SHA-256 of each file. Another machine may have written one, so each is verified before use.
"""

import os
import shutil
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, BinaryIO

from reprise.contract.settings import one_line, quoted
from reprise.engine import foreign
from reprise.engine.foreign import Manifest, Record
from reprise.engine.tiers import NAME
from reprise.errors import RepriseError
from reprise.storage import disk, store
from reprise.storage.records import seal

MANIFEST = "bundle.json"
MAX_BYTES = 2**29
"""Largest size of a bundle, packed and unpacked; tables of all experiments take some 50 MB."""
MAX_DIRECTORY = 2**20
"""Largest size of a bundle's list of files, about 10,000 of them; one of all experiments has some 150."""
END, END_OF_LONG = b"PK\x05\x06", b"PK\x06\x07"
"""First bytes of the last 22 of a ZIP file, and of the 20 before these in one of more than 4 GiB."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of each file in a bundle, so that the same results give the same bytes."""


def pack(
    draft: Path | IO[bytes], manifest: Manifest, files: Mapping[str, bytes], *, small: bool = False
) -> None:
    """Writes a bundle.

    Args:
        files: path in the bundle -> content, as the manifest lists them.
        small: whether to compress them; tables are compressed already, unless they were made for this.
    """
    how = zipfile.ZIP_LZMA if small else zipfile.ZIP_STORED
    with zipfile.ZipFile(draft, "w", how) as archive:
        for name, content in {MANIFEST: seal(manifest.model_dump()).encode(), **files}.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, how)


def unpacked(file: Path) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest and the files of a bundle of any version, verified against each other.

    Raises:
        RepriseError: if the file is no bundle, or is damaged.
    """
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise RepriseError(f"{file}: not a regular file, which a bundle is; save it as one")
        with file.open("rb") as opened:
            _require_short_directory(file, opened)
            with zipfile.ZipFile(opened) as archive:
                members = archive.infolist()
                if sum(member.file_size for member in members) > MAX_BYTES:
                    raise RepriseError(
                        f"{file}: unpacks to more than {MAX_BYTES >> 20} MiB, which no bundle does"
                    )
                contents = {member.filename: _content(file, archive, member) for member in members}
    except RepriseError:
        raise
    except OSError as error:
        raise RepriseError(f"{file}: cannot be read ({error.strerror or error}); get it again") from None
    except Exception as error:  # zipfile fails in many ways on what is no ZIP file
        raise RepriseError(f"{file}: not a bundle, or damaged ({one_line(error)}); get it again") from None
    if len(contents) < len(members):
        raise RepriseError(f"{file}: damaged, holds two files of the same name; get it again")
    if MANIFEST not in contents:
        raise RepriseError(f"{file}: not a bundle, holds no {MANIFEST}; make one with: reprise bundle")
    manifest = foreign.read(Manifest, contents[MANIFEST], f"{file}: {MANIFEST}")
    if not NAME.fullmatch(manifest.tier):
        raise RepriseError(f"{file}: {MANIFEST}: {manifest.tier!r} is not the name of a tier")
    if set(contents) != {MANIFEST, *manifest.sha256}:
        raise RepriseError(f"{file}: damaged, holds other files than its manifest lists; get it again")
    for name, expected in manifest.sha256.items():
        if disk.sha256(contents[name]) != expected:
            raise RepriseError(f"{file}: {name}: damaged, its SHA-256 is not the manifest's; get it again")
    return manifest, contents


def _require_short_directory(file: Path, opened: BinaryIO) -> None:
    """`zipfile` reads the list of members at the end of a ZIP file as a whole, however long it says to be."""
    if (size := opened.seek(0, os.SEEK_END)) > MAX_BYTES:
        raise RepriseError(f"{file}: has {size >> 20:,} MiB; expected at most {MAX_BYTES >> 20}")
    opened.seek(max(0, size - len(END) - 18 - 20))
    locator, found, end = opened.read().rpartition(END)
    if not found or len(end) != 18:
        raise RepriseError(
            f"{file}: not a bundle, or damaged (does not end as a ZIP file does); get it again"
        )
    length = int.from_bytes(end[8:12], "little")
    if length > MAX_DIRECTORY or locator.startswith(END_OF_LONG):
        raise RepriseError(
            f"{file}: lists its files in more than {MAX_DIRECTORY >> 20} MiB, which no bundle does"
        )


def _content(file: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A file in a bundle: as long as it says to be, not as long as it unfolds to."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA):
        raise RepriseError(
            f"{file}: {_shown(member.filename)}: packed in a way that no bundle is; get it again"
        )
    with archive.open(member) as opened:
        content = opened.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise RepriseError(
            f"{file}: {_shown(member.filename)}: damaged, not as long as it says; get it again"
        )
    return content


def _shown(name: str) -> str:
    """A name that a bundle gives, as a message shows it."""
    return quoted(name)[1:-1]


def records(file: Path, manifest: Manifest, contents: Mapping[str, bytes]) -> dict[str, Record]:
    """The records of a bundle's experiments and their further rounds, by folder, which must list the same
    files as its manifest.

    Raises:
        RepriseError: if one is missing, lacks a field, or lists another file.
    """
    made: dict[str, Record] = {}
    listed: dict[str, str] = {}
    for run, id in manifest.runs.items():
        name = f"{run}/{store.RECORD}"
        if name not in contents:
            raise RepriseError(f"{file}: holds no {name}; get it again")
        made[run] = record = foreign.read(Record, contents[name], f"{file}: {name}")
        if record.experiment != id:
            raise RepriseError(f"{file}: {name}: the record is of {record.experiment}, not of a run of {id}")
        listed |= {name: manifest.sha256[name]}
        listed |= {f"{run}/{table}": digest for table, digest in record.sha256.items()}
    if different := sorted(name for name, _ in listed.items() ^ manifest.sha256.items()):
        raise RepriseError(
            f"{file}: {MANIFEST}: {_shown(different[0])}: not what the records of its experiments list; "
            "get it again"
        )
    if unknown := sorted(set(manifest.looked) - set(manifest.experiments)):
        raise RepriseError(f"{file}: {MANIFEST}: 'looked': {_shown(unknown[0])} is none of its experiments")
    return made


def unpack(files: Mapping[str, bytes], folder: Path, check: Callable[[Path], object]) -> None:
    """Puts the files of a bundle into a folder in place of what is there, all or none.

    Args:
        check: called with the folder before it gets its name; what it raises keeps it from it.

    Raises:
        RepriseError: if the folder cannot be written.
    """
    draft, former = (folder.with_name(f"{store.DRAFT}{kind}{folder.name}") for kind in ("", "former-"))
    try:
        with disk.writing(folder):
            for left in (draft, former):  # by a killed process
                _remove(left)
            for path, content in files.items():
                (draft / path).parent.mkdir(parents=True, exist_ok=True)
                (draft / path).write_bytes(content)
        check(draft)
        with disk.writing(folder):
            if os.path.lexists(folder):
                os.rename(folder, former)
            os.rename(draft, folder)
    finally:
        for left in (draft, former):
            _remove(left)


def _remove(path: Path) -> None:
    """Removes a folder, or what stands in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
