"""Trains FroSSL with each embedding dimension and each batch size."""

import pandas as pd

from reprise.papers.skean2024 import nets, observations
from reprise.papers.skean2024.projector_and_batch.params import Params
from reprise.study.experiment import Context, Task


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Table `probes`: final linear probes, at each `dim` and each `batch`."""
    numbers = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    return {"probes": observations.probe_table(numbers)}


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per run."""
    plan = nets.Plan(params.steps, probed=(params.data_set,))
    source = nets.source(params, params.data_set)
    base = nets.grid(params, ["frossl"], [params.learning_rate], params.data_set)
    runs = [run._replace(dim=dim) for dim in params.dims for run in base]
    runs += [run._replace(batch=batch) for batch in params.batches for run in base]
    return observations.tasks(params, plan, list(dict.fromkeys([*base, *runs])), source, context)
