# What the rules share: the checked config, and the file names and hashes that belong to an experiment or artifact.

import json
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
        [registry.paper(str(config["paper"])).key]
        if config.get("paper")
        else list(registry.papers())
    )
    CODE = {id: e.code(TIER.params[id]) for id, e in registry.experiments().items()}
    KEYS = {id: e.key(TIER.params[id]) for id, e in registry.experiments().items()}
    for id, experiment in registry.experiments().items():
        if experiment.paper in PAPERS:
            experiment.check(TIER.params[id])
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
LOGS = f"results/{TIER.name}/logs"
BENCHMARKS = f"results/{TIER.name}/benchmarks"


def tables(id):
    """The files that `reprise run` makes, by table.

    Snakemake deletes a job's outputs before it starts: good tables would be lost to a run that then fails. Those
    marked `update` it leaves, but after a failure it takes them for finished: hence `done`, which is not marked,
    and whose name stands for the code and the settings, so that results of others never count as these.
    """
    names = {
        name: f"{RESULTS}/{id}/{name}.parquet"
        for name in registry.experiment(id).tables
    }
    files = {**names, "record": f"{RESULTS}/{id}/run.json"}
    return {
        **{name: update(file) for name, file in files.items()},
        "done": f"{RESULTS}/{id}/{marker(KEYS[id])}",
    }


def settings(id):
    """What an experiment's tables depend on: an edit of either reruns it."""
    return {
        "code": CODE[id],
        "settings": json.dumps(TIER.params[id].model_dump(mode="json")),
    }


def drawing(id):
    """The files that `reprise draw` makes of a figure; the PNG goes into Snakemake's own report too."""
    key, name = id.split("/")
    stem = f"{FIGURES}/{id}"
    picture = report(
        f"{stem}.png", caption="../report/artifact.rst", category=key, subcategory=name
    )
    return {"pdf": f"{stem}.pdf", "png": picture}


def listing(id):
    """The files that `reprise draw` makes of a table."""
    return {ending: f"{FIGURES}/{id}.{ending}" for ending in ("csv", "md")}


def look(id):
    """What a figure or table depends on beside its results, and its caption."""
    artifact = registry.artifact(id)
    return {
        "code": registry.artifact_code(id),
        "number": artifact.number,
        "caption": artifact.caption,
    }


def published(key):
    """The numbers that a paper prints, as a file, for the claims about them; by a name that moves with the checkout."""
    return os.path.relpath(
        f"{os.path.dirname(registry.__file__)}/papers/{key}/published.csv"
    )
