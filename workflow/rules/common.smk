# Shared by all rules: the validated config, the requested papers, and the files of each job.

import os
import shlex
import sys

from snakemake.exceptions import WorkflowError

from reprise.execute import registry
from reprise.execute.tiers import load_tier
from reprise.errors import RepriseError
from reprise.storage.store import marker

if unknown := set(config) - {"tier", "paper", "experiments"}:
    raise WorkflowError(
        f"unknown --config key {sorted(unknown)}; allowed: tier (a file of configs/), paper"
    )


def rule_name(id):
    """The name of the rule of an experiment, a figure or table, or a paper's `KEY/claims`."""
    return id.replace("/", "_")


def own_rules(experiment):
    """The names of an experiment's rules: its own, and that of its shares."""
    return {rule_name(experiment.id), rule_name(f"{experiment.id}/share")}


try:
    TIER = load_tier(str(config.get("tier", "default")))
    PAPERS = (
        [registry.paper(str(config["paper"]))]
        if config.get("paper")
        else list(registry.papers().values())
    )
    EXPERIMENTS = [e for paper in PAPERS for e in paper.experiments.values()]
    ARTIFACTS = [a for paper in PAPERS for a in paper.artifacts.values()]
    # A job on a cluster's node needs the rule that its command line names, always an experiment's: others are local.
    if workflow.remote_exec:
        EXPERIMENTS = [e for e in EXPERIMENTS if own_rules(e) & set(sys.argv)]
        PAPERS = ARTIFACTS = []
    KEYS = {e.id: e.key(TIER.params[e.id]) for e in EXPERIMENTS}
    for experiment in EXPERIMENTS:
        experiment.check(TIER.params[experiment.id])
except RepriseError as error:
    raise WorkflowError(str(error)) from None

if config.get("experiments", TIER.overrides) != TIER.overrides:
    raise WorkflowError(
        f"overrides belong in configs/{TIER.name}.yaml, or in a config file of their own"
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


# Jobs find `reprise` beside the interpreter that runs Snakemake, also on a cluster's nodes, where no environment is
# activated.
BIN = shlex.quote(os.path.dirname(sys.executable))
shell.prefix("set -euo pipefail; export PATH={BIN}:$PATH; ")

LOGGED = "workflow/scripts/logged"


# The number of shares of each experiment's tasks, by rule name; override it in a profile or with --set-scatter.
scattergather:
    **{rule_name(e.id): 1 for e in EXPERIMENTS if e.has_tasks},


# Resources of the rules that draw, check and report.
QUICK = {"mem_mb": 1000, "runtime": 5}


def outputs(id):
    """The output files of a rule."""
    return getattr(rules, rule_name(id)).output


def tables(experiment):
    """The output files of `reprise run`, by table.

    Snakemake deletes a job's outputs before it starts, so a failing run would destroy good tables. It keeps files
    marked `update`, but after a failure it considers them finished; hence the file `done`, which is not marked. Its
    name holds the key of the code and settings, so that results of other code or settings never count.
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
    """The marker files of an experiment's shares, one job each; none for a single share, which the experiment's own
    job runs."""
    if not experiment.has_tasks:
        return []
    gathered = getattr(gather, rule_name(experiment.id))
    marks = gathered(
        f"{RESULTS}/{experiment.id}/.{KEYS[experiment.id]}.{{scatteritem}}"
    )
    return marks if len(marks) > 1 else []


def drawing(artifact):
    """The output files of `reprise draw`; the PNG of a figure also goes into Snakemake's own report."""
    key, name = artifact.id.split("/")
    stem = f"{FIGURES}/{artifact.id}"
    if artifact.kind == "table":
        return {"csv": f"{stem}.csv", "md": f"{stem}.md"}
    image = report(
        f"{stem}.png", caption="../report/artifact.rst", category=key, subcategory=name
    )
    return {"pdf": f"{stem}.pdf", "png": image}
