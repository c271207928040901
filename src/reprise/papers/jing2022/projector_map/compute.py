"""Trains the nets of every point of the map, and measures them; those of the base point belong to every
factor."""

from collections.abc import Iterator

import pandas as pd

from reprise.papers.jing2022.image_nets import spec, start, trained
from reprise.papers.jing2022.image_settings import OTHER_LABELS, Training
from reprise.papers.jing2022.projector_map.grid import DIRECTCLR, START, WITH, WITHOUT, Point, points
from reprise.papers.jing2022.projector_map.params import Params
from reprise.study.experiment import Context, Task
from reprise.study.settings import replaced
from reprise.training.image_settings import Source


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Of every `factor` and `value_of_factor`, by `net` and seed. `spectra`: ln of the `index`-th singular
    value of the covariance of the representations as unit vectors, of the net before training (`start`) too.
    `probes`: top-1 accuracy in % of a linear probe for the data set's labels and any others, and the same
    before training, `initial`."""
    declared, rows = _declared(params, context)
    measured = dict(zip(declared, context.results(declared.values()), strict=True))
    return _tables(
        [
            measured[key].assign(
                net=net, seed=seed, factor=point.factor, value_of_factor=point.value, base=point.base
            )
            for point, net, seed, key in rows
        ]
    )


def tasks(params: Params, context: Context) -> list[Task]:
    """One for each net, trained or not."""
    return list(_declared(params, context)[0].values())


def _declared(params: Params, context: Context) -> tuple[dict[str, Task], list[tuple[Point, str, int, str]]]:
    """The tasks by what determines them, and what is shown: a point, a net, a seed, and which task's."""
    sets = [name for name in (params.data_set, OTHER_LABELS.get(params.data_set)) if name]
    loaded = {name: Source(name=name, root=params.root).load() for name in sets}
    samples = len(loaded[params.data_set].labels)
    labels = {name: (data.labels, data.test_labels) for name, data in loaded.items()}

    declared: dict[str, Task] = {}
    rows: list[tuple[Point, str, int, str]] = []
    for point in points(params, params.encoder.dim):
        for net, training in nets(point, params):
            for seed in range(params.base_seeds if training == params else params.seeds):
                key = spec(training, net, seed, samples).model_dump_json()
                before = f"{START} {training.encoder.model_dump_json()} {seed}"
                name = f"{point.factor} {point.value}: {net}, seed {seed}"
                if key not in declared:
                    declared[key] = trained(name, training, net, seed, labels, context.root, {})
                if before not in declared:
                    declared[before] = start(f"{name}, {START}", training, seed, labels, context.root, {})
                rows += [(point, net, seed, key), (point, START, seed, before)]
    return declared, rows


def nets(point: Point, params: Params) -> Iterator[tuple[str, Training]]:
    """The nets at a point with their settings; what the point does not change is there for comparison."""
    changed = params if point.base else replaced(params, point.changes)
    other = DIRECTCLR if point.nets == (DIRECTCLR,) else WITH
    for net in (other, WITHOUT):
        yield net, changed if net in point.nets else params


def _tables(measured: list[pd.DataFrame]) -> dict[str, pd.DataFrame]:
    rows = pd.concat(measured, ignore_index=True).drop_duplicates()
    spectra = rows[rows["what"] == "representation"].astype({"index": int})
    probes = rows[rows["what"] == "probe"]
    place = ["factor", "value_of_factor", "base", "seed"]
    at_start = probes["net"] == START
    initial = probes[at_start].rename(columns={"value": "initial"})[[*place, "labels", "initial"]]
    beside = probes[~at_start].merge(initial, on=[*place, "labels"], how="left", validate="many_to_one")
    return {
        "spectra": spectra.rename(columns={"value": "log_value"})[[*place, "net", "index", "log_value"]],
        "probes": beside.rename(columns={"value": "accuracy"})[
            [*place, "net", "labels", "accuracy", "initial"]
        ],
    }
