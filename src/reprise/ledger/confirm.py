"""Confirms frozen claims on fresh seeds: records the attempt, runs it, judges it."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from reprise.engine import provenance, registry, tiers
from reprise.engine.check import judge_attempt
from reprise.engine.configured import Attempt, ConfiguredExperiment, Tier
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim
from reprise.evidence.estimates import ALPHA
from reprise.evidence.verdicts import ONE_WAY
from reprise.ledger import frozen, jobs, plan
from reprise.ledger.frozen import Attempted, FrozenExperiment


class Confirmed(NamedTuple):
    """A claim that an attempt was made on.

    Attributes:
        mark: one of `frozen.MARKS`.
        chance: that the attempt confirms it, as it was frozen.
    """

    claim: str
    frozen: str
    found: str
    mark: str
    chance: float


def freeze(tier: Tier, ids: list[str], verdicts: pd.DataFrame) -> frozen.Lock:
    """Freezes the claims of experiments as they are judged now, of those that have claims and results.

    Args:
        ids: of the experiments; all if there are none.
        verdicts: on all claims, a row each.

    Raises:
        RepriseError: if one has no results or no claims, or nothing has run.
    """
    tier.require_computed()
    for id in ids:
        each = tier.experiment(id)
        if not each.has_results():
            raise RepriseError(f"{id}: no results to freeze; compute them with: {each.how_to_make}")
        if not each.experiment.claims:
            raise RepriseError(f"{id}: has no claims to freeze")
    chosen = map(tier.experiment, ids or registry.experiments())
    runs = [each for each in chosen if each.has_results() and each.experiment.claims]
    if not runs:
        raise RepriseError(f"{tier.results}: nothing has run, so that there is nothing to freeze")
    return frozen.freeze(runs, dict(zip(verdicts["claim"], verdicts["verdict"], strict=True)), tier.root)


def begin(root: Path, phrase: str) -> list[Attempted]:
    """Records an attempt on every experiment that has frozen claims to confirm. Attempts with the same phrase
    of which nothing stands in `confirmations/` yet, as after a kill, go on instead.

    Raises:
        RepriseError: if nothing is frozen, no frozen claim can be confirmed, or the seeds that the phrase
            gives have been looked at.
    """
    lock = frozen.load_lock(root)
    if not lock.experiments:
        raise RepriseError(f"{root / frozen.LOCK}: nothing is frozen; freeze claims with: reprise freeze")
    begun = [
        each
        for each, _ in frozen.attempts(root)
        if each.phrase == phrase and not written(root, each.confirmation).exists()
    ]
    if begun:
        return [each for each in begun if each.confirmation == begun[0].confirmation]
    to_try = {
        id: entry for id, each in lock.experiments.items() if (entry := to_confirm(root, id, each)).claims
    }

    def key(id: str, attempt: Attempt) -> str:
        return tiers.load_tier(to_try[id].tier, root).experiment(id).in_attempt(attempt).key()

    return frozen.record(root, phrase, to_try, provenance.commit(root)["commit"], key)


def left_out(root: Path, attempted: Sequence[Attempted]) -> dict[str, str]:
    """Claim -> why attempts are not on it, of the frozen and decided claims of their experiments."""
    lock, reasons = frozen.load_lock(root), {}
    for each in attempted:
        for id, claim in lock.experiments[each.experiment].claims.items():
            if claim.verdict in ONE_WAY and id not in each.claims:
                hopeless = f"so few seeds cannot confirm it at {100 * each.alpha:.4g} %"
                reasons[id] = "edited since it was frozen" if claim.chance(each.number) else hopeless
    return reasons


def written(root: Path, confirmation: str) -> Path:
    """The file that says what attempts found, once they have ended."""
    return root / frozen.CONFIRMATIONS / confirmation / frozen.CONFIRMATION


def to_confirm(root: Path, id: str, entry: FrozenExperiment) -> FrozenExperiment:
    """A frozen experiment with its claims that were decided and are still judged in the same way; without
    claims if chance has no part."""
    tier = tiers.load_tier(entry.tier, root)
    decided = {claim: each for claim, each in entry.claims.items() if each.verdict in ONE_WAY}
    if id not in tier.params or not tier.experiment(id).is_seeded:
        decided = {}
    same = frozen.unchanged(tier.experiment(id), decided) if decided else {}
    return entry.model_copy(update={"claims": same})


def minutes(root: Path, attempted: Sequence[Attempted], cores: int) -> float:
    """The minutes that recorded attempts still take on so many cores of this machine."""
    runs = [in_attempt(tiers.load_tier(each.tier, root), each) for each in attempted]
    return plan.minutes(plan.estimates(runs), cores, 0)


def run(root: Path, attempted: list[Attempted]) -> None:
    """Computes recorded attempts in Snakemake's jobs, judges them, and adds what they found to the ledger.
    Those that have ended are left as they are.

    Raises:
        RepriseError: if a job fails; what was finished stays, and the attempts go on with the same phrase.
    """
    ended = {(each.experiment, each.number) for each, found in frozen.attempts(root) if found}
    left = [each for each in attempted if (each.experiment, each.number) not in ended]
    for name, group in groupby(sorted(left, key=lambda each: each.tier), key=lambda each: each.tier):
        tier, own = tiers.load_tier(name, root), list(group)
        runs = {each.experiment: in_attempt(tier, each) for each in own}
        for each in own:
            _require_same_code(runs[each.experiment].key(), each)
        targets = [jobs.rule_name(each.name) for each in runs.values()]
        jobs.run(tier, targets, attempts={each.experiment: each.number for each in own})
        for each in own:
            conclude(runs[each.experiment], each)


def in_attempt(tier: Tier, attempted: Attempted) -> ConfiguredExperiment:
    """The experiment on the seeds of a recorded attempt."""
    return tier.experiment(attempted.experiment).in_attempt(attempted.attempt)


def _require_same_code(key: str, attempted: Attempted) -> None:
    if key != attempted.key:
        raise RepriseError(
            f"{attempted.experiment}: attempt {attempted.number} was recorded with other code, settings or "
            f"libraries than are here now; go on with those of commit {attempted.commit}"
        )


def conclude(run: ConfiguredExperiment, attempted: Attempted) -> None:
    """Judges a computed attempt, and adds what it found to the ledger.

    Raises:
        RepriseError: if the results are not of the code and settings with which the attempt was recorded.
    """
    record = run.record()
    _require_same_code(record["key"], attempted)
    judged = verdicts(run, attempted)
    by_claim = dict(zip(judged["claim"], judged["verdict"], strict=True))
    found = {id: by_claim.get(id, frozen.EDITED) for id in attempted.claims}
    frozen.conclude(run.tier.root, attempted, found, record["sha256"])


def verdicts(run: ConfiguredExperiment, attempted: Attempted) -> pd.DataFrame:
    """The verdicts of a computed attempt on the claims of which what is judged is still the same, a row each.

    Raises:
        RepriseError: if the results cannot be loaded, or are not what the claims read.
    """
    return judge_attempt(run, claims_of(run, attempted), attempted.alpha)


def claims_of(run: ConfiguredExperiment, attempted: Attempted) -> list[Claim]:
    """The claims of an attempt of which what is judged is still the same."""
    same = frozen.unchanged(run, attempted.claims)
    return [claim for claim in run.experiment.claims if claim.id in same]


def outcomes(root: Path, attempted: list[Attempted]) -> list[Confirmed]:
    """The outcome on each claim of the attempts that have ended."""
    own = {(each.experiment, each.number) for each in attempted}
    return [
        Confirmed(
            id,
            claim.verdict,
            found.verdicts[id],
            frozen.mark(claim.verdict, [found.verdicts[id]]),
            claim.chance(each.number),
        )
        for each, found in frozen.attempts(root)
        if found and (each.experiment, each.number) in own
        for id, claim in each.claims.items()
        if found.verdicts[id] != frozen.EDITED
    ]


def changes_expected(chances: Sequence[float]) -> tuple[float, int, int]:
    """The expected number of verdicts that change if each comes out the same with its own chance, and the
    ends of an interval that holds the number in 95 % of cases or more."""
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [chance, 1 - chance])
    low, high = np.searchsorted(distribution.cumsum(), [ALPHA, 1 - ALPHA])
    return sum(1 - chance for chance in chances), int(low), int(high)
