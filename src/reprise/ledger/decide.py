"""Further rounds of seeds, begun where they decide most claims in the time that there is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from reprise.contract.experiment import BASE
from reprise.engine import registry
from reprise.engine.check import Verdicts
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.errors import RepriseError
from reprise.evidence.chance import with_more
from reprise.evidence.claim import Claim
from reprise.evidence.judgement import Judgement, judge
from reprise.evidence.observation import Reason
from reprise.evidence.rounds import LEVELS, join, rounds_of
from reprise.evidence.verdicts import setting
from reprise.ledger import costs, jobs

MINUTES = 30.0
"""Most minutes of further rounds, by default."""
LEAST = 0.1
"""Rounds are not begun unless they decide some claim with this chance, because there are few looks."""
MENDABLE: tuple[Reason, ...] = ("crosses", "few seeds", "few points", "few runs")
"""Reasons for which a claim is undecided that further seeds can remove."""


@dataclass(frozen=True)
class Undecided:
    """A claim that no look has decided.

    Attributes:
        judgement: in the published setting, at the last look.
        rounds: how many that look joins.
        seeds: how many a further round adds to those that the claim is judged on; 0 if it is judged on what
            all rounds share.
    """

    claim: Claim
    judgement: Judgement
    rounds: int
    seeds: int

    def chances(self) -> dict[int, float]:
        """Further round -> the chance that the claim is decided by then, at least: that of the likeliest
        look."""
        found, best = {}, 0.0
        for further, alpha in enumerate(LEVELS[self.rounds :], start=1):
            if self.seeds and self.judgement.code in MENDABLE:
                best = max(best, with_more(self.claim, self.judgement, further * self.seeds, alpha))
            found[self.rounds + further] = best
        return found


@dataclass(frozen=True)
class FurtherRounds:
    """The next rounds of an experiment, which could begin side by side.

    Attributes:
        runs: the experiment in each of them.
        round_takes: the time of each round, by that of the last one.
        chances: claim id -> the chance that these rounds decide it, of undecided claims that have one.
        headlines: those of the claims that decide a headline of the paper, with a chance of `LEAST` or more.
    """

    runs: tuple[ConfiguredExperiment, ...]
    round_takes: costs.RoundCost
    chances: Mapping[str, float]
    headlines: frozenset[str]

    @property
    def id(self) -> str:
        return self.runs[0].id

    @property
    def words(self) -> str:
        """The numbers of the rounds."""
        first, last = self.runs[0].round, self.runs[-1].round
        return f"{first}" if first == last else f"{first} to {last}"

    @property
    def core_minutes(self) -> float:
        """Core-minutes of the rounds that have not ended."""
        return self.round_takes.core_minutes * sum(not run.has_results() for run in self.runs)

    @property
    def expected(self) -> float:
        """The expected number of claims that the rounds decide."""
        return sum(self.chances.values())

    @property
    def order(self) -> tuple[float, float, str]:
        """Sorts by how many headlines are decided per minute of a core, then by how many claims."""
        headlines = sum(self.chances[id] for id in self.headlines)
        per_headline, per_claim = (-number / self.core_minutes for number in (headlines, self.expected))
        return per_headline, per_claim, self.id


def chosen_experiments(tier: Tier, ids: Sequence[str]) -> list[ConfiguredExperiment]:
    """Lists the experiments with claims and results among those of papers `KEY` and single ones `KEY/NAME`,
    or, without an id, among all.

    Raises:
        RepriseError: if an id is unknown, or none of them has run.
    """
    of_each = [[id] if "/" in id else registry.paper(id).experiments for id in ids or registry.papers()]
    experiments = [tier.experiment(id) for some in of_each for id in some]
    finished = [each for each in experiments if each.has_results() and each.experiment.claims]
    if not finished:
        first = (
            experiments[0].how_to_make if len(experiments) == 1 else f"snakemake --config tier={tier.name}"
        )
        where = ", ".join([*ids, f"tier {tier.name}"])
        raise RepriseError(f"{where}: no experiment with claims has run; run it first with: {first}")
    return finished


def keep_verdicts(experiments: Iterable[ConfiguredExperiment]) -> None:
    """Judges the papers of some experiments, and saves the verdicts, unless they are saved.

    Raises:
        RepriseError: if the results of one are damaged or out of date.
    """
    for verdicts in _verdicts(experiments):
        if not verdicts.is_checked():
            evidence = verdicts.evidence()
            verdicts.save(verdicts.judged(), evidence)


def verdicts_of(experiments: Iterable[ConfiguredExperiment]) -> dict[str, str]:
    """Claim id -> its verdict, saved or judged now, of all claims of the papers of some experiments.

    Raises:
        RepriseError: if the results of one are damaged or out of date.
    """
    tables = [each.table() if each.is_checked() else each.judged() for each in _verdicts(experiments)]
    claims = pd.concat(tables, ignore_index=True)
    return dict(zip(claims["claim"], claims["verdict"], strict=True))


def _verdicts(experiments: Iterable[ConfiguredExperiment]) -> list[Verdicts]:
    papers = {each.experiment.paper: each.tier for each in experiments}
    return [Verdicts(registry.paper(key), tier) for key, tier in papers.items()]


def undecided(experiment: ConfiguredExperiment, claims: Sequence[Claim]) -> list[Undecided]:
    """Judges undecided claims again, at the last look.

    Args:
        experiment: with results.
        claims: of the experiment, not decided by any look.

    Raises:
        RepriseError: if the results are damaged or out of date.
    """
    rounds = [run.tables() for run in experiment.rounds()]
    tables, seeds = setting(join(rounds), BASE), rounds_of(rounds)
    found = []
    for claim in claims:
        judgement = judge(claim, tables, alpha=LEVELS[len(rounds) - 1])
        own = seeds.keys() & set(judgement.observation.units)
        found.append(Undecided(claim, judgement, len(rounds), round(len(own) / len(rounds))))
    return found


def candidates(experiments: Sequence[ConfiguredExperiment]) -> list[FurtherRounds]:
    """The further rounds that could begin: of each experiment the next one, the next two, and so on, where
    they decide some claim with a chance of at least `LEAST`.

    Raises:
        RepriseError: if results are damaged or out of date.
    """
    verdicts, found = verdicts_of(experiments), []
    for each in experiments:
        claims = [claim for claim in each.experiment.claims if verdicts[claim.id] == "inconclusive"]
        if not claims or not each.is_seeded:
            continue
        by_claim = {one.claim.id: one.chances() for one in undecided(each, claims)}
        headlines = {id for _, id in registry.paper(each.experiment.paper).headlines}
        runs: tuple[ConfiguredExperiment, ...] = ()
        for number in range(len(each.rounds()) + 1, len(LEVELS) + 1):
            runs += (each.in_round(number),)
            chances = {id: by_round[number] for id, by_round in by_claim.items() if by_round[number]}
            likely = {id for id, chance in chances.items() if chance >= LEAST}
            if likely:
                takes = costs.of_further_round(each)
                found.append(FurtherRounds(runs, takes, chances, frozenset(likely & headlines)))
    return found


def minutes(rounds: Iterable[FurtherRounds], cores: int) -> float:
    """The minutes of some rounds side by side: all their work, shared among the cores, and at least their
    longest job."""
    every = list(rounds)
    work = sum(each.core_minutes for each in every) / cores
    return max([work, *(each.round_takes.longest_minutes for each in every)])


def choose(rounds: Iterable[FurtherRounds], within: float, cores: int) -> list[FurtherRounds]:
    """The rounds to begin: those that are expected to decide most headlines per minute first, then those that
    are expected to decide most claims, each unless it would not fit.

    Args:
        within: minutes.
    """
    chosen: dict[str, FurtherRounds] = {}
    for each in sorted(rounds, key=lambda one: one.order):
        if each.id not in chosen and minutes([*chosen.values(), each], cores) <= within:
            chosen[each.id] = each
    return list(chosen.values())


def last_rounds(chosen: Iterable[FurtherRounds]) -> dict[str, int]:
    """Experiment id -> the last of its rounds that begin."""
    return {each.id: each.runs[-1].round for each in chosen}


def why_nothing(rounds: Sequence[FurtherRounds], within: float, cores: int) -> str:
    """The reason why no round begins: none decides anything, or the cheapest does not fit."""
    if not rounds:
        return (
            "no further round to begin: none decides a claim that is undecided with a chance of "
            f"{100 * LEAST:g} % or more"
        )
    cheapest = min(rounds, key=lambda each: minutes([each], cores))
    return (
        f"nothing fits into {within:.2g} minutes: the cheapest, round{'s' * (len(cheapest.runs) > 1)} "
        f"{cheapest.words} of {cheapest.id}, takes about {minutes([cheapest], cores):.2g}"
    )


def plan_lines(chosen: Sequence[FurtherRounds], cores: int) -> Iterator[str]:
    """A table of the rounds that begin, with a line for each claim that they go for, and what they take."""
    width = max(len(each.id) for each in chosen)
    yield f"{'experiment':{width}}  round   minutes  expected  goes for"
    for each in chosen:
        head = f"{each.id:{width}}  {each.words:6}  {minutes([each], cores):7.2f}  {each.expected:8.1f}"
        for id, chance in sorted(each.chances.items(), key=lambda item: -item[1]):
            if chance >= LEAST:
                yield f"{head}  {id}: {100 * chance:.0f} %{', a headline' if id in each.headlines else ''}"
                head = " " * len(head)
        if rare := sum(chance < LEAST for chance in each.chances.values()):
            yield f"{head}  {rare} more, with less than {100 * LEAST:g} % each"
    number, expected = (sum(len(each.chances) for each in chosen), sum(each.expected for each in chosen))
    yield (
        f"together about {minutes(chosen, cores):.2g} minutes on {cores} cores; of {number} claims, "
        f"{expected:.1f} are expected to be decided"
    )


def run(tier: Tier, chosen: Sequence[FurtherRounds]) -> None:
    """Computes rounds in Snakemake's jobs, and judges and saves the verdicts. A round that was begun has the
    same number, and so the same seeds, until it has ended.

    Raises:
        RepriseError: if a job fails; what was finished stays.
    """
    runs = [run for each in chosen for run in each.runs]
    jobs.run(tier, [jobs.rule_name(each.name) for each in runs], rounds=last_rounds(chosen))
    keep_verdicts(runs)


def outcome_lines(chosen: Sequence[FurtherRounds], verdicts: Mapping[str, str]) -> Iterator[str]:
    """Lines on the claims that finished rounds have decided or not, beside the chances."""
    chances = {id: chance for each in chosen for id, chance in each.chances.items()}
    decided = [id for id in chances if verdicts[id] != "inconclusive"]
    for id, chance in chances.items():
        if id in decided or chance >= LEAST:
            shown = verdicts[id] if id in decided else "still undecided"
            yield f"{id}: {shown}; the chance of being decided was {100 * chance:.0f} %"
    yield f"decided {len(decided)} of {len(chances)} claims, {sum(chances.values()):.1f} expected"
