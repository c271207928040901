"""Trains FroSSL with each weight on its invariance."""

import pandas as pd

from reprise.experiment import Context
from reprise.papers.skean2024 import nets, observations
from reprise.papers.skean2024.lineup import weighted
from reprise.papers.skean2024.trade_off.params import Params


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`probes`: linear probes of the end, at each learning rate and `weight` of the invariance."""
    plan = nets.Plan(params.steps, probed=(params.data_set,))
    loaded = nets.sets(params, params.data_set, plan.probed)
    names = {weighted("frossl", weight): weight for weight in params.weights}
    runs = nets.grid(params, list(names), params.learning_rates, params.data_set)
    probes = observations.probe_table(observations.observed(params, plan, runs, loaded, context))
    return {"probes": probes.assign(weight=probes["method"].map(names))}
