"""Recorded runs: results of another tier or machine, in one file that anyone can judge again in seconds.

A bundle is a ZIP file with the tables and records of finished experiments and a sealed manifest, which holds
the SHA-256 of each file. Merging verifies it and unpacks it into `results/recorded/NAME/`, whose NAME depends
on the contents. A recorded run is read like a tier (`--tier recorded/NAME`). Its verdicts stand beside those
of what was run here, and are never counted among them.
"""

import os
import shutil
import stat
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from reprise.errors import RepriseError
from reprise.execute import foreign, pipeline, registry, tiers
from reprise.execute.foreign import Manifest, Record
from reprise.execute.tiers import MANIFEST, NAME, RECORDED, Tier
from reprise.storage import store
from reprise.study.settings import one_line, quoted, shortened

MAX_BYTES = 2**29
"""Largest size of a bundle, packed and unpacked; tables of all experiments take some 50 MB."""
MAX_DIRECTORY = 2**20
"""Largest size of a bundle's list of files, about 10,000 of them; one of all experiments has some 150."""
END, END_OF_LONG = b"PK\x05\x06", b"PK\x06\x07"
"""How the last 22 bytes of a ZIP file begin, and the 20 before them in one of more than 4 GiB."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of each file in a bundle, so that the same results give the same bytes."""


def bundle(keys: list[str], tier: Tier, file: Path | None = None) -> tuple[Path, list[str]]:
    """Writes the results of a tier's finished experiments into one file.

    Args:
        keys: the papers.
        file: default: `reprise-NAME.zip` in the working directory.

    Returns:
        The file, and the ids of the experiments in it.

    Raises:
        RepriseError: if nothing has run, results are damaged or out of date, or the tier is itself a recorded
            run.
    """
    if tier.is_recorded:
        raise RepriseError(f"{tier.name} is a recorded run: it came as a bundle; pass that on")
    ids = [id for key in keys for id in registry.paper(key).experiments if pipeline.has_results(id, tier)]
    if not ids:
        raise RepriseError(f"{tier.results}: no finished results of {', '.join(keys)} to bundle")
    files: dict[str, bytes] = {}
    for id in ids:
        names = [f"{name}.parquet" for name in pipeline.load(id, tier)[0]]
        files |= {f"{id}/{name}": (tier.results / id / name).read_bytes() for name in (*names, store.RECORD)}
    manifest = Manifest(
        format=1,
        tier=tier.name,
        experiments=ids,
        looked={id: text for id, text in tier.looked.items() if id in ids},
        sha256={name: store.sha256(content) for name, content in sorted(files.items())},
    )
    files = {MANIFEST: store.seal(manifest.model_dump()).encode(), **files}
    file = file or Path(f"reprise-{manifest.name}.zip")

    def pack(draft: Path) -> None:
        with zipfile.ZipFile(draft, "w") as archive:  # not compressed: the tables are
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name, EPOCH), content)

    store.write_files({file: pack})
    return file, ids


def merge(file: Path, root: Path) -> tuple[Tier, bool]:
    """Verifies a bundle, judges its claims, draws its figures, and unpacks it into `results/recorded/NAME/`.
    A folder of that name that has changed since it was merged is replaced, which a line on stderr says.

    Returns:
        The recorded run, and whether it was there before.

    Raises:
        RepriseError: if the file is no bundle, is damaged, or holds experiments, parameters or tables that
            this version does not know; then nothing is merged.
    """
    try:
        return _merge(file, root)
    except RepriseError as error:
        raise RepriseError(shortened("; ".join(str(error).splitlines()))) from None


def _merge(file: Path, root: Path) -> tuple[Tier, bool]:
    manifest, files = unpacked(file)
    _check_known(file, manifest)
    records(file, manifest, files)
    for path in manifest.sha256:
        if not path.endswith(store.RECORD):
            foreign.observations(files[path], f"{file}: {path}")
    name = manifest.name
    folder = root / "results" / RECORDED / name
    with store.locked(folder.with_name(f".{name}{store.LOCK}")):
        was_here, damage = os.path.lexists(folder), ""
        if was_here:
            try:
                return tiers.load_recorded(f"{RECORDED}/{name}", root), True
            except RepriseError as error:
                damage = str(error)
        draft, former = (folder.with_name(f"{store.DRAFT}{kind}{name}") for kind in ("", "former-"))
        try:
            with store.writing(folder):
                for left in (draft, former):  # by a killed process
                    _remove(left)
                for path, content in files.items():
                    (draft / path).parent.mkdir(parents=True, exist_ok=True)
                    (draft / path).write_bytes(content)
            _read_all(f"{RECORDED}/{draft.name}", root, file)
            with store.writing(folder):
                if was_here:
                    os.rename(folder, former)
                os.rename(draft, folder)
        finally:
            for left in (draft, former):
                _remove(left)
    if damage:
        print(f"{damage}; merged again", file=sys.stderr)
    return tiers.load_recorded(f"{RECORDED}/{name}", root), False


def _remove(path: Path) -> None:
    """Removes a folder, or what stands in its place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _read_all(name: str, root: Path, file: Path) -> None:
    """Judges the claims and draws the figures of what was unpacked: its tables have what these read.

    Raises:
        RepriseError: naming the bundle, and what cannot be judged or drawn.
    """
    import matplotlib.pyplot as plt

    try:
        tier = tiers.load_recorded(name, root)
        verdicts(tier)
        for id, artifact in registry.artifacts().items():
            if pipeline.has_results(artifact.experiment, tier):
                pipeline.make(id, tier)
                plt.close("all")
    except RepriseError as error:
        text = str(error).replace(f"{root}/results/{name}/", "").removeprefix(f"{name}: ")
        raise RepriseError(f"{file}: {text}") from error


def verdicts(tier: Tier) -> pd.DataFrame:
    """A recorded run's verdicts on the claims of its experiments; judged again where the claims have changed
    since they were saved.

    Raises:
        RepriseError: if its tables are damaged or not what this version's claims read.
    """
    ids = [id for id in registry.experiments() if pipeline.has_results(id, tier)]
    for key in dict.fromkeys(id.split("/")[0] for id in ids):
        if key in registry.judged() and not pipeline.is_checked(key, tier):
            evidence = pipeline.evidence(key, tier)
            pipeline.save_claims(key, tier, pipeline.check(key, tier), evidence)
    own = {claim.id for id in ids for claim in registry.experiment(id).claims}
    claims = pipeline.join(tier)
    return claims[claims["claim"].isin(own)].reset_index(drop=True)


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
        if store.sha256(contents[name]) != expected:
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
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
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
    """The records of a bundle's experiments, which must list the same files as its manifest.

    Raises:
        RepriseError: if one is missing, lacks a field, or lists another file.
    """
    made: dict[str, Record] = {}
    listed: dict[str, str] = {}
    for id in manifest.experiments:
        name = f"{id}/{store.RECORD}"
        if name not in contents:
            raise RepriseError(f"{file}: holds no {name}; get it again")
        made[id] = record = foreign.read(Record, contents[name], f"{file}: {name}")
        if record.experiment != id:
            raise RepriseError(f"{file}: {name}: the record is of {record.experiment}, not of a run of {id}")
        listed |= {name: manifest.sha256[name]}
        listed |= {f"{id}/{table}": digest for table, digest in record.sha256.items()}
    if different := sorted(name for name, _ in listed.items() ^ manifest.sha256.items()):
        raise RepriseError(
            f"{file}: {MANIFEST}: {_shown(different[0])}: not what the records of its experiments list; "
            "get it again"
        )
    if unknown := sorted(set(manifest.looked) - set(manifest.experiments)):
        raise RepriseError(f"{file}: {MANIFEST}: 'looked': {_shown(unknown[0])} is none of its experiments")
    return made


def _check_known(file: Path, manifest: Manifest) -> None:
    """Checks that a bundle's files are tables of experiments that this version knows."""
    known = registry.experiments()
    if unknown := sorted(set(manifest.experiments) - set(known)):
        raise RepriseError(f"{file}: holds {', '.join(unknown)}, which this version does not know")
    expected = {
        f"{id}/{name}"
        for id in manifest.experiments
        for name in (store.RECORD, *(f"{table}.parquet" for table in known[id].tables))
    }
    if different := sorted(expected ^ set(manifest.sha256)):
        raise RepriseError(
            f"{file}: its tables are not those that this version makes: {', '.join(different)}; "
            "read it with the commit that made it"
        )
