"""Packs a run's results into a bundle, and merges a bundle as a recorded run, which anyone can judge.

A bundle is a ZIP file with the tables and records of finished experiments and a sealed manifest, which holds
the SHA-256 of each file. Merging verifies it and unpacks it into `results/recorded/NAME/`.
"""

import io
import os
import sys
import zipfile
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

from reprise.contract.settings import shortened
from reprise.engine import foreign, provenance, registry
from reprise.engine.check import judge
from reprise.engine.configured import PUBLISHED, RECORDED, ConfiguredExperiment, Tier
from reprise.engine.draw import Drawing
from reprise.engine.foreign import Manifest
from reprise.errors import RepriseError
from reprise.ledger import bundles
from reprise.ledger.recorded import BUNDLE, load_recorded, verdicts
from reprise.ledger.reduced import reduced
from reprise.storage import disk, locks, store

SMALL = 8_000_000
"""Largest size of the bundle that comes with the checkout."""


def bundle(keys: list[str], tier: Tier, file: Path | None = None) -> tuple[Path, list[str]]:
    """Writes the results of a tier's finished experiments into one file.

    Args:
        keys: the papers.
        file: default: `reprise-NAME.zip` in the working directory.

    Returns:
        The file, and the names of the runs in it (`ConfiguredExperiment.name`).

    Raises:
        RepriseError: if nothing has run, results are damaged or out of date, or the tier is itself a recorded
            run.
    """
    if tier.is_recorded:
        raise RepriseError(f"{tier.name} is a recorded run: it came as a bundle; pass that on")
    finished = tier.runs(id for key in keys for id in registry.paper(key).experiments)
    if not finished:
        raise RepriseError(f"{tier.results}: no finished results of {', '.join(keys)} to bundle")
    files: dict[str, bytes] = {}
    for each in finished:
        names = [f"{name}.parquet" for name in each.tables()]
        files |= {f"{each.name}/{name}": (each.folder / name).read_bytes() for name in (*names, store.RECORD)}
    manifest = manifest_of(finished, tier, files)
    file = file or Path(f"reprise-{manifest.name}.zip")
    disk.write_files({file: partial(bundles.pack, manifest=manifest, files=files)})
    return file, [each.name for each in finished]


def small_bundle(tier: Tier) -> bytes:
    """The bundle of a run that comes with the checkout: of each experiment the tables that `reduced` makes,
    at most `SMALL` bytes in all. What does not fit is left out, the largest experiment first, and named on
    stderr.

    Raises:
        RepriseError: if results are missing, damaged or out of date.
    """
    if tier.name == PUBLISHED:
        return (tier.root / BUNDLE).read_bytes()
    kept = {each.name: each for each in tier.runs(tier.experiments())}
    parts = {name: reduced(each) for name, each in kept.items()}
    while kept:
        files = {f"{run}/{name}": content for run in kept for name, content in parts[run].items()}
        with io.BytesIO() as file:
            bundles.pack(file, manifest_of(kept.values(), tier, files), files, small=True)
            if file.tell() <= SMALL:
                return file.getvalue()
            with zipfile.ZipFile(file) as archive:
                packed = Counter(
                    {
                        run: sum(archive.getinfo(f"{run}/{name}").compress_size for name in parts[run])
                        for run in kept
                    }
                )
        ((largest, size),) = packed.most_common(1)
        print(f"{BUNDLE}: without {largest}, {size / 1e6:.1f} MB of it", file=sys.stderr)
        kept = {name: each for name, each in kept.items() if each.id != kept[largest].id}
    raise RepriseError(f"{tier.results}: nothing of it fits into {SMALL / 1e6:g} MB")


def manifest_of(
    experiments: Collection[ConfiguredExperiment], tier: Tier, files: Mapping[str, bytes]
) -> Manifest:
    """The manifest of a bundle.

    Args:
        files: path in the bundle -> content.
    """
    commits = Counter(each.record()["commit"] for each in experiments)
    ids = list(dict.fromkeys(each.id for each in experiments))
    return Manifest(
        format=1,
        tier=tier.manifest.tier if tier.manifest else tier.name,
        experiments=ids,
        looked={id: text for id, text in tier.looked.items() if id in ids},
        date=next((provenance.commit_date(commit, tier.root) for commit, _ in commits.most_common(1)), ""),
        sha256={name: disk.sha256(content) for name, content in sorted(files.items())},
    )


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
    manifest, files = bundles.unpacked(file)
    _check_known(file, manifest)
    bundles.records(file, manifest, files)
    for path in manifest.sha256:
        if not path.endswith(store.RECORD):
            foreign.observations(files[path], f"{file}: {path}")
    name = manifest.name
    folder = root / "results" / RECORDED / name
    with locks.locked(folder.with_name(f".{name}{locks.LOCK}")):
        was_here, damage = os.path.lexists(folder), ""
        if was_here:
            try:
                return load_recorded(f"{RECORDED}/{name}", root), True
            except RepriseError as error:
                damage = str(error)
        bundles.unpack(files, folder, lambda draft: _read_all(f"{RECORDED}/{draft.name}", root, file))
    if damage:
        print(f"{damage}; merged again", file=sys.stderr)
    return load_recorded(f"{RECORDED}/{name}", root), False


def _read_all(name: str, root: Path, file: Path) -> None:
    """Judges the claims and draws the figures of what was unpacked: its tables have what these read.

    Raises:
        RepriseError: naming the bundle, and what cannot be judged or drawn.
    """
    import matplotlib.pyplot as plt

    try:
        tier = load_recorded(name, root)
        for id, changed in tier.older.items():
            commit = tier.experiment(id).record()["commit"]
            raise RepriseError(
                f"made by commit {commit[:8]}, where {id} had {changed}; read it with that commit"
            )
        for each in tier.experiments().values():
            if each.has_results() and each.older() and each.experiment.claims:
                judge(each)  # what `verdicts` would let pass
        verdicts(tier)
        for drawing in (Drawing(artifact, tier) for artifact in registry.artifacts().values()):
            if drawing.experiment.has_results():
                drawing.content()
                plt.close("all")
    except RepriseError as error:
        text = str(error).replace(f"{root}/results/{name}/", "").removeprefix(f"{name}: ")
        raise RepriseError(f"{file}: {text}") from error


def _check_known(file: Path, manifest: Manifest) -> None:
    """Checks that a bundle's files are tables of experiments that this version knows."""
    known = registry.experiments()
    if unknown := sorted(set(manifest.experiments) - set(known)):
        raise RepriseError(f"{file}: holds {', '.join(unknown)}, which this version does not know")
    expected = {
        f"{run}/{name}"
        for run, id in manifest.runs.items()
        for name in (store.RECORD, *(f"{table}.parquet" for table in known[id].tables))
    }
    if different := sorted(expected ^ set(manifest.sha256)):
        raise RepriseError(
            f"{file}: its tables are not those that this version makes: {', '.join(different)}; "
            "read it with the commit that made it"
        )
