"""Trains both methods with an online probe, and probes them at the end."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.papers.skean2024 import observations
from reprise.papers.skean2024.early_lead.experiment import EPOCHS, Params, epochs_between_looks, tasks
from reprise.papers.skean2024.observations import perform


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables of accuracies in %: `online`, the online probe at regular epochs; `probes`, the final linear
    probes."""
    results = context.results(perform, params, tasks(params, context.objective))
    numbers = observations.numbers(results.values())
    interval = epochs_between_looks(params)
    epochs = range(interval, EPOCHS + 1, interval)
    steps = range(params.probe_every, params.steps + 1, params.probe_every)
    looks = pd.DataFrame({"epoch": epochs, "step": steps})
    return {
        "online": observations.online_table(numbers, looks).assign(data_set=params.data_set),
        "probes": observations.probe_table(numbers),
    }
