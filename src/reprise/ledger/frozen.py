"""Claims that were frozen before they were tried on fresh seeds.

`claims.lock` holds for each frozen claim a hash of what is judged, its verdict, and which seeds had been
looked at. `ledger.jsonl` is the list of attempts to confirm them: a line before an attempt runs, and one with
what it found. Each line holds the digest of the one before, and the lock that of the last, so that none is
changed, taken out or put in unseen.
"""

import hashlib
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from reprise.contract.settings import Seeded, Settings, shortened
from reprise.engine import provenance
from reprise.engine.configured import STRIDE, Attempt, ConfiguredExperiment, Tier
from reprise.engine.foreign import LARGEST_INTEGER, Id
from reprise.errors import RepriseError, unknown
from reprise.evidence.estimates import ALPHA
from reprise.evidence.verdicts import ONE_WAY, chances_in_attempts
from reprise.ledger.judged import judged_hashes
from reprise.storage import disk, locks

LOCK, LEDGER = provenance.FROZEN
CONFIRMATIONS = "confirmations"
"""The folder in a checkout that holds what attempts found, a folder for each time that they were begun."""
CONFIRMATION = "confirmation.json"
NO_PHRASE = "no-phrase"
FORESEEN = 4
"""Number of attempts whose chances are frozen; later ones have smaller chances."""
BLOCKS = 100_000
"""Number of blocks of `STRIDE` seeds from which an attempt's seeds are drawn."""
FIRST_BLOCK = 100
"""The first block for attempts, beyond all rounds."""
MARKS = {
    "reversed": "frozen, and the opposite on fresh seeds",
    "fell back": "frozen, and on fresh seeds neither the same nor the opposite",
    "confirmed": "frozen, and the same on fresh seeds",
}
"""Marks of a frozen verdict from the attempts on it, with their meanings, in the order in which pages show
them."""
EDITED = "edited"
"""Word in place of the verdict on a claim that is judged otherwise since the attempt was recorded."""

Hash = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
Seed = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
Phrase = Annotated[str, StringConstraints(pattern=r"^([^\x00-\x1f\x7f]{1,100})?$")]
Folder = Annotated[str, StringConstraints(pattern="^[a-z0-9-]{1,60}$")]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class FrozenClaim(_Line):
    """A claim as it was frozen.

    Attributes:
        judged: hash of what is judged (`judged_hashes`).
        chances: that the verdict comes out the same in attempt 1, 2, ..., on as many fresh seeds as the first
            round has and at the attempt's level; empty for one that is not decided.
    """

    judged: Hash
    verdict: str
    chances: list[Annotated[float, Field(ge=0, le=1)]]

    def chance(self, number: int) -> float:
        """The chance that an attempt of this number confirms the verdict; beyond the list, its last chance,
        which is larger than the attempt's own."""
        return self.chances[min(number, len(self.chances)) - 1] if self.chances else 0.0


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
    """The contents of `claims.lock`.

    Attributes:
        ledger: SHA-256 of the last line of the ledger; empty while that has none.
    """

    format: Literal[1] = 1
    ledger: str = ""
    experiments: dict[Id, FrozenExperiment] = {}


class Attempted(_Line):
    """The line of an attempt, written before it runs.

    Attributes:
        number: of the attempt among those on the experiment, from 1.
        confirmation: the folder in `CONFIRMATIONS` for what is found; the attempts that were begun together
            share it.
        key: of the attempt's results, over the code, the settings and the versions of libraries.
        claims: the claims that the attempt may confirm, as they were frozen.
        before: SHA-256 of the line before; empty on the first.
    """

    kind: Literal["attempt"] = "attempt"
    experiment: Id
    number: Annotated[int, Field(ge=1)]
    tier: str
    phrase: Phrase
    confirmation: Folder
    first_seed: Seed
    key: Hash
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


_LINE: TypeAdapter[Attempted | Found] = TypeAdapter(Annotated[Attempted | Found, Field(discriminator="kind")])
_RESTORE = f"restore it with: git checkout HEAD {LOCK} {LEDGER}"


def alpha_of(number: int) -> float:
    """The one-sided level of an experiment's attempt of this number; over all attempts they sum to at most
    `ALPHA`."""
    return round(ALPHA, 9) / 2**number


def first_seed(experiment: str, number: int, phrase: str) -> int:
    """The first seed of an attempt. Nothing else that anyone could change enters it."""
    digest = hashlib.sha256(f"{experiment}\n{number}\n{phrase}".encode()).digest()
    return STRIDE * (FIRST_BLOCK + int.from_bytes(digest[:8], "big") % BLOCKS)


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


def freeze(runs: Sequence[ConfiguredExperiment], verdicts: Mapping[str, str], root: Path) -> Lock:
    """Freezes the claims of some experiments as they are judged now, and writes `claims.lock`.

    Args:
        runs: first rounds, each with results.
        verdicts: by claim.
    """
    now = {each.id: judged_hashes(each.experiment, each.params) for each in runs}
    chances = {each.id: _chances(each) for each in runs}
    with _locked(root):
        lock = load_lock(root)
        experiments = dict(lock.experiments)
        for each in runs:
            former = experiments[each.id].first_seeds if each.id in experiments else []
            seen = [_first(run.params) for run in each.rounds()]
            experiments[each.id] = FrozenExperiment(
                tier=each.tier.name,
                first_seeds=sorted({*former, *seen}),
                claims={
                    id: FrozenClaim(judged=hash, verdict=verdicts[id], chances=chances[each.id][id])
                    for id, hash in now[each.id].items()
                },
            )
        new = lock.model_copy(update={"experiments": dict(sorted(experiments.items()))})
        disk.write(root / LOCK, _written(new))
    return new


def _written(lock: Lock) -> bytes:
    return f"{lock.model_dump_json(indent=1)}\n".encode()


def _locked(root: Path) -> AbstractContextManager[bool]:
    """Keeps other processes from writing the lock and the ledger."""
    return locks.locked(root / "results" / f".{LOCK}{locks.LOCK}")


def _first(params: Settings) -> int:
    return params.first_seed if isinstance(params, Seeded) else 0


def _chances(each: ConfiguredExperiment) -> dict[str, list[float]]:
    """Claim -> the chance that its verdict comes out the same, in each of the first attempts."""
    levels = [alpha_of(number) for number in range(1, FORESEEN + 1)]
    rounds = [run.tables() for run in each.rounds()]
    found = chances_in_attempts(each.experiment.claims, rounds, each.params, levels)
    return {id: [round(chance, 4) for chance in some] for id, some in found.items()}


def unchanged(each: ConfiguredExperiment, frozen: Mapping[str, FrozenClaim]) -> dict[str, FrozenClaim]:
    """The frozen claims of which what is judged is still the same."""
    if not frozen or not each.experiment.has_ideal:
        return {}
    now = judged_hashes(each.experiment, each.params)
    return {id: claim for id, claim in frozen.items() if now.get(id) == claim.judged}


# The ledger.


def load_ledger(root: Path) -> list[Attempted | Found]:
    """Reads `ledger.jsonl`; without the file, there was no attempt.

    Raises:
        RepriseError: if a line is damaged, was changed, taken out or put in, or is none that could follow.
    """
    known = load_lock(root).ledger  # first: a ledger that another process adds to meanwhile is ahead of it
    file, before = root / LEDGER, ""
    try:
        content = file.read_bytes() if file.exists() else b""
    except OSError as error:
        raise RepriseError(_damaged(file, error)) from None
    lines: list[Attempted | Found] = []
    seen = [before]
    for number, line in enumerate(content.splitlines(), start=1):
        where = f"{file}, line {number}"
        try:
            read = _LINE.validate_json(line)
        except ValueError as error:
            raise RepriseError(_damaged(where, error)) from None
        if read.before != before:
            raise RepriseError(
                f"{where}: does not follow the line before: one was changed, taken out or put in; {_RESTORE}"
            )
        if wrong := _misfit(read, lines):
            raise RepriseError(f"{where}: {wrong}; {_RESTORE}")
        lines.append(read)
        before = disk.sha256(line)
        seen.append(before)
    has_begun = any(isinstance(each, Found) for each in lines)  # a kill leaves the lock one write behind
    if known not in seen or (not known and has_begun):
        raise RepriseError(
            f"{file}: does not end with the line that {LOCK} knows: one was changed or taken out; {_RESTORE}"
        )
    return lines


def _misfit(line: Attempted | Found, before: Sequence[Attempted | Found]) -> str:
    """The reason why a line cannot follow others; empty if it can."""
    own = [each for each in before if each.experiment == line.experiment]
    attempted = [each for each in own if isinstance(each, Attempted)]
    if isinstance(line, Attempted):
        if line.number != len(attempted) + 1:
            return f"attempt {line.number} on {line.experiment} does not follow attempt {len(attempted)}"
        if line.first_seed != first_seed(line.experiment, line.number, line.phrase):
            return f"the seeds from {line.first_seed} do not follow from the experiment, number and phrase"
        return ""
    if line.number not in [each.number for each in attempted]:
        return f"it ends attempt {line.number} on {line.experiment}, which was not begun"
    if any(isinstance(each, Found) and each.number == line.number for each in own):
        return f"attempt {line.number} on {line.experiment} has ended before"
    if set(line.verdicts) != set(attempted[line.number - 1].claims):
        return f"its verdicts are not on the claims of attempt {line.number} on {line.experiment}"
    return ""


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
    root: Path,
    phrase: str,
    experiments: Mapping[str, FrozenExperiment],
    commit: str,
    key: Callable[[str, Attempt], str],
) -> list[Attempted]:
    """Appends an attempt on each of some experiments to the ledger, before anything runs. It goes for the
    claims that it has a chance to confirm; experiments without any are left out.

    Args:
        experiments: id -> its tier, and the claims that may be confirmed.
        key: the key of the results of an experiment's attempt.

    Raises:
        RepriseError: if no claim can be confirmed, or the seeds have been looked at.
    """
    with _appending(root) as (earlier, append):
        begun = [each for each in earlier if isinstance(each, Attempted)]
        confirmation = _unused(phrase, {each.confirmation for each in begun}, root / CONFIRMATIONS)
        new = []
        for id, frozen in experiments.items():
            own = [each for each in begun if each.experiment == id]
            number, seed = len(own) + 1, first_seed(id, len(own) + 1, phrase)
            looked_at = [*frozen.first_seeds, *(each.first_seed for each in own)]
            if any(abs(seed - other) < STRIDE for other in looked_at):
                raise RepriseError(
                    f"{id}: the seeds from {seed}, which this phrase gives, have been looked at; choose "
                    "another phrase"
                )
            claims = {name: claim for name, claim in frozen.claims.items() if claim.chance(number)}
            if claims:
                attempt = Attempt(number, seed)
                new.append(
                    Attempted(
                        experiment=id, number=number, tier=frozen.tier, phrase=phrase, commit=commit,
                        before="", first_seed=seed, key=key(id, attempt), claims=claims,
                        confirmation=confirmation,
                    )
                )  # fmt: skip
                append(new[-1])
        if not new:
            raise RepriseError(
                f"{root / LOCK}: no claim to confirm: none was decided, each was edited since, or so many "
                "seeds cannot confirm it at the attempt's level; freeze again with: reprise freeze"
            )
    return new


def _unused(phrase: str, used: Collection[str], folder: Path) -> str:
    """A name, made of a phrase, that no attempt has used and no folder has."""
    words = re.sub("[^a-z0-9]+", "-", phrase.lower()).strip("-")[:50] or ("phrase" if phrase else NO_PHRASE)
    names = (words if number == 1 else f"{words}-{number}" for number in itertools.count(1))
    return next(name for name in names if name not in used and not (folder / name).exists())


def conclude(
    root: Path, attempted: Attempted, verdicts: Mapping[str, str], sha256: Mapping[str, str]
) -> None:
    """Appends what an attempt found, unless the ledger has it."""
    with _appending(root) as (earlier, append):
        ended = {(each.experiment, each.number) for each in earlier if isinstance(each, Found)}
        if (attempted.experiment, attempted.number) not in ended:
            append(
                Found(
                    experiment=attempted.experiment, number=attempted.number, verdicts=dict(verdicts),
                    sha256=dict(sha256), before="",
                )
            )  # fmt: skip


@contextmanager
def _appending(root: Path) -> Iterator[tuple[list[Attempted | Found], Callable[[Attempted | Found], None]]]:
    """Yields the lines of the ledger and a function that adds one. Once the context has ended the ledger on
    the disk has all of the added lines, or none."""
    with _locked(root):
        earlier = load_ledger(root)
        content = (root / LEDGER).read_bytes() if earlier else b""
        before = disk.sha256(content.splitlines()[-1]) if earlier else ""
        added: list[bytes] = []

        def append(line: Attempted | Found) -> None:
            last = disk.sha256(added[-1]) if added else before
            added.append(line.model_copy(update={"before": last}).model_dump_json().encode())

        yield earlier, append
        if added:
            lock = load_lock(root).model_copy(update={"ledger": disk.sha256(added[-1])})
            files = {
                root / LEDGER: content + b"".join(line + b"\n" for line in added),
                root / LOCK: _written(lock),
            }
            # The ledger first: one that is ahead of the lock, after a kill, is as good.
            disk.write_files({file: partial(_write, text) for file, text in files.items()})


def _write(content: bytes, file: Path) -> None:
    file.write_bytes(content)


# Marks.


class Mark(NamedTuple):
    """The mark on a frozen verdict from the attempts on it.

    Attributes:
        word: one of `MARKS`.
        attempt: the number of the first attempt that says so.
        attempts: how many there were on the experiment, in any tier, ended or not.
        verdict: the frozen one.
    """

    word: str
    attempt: int
    attempts: int
    verdict: str

    def beside(self, verdict: str) -> str:
        """The mark in words, to stand beside a verdict, which may be another than the frozen one."""
        words = f"{self.word} in attempt {self.attempt} of {self.attempts}"
        return words if verdict == self.verdict else f"frozen as {self.verdict}, {words}"


def mark(frozen: str, found: Iterable[str]) -> str:
    """The mark on a frozen verdict from the attempts on it, one of `MARKS`; empty if it was not decided.

    Args:
        frozen: the verdict.
        found: the verdict in each attempt that has ended, at least one.
    """
    if frozen not in ONE_WAY:
        return ""
    words = [_of_one(frozen, each) for each in found]
    return next(word for word in ("reversed", "confirmed", "fell back") if word in words)


def _of_one(frozen: str, found: str) -> str:
    if {frozen, found} == {"reproduced", "contradicted"}:
        return "reversed"
    return "confirmed" if found == frozen else "fell back"


def sorted_by_mark(attempted: Attempted, found: Found) -> dict[str, list[str]]:
    """The claims of an attempt by what it says of them, one of `MARKS`, or that they were edited since."""
    words = {
        id: EDITED if verdict == EDITED else mark(attempted.claims[id].verdict, [verdict])
        for id, verdict in found.verdicts.items()
    }
    return {
        word: [id for id in words if words[id] == word] for word in (*MARKS, EDITED) if word in words.values()
    }


def marks(tier: Tier) -> dict[str, Mark]:
    """Claim -> what attempts in a tier say of the verdict that the last of them was to confirm, if what is
    judged is still the same.

    Raises:
        RepriseError: if the ledger is damaged.
    """
    tries: dict[str, list[tuple[Attempted, str]]] = {}
    every = attempts(tier.root)
    for attempted, ended in every:
        if ended and attempted.tier == tier.in_commands and attempted.experiment in tier.params:
            for id in unchanged(tier.experiment(attempted.experiment), attempted.claims):
                if ended.verdicts[id] != EDITED:
                    tries.setdefault(id, []).append((attempted, ended.verdicts[id]))
    found = {}
    for id, some in tries.items():
        last, _ = some[-1]
        verdict = last.claims[id].verdict
        own = {each.number: now for each, now in some if each.claims[id].verdict == verdict}
        word = mark(verdict, own.values())
        first = next(number for number, now in own.items() if _of_one(verdict, now) == word)
        total = sum(each.experiment == last.experiment for each, _ in every)
        found[id] = Mark(word, first, total, verdict)
    return found


def of_tier(tier: Tier) -> list[tuple[Attempted, Found | None]]:
    """The attempts in a tier, as `attempts` lists them."""
    return [each for each in attempts(tier.root) if each[0].tier == tier.in_commands]


def _damaged(where: object, error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        why = shortened(f"{place}: {first['msg']}" if place else first["msg"], 200)
    else:
        why = shortened(" ".join(str(error).split()), 200)
    return f"{where}: damaged or of another version ({why}); {_RESTORE}"
