"""Trains FroSSL with each embedding dimension and each batch size."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.papers.skean2024 import observations
from reprise.papers.skean2024.observations import perform
from reprise.papers.skean2024.projector_and_batch.experiment import Params, tasks


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Table `probes`: final linear probes, at each `dim` and each `batch`."""
    results = context.results(perform, params, tasks(params, context.objective))
    numbers = observations.numbers(results.values())
    return {"probes": observations.probe_table(numbers)}
