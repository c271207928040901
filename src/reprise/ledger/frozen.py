"""Claims that were frozen before they were tried on seeds that nobody had seen.

`claims.lock` holds for each frozen claim a hash of what is judged, its verdict, and which seeds had been
looked at. `ledger.jsonl` is the list of attempts to confirm them, one sealed line before an attempt runs and
one with what it found; each line holds the digest of the one before, so that none can be taken out unseen.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from reprise.contract.experiment import Tables, reading
from reprise.contract.settings import Settings, shortened
from reprise.engine import provenance
from reprise.engine.configured import STRIDE, Attempt, ConfiguredExperiment, Tier
from reprise.engine.foreign import LARGEST_INTEGER, Id
from reprise.engine.registry import Experiment
from reprise.errors import RepriseError, unknown
from reprise.evidence.claim import Claim
from reprise.evidence.estimates import ALPHA
from reprise.evidence.verdicts import ONE_WAY, judge_all
from reprise.numerics.streams import stream
from reprise.storage import store

LOCK, LEDGER = provenance.FROZEN
BLOCKS = 100_000
"""How many blocks of `STRIDE` seeds an attempt's seeds are drawn from."""
FIRST_BLOCK = 100
"""The first of them, beyond all rounds."""
MARKS = {
    "confirmed": "decided, frozen, and decided alike on seeds that nobody had seen",
    "fell back": "decided, frozen, and not decided alike on seeds that nobody had seen",
    "reversed": "decided, frozen, and the opposite on seeds that nobody had seen",
}
"""What attempts say of a frozen verdict."""
JUDGED = (
    "claim", "kind", "quantifier", "exists", "verdict", "here", "stands", "every", "cells", "settings",
    "observed", "low", "high", "relation", "reference", "margin", "smallest", "effect", "published",
    "published_std", "published_n", "verdict_half_margin", "verdict_twice_margin", "p_reproduced",
    "p_contradicted", "p_tied", "seeds", "unit",
)  # fmt: skip
"""The columns of a verdict that hold what is judged and what comes of it; the others are words."""
DIGITS = 6
"""Significant digits of a number in a hash: machines differ in the last ones."""
SHAKEN = 0.2
"""By which share, as a standard deviation, numbers of ideal tables are moved."""

Hash = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
Seed = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
Phrase = Annotated[str, StringConstraints(pattern=r"^([^\x00-\x1f\x7f]{1,100})?$")]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class FrozenClaim(_Line):
    """A claim as it was frozen.

    Attributes:
        judged: hash of what is judged (`judged_hash`).
        chance: that the verdict comes out the same on fresh seeds; None for one that is not decided.
    """

    judged: Hash
    verdict: str
    chance: Annotated[float, Field(ge=0, le=1)] | None


class FrozenExperiment(_Line):
    """An experiment's claims as they were frozen.

    Attributes:
        first_seeds: of the rounds that had been looked at.
        claims: by id.
    """

    tier: str
    first_seeds: list[Seed]
    claims: dict[str, FrozenClaim]


class Lock(_Line):
    """What `claims.lock` holds."""

    format: Literal[1] = 1
    experiments: dict[Id, FrozenExperiment] = {}


class Attempted(_Line):
    """The line of an attempt, written before it runs.

    Attributes:
        number: the how-manieth attempt on the experiment.
        claims: the hash of what is judged of each claim that the attempt may confirm, and its frozen verdict.
        before: SHA-256 of the line before; empty on the first.
    """

    kind: Literal["attempt"] = "attempt"
    experiment: Id
    number: Annotated[int, Field(ge=1)]
    tier: str
    phrase: Phrase
    first_seed: Seed
    claims: dict[str, FrozenClaim]
    commit: str
    before: str

    @property
    def alpha(self) -> float:
        """The one-sided level at which the attempt is judged: half of that of the one before."""
        return alpha_of(self.number)

    @property
    def attempt(self) -> Attempt:
        return Attempt(self.number, self.first_seed)


class Found(_Line):
    """The line of what an attempt found.

    Attributes:
        verdicts: by claim.
        sha256: of each table of the attempt.
    """

    kind: Literal["found"] = "found"
    experiment: Id
    number: Annotated[int, Field(ge=1)]
    verdicts: dict[str, str]
    sha256: dict[str, str]
    before: str


def alpha_of(number: int) -> float:
    """The one-sided level of an experiment's attempt of this number; over all attempts they sum to at most
    `ALPHA`."""
    return ALPHA / 2**number


def first_seed(experiment: str, number: int, phrase: str) -> int:
    """The first seed of an attempt. Nothing else that anyone could change enters it."""
    digest = hashlib.sha256(f"{experiment}\n{number}\n{phrase}".encode()).digest()
    return STRIDE * (FIRST_BLOCK + int.from_bytes(digest[:8], "big") % BLOCKS)


# What is judged.


def judged_hashes(experiment: Experiment, params: Settings) -> dict[str, str]:
    """Claim -> hash of what is judged: the claim's relation, reference, margin, cells, measure and the rules
    of judgement, by what the judge says of it on the experiment's ideal tables and on these shaken; and the
    settings. Words, and how code is written, do not enter it.

    Raises:
        RepriseError: if a claim cannot read the ideal tables.
    """
    settings = {
        name: each.model_dump(mode="json", exclude={"first_seed"})
        for name, each in experiment.settings(params).items()
    }
    ideal = experiment.ideal(params)
    panel = [ideal, shaken(ideal, experiment.coordinates)]
    return {
        claim.id: store.key_of(settings, [_said(claim, tables, params) for tables in panel])[:16]
        for claim in experiment.claims
    }


def _said(claim: Claim, tables: Tables, params: Settings) -> object:
    """What the judge says of a claim on some tables, without words."""
    try:
        with reading(f"claim '{claim.id}'", tables):
            (row,) = judge_all([claim], [tables], params).to_dict("records")
    except Exception as error:  # shaken tables can lack what a measure looks for
        return type(error).__name__
    listed = {name: json.loads(row[name] or "[]") for name in ("cells", "settings")}
    return _rounded({**{name: row[name] for name in JUDGED}, **listed})


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return list(map(_rounded, value))
    return f"{float(value):.{DIGITS}g}" if isinstance(value, float) else value


def shaken(tables: Tables, coordinates: Iterable[str] = ()) -> dict[str, pd.DataFrame]:
    """Tables with each measured number moved by a random share of itself, always the same. Columns of whole
    numbers stay as they are, and so do those by which rows are found."""
    moved = {}
    for name, table in sorted(tables.items()):
        measured = [
            column
            for column in table.select_dtypes("float")
            if column not in coordinates and (table[column] % 1).any()
        ]
        random = stream(0, f"shaken {name}").normal(0, SHAKEN, (len(table), len(measured)))
        moved[name] = table.assign(**{c: table[c] * (1 + random[:, k]) for k, c in enumerate(measured)})
    return moved


# The lock.


def load_lock(root: Path) -> Lock:
    """Reads `claims.lock`; without the file, nothing is frozen.

    Raises:
        RepriseError: if it is damaged.
    """
    try:
        return Lock.model_validate_json((root / LOCK).read_bytes())
    except FileNotFoundError:
        return Lock()
    except (OSError, ValueError) as error:
        raise RepriseError(_damaged(root / LOCK, error)) from None


def freeze(runs: Sequence[ConfiguredExperiment], claims: pd.DataFrame, root: Path) -> Lock:
    """Freezes the claims of some experiments as they are judged now, and writes `claims.lock`.

    Args:
        runs: first rounds, each with results.
        claims: their verdicts.
    """
    rows = claims.set_index("claim")
    with store.locked(root / "results" / f".{LOCK}{store.LOCK}"):
        lock = load_lock(root)
        frozen = dict(lock.experiments)
        for each in runs:
            former = frozen[each.id].first_seeds if each.id in frozen else []
            seen = [_first(run.params) for run in each.rounds()]
            frozen[each.id] = FrozenExperiment(
                tier=each.tier.name,
                first_seeds=sorted({*former, *seen}),
                claims={
                    id: FrozenClaim(
                        judged=judged,
                        verdict=str(rows.loc[id, "verdict"]),
                        chance=_chance(rows.loc[id, "chance_same"]),
                    )
                    for id, judged in judged_hashes(each.experiment, each.params).items()
                },
            )
        new = Lock(experiments=dict(sorted(frozen.items())))
        store.write(root / LOCK, f"{new.model_dump_json(indent=1)}\n".encode())
    return new


def _first(params: Settings) -> int:
    return int(getattr(params, "first_seed", 0))


def _chance(value: float) -> float | None:
    return None if pd.isna(value) else round(float(value), 4)


def unchanged(each: ConfiguredExperiment, frozen: Mapping[str, FrozenClaim]) -> dict[str, FrozenClaim]:
    """The frozen claims of which what is judged is still the same."""
    if not frozen:
        return {}
    now = judged_hashes(each.experiment, each.params)
    return {id: claim for id, claim in frozen.items() if now.get(id) == claim.judged}


# The ledger.


def load_ledger(root: Path) -> list[Attempted | Found]:
    """Reads `ledger.jsonl`; without the file, there was no attempt.

    Raises:
        RepriseError: if a line is damaged, was taken out or put in, or the seeds of an attempt are not those
            of its number and phrase.
    """
    file, before = root / LEDGER, ""
    lines: list[Attempted | Found] = []
    try:
        content = file.read_bytes() if file.exists() else b""
    except OSError as error:
        raise RepriseError(_damaged(file, error)) from None
    for number, line in enumerate(content.splitlines(), start=1):
        where = f"{file}, line {number}"
        try:
            kind = json.loads(line).get("kind")
            read = (Found if kind == "found" else Attempted).model_validate_json(line)
        except (AttributeError, ValueError) as error:
            raise RepriseError(_damaged(where, error)) from None
        if read.before != before:
            raise RepriseError(
                f"{where}: does not follow the line before: a line was changed, taken out or put in; restore "
                f"it with: git checkout HEAD {LEDGER}"
            )
        expected = 1 + sum(
            isinstance(each, Attempted) and each.experiment == read.experiment for each in lines
        )
        if isinstance(read, Attempted) and (
            read.number != expected
            or read.first_seed != first_seed(read.experiment, read.number, read.phrase)
        ):
            raise RepriseError(f"{where}: its number or its seeds are not those of its attempt and phrase")
        lines.append(read)
        before = store.sha256(line)
    return lines


def attempts(root: Path) -> list[tuple[Attempted, Found | None]]:
    """All attempts in the order in which they were recorded, each with what it found, or None while it has
    not ended.

    Raises:
        RepriseError: from `load_ledger`.
    """
    lines = load_ledger(root)
    found = {(each.experiment, each.number): each for each in lines if isinstance(each, Found)}
    return [
        (each, found.get((each.experiment, each.number))) for each in lines if isinstance(each, Attempted)
    ]


def attempt(root: Path, experiment: str, number: int) -> Attempt:
    """The recorded attempt of this number on an experiment.

    Raises:
        RepriseError: if the ledger holds none, or is damaged.
    """
    own = {each.number: each for each, _ in attempts(root) if each.experiment == experiment}
    if number not in own:
        raise unknown(
            f"attempt on {experiment}:", str(number), map(str, own),
            f"{LEDGER} has: {', '.join(map(str, own)) or 'none'}; reprise confirm records one",
        )  # fmt: skip
    return own[number].attempt


def record(
    root: Path, tier: Tier, phrase: str, claims: Mapping[str, Mapping[str, FrozenClaim]], commit: str
) -> None:
    """Appends an attempt on each of some experiments to the ledger, before anything runs.

    Args:
        claims: experiment id -> the frozen claims that it may confirm.
    """
    with _appending(root) as append:
        for id, frozen in claims.items():
            earlier = [each for each, _ in attempts(root) if each.experiment == id]
            number = len(earlier) + 1
            append(
                Attempted(
                    experiment=id, number=number, tier=tier.name, phrase=phrase, commit=commit, before="",
                    first_seed=first_seed(id, number, phrase), claims=dict(frozen),
                )
            )  # fmt: skip


def conclude(
    root: Path, attempted: Attempted, verdicts: Mapping[str, str], sha256: Mapping[str, str]
) -> None:
    """Appends what an attempt found."""
    with _appending(root) as append:
        known = {(each.experiment, each.number) for each in load_ledger(root) if isinstance(each, Found)}
        if (attempted.experiment, attempted.number) not in known:
            append(
                Found(
                    experiment=attempted.experiment, number=attempted.number, verdicts=dict(verdicts),
                    sha256=dict(sha256), before="",
                )
            )  # fmt: skip


@contextmanager
def _appending(root: Path) -> Iterator[Callable[[Attempted | Found], None]]:
    """Yields a function that adds a line to the ledger, on the disk once the context has ended: all lines, or
    none."""
    file = root / LEDGER
    with store.locked(root / "results" / f".{LEDGER}{store.LOCK}"):
        content = file.read_bytes() if file.exists() else b""
        added: list[bytes] = []

        def append(line: Attempted | Found) -> None:
            last = (added or content.splitlines() or [b""])[-1]
            before = store.sha256(last) if last else ""
            added.append(line.model_copy(update={"before": before}).model_dump_json().encode())

        yield append
        if added:
            store.write(file, b"".join([content, *(line + b"\n" for line in added)]))


# What attempts say.


def mark(frozen: str, found: Iterable[str]) -> str:
    """What the attempts on a frozen verdict say, one of `MARKS`; empty if the verdict was not decided.

    Args:
        frozen: the verdict.
        found: the verdict in each attempt that has ended, at least one.
    """
    if frozen not in ONE_WAY:
        return ""
    seen = list(found)
    if any(each in ONE_WAY and each != frozen for each in seen):
        return "reversed"
    return "confirmed" if frozen in seen else "fell back"


def marks(tier: Tier) -> dict[str, str]:
    """Claim -> what attempts in a tier say, of the frozen claims of which what is judged is still the same.

    Raises:
        RepriseError: if the ledger is damaged.
    """
    found: dict[str, list[tuple[FrozenClaim, str]]] = {}
    for attempted, ended in attempts(tier.root):
        if ended and attempted.tier == tier.in_commands and attempted.experiment in tier.params:
            for id in unchanged(tier.experiment(attempted.experiment), attempted.claims):
                found.setdefault(id, []).append((attempted.claims[id], ended.verdicts[id]))
    return {id: mark(tries[0][0].verdict, [verdict for _, verdict in tries]) for id, tries in found.items()}


def _damaged(where: object, error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        why = shortened(f"{place}: {first['msg']}" if place else first["msg"], 200)
    else:
        why = shortened(" ".join(str(error).split()), 200)
    return (
        f"{where}: damaged or of another version ({why}); restore it with: git checkout HEAD {LOCK} {LEDGER}"
    )
