"""Compares two runs, each a folder of results or a bundle: which verdicts, observations and numbers moved,
and what was recorded that may be why. Only reads."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reprise.contract.settings import one_line, overridden
from reprise.engine import foreign, registry
from reprise.engine.check import CLAIMS
from reprise.errors import RepriseError
from reprise.evidence.comparison import FORMULAS, IDENTITY_TOLERANCE
from reprise.evidence.verdicts import judge_all
from reprise.ledger import bundles, drift
from reprise.storage import disk, store

SHOWN = 10
"""Moved numbers of an experiment that are shown, those that moved the most."""
MOST_GROUPS = 5000
"""Different texts of a table's rows, of which each has a mean; ours have 200 at most."""
TEXTS, NUMBERS = ("claim", "kind", "verdict", "unit"), ("observed", "low", "high", "margin")
"""The columns of saved verdicts that are compared."""


@dataclass(frozen=True)
class Results:
    """The contents of a folder `results/TIER` or of a bundle.

    Attributes:
        records: experiment id -> the record of how its tables were made.
        judged: paper -> the record of its saved verdicts.
        read: the content of a file, by its path in the folder.
    """

    place: Path
    tier: str
    records: Mapping[str, Mapping[str, Any]]
    judged: Mapping[str, Mapping[str, Any]]
    read: Callable[[str], bytes]

    def tables(self, folder: str) -> dict[str, pd.DataFrame]:
        """The tables in an experiment's or paper's folder, verified.

        Raises:
            RepriseError: if one is missing or altered.
        """
        read = foreign.observations if folder in self.records else foreign.table
        return {
            Path(name).stem: read(content, f"{self.place}/{folder}/{name}")
            for name, content in self.verify(folder).items()
        }

    def verify(self, folder: str) -> dict[str, bytes]:
        """The files of the tables of an experiment or a paper, as `tables` raises errors."""
        contents = {}
        for name, expected in (self.records.get(folder) or self.judged[folder])["sha256"].items():
            contents[name] = self.read(f"{folder}/{name}")
            if disk.sha256(contents[name]) != expected:
                raise RepriseError(
                    f"{self.place}/{folder}/{name}: truncated or altered, its SHA-256 is not the recorded one"
                )
        return contents

    def verdicts(self, paper: str) -> pd.DataFrame | None:
        """The saved verdicts on a paper, if there are any on these results."""
        if paper not in self.judged:
            return None
        judged = self.judged[paper].get("results", {})
        made = {id: each["sha256"] for id, each in self.records.items() if id.split("/")[0] == paper}
        differ = {id for id in judged.keys() | made if judged.get(id) != made.get(id)}
        if any(map(_may_decide, differ)):
            return None
        claims = self.tables(paper).get(CLAIMS, pd.DataFrame())
        numbers = list(claims.select_dtypes("number"))
        if lacking := [
            name for name in (*TEXTS, *NUMBERS) if name not in (claims if name in TEXTS else numbers)
        ]:
            raise RepriseError(f"{self.place}/{paper}: verdicts without a readable column '{lacking[0]}'")
        return claims


def _may_decide(id: str) -> bool:
    """Tells if verdicts may rest on an experiment: not if it is known to have no claims."""
    return id not in registry.experiments() or bool(registry.experiment(id).claims)


class Moved(NamedTuple):
    """A claim that moved, with its rows of both tables of verdicts.

    Attributes:
        allowed: by how much its observation may move.
    """

    claim: str
    before: Mapping[Any, Any]
    after: Mapping[Any, Any]
    allowed: float

    @property
    def in_verdict(self) -> bool:
        return self.before["verdict"] != self.after["verdict"]


@dataclass(frozen=True)
class Difference:
    """The differences between two results of an experiment.

    Attributes:
        numbers: those that moved, as `drift.moved` returns them.
        compared: number of numbers that were compared.
        causes: what was recorded differently, one line each.
        note: why verdicts could not be compared; empty if they were.
    """

    id: str
    claims: tuple[Moved, ...]
    numbers: pd.DataFrame
    compared: int
    causes: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Differences:
    """The differences between two runs.

    Attributes:
        differences: of the experiments of both runs, in which something moved or could not be compared.
        same: the experiments of both runs in which nothing moved.
        only: by run, the experiments that the other one lacks.
    """

    differences: tuple[Difference, ...]
    same: tuple[str, ...]
    only: Mapping[str, tuple[str, ...]]

    @property
    def has_moved(self) -> bool:
        return any(each.claims or len(each.numbers) for each in self.differences)


def compare(a: Path, b: Path, root: Path) -> Differences:
    """Compares two runs.

    A verdict moved if it is another one. An observation moved if it did by more than its claim's margin and
    half of its interval in either run; of a formula, by more than the tolerance at which it counts as
    holding. A number is a mean, minimum or maximum of a table (`drift.summarise`); it moved by more than its
    golden tolerance, or where the tier has none, by more than the least one. Verdicts are the saved ones if
    both runs saved them on these results; else this version judges both.

    Args:
        root: the checkout, which holds the golden tolerances.

    Raises:
        RepriseError: if one of them is no run, or is damaged, or they have no experiment in common.
    """
    runs = before, after = opened(a), opened(b)
    both = [id for id in before.records if id in after.records]
    if not both:
        raise RepriseError(f"{a} and {b} have no experiment in common")
    found = [_difference(before, after, id, root) for id in both]
    return Differences(
        differences=tuple(each for each in found if each.claims or len(each.numbers) or each.note),
        same=tuple(each.id for each in found if not (each.claims or len(each.numbers) or each.note)),
        only={f"{run.place}": tuple(sorted(set(run.records) - set(both))) for run in runs},
    )


def opened(place: Path) -> Results:
    """The run in a folder of results or in a bundle.

    Raises:
        RepriseError: if it is none, or a record is damaged.
    """
    if place.is_dir():
        return _folder(place)
    if not place.exists():
        raise RepriseError(f"{place}: not found; name a folder such as results/default, or a bundle")
    manifest, contents = bundles.unpacked(place)
    records = bundles.records(place, manifest, contents)
    made = {id: record.model_dump() for id, record in records.items()}
    return Results(place, manifest.tier, made, {}, contents.__getitem__)


def _folder(place: Path) -> Results:
    def read(name: str) -> bytes:
        try:
            if not (place / name).is_file():
                raise OSError("not a regular file")
            return (place / name).read_bytes()
        except OSError as error:
            raise RepriseError(f"{place / name}: cannot be read ({error.strerror or error})") from None

    if half := next(place.glob(f"*/**/{store.READY}"), None):
        raise RepriseError(f"{half.parent}: a run was killed while it wrote this; run it again to finish")
    records, judged = (
        {
            id: foreign.checked(model, record, f"{file}").model_dump()
            for file in sorted(place.glob(f"{depth}/{store.RECORD}"))
            for id in [str(file.parent.relative_to(place))]
            for record in [foreign.unsealed(read(f"{id}/{store.RECORD}"), f"{file}")]
            if what in record
        }
        for depth, what, model in (("*/*", "experiment", foreign.Record), ("*", "paper", foreign.Judged))
    )
    if not records:
        raise RepriseError(f"{place}: no results here; name a folder such as results/default, or a bundle")
    return Results(place, place.resolve().name, records, judged, read)


def _difference(before: Results, after: Results, id: str, root: Path) -> Difference:
    old, new = before.records[id], after.records[id]
    same_tables = _sums(old) == _sums(new)
    for run in (before, after) if same_tables else ():
        run.verify(id)
    numbers, compared = drift.moved(_nothing().assign(tolerance=0.0), _nothing()), 0
    if not same_tables:
        then, now = (_summary(run, id) for run in (before, after))
        tolerant = then.assign(tolerance=_tolerances(then, before, after, id, root))
        numbers, compared = drift.moved(tolerant, now), len(then)
    verdicts, note = _verdicts(before, after, id, same_tables and old["params"] == new["params"])
    causes = [*_causes(old, new), *_other_judges(before, after, id)]
    return Difference(id, tuple(_moved(*verdicts)), numbers, compared, tuple(causes), note)


def _summary(run: Results, id: str) -> pd.DataFrame:
    tables = run.tables(id)
    try:
        for name, table in tables.items():
            groups = len(table.select_dtypes(["object", "string"]).drop_duplicates())
            if groups > MOST_GROUPS:
                raise ValueError(
                    f"{name}: {groups:,} groups of rows, where at most {MOST_GROUPS:,} are expected"
                )
        known = registry.experiments().get(id)
        return drift.summarise(tables, known.coordinates if known else ())
    except Exception as error:  # tables of another version can fail in any way
        raise RepriseError(f"{run.place}/{id}: its tables have no summary ({one_line(error)})") from None


def _nothing() -> pd.DataFrame:
    return pd.DataFrame(
        {**{key: pd.Series(dtype=str) for key in drift.KEYS}, "value": pd.Series(dtype=float)}
    )


def _sums(record: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256 of the tables that are compared."""
    sums = record["sha256"].items()
    return {name: sum for name, sum in sums if not Path(name).stem.endswith(drift.NOT_COMPARED)}


def _tolerances(then: pd.DataFrame, before: Results, after: Results, id: str, root: Path) -> np.ndarray:
    """The tolerance of each number of a summary."""
    least = (drift.LEAST_RELATIVE * then["value"].abs()).clip(lower=drift.LEAST_TOLERANCE)
    file = drift.golden_file(root, before.tier, id)
    if before.tier != after.tier or not file.is_file():
        return least.to_numpy()
    golden = then.merge(drift.golden(file).drop(columns="value"), on=drift.KEYS, how="left")["tolerance"]
    return golden.fillna(least).to_numpy()


# Verdicts.


def _verdicts(
    before: Results, after: Results, id: str, same: bool
) -> tuple[tuple[pd.DataFrame, pd.DataFrame], str]:
    """The rows of an experiment's claims in both runs, and why there are none.

    Args:
        same: whether the runs have the same tables and parameters.
    """
    nothing = (pd.DataFrame(columns=["claim"]),) * 2
    if id not in registry.experiments():
        return nothing, "" if same else "verdicts not compared: this version does not know the experiment"
    claims = registry.experiment(id).claims
    old, new = (run.verdicts(id.split("/")[0]) for run in (before, after))
    if old is not None and new is not None:
        own = [claim.id for claim in claims]
        return (old[old["claim"].isin(own)], new[new["claim"].isin(own)]), ""
    if same or not claims:
        return nothing, ""
    try:
        return (_judged(before, id), _judged(after, id)), ""
    except Exception as error:  # a claim may fail in any way on tables of another version
        shown = str(error) if isinstance(error, RepriseError) else f"{type(error).__name__}: {error}"
        return nothing, f"verdicts not compared: {' '.join(shown.split())}"


def _judged(run: Results, id: str) -> pd.DataFrame:
    experiment = registry.experiment(id)
    params = overridden(experiment.params, run.records[id]["params"], f"{run.place}/{id}")
    return judge_all(experiment.claims, [run.tables(id)], params)


def _moved(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[Moved]:
    old, new = ({row["claim"]: row for row in table.to_dict("records")} for table in (before, after))
    for claim in sorted(set(old) & set(new)):
        allowed = max(_allowed(old[claim]), _allowed(new[claim]))
        change = abs(new[claim]["observed"] - old[claim]["observed"])
        appears = math.isnan(new[claim]["observed"]) != math.isnan(old[claim]["observed"])
        each = Moved(claim, old[claim], new[claim], allowed)
        if each.in_verdict or appears or change > allowed:
            yield each


def _allowed(row: Mapping[Any, Any]) -> float:
    """The tolerance of a claim's observation: its margin, or half of its interval if that is more."""
    if row["kind"] in FORMULAS:
        return IDENTITY_TOLERANCE
    half = (row["high"] - row["low"]) / 2
    least = max(drift.LEAST_TOLERANCE, drift.LEAST_RELATIVE * abs(row["observed"]))
    return max(0.0 if math.isnan(number) else number for number in (row["margin"], half, least))


# Causes.


def _causes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """The differences between the records of two runs of an experiment, one line each."""
    if old.get("code") != new.get("code"):
        yield "other code computed it"
    facts = [
        ("commit", "commit"),
        ("commit_problem", "commit problem"),
        ("python", "Python"),
        ("versions", ""),
        ("params", "parameter"),
    ]
    facts += [("files", "file"), ("hardware", "hardware"), ("arithmetic", "arithmetic")]
    for kind, label in facts:
        before, after = (_flat(record.get(kind)) for record in (old, new))
        for name in sorted(set(before) | set(after)):
            if before.get(name) != after.get(name):
                shown = (_short(values.get(name)) for values in (before, after))
                yield f"{' '.join(filter(None, (label, name)))}: {' -> '.join(shown)}"


def _other_judges(before: Results, after: Results, id: str) -> Iterator[str]:
    """A line if the saved verdicts of two runs are by other code, or rest on other results of the paper."""
    paper = id.split("/")[0]
    keys = {run.judged[paper]["key"] for run in (before, after) if run.verdicts(paper) is not None}
    if len(keys) > 1:
        yield "the saved verdicts are by other code, or rest on other results of the paper"


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """The values in nested mappings, and in lists of such with a `name`, by their path."""
    if isinstance(value, list) and value and all(isinstance(inner, Mapping) for inner in value):
        value = {str(inner.get("name")): str(inner) for inner in value}
    if not isinstance(value, Mapping):
        return {path: value}
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        flat |= _flat(inner, f"{path}.{name}" if path else str(name))
    return flat


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 100 else f"{text[:100]}..."


def as_json(comparison: Differences) -> dict[str, Any]:
    """An object: `has_moved`; `same`, the experiments in which nothing moved; `only`, by run, those that the
    other lacks; and `differences`, for each other experiment its `id`, the `causes` that were recorded, a
    `note` where verdicts could not be compared, how many `numbers_compared`, the `numbers` that moved
    (`table`, `group`, `column`, `statistic`, `value_then`, `value_now`, `tolerance`), and the `claims` that
    did (`id`, `unit`, `may_move`, and `then` and `now` the `verdict`, `observed`, `low` and `high`). With a
    commit in place of runs, a list of the verdicts that moved: `claim`, `before`, `now`, `why`."""

    def row_of(row: Mapping[Any, Any]) -> dict[str, Any]:
        return {name: row[name] for name in ("verdict", "observed", "low", "high")}

    return {
        "has_moved": comparison.has_moved,
        "same": comparison.same,
        "only": comparison.only,
        "differences": [
            {
                "id": each.id,
                "causes": each.causes,
                "note": each.note,
                "numbers_compared": each.compared,
                "numbers": each.numbers.to_dict("records"),
                "claims": [
                    {
                        "id": moved.claim,
                        "unit": moved.after["unit"],
                        "may_move": moved.allowed,
                        "then": row_of(moved.before),
                        "now": row_of(moved.after),
                    }
                    for moved in each.claims
                ],
            }
            for each in comparison.differences
        ],
    }


def lines(comparison: Differences) -> Iterator[str]:
    """The comparison in words, by experiment; at most `SHOWN` of its numbers."""
    for run, ids in comparison.only.items():
        if ids:
            yield f"only in {run}: {', '.join(ids)}"
    for each in comparison.differences:
        yield each.id
        yield from (f"  may be why: {cause}" for cause in each.causes or ("nothing recorded differs",))
        yield from (f"  {note}" for note in [each.note] if note)
        yield from (f"  {_claim_line(moved)}" for moved in each.claims)
        change = (each.numbers["value_now"] - each.numbers["value_then"]).abs() / each.numbers["tolerance"]
        largest = each.numbers.loc[change.fillna(np.inf).sort_values(ascending=False, kind="stable").index]
        for row in largest.head(SHOWN).itertuples():
            yield (
                f"  number: {row.statistic} of {row.table}.{row.column} [{row.group}]: "
                f"{row.value_then:.6g} -> {row.value_now:.6g} (tolerance {row.tolerance:.2g})"
            )
        if len(largest) > SHOWN:
            yield f"  ... {len(largest)} numbers of {each.compared} moved"
    moved = [claim for each in comparison.differences for claim in each.claims]
    verdicts = sum(claim.in_verdict for claim in moved)
    numbers = sum(len(each.numbers) for each in comparison.differences)
    count = len(comparison.same) + len(comparison.differences)
    if comparison.has_moved:
        yield (
            f"moved: verdicts {verdicts}, other observations {len(moved) - verdicts}, numbers {numbers}; "
            f"in experiments {len(comparison.differences)} of {count}"
        )
    elif notes := sum(bool(each.note) for each in comparison.differences):
        yield f"no number moved; in experiments {notes} of {count}, verdicts could not be compared"
    else:
        yield f"no difference; experiments compared: {count}"


def _claim_line(moved: Moved) -> str:
    verdicts = [moved.before["verdict"], moved.after["verdict"]]
    observed = [
        f"{row['observed']:.4g}"
        + ("" if math.isnan(row["low"]) else f" [{row['low']:.4g}, {row['high']:.4g}]")
        for row in (moved.before, moved.after)
    ]
    what = f"verdict: {' -> '.join(verdicts)}" if moved.in_verdict else f"observed ({verdicts[0]})"
    return (
        f"{what}: {moved.claim}: {' -> '.join(observed)} {moved.after['unit']} (may move {moved.allowed:.2g})"
    )
