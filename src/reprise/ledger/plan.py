"""The jobs of a tier: what they need and what they decide, for Snakemake's rules and for `reprise plan`."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from reprise.contract.experiment import Resources, share_of, together
from reprise.engine import cache, memo, seconds
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.engine.foreign import Taken
from reprise.errors import RepriseError, unknown
from reprise.evidence.claim import Claim
from reprise.evidence.rounds import LEVELS
from reprise.ledger import frozen, speed
from reprise.storage import records, store, versions
from reprise.training import identity
from reprise.training.costs import GPU, GPU_FLOPS
from reprise.training.spec import Spec

SHARE_MINUTES = 5.0
"""Expected duration of a share on one machine: short, so that all cores are busy to the end, but long beside
the seconds in which a process starts."""

CLUSTER_MINUTES = 60.0
"""Expected duration of a share on a cluster, as in workflow/profiles/slurm: a job there waits before it
starts."""

SNAKEMAKE_MB = 400
"""Memory of the Snakemake processes in which a cluster's node runs a job."""

DRAWING_MINUTES = 0.05
"""Minutes of one core for a figure or table: its drawing, and its part of the verdicts and the report."""

TEST_MINUTES = 0.07
"""Minutes of one core for an experiment of a test tier: the mean of the smoke tier's. Declared estimates and
recorded seconds are of larger runs: they say how jobs are cut, but not how long a test takes."""


def positive_minutes(text: str, key: str = "share_minutes") -> float:
    """A configured duration.

    Args:
        key: what is configured, as messages name it.

    Raises:
        RepriseError: if it is not a positive number.
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise RepriseError(f"{key} is {text!r}; write a positive number of minutes")
    return number


def runs(
    tier: Tier, configured: Mapping[str, ConfiguredExperiment], rounds: Any, attempts: Any
) -> list[ConfiguredExperiment]:
    """The runs that Snakemake's rules are about: of each experiment the first round, the further ones that
    are here or asked for, and the attempts asked for.

    Args:
        configured: experiment id -> its first round.
        rounds: experiment id -> up to which round, as configured; of experiments that are not among
            `configured`, nothing is asked.
        attempts: experiment id -> the number of an attempt that the ledger holds, likewise.

    Raises:
        RepriseError: if a mapping is none, names an unknown experiment, or a round or attempt that there is
            not.
    """
    wanted = _numbers("rounds", rounds, tier)
    made: list[ConfiguredExperiment] = []
    for id, first in configured.items():
        last = max(len(first.rounds()) if first.has_results() else 1, wanted.get(id, 1))
        made += [first, *(first.in_round(number) for number in range(2, last + 1))]
    for id, number in _numbers("attempts", attempts, tier).items():
        if id in configured:
            made.append(configured[id].in_attempt(frozen.attempt(tier.root, id, number)))
    return made


def every_round(configured: Mapping[str, ConfiguredExperiment]) -> dict[str, int]:
    """Experiment id -> the last round that there can be, of those in which chance has a part."""
    return {id: len(LEVELS) for id, each in configured.items() if each.is_seeded}


def _numbers(key: str, value: Any, tier: Tier) -> dict[str, int]:
    """A configured mapping from experiments to numbers."""
    if value is None:
        return {}
    expected = f"--config {key} takes numbers by experiment, as in {key}='{{KEY/NAME: 2}}'"
    if not isinstance(value, dict):
        raise RepriseError(f"{expected}; found {value!r}")
    for id, number in value.items():
        if id not in tier.params:
            raise unknown(
                "experiment", str(id), tier.params, f"{expected}; there are: {', '.join(tier.params)}"
            )
        if not re.fullmatch(r"[1-9]\d*", str(number)):  # on a command line, Snakemake reads text
            raise RepriseError(f"{expected}; found {number!r} for {id}")
    return {id: int(number) for id, number in value.items()}


def shares(needs: Mapping[str, Resources], minutes: float = SHARE_MINUTES) -> int:
    """The number of shares in which tasks run: each takes about this long, or is one longer task."""
    total = together(needs.values()).minutes
    return min(len(needs), max(1, math.ceil(total / minutes)))


def share_needs(needs: Mapping[str, Resources], number: int, count: int) -> Resources:
    """The resources of one of several shares.

    Args:
        number: index of the share, from 1.
    """
    return together(needs[name] for name in share_of(needs, number, count))


def priority(needs: Mapping[str, Resources]) -> int:
    """Snakemake's priority of an experiment's jobs: those of the longest run first."""
    return math.ceil(together(needs.values()).minutes)


def limits(needs: Resources, attempt: int = 1) -> dict[str, int]:
    """A job's limits, as Snakemake's resources: thrice the expected time and ten minutes; its memory, and
    Snakemake's. Each further attempt gets more time and memory."""
    return {
        "runtime": attempt * math.ceil(3 * needs.minutes + 10),
        "mem_mb": attempt * needs.memory_mb + SNAKEMAKE_MB,
    }


@dataclass(frozen=True)
class Estimate:
    """An estimate of the time and space that an experiment takes.

    Attributes:
        state: `to run`, `done`, or `on request`.
        jobs: its shares, or 1.
        longest: the resources of the longest job.
        cpu_hours: of all jobs without GPUs, on one core of this machine, without what is in the cache.
        gpu_hours: of all other jobs, likewise.
        claims: the claims that the experiment decides.
        missing: why the experiment cannot run here, with the remedy; empty if it can.
    """

    id: str
    state: str
    jobs: int
    longest: Resources
    cpu_hours: float
    gpu_hours: float
    disk_gb: float
    claims: tuple[Claim, ...]
    missing: str

    @property
    def numbers(self) -> int:
        """The number of printed numbers that the experiment decides."""
        return sum(claim.published is not None for claim in self.claims)

    @property
    def gpu_hours_per_number(self) -> float:
        """GPU-hours for each printed number that the experiment decides; infinite if it decides none."""
        return self.gpu_hours / self.numbers if self.numbers else math.inf


def by_price(estimates: Iterable[Estimate]) -> list[Estimate]:
    """Sorts experiments by state, from `to run` to `done`, then by GPU-hours for each printed number; of two
    alike, the shorter one is first."""
    states = ("to run", "on request", "done")
    return sorted(
        estimates,
        key=lambda each: (
            states.index(each.state), each.gpu_hours_per_number, each.gpu_hours + each.cpu_hours, each.id,
        ),
    )  # fmt: skip


class Purchase(NamedTuple):
    """The printed numbers that the first GPU-hours buy.

    Attributes:
        gpu_hours: of all experiments up to `id`.
        numbers: the printed numbers that these decide.
        id: the last of them.
    """

    gpu_hours: float
    numbers: int
    id: str


def purchases(estimates: Iterable[Estimate]) -> list[Purchase]:
    """The purchase up to each experiment on GPUs that is to run and decides printed numbers, in the order of
    `by_price`."""
    bought: list[Purchase] = []
    for each in by_price(estimates):
        if each.state == "to run" and each.gpu_hours and each.numbers:
            before = bought[-1] if bought else Purchase(0.0, 0, "")
            bought.append(Purchase(before.gpu_hours + each.gpu_hours, before.numbers + each.numbers, each.id))
    return bought


def purchase_lines(estimates: Iterable[Estimate]) -> list[str]:
    """`purchases` in words, and which GPU is assumed."""
    lines = [
        f"the first {hours(each.gpu_hours)} GPU-hours buy {_number(each.numbers, 'printed number')}: "
        f"{'with' if index else 'by'} {each.id}"
        for index, each in enumerate(purchases(estimates))
    ]
    return [*lines, f"GPU-hours are those of one {GPU}, {assumed()}"] if lines else []


def assumed() -> str:
    """The assumptions about the GPU, in words."""
    speeds = {name: speed / 1e12 for name, speed in GPU_FLOPS.items()}
    return (
        f"assumed to reach {speeds['bfloat16']:g} TFLOP/s in bfloat16 and {speeds['float32']:g} in "
        "TensorFloat-32; not measured"
    )


def commands(tier: Tier, papers: Sequence[str], minutes: float, *, on_gpus: bool) -> list[str]:
    """The commands that run what was estimated: here, and where GPUs are asked for last through the profile
    of a cluster.

    Args:
        papers: their keys; none for all.
    """
    config = " ".join(["--config", f"tier={tier.name}", *(["paper=" + ",".join(papers)] if papers else [])])
    is_own = minutes != SHARE_MINUTES
    found = [f"run it with: snakemake {config}{f' share_minutes={minutes:g}' if is_own else ''}"]
    if on_gpus:
        long = minutes if is_own else CLUSTER_MINUTES
        found.append(
            f"on a cluster (docs/cluster.md): snakemake --workflow-profile slurm {config} "
            f"share_minutes={long:g}"
        )
    return found


def as_json(estimates: Sequence[Estimate], commands: Sequence[str]) -> dict[str, Any]:
    """An object: the `gpu` whose speed is assumed; the `commands`; and the `experiments`, cheapest printed
    number first, for each its `id`; its `state` (`to run`, `done` or `on request`); its `jobs`; of the
    longest job `longest_job_hours`, `longest_job_gpus` and `memory_gb`; `cache_gb`; `core_hours` and
    `gpu_hours` without what is in the cache; the number of `claims` that it decides; the printed `numbers`
    among them, claim id -> number; and what is `missing` here."""
    return {
        "gpu": {"name": GPU, "flops_per_second": GPU_FLOPS, "is_measured": False},
        "commands": [command.partition(": ")[2] for command in commands],
        "experiments": [
            {
                "id": each.id,
                "state": each.state,
                "jobs": each.jobs,
                "longest_job_hours": each.longest.minutes / 60,
                "longest_job_gpus": each.longest.gpus,
                "memory_gb": each.longest.memory_mb / 1e3,
                "cache_gb": each.disk_gb,
                "core_hours": each.cpu_hours,
                "gpu_hours": each.gpu_hours,
                "claims": len(each.claims),
                "numbers": {
                    claim.id: claim.published for claim in each.claims if claim.published is not None
                },
                "missing": each.missing,
            }
            for each in by_price(estimates)
        ],
    }


def estimates(
    experiments: Iterable[ConfiguredExperiment], minutes: float = SHARE_MINUTES, *, here: bool = True
) -> list[Estimate]:
    """The estimate of each of some experiments in a tier, without what is in the cache, and without networks
    that an earlier one trains.

    Args:
        minutes: expected duration of a share.
        here: scales hours of a core by the speed of this machine beside that of the recorded run, which a
            test of about a second tells.
    """
    counted: set[str] = set()
    every = list(experiments)
    slowness = speed.slowness(every[0].tier.root) if here and every else 1.0
    return [estimate(each, minutes, slowness, counted) for each in every]


def estimate(
    configured: ConfiguredExperiment,
    minutes: float = SHARE_MINUTES,
    slowness: float = 1.0,
    counted: set[str] | None = None,
) -> Estimate:
    """The estimate of an experiment in a tier; in a test tier, `TEST_MINUTES` unless seconds are recorded.

    Args:
        minutes: expected duration of a share.
        slowness: hours of a core here for one on the machine of the recorded run.
        counted: cache entries that other experiments make, to which its own are added.
    """
    needs = configured.needs()
    jobs, state = shares(needs, minutes), _state(configured)
    if configured.tier.is_test and not _is_recorded(configured):
        needs = {name: replace(each, minutes=TEST_MINUTES / len(needs)) for name, each in needs.items()}
    left = _left(configured, needs, set() if counted is None or state != "to run" else counted)
    cpu = [left[name] for name, each in needs.items() if not each.gpus]
    gpu = [left[name] * each.gpus for name, each in needs.items()]
    longest = max(
        (share_needs(needs, number, jobs) for number in range(1, jobs + 1)), key=lambda share: share.minutes
    )
    return Estimate(
        id=configured.id,
        state=state,
        jobs=jobs,
        longest=longest,
        cpu_hours=slowness * sum(cpu) / 60,
        gpu_hours=sum(gpu) / 60,
        disk_gb=together(needs.values()).disk_mb / 1e3,
        claims=configured.experiment.claims,
        missing=missing(configured),
    )


def _left(
    configured: ConfiguredExperiment, needs: Mapping[str, Resources], counted: set[str]
) -> dict[str, float]:
    """Minutes that each task still takes, without those of shared entries that are counted already or in the
    cache; 0 for a finished task.

    Args:
        counted: the shared entries of all its tasks are added.
    """
    root = configured.tier.root
    recorded = seconds.recorded(root).experiments.get(configured.id)
    taken = recorded.taken if recorded else Taken(tasks={})
    is_same = _is_recorded(configured)  # with other parameters, the networks in the cache are others
    asker = cache.asker(configured) if any((root / store.CACHE / store.TASKS).glob("*")) else ""
    left = {}
    for name, need in needs.items():
        mine = taken.asked.get(name, [])
        there = sum(
            taken.shared[entry] for entry in mine if entry in counted or (is_same and _is_kept(root, entry))
        )
        counted.update(mine)
        part = 1 - there / taken.of_task(name) if there else 1.0
        finished = asker and store.Entry(root / store.CACHE / store.TASKS / records.key_of(asker, name))
        left[name] = 0.0 if finished and finished.folder.is_dir() else part * need.minutes
    return left


def _is_recorded(configured: ConfiguredExperiment) -> bool:
    """Tells if the recorded seconds are of these parameters."""
    recorded = seconds.recorded(configured.tier.root).experiments.get(configured.id)
    return recorded is not None and recorded.params == configured.params.model_dump(mode="json")


def _is_kept(root: Path, entry: str) -> bool:
    """Tells if the cache holds a network that its key finds again: whose code and libraries are those that
    are here."""
    record = store.Entry(root / store.CACHE / entry).record
    if "spec" not in record:
        return False
    try:
        symbols = list(identity.symbols(Spec.model_validate_json(json.dumps(record["spec"]))))
    except ValueError:  # a setting that is gone
        return False
    here = memo.closure_hash(*symbols), versions.of(memo.libraries(*symbols))
    return (record.get("code"), record.get("versions")) == here


def _state(configured: ConfiguredExperiment) -> str:
    try:
        if configured.has_results() and not configured.staleness():
            return "done"
    except RepriseError:  # a damaged record, which whoever reads it reports
        return "to run"
    return "on request" if configured.id in configured.tier.on_request else "to run"


def minutes(estimates: Iterable[Estimate], cores: int, drawings: int) -> float:
    """The minutes of all that is to run on so many cores, beside one GPU: no less than the longest job.

    Args:
        drawings: how many figures and tables are drawn.
    """
    remaining = [each for each in estimates if each.state == "to run"]
    on_cores = (60 * sum(each.cpu_hours for each in remaining) + DRAWING_MINUTES * drawings) / cores
    jobs = [min(each.longest.minutes, 60 * each.cpu_hours) for each in remaining if not each.longest.gpus]
    longest = max(jobs, default=0.0)
    return max(on_cores, longest, 60 * sum(each.gpu_hours for each in remaining))


def duration(minutes: float, cores: int) -> str:
    """The duration of a run, in words."""
    return f"about {_number(max(1, round(minutes)), 'minute')} on {_number(cores, 'core')}, figures included"


def missing(configured: ConfiguredExperiment) -> str:
    """The reason why an experiment cannot run here, with the remedy; empty if it can."""
    try:
        configured.experiment.check(configured.params)
    except RepriseError as error:
        return str(error)
    return ""


def missing_lines(reasons: Mapping[str, str]) -> list[str]:
    """One line for each reason, with the experiments that it concerns.

    Args:
        reasons: why each experiment cannot run, by id; empty if it can.
    """
    distinct = dict.fromkeys(reason for reason in reasons.values() if reason)
    return [
        f"missing for {', '.join(id for id in reasons if reasons[id] == reason)}: {reason}"
        for reason in distinct
    ]


def summary(estimates: Iterable[Estimate]) -> str:
    """One line on the experiments that remain to be run; those on request only are counted apart."""
    by_state: dict[str, list[Estimate]] = {"to run": [], "on request": []}
    for each in estimates:
        by_state.setdefault(each.state, []).append(each)
    shown = [state for state in ("to run", "on request") if by_state[state] or state == "to run"]
    return "; ".join(f"{state}: {_total(by_state[state])}" for state in shown)


def _total(some: Sequence[Estimate]) -> str:
    jobs = sum(each.jobs for each in some)
    cpu, gpu, disk = (
        sum(getattr(each, name) for each in some) for name in ("cpu_hours", "gpu_hours", "disk_gb")
    )
    took = f"{cpu:.1f} hours" if cpu >= 1 or not cpu else _number(math.ceil(60 * cpu), "minute")
    gpus = f", {hours(gpu)} hours of one GPU" if gpu else ""
    return (
        f"{_number(len(some), 'experiment')} in {_number(jobs, 'job')}, about {took} of one core"
        f"{gpus}, {disk:.1f} GB of cache"
    )


def hours(number: float) -> str:
    """A number of hours in words, with a decimal below 100."""
    return f"{number:,.1f}" if number < 100 else f"{number:,.0f}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
