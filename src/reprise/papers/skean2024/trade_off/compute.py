"""Trains FroSSL with each invariance weight."""

import pandas as pd

from reprise.papers.skean2024 import observations
from reprise.papers.skean2024.trade_off.params import Params, plan, runs, source, weights
from reprise.study.experiment import Context, Task


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Table `probes`: final linear probes, at each learning rate and invariance `weight`."""
    numbers = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    probes = observations.probe_table(numbers)
    return {"probes": probes.assign(weight=probes["method"].map(weights(params)))}


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per run."""
    return observations.tasks(params, plan(params), runs(params, context.objective), source(params), context)
