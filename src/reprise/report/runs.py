"""How the results were made: commands, durations, commit, versions, hardware."""

from collections.abc import Iterable, Mapping
from typing import Any

from reprise.engine import pipeline, registry
from reprise.engine.tiers import Tier
from reprise.ledger import costs
from reprise.report.schema import Run


def runs(tier: Tier, ids: Iterable[str] | None = None) -> dict[str, Run]:
    """How experiments were run, by id, of those whose results are up to date.

    Args:
        ids: of all experiments, if not given.

    Raises:
        RepriseError: if a record or a benchmark file is damaged.
    """
    asked = registry.experiments() if ids is None else ids
    finished = [id for id in asked if pipeline.has_results(id, tier)]
    return {id: _run(tier, id) for id in finished if not pipeline.staleness(id, tier)}


def _run(tier: Tier, id: str) -> Run:
    record = pipeline.load_record(id, tier)
    seconds = costs.seconds_of_run(tier, id) or record["duration_seconds"]
    return Run(experiment=id, command=record["command"], minutes=seconds / 60, facts=_facts(record))


def minutes(tier: Tier, key: str, fresh: Mapping[str, Run]) -> float | None:
    """What a paper's jobs took, drawings and verdicts among them; None if nothing has run."""
    own = [run.minutes for id, run in fresh.items() if id.startswith(f"{key}/")]
    return sum(own) + costs.of_reading(tier, key).wall_seconds / 60 if own else None


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


def shared(runs: Iterable[Run]) -> dict[str, str]:
    """The facts shared by all runs that have them; not every run loads every library."""
    facts: dict[str, set[str]] = {}
    for run in runs:
        for name, text in run.facts.items():
            facts.setdefault(name, set()).add(text)
    return {name: texts.pop() for name, texts in facts.items() if len(texts) == 1}
