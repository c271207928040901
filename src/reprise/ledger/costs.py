"""Cost of a tier: CPU seconds of its jobs, from the files that `workflow/scripts/forked` writes.

Each file is about a job's last run. What that run took from the cache is not in it, so that an experiment
whose tasks were kept looks cheap.
"""

import csv
import math
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from reprise.engine import registry, seconds
from reprise.engine.check import CLAIMS, Verdicts
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.engine.registry import Paper
from reprise.errors import RepriseError
from reprise.evidence.verdicts import DECIDED
from reprise.ledger import plan, speed
from reprise.storage import store

BENCHMARKS = "benchmarks"
"""The folder in a tier's results that holds the benchmark files."""


@dataclass(frozen=True)
class Cost:
    """The cost of some jobs.

    Attributes:
        jobs: number of jobs with a benchmark.
        cpu_seconds: sum of the jobs' CPU times.
        wall_seconds: sum of the jobs' durations.
        unmeasured: the jobs without a benchmark.
    """

    jobs: int = 0
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    unmeasured: tuple[str, ...] = ()

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.jobs + other.jobs,
            self.cpu_seconds + other.cpu_seconds,
            self.wall_seconds + other.wall_seconds,
            self.unmeasured + other.unmeasured,
        )


@dataclass(frozen=True)
class ExperimentCost:
    """The cost of an experiment, and the number of claims that it decides.

    Attributes:
        cost: of its own job and its shares.
        claims: number of claims that the experiment can decide.
        decided: number of claims with a verdict for or against; None if the claims are not checked on the
            results that are here now.
    """

    id: str
    cost: Cost
    claims: int
    decided: int | None

    @property
    def cpu_seconds_per_verdict(self) -> float:
        """CPU seconds per decided claim; NaN if none is decided, or nothing was measured."""
        return self.cost.cpu_seconds / self.decided if self.decided and self.cost.jobs else math.nan


@dataclass(frozen=True)
class RoundCost:
    """The time that a round of an experiment takes on this machine.

    Attributes:
        core_minutes: of all its jobs.
        longest_minutes: of its longest job, which more cores do not shorten.
    """

    core_minutes: float
    longest_minutes: float


def of_experiments(tier: Tier) -> list[ExperimentCost]:
    """The cost of each experiment, in all its rounds.

    Raises:
        RepriseError: if a benchmark file or a paper's verdicts are damaged.
    """
    costs = []
    for paper in registry.papers().values():
        decided = _decided(Verdicts(paper, tier))
        for each in map(tier.experiment, paper.experiments):
            own = {claim.id for claim in each.experiment.claims}
            number = None if decided is None else len(own & decided)
            cost = sum(map(of_experiment, each.rounds()), Cost())
            costs.append(ExperimentCost(each.id, cost, len(own), number))
    return costs


def rows(tier: Tier) -> list[dict[str, Any]]:
    """An object for each experiment and for `drawing`, `checking` and `report`: its `id`; how many `jobs`
    were measured, and their `cpu_seconds` and `wall_seconds`; the `unmeasured` jobs; and of an experiment the
    number of its `claims` and of those `decided`, null unless they are judged.

    Raises:
        RepriseError: as in `of_experiments`.
    """
    every = [(each.id, each.cost, each.claims, each.decided) for each in of_experiments(tier)]
    every += [(name, cost, 0, None) for name, cost in of_stages(tier).items()]
    return [
        {"id": id, **asdict(cost), "claims": claims, "decided": decided}
        for id, cost, claims, decided in every
    ]


def of_experiment(configured: ConfiguredExperiment) -> Cost:
    """The cost of an experiment's own job and its shares, in one round.

    Raises:
        RepriseError: if a benchmark file is damaged.
    """
    return _total(configured.tier, [configured.name, *_shares(configured)])


def of_further_round(configured: ConfiguredExperiment) -> RoundCost:
    """The time of a further round of an experiment, by its last one: the time in which the last round's jobs
    held a core, or the seconds in its record, whichever is longer. The first lacks what was in the cache, the
    second the start of each process. Jobs on a GPU wait for each other.

    Raises:
        RepriseError: if there are no results, or their record or a benchmark file is damaged.
    """
    last = configured.rounds()[-1]
    took = max(of_experiment(last).wall_seconds, last.taken().total)
    needs = last.needs()
    parts = 1 if any(each.gpus for each in needs.values()) else plan.shares(needs)
    return RoundCost(took / 60, took / 60 / parts)


def to_publish(tier: Tier) -> bytes:
    """The content of `seconds.FILE`: what each experiment took that has results, and of others what the file
    says now. The speed test runs unless nothing has changed, so that a run gives the same bytes each time.

    Raises:
        RepriseError: if results are damaged, or the file is.
    """
    before = seconds.recorded(tier.root)
    if tier.is_recorded and before.experiments:
        return seconds.written(before)
    ran = {
        id: seconds.OfExperiment(params=each.record()["params"], taken=each.taken())
        for id, each in tier.experiments().items()
        if each.has_results()
    }
    now = before.model_copy(update={"experiments": {**before.experiments, **ran}})
    if now != before:
        test = None if tier.is_recorded else round(speed.trial_seconds(), 4)
        now = now.model_copy(update={"speed_test": test})
    return seconds.written(now)


def seconds_of_run(configured: ConfiguredExperiment) -> float:
    """The duration of the jobs that made an experiment's results; 0 without a benchmark, or if the results
    were made again since without Snakemake, whose jobs write their benchmark after their results.

    Raises:
        RepriseError: if a benchmark file is damaged.
    """
    measured = of_experiment(configured).wall_seconds
    files = _file(configured.tier, configured.name), configured.folder / store.RECORD
    if not all(file.is_file() for file in files):
        return 0.0
    benchmark, record = (file.stat().st_mtime_ns for file in files)
    return measured if benchmark >= record else 0.0


def of_reading(paper: Paper, tier: Tier) -> Cost:
    """The cost of what reads a paper's results: its drawings and verdicts.

    Raises:
        RepriseError: if a benchmark file is damaged.
    """
    return _total(tier, [*paper.artifacts, *([f"{paper.key}/{CLAIMS}"] if paper.claims else [])])


def of_stages(tier: Tier) -> dict[str, Cost]:
    """The cost of what reads the results: drawing, checking, reporting.

    Raises:
        RepriseError: if a benchmark file is damaged.
    """
    return {
        "drawing": _total(tier, registry.artifacts()),
        "checking": _total(tier, [f"{key}/{CLAIMS}" for key in registry.judged()]),
        "report": _total(tier, ["report"]),
    }


def _total(tier: Tier, jobs: Iterable[str]) -> Cost:
    return sum((_cost(tier, job) for job in jobs), Cost())


def _cost(tier: Tier, job: str) -> Cost:
    """The cost of a job, by the last row of its benchmark."""
    file = _file(tier, job)
    try:
        row = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines(), delimiter="\t"))[-1]
        return Cost(1, float(row["cpu_time"]), float(row["s"]))
    except FileNotFoundError:
        return Cost(unmeasured=(job,))
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        raise RepriseError(
            f"{file}: not a benchmark, which has the columns s and cpu_time; remove it, and run the job again"
        ) from None


def _shares(configured: ConfiguredExperiment) -> list[str]:
    """An experiment's shares that have a benchmark or should have one: those of the last run, which may have
    been cut differently from earlier ones."""
    own = _file(configured.tier, configured.name)
    files = own.parent.glob(f"{own.stem}.*-of-*.tsv")
    if not (newest := max(files, key=lambda file: file.stat().st_mtime, default=None)):
        return []
    count = int(re.findall(r"-of-(\d+)", newest.stem)[0])
    return [f"{configured.name}.{number}-of-{count}" for number in range(1, count + 1)]


def _file(tier: Tier, job: str) -> Path:
    return tier.results / BENCHMARKS / f"{job}.tsv"


def _decided(verdicts: Verdicts) -> set[str] | None:
    """The claims that are decided; None if they are not checked on the results that are here now."""
    saved = verdicts.saved()
    return {claim for claim, verdict in saved.items() if verdict in DECIDED} if saved else None
