"""Trains the nets of Table 1, Section 6.3 and Figure 10, and measures each and what it started from."""

import pandas as pd

from reprise.experiment import Context
from reprise.papers.jing2022.image_nets import trained, untrained
from reprise.papers.jing2022.image_settings import NETS, OTHER_LABELS, PARTS
from reprise.papers.jing2022.projector_spectra.params import Params
from reprise.training.models import data_set

START = {"identity": "start", "none": "start, no shortcut"}
"""The net before training, by the shortcut around its last block."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """`spectra`: ln of the `index`-th singular value of the covariance of unit vectors, of the representation
    and of the embedding; `probes`: top-1 accuracy in % of a linear probe on parts of the representation, and
    the same before training, `initial`."""
    data = data_set(params.data_set, params.root)
    name = params.data_set if params.labels == "own" else OTHER_LABELS[params.data_set]
    of = data if params.labels == "own" else data_set(name, params.root)
    labels = {name: (of.labels, of.test_labels)}
    without = params.model_copy(update={"last_shortcut": "none"})

    keys, parts = [], []
    for seed in range(params.seeds):
        for shortcut, training in (("identity", params), ("none", without)):
            keys.append((START[shortcut], shortcut, seed))
            parts.append(untrained(f"{START[shortcut]}/{seed}", training, seed, data, labels, PARTS))
        for net in NETS:
            probed = PARTS if net == "directclr" else PARTS[:1]
            keys.append((net, "identity", seed))
            parts.append(trained(f"{net}/{seed}", params, net, seed, data, labels, context.root, probed))
        name = "directclr, no shortcut"
        keys.append((name, "none", seed))
        parts.append(trained(f"{name}/{seed}", without, "directclr", seed, data, labels, context.root, PARTS))
    tables = [
        table.assign(net=net, shortcut=shortcut, seed=seed)
        for table, (net, shortcut, seed) in zip(context.keep(parts), keys, strict=True)
    ]
    return split(pd.concat(tables, ignore_index=True))


def split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Of all that was measured, the spectra and the probes, each of these beside its start."""
    probes = rows[rows["what"] == "probe"].rename(columns={"value": "accuracy"})
    place = ["shortcut", "seed", "labels", "part"]
    start = probes["net"].isin(START.values())
    initial = probes[start].rename(columns={"accuracy": "initial"})[[*place, "initial"]]
    beside = probes[~start].merge(initial, on=place, how="left", validate="many_to_one")
    spectra = rows[rows["what"] != "probe"].astype({"index": int})
    return {
        "spectra": spectra[["net", "seed", "what", "index", "value"]].rename(columns={"value": "log_value"}),
        "probes": beside[["net", "seed", "labels", "part", "accuracy", "initial"]],
    }
