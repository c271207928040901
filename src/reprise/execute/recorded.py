"""Recorded runs: results of another tier or machine, in one file that anyone can judge again in seconds.

A bundle is a ZIP file with the tables and records of finished experiments and a sealed manifest, which holds
the SHA-256 of each file. Merging verifies it and unpacks it into `results/recorded/NAME/`, whose NAME depends
on the contents. A recorded run is read like a tier (`--tier recorded/NAME`). Its verdicts stand beside those
of what was run here, and are never counted among them.

One recorded run comes with the checkout, `recorded/published`. It is shown of what has not run here.
"""

import io
import os
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from reprise.errors import RepriseError
from reprise.execute import bundles, foreign, pipeline, provenance, registry, tiers
from reprise.execute.foreign import Manifest
from reprise.execute.reduced import reduced
from reprise.execute.tiers import BUNDLE, PUBLISHED, RECORDED, Tier
from reprise.storage import store
from reprise.study.settings import shortened

SMALL = 8_000_000
"""Largest size of the bundle that comes with the checkout."""


def source(tier: Tier, ids: Iterable[str], *, judges: bool = False) -> Tier:
    """Where results are read from: the tier, if any of some experiments has run here; else the recorded run
    of this tier that comes with the checkout, if it has one of them, which a line on stderr then says.

    Args:
        ids: of the experiments.
        judges: whether claims are judged, so that the line also names the commit of the rules.

    Raises:
        RepriseError: if the recorded run is damaged.
    """
    ids = list(ids)
    if any(pipeline.has_results(id, tier) for id in ids):
        return tier
    return beside(tier, ids, judges=judges) or tier


def beside(tier: Tier, ids: Iterable[str], *, judges: bool = False) -> Tier | None:
    """The recorded run of a tier that comes with the checkout, if it has one of some experiments, which a
    line on stderr then says. Arguments and errors are those of `source`."""
    if tier.is_recorded or not (tier.root / BUNDLE).exists():
        return None
    published = tiers.load_published(tier.root)
    there = [id for id in ids if pipeline.has_results(id, published)]
    if not published.manifest or published.manifest.tier != tier.name or not there:
        return None
    rules = f"; judged by the rules of {_short(provenance.commit(tier.root)['commit'])}" if judges else ""
    print(f"{described(published, there)}{rules}; not run here", file=sys.stderr, flush=True)
    return published


def described(tier: Tier, ids: Iterable[str]) -> str:
    """When, at which commit and on how many cores experiments of a recorded run were made, in a line."""
    records = {id: pipeline.load_record(id, tier) for id in ids}
    commits = [commit for commit, _ in Counter(record["commit"] for record in records.values()).most_common()]
    cores = sorted({str(record["hardware"]["cores"]) for record in records.values()})
    others = f" and {len(commits) - 1} other commits" if len(commits) > 1 else ""
    date = tier.manifest.date if tier.manifest else ""
    on = f" on {date}" if date else ""
    older = [id for id in records if pipeline.older(id, tier)]
    changed = f"; {len(older)} of {len(records)} experiments have changed since" if older else ""
    if len(records) == 1:
        changed = "; of an older version of this experiment" if older else ""
        ((_, record),) = records.items()
        if names := sorted(Path(file).stem for file in record.get("reduced", ())):
            changed += f"; reduced tables: {', '.join(names)}"
    return f"recorded{on} at {_short(commits[0])}{others} on {' or '.join(cores)} cores{changed}"


def _short(commit: str) -> str:
    name, mark, _ = commit.partition(provenance.CHANGES)
    return f"{name[:7]}{mark}"


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
    manifest = manifest_of(ids, tier, files)
    file = file or Path(f"reprise-{manifest.name}.zip")
    store.write_files({file: partial(bundles.pack, manifest=manifest, files=files)})
    return file, ids


def small_bundle(tier: Tier) -> bytes:
    """The bundle of a run that comes with the checkout: of each experiment the tables that `reduced` makes,
    at most `SMALL` bytes in all. What does not fit is left out, the largest experiment first, and named on
    stderr.

    Raises:
        RepriseError: if results are missing, damaged or out of date.
    """
    if tier.name == PUBLISHED:
        return (tier.root / BUNDLE).read_bytes()
    ids = [id for id in registry.experiments() if pipeline.has_results(id, tier)]
    parts = {id: reduced(id, tier) for id in ids}
    while ids:
        files = {f"{id}/{name}": content for id in ids for name, content in parts[id].items()}
        with io.BytesIO() as file:
            bundles.pack(file, manifest_of(ids, tier, files), files, small=True)
            if file.tell() <= SMALL:
                return file.getvalue()
            with zipfile.ZipFile(file) as archive:
                packed = Counter(
                    {
                        id: sum(archive.getinfo(f"{id}/{name}").compress_size for name in parts[id])
                        for id in ids
                    }
                )
        ((largest, size),) = packed.most_common(1)
        print(f"{BUNDLE}: without {largest}, {size / 1e6:.1f} MB of it", file=sys.stderr)
        ids.remove(largest)
    raise RepriseError(f"{tier.results}: nothing of it fits into {SMALL / 1e6:g} MB")


def manifest_of(ids: list[str], tier: Tier, files: Mapping[str, bytes]) -> Manifest:
    """The manifest of a bundle.

    Args:
        files: path in the bundle -> content.
    """
    commits = Counter(pipeline.load_record(id, tier)["commit"] for id in ids)
    return Manifest(
        format=1,
        tier=tier.manifest.tier if tier.manifest else tier.name,
        experiments=ids,
        looked={id: text for id, text in tier.looked.items() if id in ids},
        date=next((provenance.commit_date(commit, tier.root) for commit, _ in commits.most_common(1)), ""),
        sha256={name: store.sha256(content) for name, content in sorted(files.items())},
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
    with store.locked(folder.with_name(f".{name}{store.LOCK}")):
        was_here, damage = os.path.lexists(folder), ""
        if was_here:
            try:
                return tiers.load_recorded(f"{RECORDED}/{name}", root), True
            except RepriseError as error:
                damage = str(error)
        bundles.unpack(files, folder, lambda draft: _read_all(f"{RECORDED}/{draft.name}", root, file))
    if damage:
        print(f"{damage}; merged again", file=sys.stderr)
    return tiers.load_recorded(f"{RECORDED}/{name}", root), False


def _read_all(name: str, root: Path, file: Path) -> None:
    """Judges the claims and draws the figures of what was unpacked: its tables have what these read.

    Raises:
        RepriseError: naming the bundle, and what cannot be judged or drawn.
    """
    import matplotlib.pyplot as plt

    try:
        tier = tiers.load_recorded(name, root)
        for id, changed in tier.older.items():
            commit = pipeline.load_record(id, tier)["commit"]
            raise RepriseError(
                f"made by commit {commit[:8]}, where {id} had {changed}; read it with that commit"
            )
        for id, experiment in registry.experiments().items():
            if pipeline.has_results(id, tier) and pipeline.older(id, tier) and experiment.claims:
                pipeline.judge(id, tier)  # what `verdicts` would let pass
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
    keep_judged(dict.fromkeys(id.split("/")[0] for id in ids), tier)
    own = {claim.id for id in ids for claim in registry.experiment(id).claims}
    claims = pipeline.join(tier)
    return claims[claims["claim"].isin(own)].reset_index(drop=True)


def keep_judged(keys: Iterable[str], tier: Tier) -> None:
    """Judges papers in a recorded run, unless it holds the verdicts by the claims of this version.

    Raises:
        RepriseError: as in `verdicts`.
    """
    for key in keys:
        if tier.is_recorded and key in registry.judged() and not pipeline.is_checked(key, tier):
            evidence = pipeline.evidence(key, tier)
            pipeline.save_claims(key, tier, pipeline.check(key, tier), evidence)


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
