"""Tables 2 and 3 as drawn: every printed number stands beside ours, and nothing else does."""

import csv
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

import reprise.papers.skean2024 as paper
from reprise.papers.skean2024.linear_probes.figures import table2, table3
from reprise.papers.skean2024.linear_probes.params import Params
from reprise.papers.skean2024.lineup import EPOCHS, METHODS
from reprise.study.experiment import BASE

with (Path(paper.__file__).parent / "published.csv").open() as file:
    PRINTED = list(csv.DictReader(file))
REDUCED = {
    "data_sets": ("shapes", "shapes-80"),
    "steps": (6, 6),
    "online": "shapes",
    "looks": (2, 3, 4, 5, 6),
    "probe_every": 1,
}


def results(params):
    """Runs of which every accuracy is 12, or 13 of the second seed."""
    runs = [
        {"method": method, "seed": seed, "learning_rate": 0.3, "top1": 12.0 + seed, "setting": BASE}
        for method in METHODS
        for seed in (0, 1)
    ]
    probes = [
        {
            **run,
            "data_set": name,
            "place": place,
            "start": 10.0,
            "pixel_neighbours": 9.0,
            "pixel_probe": 8.0,
            "supervised": 70.0,
        }
        for run, (place, name) in product(runs, enumerate(params.data_sets))
    ]
    online = [{**run, "data_set": params.online, "epoch": epoch} for run, epoch in product(runs, EPOCHS)]
    return {"probes": pd.DataFrame(probes), "online": pd.DataFrame(online)}


@pytest.mark.parametrize("params", [Params(), Params(**REDUCED)], ids=["published", "reduced"])
@pytest.mark.parametrize(("number", "draw"), [("Table 2", table2), ("Table 3", table3)])
def test_the_printed_numbers_stand_beside_ours(number, draw, params):
    drawn = draw(results(params), params).set_index("method")
    shown = {
        (method, column.removesuffix(": published").removesuffix(" (STL-10)"), float(cell))
        for column in drawn
        if column.endswith(": published")
        for method, cell in drawn[column].items()
        if cell != ""
    }
    printed = {
        (row["row"], row["column"].replace("Average", "average"), float(row["value"]))
        for row in PRINTED
        if row["artifact"] == number
    }
    assert shown == printed
    ours = drawn[drawn["family"] != "for comparison"].filter(like=": ours")
    assert ours.shape[1] == (len(params.data_sets) + 1 if number == "Table 2" else len(EPOCHS))
    assert (ours == "12.5 ± 0.7").all(axis=None)
