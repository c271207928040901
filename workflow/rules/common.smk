# What the rules share: the checked config, what it asks for, and the files of a job.

import os

from snakemake.exceptions import WorkflowError

from reprise.execute import registry
from reprise.execute.tiers import load_tier
from reprise.errors import RepriseError
from reprise.storage.store import marker

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


def rule_name(id):
    """The rule of an experiment, a figure or table, or a paper's `KEY/claims`."""
    return id.replace("/", "_")


# Into how many shares an experiment's tasks are cut, by the name of its rule: a profile or --set-scatter says more.
scattergather:
    **{rule_name(e.id): 1 for e in EXPERIMENTS if e.has_tasks},


# Of a drawing, of verdicts, of the report.
QUICK = {"mem_mb": 1000, "runtime": 5}


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


def shares(experiment):
    """The marks of an experiment's shares, a job each; none where there is one share, which is the experiment's own
    job."""
    if not experiment.has_tasks:
        return []
    gathered = getattr(gather, rule_name(experiment.id))
    marks = gathered(
        f"{RESULTS}/{experiment.id}/.{KEYS[experiment.id]}.{{scatteritem}}"
    )
    return marks if len(marks) > 1 else []


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
