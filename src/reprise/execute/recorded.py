"""Recorded runs: results of another tier or machine, in one file that anyone can judge again in seconds.

A bundle is a ZIP file with the tables and records of finished experiments and a sealed manifest, which holds
the SHA-256 of each file. Merging verifies it and unpacks it into `results/recorded/NAME/`, whose NAME depends
on the contents. A recorded run is read like a tier (`--tier recorded/NAME`). Its verdicts stand beside those
of what was run here, and are never counted among them.
"""

import hashlib
import json
import os
import shutil
import zipfile
import zlib
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, ValidationError

from reprise.errors import RepriseError
from reprise.execute import pipeline, registry, tiers
from reprise.execute.tiers import MANIFEST, NAME, RECORDED, Tier
from reprise.storage import store

MAX_BYTES = 2**30
"""Largest size of an unpacked bundle; tables of all experiments take some 50 MB."""
BROKEN = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError)
"""What `zipfile` raises on files that are damaged, encrypted, or no ZIP files."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of each file in a bundle, so that the same results give the same bytes."""


class Manifest(BaseModel):
    """What a bundle holds.

    Attributes:
        tier: the tier that was run.
        experiments: their ids.
        looked: experiment id -> which of its parameters were set after results had been seen.
        sha256: path in the bundle, `KEY/NAME/FILE` -> SHA-256.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    format: Literal[1]
    tier: str
    experiments: list[str]
    looked: dict[str, str]
    sha256: dict[str, str]

    @property
    def name(self) -> str:
        """The tier and 8 hexadecimal digits over the contents."""
        content = json.dumps(self.sha256, sort_keys=True).encode()
        return f"{self.tier}-{hashlib.sha256(content).hexdigest()[:8]}"


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
    """Verifies a bundle, judges its claims, and unpacks it into `results/recorded/NAME/`.

    Returns:
        The recorded run, and whether it was there before.

    Raises:
        RepriseError: if the file is no bundle, is damaged, or holds experiments, parameters or tables that
            this version does not know; then nothing is merged.
    """
    manifest, files = unpacked(file)
    _check_known(file, manifest)
    name = manifest.name
    folder = root / "results" / RECORDED / name
    with store.locked(folder.with_name(f".{name}{store.LOCK}")):
        if (folder / MANIFEST).is_file():
            return tiers.load_recorded(f"{RECORDED}/{name}", root), True
        draft = folder.with_name(f"{store.DRAFT}{name}")
        try:
            with store.writing(folder):
                for former in (folder, draft):  # left by a killed process
                    shutil.rmtree(former, ignore_errors=True)
                for path, content in files.items():
                    (draft / path).parent.mkdir(parents=True, exist_ok=True)
                    (draft / path).write_bytes(content)
            verdicts(_recorded(f"{RECORDED}/{draft.name}", root, file))
            with store.writing(folder):
                os.rename(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return tiers.load_recorded(f"{RECORDED}/{name}", root), False


def _recorded(name: str, root: Path, file: Path) -> Tier:
    try:
        return tiers.load_recorded(name, root)
    except RepriseError as error:
        raise RepriseError(f"{file}: {str(error).replace(f'{root}/results/{name}/', '')}") from None


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
            pipeline.save_claims(key, tier, _judged(key, tier), evidence)
    own = {claim.id for id in ids for claim in registry.experiment(id).claims}
    claims = pipeline.join(tier)
    return claims[claims["claim"].isin(own)].reset_index(drop=True)


def _judged(key: str, tier: Tier) -> pd.DataFrame:
    try:
        return pipeline.check(key, tier)
    except RepriseError:
        raise
    except Exception as error:  # a claim may fail in any way on tables of another version
        raise RepriseError(
            f"{tier.name}: its tables are not what the claims of {key} read in this version "
            f"({type(error).__name__}: {error}); check them with the commit that made them"
        ) from error


def unpacked(file: Path) -> tuple[Manifest, dict[str, bytes]]:
    """The manifest and the files of a bundle, all verified against each other; of any version.

    Raises:
        RepriseError: if the file is no bundle, or is damaged.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise RepriseError(
                    f"{file}: unpacks to more than {MAX_BYTES >> 30} GiB, which no bundle does"
                )
            contents = {member.filename: archive.read(member) for member in members}
    except OSError as error:
        raise RepriseError(f"{file}: cannot be read ({error.strerror or error})") from None
    except BROKEN as error:
        raise RepriseError(f"{file}: not a bundle, or damaged ({error}); get it again") from None
    manifest = _manifest(file, contents)
    if set(contents) != {MANIFEST, *manifest.sha256} or len(members) != len(contents):
        raise RepriseError(f"{file}: damaged, holds other files than its manifest lists; get it again")
    for name, expected in manifest.sha256.items():
        if store.sha256(contents[name]) != expected:
            raise RepriseError(f"{file}: {name}: damaged, its SHA-256 is not the manifest's; get it again")
    return manifest, contents


def _manifest(file: Path, contents: dict[str, bytes]) -> Manifest:
    """The manifest of a bundle."""
    if MANIFEST not in contents:
        raise RepriseError(f"{file}: not a bundle, holds no {MANIFEST}; make one with: reprise bundle")
    try:
        fields = store.unseal(contents[MANIFEST].decode())
    except ValueError:
        raise RepriseError(f"{file}: {MANIFEST}: damaged, not what was written; get it again") from None
    try:
        manifest = Manifest.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RepriseError(
            f"{file}: {MANIFEST}: '{where}': {first['msg']}; read it with another version"
        ) from None
    if not NAME.fullmatch(manifest.tier):
        raise RepriseError(f"{file}: {MANIFEST}: {manifest.tier!r} is not the name of a tier")
    return manifest


def _check_known(file: Path, manifest: Manifest) -> None:
    """Checks that a bundle's files are those of experiments that this version knows."""
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
