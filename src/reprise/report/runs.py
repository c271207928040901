"""Provenance of the results: commands, durations, commit, versions, hardware."""

from collections.abc import Iterable, Mapping
from typing import Any

from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.engine.registry import Paper
from reprise.ledger import costs
from reprise.report.schema import Provenance


def runs(tier: Tier, ids: Iterable[str] | None = None) -> dict[str, Provenance]:
    """Provenance of the experiments whose results are up to date, by id.

    Args:
        ids: the experiments; by default, all.

    Raises:
        RepriseError: if a record or a benchmark file is damaged.
    """
    asked = tier.experiments().values() if ids is None else map(tier.experiment, ids)
    return {each.id: _run(each) for each in asked if each.has_results() and not each.staleness()}


def _run(configured: ConfiguredExperiment) -> Provenance:
    record = configured.record()
    seconds = costs.seconds_of_run(configured) or record["duration_seconds"]
    return Provenance(
        experiment=configured.id, command=record["command"], minutes=seconds / 60, facts=_facts(record)
    )


def minutes(paper: Paper, tier: Tier, fresh: Mapping[str, Provenance]) -> float | None:
    """Wall time of a paper's jobs, drawings and verdicts among them, in minutes; None if nothing has run."""
    own = [fresh[id].minutes for id in paper.experiments if id in fresh]
    return sum(own) + costs.of_reading(paper, tier).wall_seconds / 60 if own else None


def _facts(record: Mapping[str, Any]) -> dict[str, str]:
    hardware, problem = record["hardware"], record.get("commit_problem", "")
    return {
        "commit": record["commit"] + f" ({problem})" * bool(problem),
        "Python": record["python"],
        "versions": ", ".join(f"{name} {version}" for name, version in record["versions"].items()),
        "hardware": f"{hardware['processor']}, {hardware['cores']} cores, "
        f"{hardware['memory_gib']} GiB, {hardware['system']}",
        **({"not finite": ", ".join(record["not_finite"])} if record.get("not_finite") else {}),
        **({"GPUs": ", ".join(hardware["gpus"])} if "gpus" in hardware else {}),
        **_arithmetic(record),
    }


def _arithmetic(record: Mapping[str, Any]) -> dict[str, str]:
    """The facts on which the last bits depend; empty for results of versions that did not record them."""
    if not record.get("arithmetic"):
        return {}
    libraries, variables = record["arithmetic"]["libraries"], record["arithmetic"]["variables"]
    kernels: dict[str, set[str]] = {}
    for library in libraries:
        if words := [word for word in (library["version"], library["kernel"]) if word]:
            kernels.setdefault(library["name"], set()).add(" ".join(words))
    return {
        **{f"kernels of {name}": ", ".join(sorted(kernel_names)) for name, kernel_names in kernels.items()},
        "threads": ", ".join(sorted({str(library["threads"]) for library in libraries})),
        "variables": " ".join(f"{name}={value}" for name, value in variables.items()),
    }


def shared(runs: Iterable[Provenance]) -> dict[str, str]:
    """The facts shared by all runs that have them; not every run loads every library."""
    facts: dict[str, set[str]] = {}
    for run in runs:
        for name, text in run.facts.items():
            facts.setdefault(name, set()).add(text)
    return {name: texts.pop() for name, texts in facts.items() if len(texts) == 1}
