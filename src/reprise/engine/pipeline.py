"""The pipeline's stages: run, draw, check, join. Snakemake calls them through the CLI, notebooks directly."""

import hashlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from reprise.contract.experiment import (
    BASE,
    Artifact,
    Context,
    Make,
    Resources,
    Tables,
    evaluate,
    share_of,
)
from reprise.contract.settings import Settings, one_line
from reprise.engine import cache, foreign, memo, provenance, registry
from reprise.engine.tiers import Tier, changes
from reprise.errors import RepriseError, unknown
from reprise.evidence.claims import Claim
from reprise.evidence.verdicts import COLUMNS, judge_all, setting
from reprise.notices import slower
from reprise.storage import store, versions

if TYPE_CHECKING:  # matplotlib takes a third of a second to import, and most commands draw nothing
    from matplotlib.figure import Figure

Progress = Callable[[int, int, str], None]
Writer = Callable[[Path], Any]

CLAIMS = "claims"
"""Name of the table of a paper's verdicts."""
ALL = "all"
"""In place of a setting's name: every one."""
CHANGED = {
    "artifact": "the drawing of another figure or table",
    "tables": "drawn from other tables than are here now",
    "params": "drawn with other parameters than are asked for now",
    "code": "drawn by other code than is here now",
}
"""Entries of a drawing's record, and what it means that one of them differs."""


def run(id: str, tier: Tier, progress: Progress = lambda done, total, what: None) -> Path:
    """Computes an experiment's tables into `results/TIER/KEY/NAME/`.

    Reuses tasks that were finished by shares or by an interrupted run with the same code and parameters. If
    several processes run the same experiment, one computes and the others wait.

    Args:
        progress: called with (steps done, total steps, description of the current step).

    Raises:
        RepriseError: if the inputs are missing, a user's loss is none, either is edited meanwhile, the
            computation returns other tables than declared, or they cannot be written.
    """
    experiment = registry.experiment(id)
    params = tier.params[id]
    folder = require_computed(tier) / id
    experiment.require_published(params)
    guarded = experiment.trying_losses(params)
    files = experiment.files(params)
    key, asker = experiment.key(params, files), cache.asker(id, tier)
    compute, commit = experiment.compute(), provenance.commit(tier.root)
    with guarded, store.locked(folder / store.LOCK) as waited, store.asking(asker):
        if waited and has_results(id, tier) and not staleness(id, tier):
            return folder
        _say_what_slows(id, tier)
        start, before = time.perf_counter(), cache.seconds_spent(asker, tier)
        settings = experiment.settings(params)
        context = Context(progress, root=tier.root)
        if experiment.has_tasks:
            needs = experiment.needs(params)
            unchanged = partial(_require_unchanged, id, tier, key)
            context = replace(context, keep=_Keeper(tier.root, asker, needs, progress, unchanged))
        with _blamed_on_settings(id, tier):
            tables = evaluate(compute, settings, context)
        _require_unchanged(id, tier, key)
        if set(tables) != set(experiment.tables):
            raise RepriseError(
                f"{id}: compute returned {sorted(tables)}, experiment.py declares {sorted(experiment.tables)}"
            )
        if lacking := _not_finite(tables, experiment.gaps):
            shares = ", ".join(f"{share:.1%} of {column}" for column, share in lacking.items())
            print(f"{id}: warning: not finite, so that a run may have diverged: {shares}", file=sys.stderr)
        record = {
            **_described(tier.root, experiment.versions(params)),
            **provenance.of_run(commit, tier.root),
            "experiment": id,
            "not_finite": lacking,
            "params": params.model_dump(mode="json"),
            "code": experiment.code(params),
            "files": files,
            "duration_seconds": round(before + time.perf_counter() - start, 3),
        }
        store.save_tables(folder, tables, key, record)
        cache.forget_parts(id, tier)
    return folder


def run_share(
    id: str, tier: Tier, number: int, shares: int, progress: Progress = lambda done, total, what: None
) -> None:
    """Runs one of several shares of an experiment's tasks, whose tables `run` then reuses. Shares may run in
    parallel.

    Args:
        number: index of the share, from 1 to `shares`.

    Raises:
        RepriseError: if the experiment has no tasks, the inputs are missing, a user's loss is none, either is
            edited meanwhile, a task fails, or its table cannot be written.
    """
    experiment = registry.experiment(id)
    params = tier.params[id]
    folder = require_computed(tier) / id
    if not experiment.has_tasks:
        raise RepriseError(f"{id}: is in one piece and has no shares; run it with: {how_to_make(id, tier)}")
    experiment.require_published(params)
    guarded = experiment.trying_losses(params)
    needs = experiment.needs(params)
    expected = {name: needs[name] for name in share_of(needs, number, shares)}
    key, asker = experiment.key(params), cache.asker(id, tier)
    with guarded, store.locked(folder / store.LOCK, shared=True), store.asking(asker):
        _say_what_slows(id, tier)
        unchanged = partial(_require_unchanged, id, tier, key)
        keeper = _Keeper(tier.root, asker, expected, progress, unchanged)
        context = Context(root=tier.root, keep=keeper)
        tasks, perform = experiment.tasks(params, context), experiment.perform()
        with _blamed_on_settings(id, tier):
            for name in expected:
                settings, task, asking = tasks[name]
                asking.result(perform, settings, task)


def _say_what_slows(id: str, tier: Tier) -> None:
    if lost := cache.lost_parts(id, tier):
        slower(
            "starts over",
            f"{lost} finished tasks of an interrupted run of {id} do not count, because code, settings or "
            "data have changed since",
            "undo the change to go on from there",
        )
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        slower(
            "no compiled loops",
            "NUMBA_DISABLE_JIT is set, so that loops run in Python, a hundred times as long",
            "unset NUMBA_DISABLE_JIT",
        )


def _require_unchanged(id: str, tier: Tier, key: str) -> None:
    """The file of a user's loss is executed anew for each task and loss, and data sets are read anew: after
    an edit, the results would be partly of the old files and partly of the new ones, under either's name.

    Raises:
        RepriseError: if what the results depend on is no longer what it was when the run began.
    """
    if not memo.of_package().is_current() or registry.experiment(id).key(tier.params[id]) != key:
        raise RepriseError(
            f"{id}: the package, a loss, a module or file that it reads, or a file of the data was "
            f"edited while this ran; nothing was saved since; run it again: {how_to_make(id, tier)}"
        )


def _not_finite(tables: Tables, gaps: tuple[str, ...]) -> dict[str, float]:
    """The share of numbers that are not finite in each column, `table.column`, that has any.

    Args:
        gaps: patterns of the columns in which that is expected.
    """
    shares = {
        f"{name}.{column}": float(1 - np.isfinite(table[column]).mean())
        for name, table in tables.items()
        for column in table.select_dtypes("float")
    }
    return {
        column: share
        for column, share in shares.items()
        if share and not any(fnmatchcase(column, gap) for gap in gaps)
    }


@contextmanager
def _blamed_on_settings(id: str, tier: Tier) -> Iterator[None]:
    """Where a computation fails that the tier has changed settings of, names them in one line; the traceback
    goes to a file. With the published settings it would be a mistake of ours, whose traceback is shown.

    Raises:
        RepriseError: in place of an error of arithmetic, values or shapes.
    """
    try:
        yield
    except (ArithmeticError, LookupError, RuntimeError, ValueError) as error:
        changed = tier.overrides.get(id)
        if not changed:
            raise
        log = tier.results / "logs" / f"{id}.traceback"
        store.write(log, traceback.format_exc().encode(errors="backslashreplace"))
        raise RepriseError(
            f"{id}: fails with the settings of configs/{tier.name}.yaml: {changes(changed)}: "
            f"{one_line(error)}; try other values; the traceback is in {log}"
        ) from None


@contextmanager
def _blamed_on_version(tier: Tier, what: str) -> Iterator[None]:
    """Where a claim or a figure fails on the tables of a recorded run, says so in one line.

    Raises:
        RepriseError: in place of any error: tables of another version can fail in any way.
    """
    try:
        yield
    except RepriseError:
        raise
    except Exception as error:
        if not tier.is_recorded:
            raise
        raise RepriseError(
            f"{tier.name}: its tables are not what {what} in this version ({one_line(error)}); "
            "read them with the commit that made them"
        ) from error


def require_computed(tier: Tier) -> Path:
    """The folder of a tier's results, which can be computed.

    Raises:
        RepriseError: for a recorded run.
    """
    if tier.is_recorded:
        raise RepriseError(f"{tier.name} is a recorded run: it can be checked, drawn and reported, not run")
    return tier.results


class _Keeper:
    """Returns a task's table from the cache, or computes it now.

    Reports progress over the expected tasks. Other tasks that these request count towards the requesting
    task.
    """

    def __init__(
        self,
        root: Path,
        asker: str,
        expected: Mapping[str, Resources],
        progress: Progress,
        unchanged: Callable[[], None],
    ) -> None:
        self._keep = partial(store.kept_table, root, asker)
        self._unchanged = unchanged
        self._progress = progress
        self._expected = expected
        self._done = dict.fromkeys(expected, 0.0)

    def __call__(self, task: str, make: Make) -> pd.DataFrame:
        table = self._keep(task, partial(self._made, task, make))
        self._report(task, 1.0)
        return table

    def _made(self, task: str, make: Make) -> pd.DataFrame:
        table = make(partial(self._report, task))
        self._unchanged()
        return table

    def _report(self, task: str, share: float) -> None:
        if task in self._done:
            self._done[task] = share * self._expected[task].minutes
            total = sum(needs.minutes for needs in self._expected.values())
            self._progress(round(1000 * sum(self._done.values()) / total), 1000, task)


def has_results(id: str, tier: Tier) -> bool:
    """Whether the experiment has results, up to date or not."""
    return (tier.results / id / store.RECORD).is_file()


def is_whole(id: str, tier: Tier) -> bool:
    """Tells if the files of an experiment's results are those that were written."""
    return store.is_whole(tier.results / id)


def load_record(id: str, tier: Tier) -> dict[str, Any]:
    """How an experiment's results were made.

    Raises:
        RepriseError: if there are no results, or their record is damaged or lacks a field.
    """
    again = how_to_make(id, tier)
    record = store.load_record(tier.results / id, again)
    foreign.checked(foreign.Record, record, f"{tier.results / id / store.RECORD}", again)
    return record


def staleness(id: str, tier: Tier) -> str:
    """Why an experiment's results are out of date; empty if they are up to date. Those of a recorded run are
    what another commit made, and never out of date.

    Raises:
        RepriseError: if there are no results, or their record is damaged.
    """
    record = load_record(id, tier)
    params = tier.params[id]
    if tier.is_recorded:
        return ""
    if record["params"] != params.model_dump(mode="json"):
        return f"made with other parameters than configs/{tier.name}.yaml now asks for"
    experiment = registry.experiment(id)
    files = _files(record, id, tier)
    if record["key"] != experiment.key(params, files):
        if changed := [place for place, made in record.get("files", {}).items() if made != files[place]]:
            return f"made from another {changed[0]} than is here now"
        return _other_version(record, experiment.versions(params)) or "made by other code than is here now"
    return ""


def older(id: str, tier: Tier) -> str:
    """How the experiment of a recorded run differs from what it is now; empty if it does not.

    Raises:
        RepriseError: if there are no results, or their record is damaged.
    """
    if not tier.is_recorded or id in tier.older:
        return tier.older.get(id, "")
    record, experiment = load_record(id, tier), registry.experiment(id)
    if {Path(name).stem for name in record["sha256"]} != set(experiment.tables):
        return "other tables"
    return "" if record.get("code") == experiment.code(tier.params[id]) else "other code"


def _described(root: Path, used: Mapping[str, str]) -> dict[str, Any]:
    """The provenance of a result, which also names the versions of the libraries that it depends on."""
    made: dict[str, Any] = provenance.describe(root)
    libraries = {name: version for name, version in used.items() if name != versions.PYTHON}
    return {**made, "versions": {**made["versions"], **libraries}}


def _other_version(record: Mapping[str, Any], here: Mapping[str, str]) -> str:
    """Which of the libraries that a result depends on is another one here; empty if none is."""
    made = {**record.get("versions", {}), versions.PYTHON: record.get("python", "").rpartition(".")[0]}
    for name, version in here.items():
        if made.get(name, version) not in ("", version):
            return f"made with {name} {made[name]}, here is {version}"
    return ""


def _files(record: Mapping[str, Any], id: str, tier: Tier) -> dict[str, str]:
    """Digests of the files that a result depends on, as they are now; of those that are no longer here, as
    recorded: their results stay."""
    return {**record.get("files", {}), **registry.experiment(id).files(tier.params[id])}


def how_to_make(id: str, tier: Tier) -> str:
    """The command that makes an experiment's results."""
    if tier.is_recorded and tier.in_commands == tier.name:
        return "reprise merge FILE"
    return f"reprise run {id} --tier {tier.in_commands}"


def load(id: str, tier: Tier) -> tuple[dict[str, pd.DataFrame], Settings]:
    """Loads an experiment's tables, and the parameters of the run that made them.

    Raises:
        RepriseError: if they are missing or damaged, or were made with other parameters or other code than
            the current ones.
    """
    tables, _ = _load(id, tier)
    return tables, tier.params[id]


def _load(id: str, tier: Tier) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """An experiment's tables as `load` returns them, and the SHA-256 of each file."""
    experiment = registry.experiment(id)
    folder = tier.results / id
    again = how_to_make(id, tier)
    if reason := staleness(id, tier):
        raise RepriseError(f"{folder}: {reason}; make it again with: {again}")
    tables, record = store.load_results(folder, again)
    if set(tables) != set(experiment.tables) and not tier.is_recorded:
        raise RepriseError(
            f"{folder}: holds {sorted(tables)}, expected {sorted(experiment.tables)}; make it again with: "
            f"{again}"
        )
    return tables, record["sha256"]


def in_setting(tables: Tables, name: str) -> dict[str, pd.DataFrame]:
    """The rows of one setting, or with `all` the tables as they are.

    Raises:
        RepriseError: if no table has such rows.
    """
    if name == ALL:
        return dict(tables)
    names = list(dict.fromkeys(pd.concat([table["setting"] for table in tables.values()])))
    if name not in names:
        raise unknown("setting", name, [*names, ALL], f"there are: {', '.join([*names, ALL])}")
    return {key: table.reset_index(drop=True) for key, table in setting(tables, name).items()}


def make(id: str, tier: Tier) -> Any:
    """Draws a figure (a matplotlib Figure) or builds a table (a DataFrame) from result tables."""
    artifact = registry.artifact(id)
    return drawn(artifact, load(artifact.experiment, tier)[0], tier)


def drawn(artifact: Artifact, tables: Tables, tier: Tier) -> Any:
    """A figure or table of these tables, in the style of all figures."""
    from reprise.plotting.style import styled

    with _blamed_on_version(tier, f"{artifact.id} draws"), styled():
        content = artifact.draw(tables, tier.params[artifact.experiment])
        if artifact.kind == "figure" and tier.is_recorded:
            content.draw_without_rendering()  # reads the formulas in texts, some of which are from the tables
        return content


def draw(id: str, tier: Tier) -> list[Path]:
    """Draws an artifact and writes it to `figures/TIER/KEY/fig04.{pdf,svg,png}` or `table1.{csv,md}`.

    A sealed record beside them, `.fig04.json`, binds these files to what they were made from: the SHA-256 of
    the tables, the parameters and the drawing code. It is renamed last, so that after a kill the drawing is
    either whole, the old one or the new, or is seen to be unfinished.
    """
    import matplotlib.pyplot as plt

    artifact = registry.artifact(id)
    code = registry.artifact_code(id)  # as it is before it is imported: an edit meanwhile makes this stale
    tables, sums = _load(artifact.experiment, tier)
    content = drawn(artifact, tables, tier)
    writer = _figure_writer if artifact.kind == "figure" else _table_writer
    files = {file: writer(content, file.suffix[1:]) for file in _drawn_files(artifact, tier)}
    if not memo.of_package().is_current():
        raise RepriseError(
            f"{id}: the package was edited while this was drawn; nothing was written; draw it again"
        )
    with _blamed_on_version(tier, f"{id} draws"):
        store.write_sealed(_drawing_record(id, tier), files, _drawn_from(artifact, tier, sums, code))
    plt.close("all")
    return list(files)


def _drawn_files(artifact: Artifact, tier: Tier) -> list[Path]:
    return [tier.figures / f"{artifact.id}.{ending}" for ending in artifact.endings]


def _drawing_record(id: str, tier: Tier) -> Path:
    file = tier.figures / id
    return file.with_name(f".{file.name}.json")


def _drawn_from(artifact: Artifact, tier: Tier, sums: Mapping[str, str], code: str) -> dict[str, Any]:
    """What a drawing's record says that it was made from, in the order of `CHANGED`."""
    params = tier.params[artifact.experiment].model_dump(mode="json")
    return {"artifact": artifact.id, "tables": dict(sums), "params": params, "code": code}


def drawing_staleness(id: str, tier: Tier) -> str:
    """Why an artifact's files are not what the present code draws from the present tables; empty if they are.

    Raises:
        RepriseError: if there are no results, or their record is damaged.
    """
    artifact = registry.artifact(id)
    results = load_record(artifact.experiment, tier)
    try:
        record = store.load_sealed(
            _drawing_record(id, tier), [file.name for file in _drawn_files(artifact, tier)]
        )
    except ValueError as damage:
        return str(damage)
    now = _drawn_from(artifact, tier, results["sha256"], registry.artifact_code(id))
    changed = (reason for name, reason in CHANGED.items() if record.get(name) != now[name])
    return f"{tier.figures / id}: {reason}" if (reason := next(changed, "")) else ""


def is_drawn(id: str, tier: Tier) -> bool:
    """Whether an artifact's files are what the present code draws from the present tables.

    Raises:
        RepriseError: if there are no results, or their record is damaged.
    """
    return not drawing_staleness(id, tier)


def keep_current(id: str, tier: Tier) -> None:
    """Draws an artifact, unless its files are what the present code draws from the present tables; says on
    stderr why those that are there are not.

    Raises:
        RepriseError: if the results are missing, damaged or out of date, or the files cannot be written.
    """
    if reason := drawing_staleness(id, tier):
        if _drawing_record(id, tier).exists():
            print(f"{reason}; drawn again", file=sys.stderr, flush=True)
        draw(id, tier)


def _figure_writer(figure: "Figure", ending: str) -> Writer:
    from reprise.plotting.style import save

    return partial(save, figure, kind=ending)


def _table_writer(table: pd.DataFrame, ending: str) -> Writer:
    def markdown(file: Path) -> None:
        file.write_text(table.to_markdown(index=False) + "\n", encoding="utf-8")

    return markdown if ending == "md" else partial(table.to_csv, index=False)


def check(key: str, tier: Tier) -> pd.DataFrame:
    """Judges a paper's claims on the available results.

    Raises:
        RepriseError: if the results of an experiment that has run cannot be loaded.
    """
    paper = registry.paper(key)
    published = {"published": paper.published().assign(setting=BASE)}
    rows = [judge_all(paper.pending, None, None), judge_all(paper.printed, published, None)]
    for id, experiment in paper.experiments.items():
        if not experiment.claims:
            continue
        if has_results(id, tier):
            rows.append(judge(id, tier, lenient=True))
        else:
            missing = f"no results; compute them with: {how_to_make(id, tier)}"
            rows.append(judge_all(experiment.claims, None, None, missing=missing))
    return _concat(rows)


def judge(
    id: str, tier: Tier, claims: Sequence[Claim] | None = None, *, lenient: bool = False
) -> pd.DataFrame:
    """The verdicts on an experiment's claims.

    Args:
        claims: those to judge; by default all.
        lenient: whether a claim that does not find what it reads in a recorded run of an older version of the
            experiment is `not run`.

    Raises:
        RepriseError: if the results cannot be loaded, or are not what the claims read.
    """
    claims = registry.experiment(id).claims if claims is None else claims
    tables, params = load(id, tier)

    def judged(some: Sequence[Claim]) -> pd.DataFrame:
        with _blamed_on_version(tier, f"the claims of {id} read"):
            return judge_all(some, tables, params, looked=tier.looked.get(id, ""))

    try:
        return judged(claims)
    except RepriseError as error:
        if not lenient or not (version := older(id, tier)):
            raise
        if len(claims) == 1:
            missing = f"the recorded tables are of an older version of this experiment ({version}): {error}"
            return judge_all(claims, None, None, missing=missing)
    return _concat([judge(id, tier, [claim], lenient=True) for claim in claims])


class Evidence(NamedTuple):
    """What a paper's verdicts rest on.

    Attributes:
        key: 16 hexadecimal digits over the code and the keys of these results.
        results: the SHA-256 of each table of each experiment that has claims and results.
    """

    key: str
    results: dict[str, dict[str, str]]


def evidence(key: str, tier: Tier) -> Evidence:
    """What a paper's verdicts rest on, as it is now.

    Raises:
        RepriseError: if the record of a result is damaged.
    """
    deciding = [
        id for id, each in registry.paper(key).experiments.items() if each.claims and has_results(id, tier)
    ]
    records = {id: load_record(id, tier) for id in deciding}
    keys = {id: _key(id, tier, record) for id, record in records.items()}
    made = hashlib.sha256(f"{claims_code(key, tier)} {keys}".encode()).hexdigest()[:16]
    return Evidence(made, {id: record["sha256"] for id, record in records.items()})


def save_claims(key: str, tier: Tier, claims: pd.DataFrame, judged: Evidence) -> None:
    """Writes a paper's verdicts, from `check`, to `results/TIER/KEY/claims.parquet`.

    Args:
        judged: the evidence as it was before they were judged.

    Raises:
        RepriseError: if an experiment has finished since, or the folder cannot be written.
    """
    folder = tier.results / key
    with store.locked(folder / store.LOCK):
        if evidence(key, tier) != judged or not memo.of_package().is_current():
            raise RepriseError(
                f"{folder}: results or code changed while the claims were judged; check them again with: "
                f"{check_again(key, tier)}"
            )
        record = {**provenance.describe(tier.root), "paper": key, "results": judged.results}
        store.save_tables(folder, {CLAIMS: claims}, judged.key, record)


def _key(id: str, tier: Tier, record: Mapping[str, Any]) -> str:
    """The key that an experiment's results must have; in a recorded run, the one that they have."""
    if tier.is_recorded:
        return record["key"]
    return registry.experiment(id).key(tier.params[id], _files(record, id, tier))


def claims_code(key: str, tier: Tier) -> str:
    """Hash of everything that a paper's verdicts depend on, except the tables."""
    looked = {id: text for id, text in tier.looked.items() if id.startswith(f"{key}/")}
    return f"{registry.claims_code(key)} {looked}" if looked else registry.claims_code(key)


def join(tier: Tier) -> pd.DataFrame:
    """Joins the verdicts of all papers. A paper that has not been checked since its results or its code last
    changed has the verdict `not run` on each claim.

    Raises:
        RepriseError: if a paper's verdicts are damaged.
    """
    rows = []
    for key, paper in registry.judged().items():
        if missing := why_unchecked(key, tier):
            claims = [claim for claim, _ in paper.claims.values()]
            rows.append(judge_all(claims, None, None, missing=missing))
        else:
            rows.append(store.load_tables(tier.results / key, check_again(key, tier))[CLAIMS])
    return _concat(rows)


def why_unchecked(key: str, tier: Tier) -> str:
    """Why a paper's saved verdicts do not count, and what to do; empty if they do.

    Raises:
        RepriseError: if the record of a result is damaged.
    """
    if is_checked(key, tier):
        return ""
    reason = "not checked"
    if (tier.results / key / store.RECORD).is_file():
        reason = "checked with other results or by other code or libraries than are here now"
        if not store.is_whole(tier.results / key):
            reason = "the saved verdicts are damaged"
    return f"{reason}; check them with: {check_again(key, tier)}"


def is_checked(key: str, tier: Tier) -> bool:
    """Tells if a paper's saved verdicts are whole, of the very tables and by the code that are here now.

    Raises:
        RepriseError: if the record of a result is damaged.
    """
    folder = tier.results / key
    if not store.is_whole(folder):
        return False
    record = store.load_record(folder, check_again(key, tier))
    return (record["key"], record.get("results")) == evidence(key, tier)


def saved_verdicts(key: str, tier: Tier) -> dict[str, str]:
    """The saved verdict on each of a paper's claims; none if they are not of the results and by the code that
    are here now.

    Raises:
        RepriseError: if they are damaged.
    """
    if not is_checked(key, tier):
        return {}
    claims = store.load_tables(tier.results / key, check_again(key, tier))[CLAIMS]
    return dict(zip(claims["claim"], claims["verdict"], strict=True))


def check_again(key: str, tier: Tier) -> str:
    if tier.is_recorded:
        return f"reprise check {key} --write --tier {tier.name}"
    return f"make reproduce PAPER={key} TIER={tier.name}"


def _concat(rows: list[pd.DataFrame]) -> pd.DataFrame:
    nonempty = [frame for frame in rows if len(frame)]
    claims = pd.concat(nonempty, ignore_index=True) if nonempty else pd.DataFrame(columns=list(COLUMNS))
    return claims.sort_values("claim", ignore_index=True)
