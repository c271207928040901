"""Trains every method on every set of images, at the learning rate that its pilots choose."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.datasets.catalogue import images_of
from reprise.papers.skean2024 import observations
from reprise.papers.skean2024.linear_probes.experiment import Params, tasks
from reprise.papers.skean2024.lineup import EPOCHS
from reprise.papers.skean2024.observations import perform


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables of accuracies in %: `probes`, the final linear probes of each run; `online`, the online probe
    at each of its tests, NaN after a divergence; `pilots`, what chose the learning rates."""
    results = context.results(perform, params, tasks(params, context.objective))
    numbers = observations.numbers(results.values())
    probes = observations.probe_table(numbers)
    positions = {name: position for position, name in enumerate(params.data_sets)}
    return {
        "probes": probes.assign(place=probes["data_set"].map(positions)),
        "online": online(params, numbers),
        "pilots": observations.pilot_table(numbers),
    }


def online(params: Params, numbers: pd.DataFrame) -> pd.DataFrame:
    """One row per run and test of the online probe; `epoch` is Table 3's, NaN between them."""
    images = images_of(params.online)
    steps = params.steps[params.data_sets.index(params.online)]
    looks = pd.DataFrame({"step": range(params.probe_every, steps + 1, params.probe_every)})
    looks["epoch"] = looks["step"].map(dict(zip(params.looks, EPOCHS, strict=True)))
    return observations.online_table(numbers[numbers["images"] == images], looks).assign(
        data_set=params.online
    )
