"""Tables in which every claim of this room holds, whatever the settings leave out."""

from itertools import product

import numpy as np
import pandas as pd

from reprise.evidence.learning import PIXELS
from reprise.papers.skean2024.linear_probes.claims import name_of
from reprise.papers.skean2024.linear_probes.experiment import Params
from reprise.papers.skean2024.lineup import EPOCHS, METHODS
from reprise.papers.skean2024.published import DATA_SETS, accuracies, numbers

START = 10.0
LEAD = 1.5
"""Percentage points that FroSSL is above what Table 3 prints, and others below."""


def ideal(params: Params) -> dict[str, pd.DataFrame]:
    """The accuracies as printed, FroSSL's in training further ahead. CorInfoMax learns nothing on STL-10."""
    rng = np.random.default_rng(0)
    seeds = params.seed_range(params.seeds)
    ends, online = (accuracies(numbers(), artifact) for artifact in ("Table 2", "Table 3"))
    probes = pd.DataFrame(
        [
            (method, seed, place, name_of(column), ends[column].get(printed_as(method), START))
            for method, (place, column), seed in product(METHODS, enumerate(DATA_SETS), seeds)
        ],
        columns=["method", "seed", "place", "data_set", "top1"],
    ).fillna(START)
    looks = pd.DataFrame(
        [
            (method, seed, epoch, step, online[f"epoch {epoch}"].get(printed_as(method), START))
            for method, (epoch, step), seed in product(METHODS, zip(EPOCHS, params.looks, strict=True), seeds)
        ],
        columns=["method", "seed", "epoch", "step", "top1"],
    )
    looks["top1"] += LEAD * np.where(looks["method"] == "frossl", 1, -1)
    for table in (probes, looks):
        table["top1"] += 0.05 * rng.normal(size=len(table))
    return {
        "probes": probes.assign(start=START, **dict.fromkeys(PIXELS, START)),
        "online": looks.assign(data_set="stl10"),
    }


def printed_as(method: str) -> str:
    """The row of a method in the paper's tables; of a variant of a row, that row."""
    return METHODS[method].name.split(",")[0]
