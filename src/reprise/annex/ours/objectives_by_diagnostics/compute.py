"""Trains every objective on every task, at the learning rate that its pilots choose, and measures it."""

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from reprise import objectives
from reprise.annex.diagnose.trained import LAYERS, held_out_accuracy, of_student, probe_of_images
from reprise.annex.ours.objectives_by_diagnostics import toy as toys
from reprise.annex.ours.objectives_by_diagnostics.experiment import (
    ImageRun,
    Params,
    Pilot,
    Task,
    ToyRun,
    pilots,
    spec,
    tasks,
)
from reprise.annex.ours.objectives_by_diagnostics.images import rendered, views_of
from reprise.annex.ours.objectives_by_diagnostics.lineup import TOYS, UNTRAINED, Place, method
from reprise.contract.experiment import Context, Progress
from reprise.datasets.catalogue import DATA_SETS
from reprise.training.images import Data, assemble
from reprise.training.methods import Student
from reprise.training.models import model
from reprise.training.objective import OfEmbeddings
from reprise.training.pilots import PILOT_SEED, chosen

TOY_LOSSES: Mapping[str, objectives.Objective] = {
    "esser-contrastive": toys.contrastive,
    "esser-non-contrastive": toys.non_contrastive,
}
"""The losses of `lineup.TOYS`."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables:

    `diagnostics`: for each `task` (a data set, or a toy network), `objective`, `place` (its first or other
    setting), `layer`, `diagnostic` and seed, the `estimate` and the `share`, the estimate over what the
    diagnostic's scale divides by. Of a network that diverged there is the linear probe alone, which is NaN.
    `probes`: for each data set, objective, place and seed, the `accuracy` in % of a linear probe of images
    without augmentation; NaN for a network that diverged.
    `pilots`: for each task, objective, place and learning rate, the accuracy that chose, NaN where the pilot
    diverged.
    """
    results = context.results(perform, params, tasks(params, context.objective))
    rows = pd.concat(results.values(), ignore_index=True)
    rates, probes, nets = (rows[rows["what"] == what] for what in ("pilot", "probe", "diagnostic"))
    columns = ["task", "objective", "place", "learning_rate"]
    measured = nets.rename(columns={"value": "estimate"}).astype({"seed": int})
    return {
        "diagnostics": measured[[*columns, "layer", "diagnostic", "seed", "estimate", "share"]],
        "probes": probes.rename(columns={"value": "accuracy"}).astype({"seed": int})[
            [*columns, "seed", "accuracy"]
        ],
        "pilots": rates.rename(columns={"value": "accuracy"})[[*columns, "accuracy"]],
    }


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""
    match task:
        case Pilot():
            return _pilot(params, context, task, progress)
        case ImageRun():
            return _network(params, context, task, progress)
        case ToyRun():
            return _toy(params, task)


def _rate(params: Params, context: Context, run: ImageRun) -> float:
    """The learning rate of a network, which its pilots choose."""
    if run.method == UNTRAINED:
        return params.learning_rates[0]
    tables = context.results(perform, params, pilots(params, run.method, run.place))
    return chosen({pilot.rate: float(table["value"].iloc[0]) for pilot, table in tables.items()})


def _pilot(params: Params, context: Context, pilot: Pilot, progress: Progress) -> pd.DataFrame:
    name, place, rate = pilot
    run = ImageRun(params.data_sets[0], name, place, PILOT_SEED)
    student, data = _student(params, context, run, rate, params.pilot_steps, progress)
    normalisation = DATA_SETS[run.images].normalisation
    accuracy = math.nan if student is None else held_out_accuracy(student, data, normalisation)
    return pd.DataFrame([{**_columns(run.images, name, place, rate), "what": "pilot", "value": accuracy}])


def _network(params: Params, context: Context, run: ImageRun, progress: Progress) -> pd.DataFrame:
    rate = _rate(params, context, run)
    student, data = _student(params, context, run, rate, params.steps, progress)
    views = views_of(run.images, params.size, params.images, params.test_images)
    rows = _diverged() if student is None else of_student(student, views, data.test_labels)
    normalisation = DATA_SETS[run.images].normalisation
    accuracy = math.nan if student is None else 100 * probe_of_images(student, data, normalisation)
    columns = {**_columns(run.images, run.method, run.place, rate), "what": "diagnostic", "seed": run.seed}
    probe = {**columns, "what": "probe", "value": accuracy}
    return pd.DataFrame([probe, *({**columns, **row} for row in rows)])


def _student(
    params: Params, context: Context, run: ImageRun, rate: float, steps: int, progress: Progress
) -> tuple[Student | None, Data]:
    """A network in evaluation mode, from the cache or trained now; None if it diverged."""
    data = rendered(run.images, params.size, params.images, params.test_images)
    net_spec = spec(params, run, rate, steps)
    if not net_spec.steps:
        return assemble(net_spec, data.channels).student.eval(), data
    trained = model(net_spec, data, context.root, progress)
    return (None if trained.diverged is not None else trained.method.student), data


def _toy(params: Params, run: ToyRun) -> pd.DataFrame:
    columns, rows = _columns(run.toy, run.method, run.place, math.nan), []
    seeds, orthonormal = list(params.seed_range(params.seeds)), run.method in TOYS
    loss: objectives.Objective = toys.non_contrastive
    rate, steps = params.toy_rates[0], 0
    if run.method != UNTRAINED:
        loss, steps = _loss(run), params.toy_steps
        accuracies = {each: toys.pilot(params, run.toy, loss, each, orthonormal) for each in params.toy_rates}
        rows += [
            {**columns, "what": "pilot", "learning_rate": each, "value": accuracy}
            for each, accuracy in accuracies.items()
        ]
        rate = chosen(accuracies)
    weights = toys.descended(params, run.toy, loss, seeds, rate, steps, orthonormal)
    measured = (
        toys.measured(params, run.toy, weights)
        if weights is not None
        else ({"seed": seed, **row} for seed in seeds for row in _diverged())
    )
    columns |= {"what": "diagnostic", "learning_rate": rate}
    return pd.DataFrame([*rows, *({**columns, **row} for row in measured)])


def _loss(run: ToyRun) -> objectives.Objective:
    """The objective in its setting; another loss by its name."""
    if run.method in TOY_LOSSES:
        return TOY_LOSSES[run.method]
    objective = method(run.method).at(run.place)
    assert isinstance(objective, OfEmbeddings)
    return objective.function()


def _columns(task: str, name: str, place: Place, rate: float) -> dict[str, object]:
    return {"task": task, "objective": name, "place": place, "learning_rate": rate}


def _diverged() -> Iterator[dict[str, object]]:
    """The rows of a network that diverged."""
    for layer in LAYERS:
        yield {"layer": layer, "diagnostic": "linear probe", "value": math.nan, "share": math.nan}
