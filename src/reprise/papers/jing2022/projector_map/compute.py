"""Trains and measures the networks of every point of the map; those of the base point belong to every
factor."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.papers.jing2022.image_nets import perform
from reprise.papers.jing2022.projector_map.experiment import Params
from reprise.papers.jing2022.projector_map.grid import START, networks


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


def _tables(measured: list[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    rows = pd.concat(measured, ignore_index=True).drop_duplicates()
    spectra = rows[rows["what"] == "representation"].astype({"index": int})
    probes = rows[rows["what"] == "top1"]
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
