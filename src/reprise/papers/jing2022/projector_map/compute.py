"""Trains and measures the networks of every point of the map; those of the base point belong to every
factor."""

from typing import Any

import pandas as pd

from reprise.contract.experiment import Context, Progress
from reprise.papers.jing2022.image_nets import start, trained
from reprise.papers.jing2022.image_settings import OTHER_LABELS
from reprise.papers.jing2022.projector_map.experiment import Params
from reprise.papers.jing2022.projector_map.grid import START, Network, networks
from reprise.training.image_settings import Source


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables, for every `factor`, `value_of_factor`, `net` and seed:

    `spectra`: ln of the `index`-th singular value of the covariance of the representations as unit vectors,
    also for the network before training (`start`).
    `probes`: top-1 accuracy in % of a linear probe for the data set's labels and any others, and the same
    before training, `initial`.
    """
    declared, rows = networks(params)
    measured = context.results(perform, params, declared.values())
    return _tables(
        [
            measured[declared[key]].assign(
                net=net, seed=seed, factor=point.factor, value_of_factor=point.value, base=point.base
            )
            for point, net, seed, key in rows
        ]
    )


def perform(params: Params, task: Network, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a network, trained or initial."""
    sets = [name for name in (params.data_set, OTHER_LABELS.get(params.data_set)) if name]
    loaded = {name: Source(name=name, root=params.root).load() for name in sets}
    labels = {name: (data.labels, data.test_labels) for name, data in loaded.items()}
    measured: tuple[Any, ...] = task.seed, labels, context.root, {}
    if task.net == START:
        return start(task.settings, *measured, progress=progress)
    return trained(task.settings, task.net, *measured, progress=progress)


def _tables(measured: list[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    rows = pd.concat(measured, ignore_index=True).drop_duplicates()
    spectra = rows[rows["what"] == "representation"].astype({"index": int})
    probes = rows[rows["what"] == "probe"]
    keys = ["factor", "value_of_factor", "base", "seed"]
    at_start = probes["net"] == START
    initial = probes[at_start].rename(columns={"value": "initial"})[[*keys, "labels", "initial"]]
    with_initial = probes[~at_start].merge(initial, on=[*keys, "labels"], how="left", validate="many_to_one")
    return {
        "spectra": spectra.rename(columns={"value": "log_value"})[[*keys, "net", "index", "log_value"]],
        "probes": with_initial.rename(columns={"value": "accuracy"})[
            [*keys, "net", "labels", "accuracy", "initial"]
        ],
    }
