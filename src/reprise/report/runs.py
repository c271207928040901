"""How the results were made: commands, durations, commit, versions, hardware."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.errors import RepriseError
from reprise.execute import pipeline, registry
from reprise.execute.tiers import Tier
from reprise.report.schema import Run
from reprise.storage import store


def runs(tier: Tier) -> dict[str, Run]:
    """How each experiment was run, by id, for experiments whose results are up to date.

    Raises:
        RepriseError: if a record is damaged.
    """
    ids = [id for id in registry.experiments() if pipeline.has_results(id, tier)]
    return {id: _run(tier, id) for id in ids if not pipeline.staleness(id, tier)}


def _run(tier: Tier, id: str) -> Run:
    folder, again = tier.results / id, pipeline.how_to_make(id, tier)
    record = store.load_record(folder, again)
    measured = _benchmarks(tier, id)
    try:
        recorded = float(record["duration_seconds"]) / 60
        return Run(
            experiment=id,
            command=record["command"],
            minutes=recorded if measured is None else measured,
            facts=_facts(record),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RepriseError(
            f"{folder / store.RECORD}: damaged, lacks a readable {error}; make it again with: {again}"
        ) from None


def minutes(tier: Tier, key: str, fresh: Mapping[str, Run]) -> float | None:
    """What a paper's jobs took, drawings and verdicts among them; None if nothing has run."""
    measured = _benchmarks(tier, key)
    own = [run.minutes for id, run in fresh.items() if id.startswith(f"{key}/")]
    if not own:
        return None
    return sum(own) if measured is None else measured


def _benchmarks(tier: Tier, id: str) -> float | None:
    """The minutes of the jobs of an experiment and its shares, or of a paper, as Snakemake measured them;
    None if it did not run them.

    Raises:
        RepriseError: if one of its files is damaged.
    """
    place = tier.results / "benchmarks" / id
    patterns = (f"{place.name}.tsv", f"{place.name}.*-of-*.tsv", f"{place.name}/*.tsv")
    files = sorted(file for pattern in patterns for file in place.parent.glob(pattern))
    return sum(map(_seconds, files)) / 60 if files else None


def _seconds(file: Path) -> float:
    try:
        return float(pd.read_csv(file, sep="\t")["s"].iloc[-1])
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise RepriseError(f"{file}: damaged, not a benchmark of Snakemake ({error}); remove it") from None


def _facts(record: Mapping[str, Any]) -> dict[str, str]:
    hardware = record["hardware"]
    return {
        "commit": record["commit"],
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
    if "arithmetic" not in record:
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
