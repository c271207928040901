# What the rules share: the checked config, what it asks for, and the files of a job.

import os

from snakemake.exceptions import WorkflowError

from reprise import registry
from reprise.config import load_tier
from reprise.errors import RepriseError
from reprise.store import marker

if unknown := set(config) - {"tier", "paper", "experiments"}:
    raise WorkflowError(
        f"unknown --config key {sorted(unknown)}; allowed: tier (a file of configs/), paper"
    )

try:
    TIER = load_tier(str(config.get("tier", "default")))
    PAPERS = (
        [registry.paper(str(config["paper"]))]
        if config.get("paper")
        else list(registry.papers().values())
    )
    EXPERIMENTS = [e for paper in PAPERS for e in paper.experiments.values()]
    ARTIFACTS = [a for paper in PAPERS for a in paper.artifacts.values()]
    KEYS = {e.id: e.key(TIER.params[e.id]) for e in EXPERIMENTS}
    for experiment in EXPERIMENTS:
        experiment.check(TIER.params[experiment.id])
except RepriseError as error:
    raise WorkflowError(str(error)) from None

if config.get("experiments", TIER.overrides) != TIER.overrides:
    raise WorkflowError(
        f"overrides belong into configs/{TIER.name}.yaml, or into a file of their own beside it"
    )

for folder in ("results", "figures"):
    if os.path.lexists(folder) and not (
        os.path.isdir(folder) and os.access(folder, os.W_OK)
    ):
        raise WorkflowError(
            f"{os.path.abspath(folder)}: not a folder that can be written to; results/ and figures/ must be"
        )

RESULTS = f"results/{TIER.name}"
FIGURES = f"figures/{TIER.name}"
LOGS = f"{RESULTS}/logs"
BENCHMARKS = f"{RESULTS}/benchmarks"
# Of a drawing, of verdicts, of the report.
QUICK = {"mem_mb": 1000, "runtime": 5}


def rule_name(id):
    """The rule of an experiment, a figure or table, or a paper's `KEY/claims`."""
    return id.replace("/", "_")


def outputs(id):
    """The files that the rule makes."""
    return getattr(rules, rule_name(id)).output


def tables(experiment):
    """The files that `reprise run` makes, by table.

    Snakemake deletes a job's outputs before it starts: good tables would be lost to a run that then fails. Those
    marked `update` it leaves, but after a failure it takes them for finished: hence `done`, which is not marked.
    Its name stands for the code and the settings: results of others never count as these.
    """
    folder = f"{RESULTS}/{experiment.id}"
    names = {name: f"{name}.parquet" for name in experiment.tables}
    return {
        **{
            name: update(f"{folder}/{file}")
            for name, file in {**names, "record": "run.json"}.items()
        },
        "done": f"{folder}/{marker(KEYS[experiment.id])}",
    }


def drawing(artifact):
    """The files that `reprise draw` makes; the PNG of a figure goes into Snakemake's own report too."""
    key, name = artifact.id.split("/")
    stem = f"{FIGURES}/{artifact.id}"
    if artifact.kind == "table":
        return {"csv": f"{stem}.csv", "md": f"{stem}.md"}
    picture = report(
        f"{stem}.png", caption="../report/artifact.rst", category=key, subcategory=name
    )
    return {"pdf": f"{stem}.pdf", "png": picture}
