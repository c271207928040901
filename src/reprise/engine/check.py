"""A paper's verdicts in a tier: judged on its experiments' tables, and bound to them and to the claims'
code."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from reprise.contract.experiment import BASE
from reprise.engine import memo, provenance, registry
from reprise.engine.configured import ConfiguredExperiment, Tier, blamed_on_version
from reprise.engine.registry import Paper
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim
from reprise.evidence.verdicts import COLUMNS, judge_all
from reprise.storage import locks, store

CLAIMS = "claims"
"""Name of the table of a paper's verdicts."""


class Evidence(NamedTuple):
    """The evidence of a paper's verdicts.

    Attributes:
        key: 16 hexadecimal digits over the code and the keys of these results.
        results: the SHA-256 of each table of each round of an experiment that has claims and results.
    """

    key: str
    results: dict[str, dict[str, str]]


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on a paper's claims in a tier."""

    paper: Paper
    tier: Tier

    @property
    def folder(self) -> Path:
        """The folder in which the verdicts are saved, `results/TIER/KEY/`."""
        return self.tier.results / self.paper.key

    @property
    def how_to_check(self) -> str:
        """The command that saves the verdicts."""
        return f"reprise check {self.paper.key} --write --tier {self.tier.name}"

    def judged(self) -> pd.DataFrame:
        """Judges the claims on the available results.

        Raises:
            RepriseError: if the results of an experiment that has run cannot be loaded.
        """
        published = [{"published": self.paper.printed_numbers().assign(setting=BASE)}]
        rows = [judge_all(self.paper.pending, None, None), judge_all(self.paper.printed, published, None)]
        for each in map(self.tier.experiment, self.paper.experiments):
            if not each.experiment.claims:
                continue
            if each.has_results():
                rows.append(judge(each, lenient=True))
            else:
                rows.append(judge_all(each.experiment.claims, None, None, missing=no_results(each)))
        return _concat(rows)

    def evidence(self) -> Evidence:
        """The present evidence of the verdicts.

        Raises:
            RepriseError: if the record of a result is damaged.
        """
        records = {each.name: (each, each.record()) for each in self._deciding()}
        keys = {name: each.expected_key(record) for name, (each, record) in records.items()}
        made = hashlib.sha256(f"{self.code()} {keys}".encode()).hexdigest()[:16]
        return Evidence(made, {name: record["sha256"] for name, (_, record) in records.items()})

    def tables_are_whole(self) -> bool:
        """Tells if the tables that decide them are those that their records list."""
        return all(each.is_whole() for each in self._deciding())

    def _deciding(self) -> list[ConfiguredExperiment]:
        return [each for each in self.tier.runs(self.paper.experiments) if each.experiment.claims]

    def code(self) -> str:
        """Hash of everything that they depend on, except the tables."""
        key = self.paper.key
        looked = {id: text for id, text in self.tier.looked.items() if id.startswith(f"{key}/")}
        return f"{registry.claims_code(key)} {looked}" if looked else registry.claims_code(key)

    def save(self, claims: pd.DataFrame, evidence: Evidence) -> None:
        """Writes verdicts, from `judged`, to `results/TIER/KEY/claims.parquet`.

        Args:
            evidence: as it was before they were judged.

        Raises:
            RepriseError: if an experiment has finished since, or the folder cannot be written.
        """
        with locks.locked(self.folder / locks.LOCK):
            if self.evidence() != evidence or not memo.of_package().is_current():
                raise RepriseError(
                    f"{self.folder}: results or code changed while the claims were judged; check them again "
                    f"with: {self.how_to_check}"
                )
            record = {
                **provenance.describe(self.tier.root), "paper": self.paper.key, "results": evidence.results,
            }  # fmt: skip
            store.save_tables(self.folder, {CLAIMS: claims}, evidence.key, record)

    def is_checked(self) -> bool:
        """Tells if the saved verdicts are whole, of the very tables and by the code that are here now.

        Raises:
            RepriseError: if the record of a result is damaged.
        """
        if not store.is_whole(self.folder):
            return False
        record = store.load_record(self.folder, self.how_to_check)
        return (record["key"], record.get("results")) == self.evidence()

    def why_unchecked(self) -> str:
        """The reason why the saved verdicts do not count, with the remedy; empty if they count.

        Raises:
            RepriseError: if the record of a result is damaged.
        """
        if self.is_checked():
            return ""
        reason = "not checked"
        if (self.folder / store.RECORD).is_file():
            reason = "checked with other results or by other code or libraries than are here now"
            if not store.is_whole(self.folder):
                reason = "the saved verdicts are damaged"
        return f"{reason}; check them with: {self.how_to_check}"

    def saved(self) -> dict[str, str]:
        """The saved verdict on each claim; none if they are not of the results and by the code that are here
        now.

        Raises:
            RepriseError: if they are damaged.
        """
        if not self.is_checked():
            return {}
        claims = self.table()
        return dict(zip(claims["claim"], claims["verdict"], strict=True))

    def table(self) -> pd.DataFrame:
        """The saved table, whether it counts or not.

        Raises:
            RepriseError: if there is none, or it is damaged.
        """
        return store.load_tables(self.folder, self.how_to_check)[CLAIMS]


def judge(
    configured: ConfiguredExperiment, claims: Sequence[Claim] | None = None, *, lenient: bool = False
) -> pd.DataFrame:
    """The verdicts on an experiment's claims.

    Args:
        claims: those to judge; by default all.
        lenient: whether a claim that does not find what it reads in a recorded run of an older version of the
            experiment is `not run`.

    Raises:
        RepriseError: if the results cannot be loaded, or are not what the claims read.
    """
    claims = configured.experiment.claims if claims is None else claims
    rounds = [each.tables() for each in configured.rounds()]

    def judged(some: Sequence[Claim]) -> pd.DataFrame:
        with blamed_on_version(configured.tier, f"the claims of {configured.id} read"):
            return judge_all(some, rounds, configured.params, looked=configured.looked)

    try:
        return judged(claims)
    except RepriseError as error:
        if not lenient or not (version := configured.older()):
            raise
        if len(claims) == 1:
            missing = f"the recorded tables are of an older version of this experiment ({version}): {error}"
            return judge_all(claims, None, None, missing=missing)
    return _concat([judge(configured, [claim], lenient=True) for claim in claims])


def judge_attempt(attempt: ConfiguredExperiment, claims: Sequence[Claim], alpha: float) -> pd.DataFrame:
    """The verdicts on claims by the seeds of an attempt alone, at a level of its own.

    Args:
        alpha: the one-sided rate of false verdicts.

    Raises:
        RepriseError: if the results cannot be loaded, or are not what the claims read.
    """
    return judge_all(claims, [attempt.tables()], attempt.params, looked=attempt.looked, alpha=alpha)


def no_results(configured: ConfiguredExperiment) -> str:
    """The reason why the claims of an experiment that has not run are not judged."""
    return f"no results; compute them with: {configured.how_to_make}"


def join(tier: Tier) -> pd.DataFrame:
    """Joins the verdicts of all papers. A paper that has not been checked since its results or its code last
    changed has the verdict `not run` on each claim.

    Raises:
        RepriseError: if a paper's verdicts are damaged.
    """
    rows = []
    for paper in registry.judged().values():
        verdicts = Verdicts(paper, tier)
        if missing := verdicts.why_unchecked():
            claims = [claim for claim, _ in paper.claims.values()]
            rows.append(judge_all(claims, None, None, missing=missing))
        else:
            rows.append(verdicts.table())
    return _concat(rows)


def _concat(rows: list[pd.DataFrame]) -> pd.DataFrame:
    nonempty = [frame for frame in rows if len(frame)]
    claims = pd.concat(nonempty, ignore_index=True) if nonempty else pd.DataFrame(columns=list(COLUMNS))
    return claims.sort_values("claim", ignore_index=True)
