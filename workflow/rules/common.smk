# Shared by all rules: the validated config, the requested papers, and the files of each job.

import gc
import os
import shlex
import shutil
import socket
import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.enums import Quietness

if not find_spec("reprise"):
    raise WorkflowError(
        "Reprise runs in a clone, in its own environment: make environment && source .venv/bin/activate"
    )
LOGGED = "workflow/scripts/logged"
if not os.path.isfile(LOGGED):
    raise WorkflowError(
        f"{os.getcwd()} is not the clone; run Snakemake in the folder that holds {LOGGED}"
    )

# Searches for garbage among the modules that are imported here take a fifth of a plan.
gc.disable()

from reprise import forkserver
from reprise.contract.experiment import together
from reprise.engine import command_line, ids, registry
from reprise.engine.check import Verdicts
from reprise.engine.draw import Drawing
from reprise.engine.tiers import load_tier
from reprise.errors import RepriseError
from reprise.ledger import decide, plan
from reprise.ledger.jobs import rule_name
from reprise.ledger.recorded import recorded_names
from reprise.notices import is_verbose
from reprise.report import sealed
from reprise.report.terminal import Terminal
from reprise.storage.store import marker
from reprise.training.costs import CORES_PER_GPU

if unknown := set(config) - {
    "tier",
    "paper",
    "experiments",
    "is_test",
    "share_minutes",
    "minutes",
    "rounds",
    "attempts",
}:
    raise WorkflowError(
        f"unknown --config key {sorted(unknown)}; allowed: tier (a file of configs/), paper, share_minutes, minutes "
        "(of the target decide), rounds, attempts"
    )


def rounds_to_decide():
    """Experiment id -> up to which round the target `decide` makes further ones, as `reprise decide` first does."""
    minutes = plan.positive_minutes(
        str(config.get("minutes", decide.MINUTES)), "minutes"
    )
    cores = workflow.resource_settings.cores or 1
    finished = decide.chosen_experiments(TIER, ids.papers(WANTED))
    possible = decide.candidates(finished)
    chosen = decide.choose(possible, minutes, cores)
    lines = (
        decide.plan_lines(chosen, cores)
        if chosen
        else [decide.why_nothing(possible, minutes, cores)]
    )
    print(*lines, sep="\n", file=sys.stderr)
    return decide.last_rounds(chosen)


def own_rules(run):
    """The names of a run's rules: its own, and that of its shares."""
    return {rule_name(run), rule_name(f"{run}/share")}


def require_rules():
    """Refuses options, also of a profile, that name a rule which no paper has."""
    every = {
        **{id: each.has_tasks for id, each in registry.experiments().items()},
        **{run.name: run.experiment.has_tasks for run in RUNS},
    }
    rules = {
        "all",
        "decide",
        "report",
        *(rule_name(f"{key}/claims") for key in registry.judged()),
    }
    rules.update(*map(own_rules, every), map(rule_name, registry.artifacts()))
    cut = sorted(rule_name(name) for name, has_tasks in every.items() if has_tasks)
    resources, list_them = (
        workflow.resource_settings,
        "list them with: snakemake --list-rules",
    )
    ancient = workflow.workflow_settings.consider_ancient
    for option, names, known, there_are in (
        ("--set-threads", resources.overwrite_threads, rules, list_them),
        ("--set-resources", resources.overwrite_resources, rules, list_them),
        ("--consider-ancient", ancient, rules, list_them),
        (
            "--set-scatter",
            resources.overwrite_scatter,
            cut,
            f"there are: {', '.join(cut)}",
        ),
    ):
        command_line.require_rules(option, names, known, there_are)


try:
    TIER = load_tier(str(config.get("tier", "default")))
    if TIER.is_recorded:
        raise RepriseError(
            f"{TIER.name} is a recorded run; read it with: reprise report --tier {TIER.name}"
        )
    SHARE_MINUTES = plan.positive_minutes(
        str(config.get("share_minutes", plan.SHARE_MINUTES))
    )
    WANTED = str(config.get("paper") or "")
    PAPERS = registry.chosen(ids.papers(WANTED))
    # Those with claims, which have a rule for their verdicts.
    JUDGED = [paper for paper in PAPERS if paper.claims]
    CONFIGURED = {
        id: TIER.experiment(id) for paper in PAPERS for id in paper.experiments
    }
    ROUNDS, DECIDE = config.get("rounds"), {}
    if workflow.is_main_process and "decide" in sys.argv:
        if ROUNDS is not None:
            raise RepriseError(
                "--config rounds is not for the target decide, which chooses rounds"
            )
        ROUNDS = DECIDE = rounds_to_decide()
    elif workflow.remote_exec:  # whose rule may be of a round that the target chose
        ROUNDS = plan.every_round(CONFIGURED)
    # Of each experiment its first round, the further ones that are here or asked for, and the attempts asked for.
    RUNS = plan.runs(TIER, CONFIGURED, ROUNDS, config.get("attempts"))
    if workflow.is_main_process:  # Snakemake in a job has other arguments
        command_line.require_profile(sys.argv[1:], Path(workflow.basedir))
        require_rules()
    # A job on a cluster's node needs the rule that its command line names, which is always a run's; others are local.
    if workflow.remote_exec:
        RUNS = [run for run in RUNS if own_rules(run.name) & set(sys.argv)]
        JUDGED = []
    # Figures and tables are drawn from first rounds.
    FIRST = [run for run in RUNS if run.round == 1 and not run.attempt]
    DRAWN = [artifact for run in FIRST for artifact in run.experiment.artifacts]
    KEYS = {run.name: run.key() for run in RUNS}
    NEEDS = {run.name: run.needs() for run in RUNS}
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

# What `all` and the report hold: an experiment that runs on request, once it has results. No attempt is among it.
INCLUDED = [
    run
    for run in RUNS
    if not run.attempt
    and (run.round > 1 or run.id not in TIER.on_request or run.has_results())
]


def is_named(run):
    """Whether the command line names the run, or one of its figures or tables, by its rule or a file."""
    ids = [run.name, *(artifact.id for artifact in run.experiment.artifacts)]
    names = [name(id) for id in ids for name in (str, rule_name)]
    return any(name in word for name in names for word in sys.argv)


# What cannot run is reported before the first job.
if missing := plan.missing_lines(
    {run.id: plan.missing(run) for run in RUNS if run in INCLUDED or is_named(run)}
):
    raise WorkflowError("\n".join(missing))

gc.enable()
gc.freeze()

RESULTS = f"results/{TIER.name}"
FIGURES = f"figures/{TIER.name}"
LOGS = f"{RESULTS}/logs"


def is_running():
    """Whether this process runs jobs on this machine, and its user has not asked for more or less than is usual."""
    return (
        workflow.is_main_process
        and workflow.executor_plugin is not None
        and workflow.local_exec
        and not workflow.dryrun
        and not workflow.touch
        and not is_verbose()
        and not (
            workflow.output_settings.verbose
            or workflow.output_settings.printshellcmds
            or Quietness.ALL in workflow.output_settings.quiet
        )
    )


TERMINAL = Terminal(
    {rule_name(artifact.id): f"{LOGS}/{artifact.id}.log" for artifact in DRAWN},
    is_running,
)
for handler in logger.handlers:
    if handler.name == "DefaultStreamHandler":
        handler.filters.insert(0, TERMINAL)


def expected_minutes(estimates, cores):
    """How long the jobs take that Snakemake has chosen.

    Args:
        estimates: of each run in INCLUDED.
    """
    chosen = [
        each
        for run, each in zip(INCLUDED, estimates, strict=True)
        if own_rules(run.name) & TERMINAL.rules
    ]
    return plan.minutes(chosen, cores, TERMINAL.total)


# Jobs find `reprise` beside the interpreter that runs Snakemake, also on a cluster's nodes, where no environment is
# activated.
BIN = shlex.quote(os.path.dirname(sys.executable))
shell.prefix("set -euo pipefail; export PATH={BIN}:$PATH; ")


# The number of shares of each run's tasks, by rule name. A profile sets how long a share should take, and --set-scatter
# the number of shares of a run.
scattergather:
    **{
        rule_name(run.name): plan.shares(NEEDS[run.name], SHARE_MINUTES)
        for run in RUNS
        if run.experiment.has_tasks
    },


# Resources of the rules that draw, check, report, and join the tables of shares.
QUICK = {"mem_mb": 2000, "runtime": 10}


def resources(run):
    """The resources of a run's own job, which does all tasks unless it has shares."""
    return QUICK if shares(run) else _limits(run, _all_needs)


def share_resources(run):
    """The resources of each share of a run's tasks."""
    return _limits(run, _share_needs)


def cores(run):
    """Cores of a job that does a run's tasks; those of a GPU's job decode and augment images."""
    return max(1, CORES_PER_GPU * _all_needs(run).gpus)


def _limits(run, needs):
    """Resources by name, as functions of the rule's wildcards and the attempt. Jobs without GPUs ask for none, so that
    they run where the executor knows none."""

    def limit(name):
        return lambda wildcards, attempt: plan.limits(needs(run, wildcards), attempt)[
            name
        ]

    gpus = _all_needs(run).gpus
    limits = {name: limit(name) for name in ("mem_mb", "runtime")}
    return {**limits, "gpu": gpus} if gpus else limits


def _all_needs(run, wildcards=None):
    return together(NEEDS[run.name].values())


def _share_needs(run, wildcards):
    number, count = map(int, wildcards.scatteritem.split("-of-"))
    return plan.share_needs(NEEDS[run.name], number, count)


def outputs(id):
    """The output files of a rule that stay."""
    return [
        file for file in getattr(rules, rule_name(id)).output if str(file) not in AGAIN
    ]


def tables(run):
    """The output files of `reprise run`, by table.

    Snakemake deletes a job's outputs before it starts, so a failing run would destroy good tables. It keeps files
    marked `update`, but after a failure it considers them finished; hence the file `done`, which is not marked. Its
    name holds the key of the code and settings, so that results of other code or settings never count.
    """
    folder = f"{RESULTS}/{run.name}"
    names = {name: f"{name}.parquet" for name in run.experiment.tables}
    return {
        **{
            name: update(f"{folder}/{file}")
            for name, file in {**names, "record": "run.json"}.items()
        },
        "done": f"{folder}/{marker(KEYS[run.name])}",
    }


def shares(run):
    """The marker files of a run's shares, one job each; none for a single share, which the run's own job does."""
    if not run.experiment.has_tasks:
        return []
    gathered = getattr(gather, rule_name(run.name))
    marks = gathered(f"{RESULTS}/{run.name}/.{KEYS[run.name]}.{{scatteritem}}")
    return marks if len(marks) > 1 else []


def drawing(artifact):
    """The output files of `reprise draw`; the PNG of a figure also goes into Snakemake's own report."""
    key, name = artifact.id.split("/")
    stem = f"{FIGURES}/{artifact.id}"
    files = {ending: f"{stem}.{ending}" for ending in artifact.endings}
    if artifact.kind == "figure":
        files["png"] = report(
            files["png"],
            caption="../report/artifact.rst",
            category=key,
            subcategory=name,
        )
    return files


AGAIN = []
"""Files of `again`, which `all` asks for, too."""


def again(id, made, is_current):
    """A further output of a rule whose files are here but not made from the tables and verdicts that are here. It is
    missing, so that the rule runs, also where Snakemake, which compares dates, would take it for finished, as tables
    may be older, after `cp -p`, or files edited.
    """
    if not workflow.is_main_process or not os.path.exists(made):
        return []
    try:
        if is_current():
            return []
    except RepriseError:
        pass  # what is damaged is reported by the job that reads it
    file = f"{RESULTS}/.again/{id}"
    Path(file).unlink(missing_ok=True)
    AGAIN.append(file)
    return [touch(file)]


def record_host():
    """Writes which machine holds the locks of this folder, for workflow/scripts/unlock."""
    with open(".snakemake/host", "w", encoding="utf-8") as file:
        file.write(f"{socket.gethostname()}\n")


def start_server():
    """Starts the server that runs this machine's jobs in forks."""
    path_of_jobs = [os.path.dirname(sys.executable), *os.get_exec_path()]
    forkserver.start(os.pathsep.join(path_of_jobs))


def check_accounting():
    """Stops a run on a Slurm whose `sacct` fails, where Snakemake would wait forever for its first job."""
    asked = getattr(workflow.executor_settings, "status_command", None)
    if asked != "sacct" or not shutil.which("sacct"):
        return
    sacct = subprocess.run(["sacct", "--noheader"], capture_output=True, text=True)
    if sacct.returncode:
        raise WorkflowError(
            f"sacct fails, so that no job's end would be seen: {sacct.stderr.strip()}. If this Slurm keeps no accounts, "
            "add `slurm-status-command: squeue` to workflow/profiles/slurm/config.yaml"
        )
