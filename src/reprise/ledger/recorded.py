"""Recorded runs: results of another tier or machine, which are read like a tier.

A bundle (`bundling`) that was merged lies in `results/recorded/NAME/`, whose NAME depends on the contents
(`--tier recorded/NAME`). Its verdicts stand beside those of what was run here, and are never counted among
them.

One recorded run comes with the checkout, `recorded/published`. It is shown of what has not run here.
"""

import signal
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.contract.settings import Settings, shortened
from reprise.engine import foreign, provenance, registry, tiers
from reprise.engine.check import Verdicts, join
from reprise.engine.configured import PUBLISHED, RECORDED, Tier
from reprise.engine.tiers import NAME, digest_of
from reprise.errors import RepriseError, unknown
from reprise.ledger import bundles
from reprise.ledger.bundles import MANIFEST
from reprise.numerics.processes import context, cores
from reprise.storage import disk, locks, store

BUNDLE = Path("docs") / "results" / "recorded.zip"
"""The bundle of `PUBLISHED`."""
UNPACKED_FROM = "bundle.sha256"
"""The file in the folder of `PUBLISHED` that holds the SHA-256 of the bundle."""


def load(name: str, root: Path | None = None) -> Tier:
    """Reads a tier (`load_tier`), or a recorded run, `recorded/NAME`.

    Raises:
        RepriseError: from `load_tier`; for a recorded run that is missing or damaged.
    """
    if not name.startswith(f"{RECORDED}/"):
        return tiers.load_tier(name, root)
    root = root or tiers.checkout()
    try:
        is_there = (root / BUNDLE).exists()
        if name == PUBLISHED and is_there:
            return load_published(root)
        known = [*recorded_names(root), *([PUBLISHED] if is_there else [])]
        if name not in known:
            raise unknown("recorded run", name, known, f"there are: {', '.join(known) or 'none'}")
        return load_recorded(name, root)
    except RepriseError as error:
        raise RepriseError(shortened(str(error))) from None


def source(tier: Tier, ids: Iterable[str], *, judges: bool = False) -> Tier:
    """The source of results: the tier, if any of some experiments has run here; else the recorded run of this
    tier that comes with the checkout, if it has one of them, which a line on stderr then says.

    Args:
        ids: of the experiments.
        judges: whether claims are judged, so that the line also names the commit of the rules.

    Raises:
        RepriseError: if the recorded run is damaged.
    """
    ids = list(ids)
    if any(tier.experiment(id).has_results() for id in ids):
        return tier
    return beside(tier, ids, judges=judges) or tier


def beside(tier: Tier, ids: Iterable[str], *, judges: bool = False) -> Tier | None:
    """The recorded run of a tier that comes with the checkout, if it has one of some experiments, which a
    line on stderr then says. Arguments and errors are those of `source`."""
    ids = list(ids)
    if tier.is_recorded or not ids or not (tier.root / BUNDLE).exists():
        return None
    published = load_published(tier.root)
    there = [id for id in ids if published.experiment(id).has_results()]
    if not published.manifest or published.manifest.tier != tier.name or not there:
        return None
    rules = f"; judged by the rules of {_short(provenance.commit(tier.root)['commit'])}" if judges else ""
    print(f"{described(published, there)}{rules}; not run here", file=sys.stderr, flush=True)
    return published


def beside_missing(tier: Tier) -> Tier | None:
    """The recorded run that comes with the checkout, if it has one of the experiments that have not run in a
    tier, as `beside` says."""
    missing = [id for id, each in tier.experiments().items() if not each.has_results()]
    return beside(tier, missing, judges=True)


def described(tier: Tier, ids: Iterable[str]) -> str:
    """One line with the date, commit and number of cores of experiments of a recorded run."""
    experiments = [tier.experiment(id) for id in ids]
    records = {each.id: each.record() for each in experiments}
    commits = [commit for commit, _ in Counter(record["commit"] for record in records.values()).most_common()]
    cores = sorted({str(record["hardware"]["cores"]) for record in records.values()})
    others = " and another" if len(commits) > 1 else ""
    others = f" and {len(commits) - 1} other commits" if len(commits) > 2 else others
    date = tier.manifest.date if tier.manifest else ""
    on = f" on {date}" if date else ""
    older = [each for each in experiments if each.older()]
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


def verdicts(tier: Tier) -> pd.DataFrame:
    """A recorded run's verdicts on the claims of its experiments; judged again where the claims have changed
    since they were saved.

    Raises:
        RepriseError: if its tables are damaged or not what this version's claims read.
    """
    finished = [each.experiment for each in tier.experiments().values() if each.has_results()]
    keep_judged(dict.fromkeys(experiment.paper for experiment in finished), tier)
    own = {claim.id for experiment in finished for claim in experiment.claims}
    claims = join(tier)
    return claims[claims["claim"].isin(own)].reset_index(drop=True)


def keep_judged(keys: Iterable[str], tier: Tier) -> None:
    """Judges papers in a recorded run, unless it holds the verdicts by the claims of this version.

    Raises:
        RepriseError: as in `verdicts`.
    """
    papers = [paper for key in keys if tier.is_recorded and (paper := registry.judged().get(key))]
    due = [paper.key for paper in papers if not Verdicts(paper, tier).is_checked()]
    if len(due) < 2:
        for key in due:
            _judge(key, tier.name, tier.root)
        return
    of_one = partial(_judge, name=tier.name, root=tier.root)
    stops = signal.signal, (signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends them without a word
    with ProcessPoolExecutor(min(cores(), len(due)), context(), *stops) as processes:
        try:
            list(processes.map(of_one, due))
        except BrokenProcessPool:
            raise RepriseError(
                f"{tier.name}: a process that judged its claims was killed; it may have run out of memory"
            ) from None


def _judge(key: str, name: str, root: Path) -> None:
    verdicts = Verdicts(registry.judged()[key], load_recorded(name, root))
    evidence = verdicts.evidence()
    verdicts.save(verdicts.judged(), evidence)


def recorded_names(root: Path | None = None) -> list[str]:
    """The recorded runs that were merged into `results/recorded/`, each as `recorded/NAME`."""
    folders = ((root or tiers.checkout()) / "results" / RECORDED).glob(f"*/{MANIFEST}")
    names = {f"{RECORDED}/{file.parent.name}" for file in folders if NAME.fullmatch(file.parent.name)}
    return sorted(names - {PUBLISHED})


def recorded_damage(root: Path) -> dict[str, str]:
    """Merged run -> what is damaged in it; empty if nothing is."""
    damage = dict.fromkeys(recorded_names(root), "")
    for name in damage:
        try:
            load_recorded(name, root)
        except RepriseError as error:
            damage[name] = str(error)
    return damage


def load_published(root: Path) -> Tier:
    """The recorded run that comes with the checkout; unpacks it first, unless it was unpacked before.

    Raises:
        RepriseError: if its bundle is damaged.
    """
    file, folder = root / BUNDLE, root / "results" / PUBLISHED
    with locks.locked(folder.with_name(f".{folder.name}{locks.LOCK}")):
        try:
            digest = disk.sha256(file.read_bytes())
            with suppress(OSError, RepriseError):  # not there, of another bundle, damaged
                if (folder / UNPACKED_FROM).read_text(encoding="utf-8") == digest:
                    return load_recorded(PUBLISHED, root)
            manifest, files = bundles.unpacked(file)
            bundles.records(file, manifest, files)
        except (OSError, RepriseError) as error:
            said = str(error).removesuffix("; get it again")
            raise RepriseError(f"{said}; restore it with: git checkout HEAD {BUNDLE}") from None
        bundles.unpack({**files, UNPACKED_FROM: digest.encode()}, folder, lambda draft: None)
        return load_recorded(PUBLISHED, root)


def load_recorded(name: str, root: Path) -> Tier:
    """Reads a recorded run. An experiment that it lacks has the published parameters.

    Raises:
        RepriseError: if it is damaged.
    """
    folder = root / "results" / name
    manifest = _verified(folder)
    params = {id: experiment.params() for id, experiment in registry.experiments().items()}
    older: dict[str, str] = {}
    for id in set(manifest.experiments) & set(params):
        where = folder / id / store.RECORD
        record = foreign.read(foreign.Record, where.read_bytes(), str(where))
        if record.experiment != id:
            raise RepriseError(f"{where}: the record is of {record.experiment}, not of a run of {id}")
        params[id] = foreign.params_of(registry.experiment(id).params, record.params, str(where))
        if changed := _changed(params[id], record.params):
            older[id] = f"other parameters than now: {', '.join(changed)}"
    is_test = False
    with suppress(RepriseError):  # the config of a tier of this name is no part of the run
        is_test = tiers.is_test(manifest.tier, root)
    return Tier(name, root, {}, (), manifest.looked, params, digest_of(params), manifest, older, is_test)


def _verified(folder: Path) -> foreign.Manifest:
    """The manifest of a recorded run, after comparing it with the folder's name and the files in it."""
    again = "merge the bundle again: reprise merge FILE"
    try:
        where = folder / MANIFEST
        if not where.is_file():
            raise RepriseError(f"{where}: not a regular file; {again}")
        manifest = foreign.read(foreign.Manifest, where.read_bytes(), str(where))
        if manifest.name != folder.name.removeprefix(store.DRAFT) and folder.name != Path(PUBLISHED).name:
            raise RepriseError(f"{where}: not the manifest of a run of this name; {again}")
        for name, expected in manifest.sha256.items():
            if disk.sha256((folder / name).read_bytes()) != expected:
                raise RepriseError(f"{folder / name}: truncated or altered since it was merged; {again}")
    except OSError as error:
        raise RepriseError(f"{error.filename}: cannot be read ({error.strerror}); {again}") from None
    for id in registry.experiments():
        for record in (folder / id).rglob(store.RECORD):
            if str(record.relative_to(folder)) not in manifest.sha256:
                raise RepriseError(f"{record.parent}: is not in the bundle that was merged; remove it")
    return manifest


def _changed(params: Settings, recorded: Mapping[str, Any]) -> list[str]:
    """The names of the parameters that are other ones than in a record, or not in both."""
    current = params.model_dump(mode="json")
    names = set(current) | set(recorded)
    return sorted(
        name for name in names if name not in current or current[name] != recorded.get(name, _changed)
    )
