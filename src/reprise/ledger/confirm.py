"""Confirms frozen claims on seeds that nobody has seen: records the attempt, runs it, judges it."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from reprise.engine import provenance, registry, tiers
from reprise.engine.check import judge_attempt
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.errors import RepriseError
from reprise.evidence.estimates import ALPHA
from reprise.evidence.verdicts import ONE_WAY
from reprise.ledger import frozen, jobs
from reprise.ledger.frozen import Attempted, Found, FrozenClaim

EDITED = "edited"
"""In place of the verdict on a claim of which what is judged has changed since the attempt was recorded."""


class Confirmed(NamedTuple):
    """A claim that an attempt was made on.

    Attributes:
        mark: one of `frozen.MARKS`.
        chance: that the verdict comes out the same, as it was frozen.
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
    return frozen.freeze(runs, verdicts, tier.root)


def begin(root: Path, phrase: str) -> list[Attempted]:
    """Records an attempt on every experiment that has frozen claims to confirm; an attempt with the same
    phrase that was recorded and has not ended goes on instead.

    Raises:
        RepriseError: if nothing is frozen, or no frozen claim can be confirmed.
    """
    lock = frozen.load_lock(root)
    if not lock.experiments:
        raise RepriseError(f"{root / frozen.LOCK}: nothing is frozen; freeze claims with: reprise freeze")
    begun = [each for each, found in frozen.attempts(root) if not found and each.phrase == phrase]
    if begun:
        return begun
    commit = provenance.commit(root)["commit"]
    by_tier = sorted(lock.experiments.items(), key=lambda item: item[1].tier)
    recorded = 0
    for name, group in groupby(by_tier, key=lambda item: item[1].tier):
        tier = tiers.load_tier(name, root)
        claims: dict[str, Mapping[str, FrozenClaim]] = {
            id: to_confirm(tier.experiment(id), entry.claims)
            for id, entry in group
            if id in tier.params and tier.experiment(id).is_seeded
        }
        claims = {id: some for id, some in claims.items() if some}
        frozen.record(root, tier, phrase, claims, commit)
        recorded += len(claims)
    if not recorded:
        raise RepriseError(
            f"{root / frozen.LOCK}: no claim to confirm: none was decided, or each was edited since; freeze "
            "again with: reprise freeze"
        )
    return [each for each, found in frozen.attempts(root) if not found and each.phrase == phrase]


def to_confirm(each: ConfiguredExperiment, claims: Mapping[str, FrozenClaim]) -> dict[str, FrozenClaim]:
    """The frozen claims that were decided and of which what is judged is still the same."""
    return frozen.unchanged(each, {id: claim for id, claim in claims.items() if claim.verdict in ONE_WAY})


def run(root: Path, attempted: list[Attempted]) -> None:
    """Computes recorded attempts in Snakemake's jobs, judges them, and adds what they found to the ledger.

    Raises:
        RepriseError: if a job fails; what was finished stays, and the attempts go on with the same phrase.
    """
    in_order = sorted(attempted, key=lambda each: each.tier)
    for name, group in groupby(in_order, key=lambda each: each.tier):
        tier, own = tiers.load_tier(name, root), list(group)
        runs = {each.experiment: tier.experiment(each.experiment).in_attempt(each.attempt) for each in own}
        targets = [jobs.rule_name(each.name) for each in runs.values()]
        jobs.run(tier, targets, attempts={each.experiment: each.number for each in own})
        for each in own:
            conclude(runs[each.experiment], each)


def conclude(run: ConfiguredExperiment, attempted: Attempted) -> None:
    """Judges a computed attempt, and adds what it found to the ledger."""
    same = frozen.unchanged(run, attempted.claims)
    judged = judge_attempt(
        run, [claim for claim in run.experiment.claims if claim.id in same], attempted.alpha
    )
    verdicts = dict(zip(judged["claim"], judged["verdict"], strict=True))
    found = {id: verdicts.get(id, EDITED) for id in attempted.claims}
    frozen.conclude(run.tier.root, attempted, found, run.record()["sha256"])


def outcomes(root: Path, attempted: list[Attempted]) -> Iterator[Confirmed]:
    """What ended attempts say, claim by claim."""
    ended: dict[tuple[str, int], Found | None] = {
        (each.experiment, each.number): found for each, found in frozen.attempts(root)
    }
    for each in attempted:
        found = ended[each.experiment, each.number]
        for id, claim in each.claims.items() if found else ():
            verdict = found.verdicts[id] if found else ""
            if verdict != EDITED:
                chance = 1.0 if claim.chance is None else claim.chance
                yield Confirmed(id, claim.verdict, verdict, frozen.mark(claim.verdict, [verdict]), chance)


def changes_expected(chances: list[float]) -> tuple[float, int, int]:
    """How many verdicts are expected to change if each comes out the same with its own chance, and the ends
    of the central 95 % of that number."""
    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [chance, 1 - chance])
    low, high = np.searchsorted(distribution.cumsum(), [ALPHA, 1 - ALPHA])
    return sum(1 - chance for chance in chances), int(low), int(high)
