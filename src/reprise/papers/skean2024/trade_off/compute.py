"""Trains FroSSL with each invariance weight."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.papers.skean2024 import observations
from reprise.papers.skean2024.observations import perform
from reprise.papers.skean2024.trade_off.experiment import Params, tasks, weights


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `probes`, final linear probes at each invariance `weight`; `pilots`, what chose their learning
    rates."""
    results = context.results(perform, params, tasks(params, context.objective))
    numbers = observations.numbers(results.values())
    tables = {"probes": observations.probe_table(numbers), "pilots": observations.pilot_table(numbers)}
    return {name: table.assign(weight=table["method"].map(weights(params))) for name, table in tables.items()}
