"""Trains FroSSL with each invariance weight."""

import pandas as pd

from reprise.papers.skean2024 import nets, observations
from reprise.papers.skean2024.lineup import weighted
from reprise.papers.skean2024.trade_off.params import Params
from reprise.study.experiment import Context, Task


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Table `probes`: final linear probes, at each learning rate and invariance `weight`."""
    numbers = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    probes = observations.probe_table(numbers)
    return {"probes": probes.assign(weight=probes["method"].map(_weights(params)))}


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per run."""
    plan = nets.Plan(params.steps, probed=(params.data_set,))
    source = nets.source(params, params.data_set)
    runs = nets.grid(params, list(_weights(params)), params.learning_rates, params.data_set)
    return observations.tasks(params, plan, runs, source, context)


def _weights(params: Params) -> dict[str, float]:
    """The invariance weight of each method."""
    return {weighted("frossl", weight): weight for weight in params.weights}
