"""Trains both methods with an online probe, and probes them at the end."""

import pandas as pd

from reprise.papers.skean2024 import nets, observations
from reprise.papers.skean2024.early_lead.params import EPOCHS, PAIR, Params
from reprise.study.experiment import Context, Task


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables of accuracies in %: `online`, the online probe at regular epochs; `probes`, the final linear
    probes."""
    numbers = pd.concat(context.results(tasks(params, context)), ignore_index=True)
    epochs = range(params.probe_every, EPOCHS + 1, params.probe_every)
    interval = _steps_between_looks(params)
    looks = pd.DataFrame({"epoch": epochs, "step": range(interval, params.steps + 1, interval)})
    return {
        "online": observations.online_table(numbers, looks).assign(data_set=params.data_set),
        "probes": observations.probe_table(numbers),
    }


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per run."""
    plan = nets.Plan(params.steps, probe_every=_steps_between_looks(params), probed=(params.data_set,))
    source = nets.source(params, params.data_set, params.online_images)
    methods = [context.objective] if context.objective else PAIR
    runs = nets.grid(params, methods, params.learning_rates, params.data_set)
    return observations.tasks(params, plan, runs, source, context)


def _steps_between_looks(params: Params) -> int:
    return params.steps * params.probe_every // EPOCHS
