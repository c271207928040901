"""Trains FroSSL with each embedding dimension and each batch size."""

import pandas as pd

from reprise.contract.experiment import Context, Task
from reprise.papers.skean2024 import observations
from reprise.papers.skean2024.projector_and_batch.experiment import Params, plan, runs, source


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Table `probes`: final linear probes, at each `dim` and each `batch`."""
    numbers = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    return {"probes": observations.probe_table(numbers)}


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per run."""
    return observations.tasks(params, plan(params), runs(params, context.objective), source(params), context)
