"""Results of attempts to confirm frozen claims, as files that a stranger can send and anyone can check."""

import io
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reprise.engine import provenance, tiers
from reprise.engine.configured import STRIDE
from reprise.engine.foreign import Id
from reprise.ledger import confirm, frozen
from reprise.ledger.frozen import Attempted, Found, Hash, Phrase, Seed
from reprise.report import audit, redo_verdicts
from reprise.storage import disk

CLAIMS, OBSERVATIONS = "claims.csv", "observations.parquet"
SEEDED = ("value", "ordering", "trend")
"""Kinds of comparisons whose observations are seeds' own."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", use_attribute_docstrings=True)


class Claim(_Part):
    """A frozen claim, and the attempt's verdict on it."""

    frozen: str
    """The verdict that was to be confirmed."""
    judged: Hash
    """Hash of what is judged, as it was frozen."""
    chance: float
    """Chance that the attempt confirms the verdict, as it was frozen."""
    verdict: str
    """Verdict on the attempt's seeds; `edited` if what is judged changed after the attempt was recorded."""
    mark: str
    """`confirmed`, `fell back` or `reversed`; empty if edited."""


class Attempt(_Part):
    """An attempt on one experiment."""

    experiment: Id
    tier: str
    number: Annotated[int, Field(ge=1)]
    """Number among the attempts on the experiment, from 1."""
    first_seed: Seed
    """First of the attempt's seeds, which follows from the experiment, the number and the phrase."""
    level: float
    """One-sided level of each verdict: .025 / 2^number."""
    sha256: dict[str, str]
    """Table -> its SHA-256."""
    claims: dict[str, Claim]


class Confirmation(_Part):
    """Results of attempts that were begun together."""

    format: Literal[1] = 1
    phrase: Phrase
    commit: str
    """Commit at which the attempts were recorded."""
    machine: dict[str, Any]
    """Command, versions, hardware and arithmetic, as in the record of any result."""
    attempts: Annotated[list[Attempt], Field(min_length=1)]
    files: dict[str, str]
    """The SHA-256 of the two files beside this one."""


def schema() -> dict[str, Any]:
    """The JSON Schema of `confirmation.json`, which `confirmations/schema.json` holds."""
    return Confirmation.model_json_schema()


def write(root: Path, attempted: Sequence[Attempted]) -> Path:
    """Writes the results of attempts into their folder of `confirmations/`: `confirmation.json`, and
    `claims.csv` and `observations.parquet` as in a report, from which `redo_verdicts.py` derives the
    verdicts.

    Args:
        attempted: ended, and begun together.

    Returns:
        The folder.

    Raises:
        RepriseError: if results cannot be loaded, or the folder cannot be written.
    """
    own = {(each.experiment, each.number) for each in attempted}
    ended = [
        (each, found)
        for each, found in frozen.attempts(root)
        if found and (each.experiment, each.number) in own
    ]
    rows, seen = [], []
    for each, _ in ended:
        run = confirm.in_attempt(tiers.load_tier(each.tier, root), each)
        rows.append(judged := confirm.verdicts(run, each))
        made = dict(zip(judged["claim"], judged["rounds"], strict=True))
        claims = confirm.claims_of(run, each)
        seen.append(audit.observations(claims, [run.tables()], run.params, made, each.alpha))
    contents = {CLAIMS: _csv(pd.concat(rows)), OBSERVATIONS: _parquet(pd.concat(seen))}
    about = Confirmation(
        phrase=attempted[0].phrase,
        commit=attempted[0].commit,
        machine=provenance.describe(root),
        attempts=[_attempt(each, found) for each, found in ended],
        files={name: disk.sha256(content) for name, content in contents.items()},
    )
    contents[frozen.CONFIRMATION] = f"{about.model_dump_json(indent=1)}\n".encode()
    folder = confirm.written(root, attempted[0].confirmation).parent
    disk.write_files({folder / name: partial(_write, content) for name, content in contents.items()})
    return folder


def _attempt(attempted: Attempted, found: Found) -> Attempt:
    return Attempt(
        experiment=attempted.experiment,
        tier=attempted.tier,
        number=attempted.number,
        first_seed=attempted.first_seed,
        level=attempted.alpha,
        sha256=found.sha256,
        claims={
            id: Claim(
                frozen=claim.verdict,
                judged=claim.judged,
                chance=claim.chance(attempted.number),
                verdict=found.verdicts[id],
                mark=_mark(claim.verdict, found.verdicts[id]),
            )
            for id, claim in attempted.claims.items()
        },
    )


def _mark(before: str, verdict: str) -> str:
    return "" if verdict == frozen.EDITED else frozen.mark(before, [verdict])


def _csv(claims: pd.DataFrame) -> bytes:
    return claims.to_csv(index=False, lineterminator="\n").encode()


def _parquet(table: pd.DataFrame) -> bytes:
    content = io.BytesIO()
    table.to_parquet(content, index=False)
    return content.getvalue()


def _write(content: bytes, file: Path) -> None:
    file.write_bytes(content)


def problems(folder: Path, root: Path) -> list[str]:
    """Lists the faults of a confirmation, a line each: files that are damaged, seeds or a level that are not
    the attempt's, verdicts that do not follow from the observations, and claims that were never frozen.

    Args:
        folder: in `confirmations/`.
        root: the checkout, whose lock and ledger are asked.

    Raises:
        RepriseError: if the lock or the ledger is damaged.
    """
    try:
        said = Confirmation.model_validate_json((folder / frozen.CONFIRMATION).read_bytes())
        if wrong := [name for name in (CLAIMS, OBSERVATIONS) if _sum(folder / name) != said.files.get(name)]:
            return [f"{folder.name}/{name}: not the file that was written" for name in wrong]
        claims = pd.read_csv(folder / CLAIMS, keep_default_na=False).set_index("claim")
        seen = pd.read_parquet(folder / OBSERVATIONS)
        lines = [
            line
            for each in said.attempts
            for line in (
                *_of_attempt(each, said.phrase, claims, seen),
                *_of_records(each, folder.name, root),
            )
        ]
        return [f"{folder.name}: {line}" for line in [*lines, *_redone(folder)]]
    except ValidationError as error:
        first = error.errors()[0]
        return [f"{folder.name}/{frozen.CONFIRMATION}: {'.'.join(map(str, first['loc']))}: {first['msg']}"]
    except (OSError, ValueError, KeyError) as error:
        return [f"{folder.name}: damaged ({' '.join(str(error).split())})"]


def _sum(file: Path) -> str:
    return disk.sha256(file.read_bytes())


def _of_attempt(attempt: Attempt, phrase: str, claims: pd.DataFrame, seen: pd.DataFrame) -> Iterator[str]:
    """Lists the faults of an attempt's seeds, level and verdicts, in `confirmation.json` or in the tables."""
    what = f"attempt {attempt.number} on {attempt.experiment}"
    if attempt.first_seed != (first := frozen.first_seed(attempt.experiment, attempt.number, phrase)):
        yield f"{what} has seeds from {attempt.first_seed}; its number and phrase give {first}"
    if attempt.level != (level := frozen.alpha_of(attempt.number)):
        yield f"{what} is judged at {attempt.level:g}; its number gives {level:g}"
    for id, claim in attempt.claims.items():
        if claim.mark != _mark(claim.frozen, claim.verdict):
            yield f"{id}: marked '{claim.mark}', though it was frozen {claim.frozen} and is {claim.verdict}"
        if claim.verdict == frozen.EDITED:
            continue
        if id not in claims.index:
            yield f"{id}: missing in {CLAIMS}"
            continue
        row = claims.loc[id].to_dict()
        if row["verdict"] != claim.verdict:
            yield f"{id}: {claim.verdict} in {frozen.CONFIRMATION}, {row['verdict']} in {CLAIMS}"
        if row["verdict"] != "not run" and not math.isclose(float(row["alpha"]), level):
            yield f"{id}: judged at {row['alpha']} in {CLAIMS}, not at its attempt's {level:g}"
    own = seen[seen["claim"].isin(attempt.claims)]
    for id in sorted(_judged(attempt) - set(own["claim"])):
        yield f"{id}: missing in {OBSERVATIONS}"
    measured = own[own["kind"].isin(SEEDED) & own["value"].notna()]
    ours = {str(attempt.first_seed + place) for place in range(STRIDE)}
    if odd := sorted(set(measured["seed"].astype(str)) - ours):
        yield f"{what}: seed {odd[0]} in {OBSERVATIONS} is none of its seeds, from {attempt.first_seed}"
    elif measured.duplicated(["claim", "setting", "cell", "seed"]).any():
        yield f"{what}: {OBSERVATIONS} has a seed twice in the same cell"


def _judged(attempt: Attempt) -> set[str]:
    return {id for id, claim in attempt.claims.items() if claim.verdict not in (frozen.EDITED, "not run")}


def _of_records(attempt: Attempt, name: str, root: Path) -> Iterator[str]:
    """Lists the differences from the ledger and the lock of a checkout."""
    entry = frozen.load_lock(root).experiments.get(attempt.experiment)
    known = [entry.claims] if entry else []
    for each, found in frozen.attempts(root):
        same = (each.experiment, each.number, each.first_seed)
        if same != (attempt.experiment, attempt.number, attempt.first_seed):
            continue
        known = [each.claims]
        if each.confirmation != name:
            attempted = f"attempt {each.number} on {each.experiment}"
            yield f"{attempted} lies in {each.confirmation}, says {frozen.LEDGER}"
        if missing := sorted(set(each.claims) - set(attempt.claims)):
            yield f"{missing[0]}: left out, though attempt {each.number} was on it, says {frozen.LEDGER}"
        if found and found.sha256 != attempt.sha256:
            yield f"attempt {each.number} on {each.experiment} had other tables, says {frozen.LEDGER}"
        for id, verdict in found.verdicts.items() if found else ():
            if id in attempt.claims and attempt.claims[id].verdict != verdict:
                yield f"{id}: {attempt.claims[id].verdict}, but {verdict} in {frozen.LEDGER}"
    for id, claim in attempt.claims.items():
        said = [claims[id] for claims in known if id in claims and claims[id].judged == claim.judged]
        if not said:
            yield f"{id}: edited since, or never frozen: no {frozen.LEDGER} or {frozen.LOCK} has its hash"
        elif (said[0].verdict, said[0].chance(attempt.number)) != (claim.frozen, claim.chance):
            yield (
                f"{id}: frozen as {claim.frozen}, with a chance of {claim.chance:g}; it was frozen as "
                f"{said[0].verdict}, with {said[0].chance(attempt.number):g}"
            )


def _redone(folder: Path) -> list[str]:
    """Lists the verdicts that do not follow from the observations, in the words of `redo_verdicts.py`."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        redo_verdicts.main(str(folder))
    return printed.getvalue().splitlines()[:-1]  # without the count


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1))
