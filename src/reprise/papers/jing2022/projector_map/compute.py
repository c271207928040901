"""Trains and measures the networks of every point of the map; those of the base point belong to every
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
    """Tables, for every `factor`, `value_of_factor`, `net` and seed:

    `spectra`: ln of the `index`-th singular value of the covariance of the representations as unit vectors,
    also for the network before training (`start`).
    `probes`: top-1 accuracy in % of a linear probe for the data set's labels and any others, and the same
    before training, `initial`.
    """
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
    """One task per network, trained or initial."""
    return list(_declared(params, context)[0].values())


def _declared(params: Params, context: Context) -> tuple[dict[str, Task], list[tuple[Point, str, int, str]]]:
    """The tasks by key, and the rows of the map: point, network, seed, and key of the task."""
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
                start_key = f"{START} {training.encoder.model_dump_json()} {seed}"
                name = f"{point.factor} {point.value}: {net}, seed {seed}"
                if key not in declared:
                    declared[key] = trained(name, training, net, seed, labels, context.root, {})
                if start_key not in declared:
                    declared[start_key] = start(f"{name}, {START}", training, seed, labels, context.root, {})
                rows += [(point, net, seed, key), (point, START, seed, start_key)]
    return declared, rows


def nets(point: Point, params: Params) -> Iterator[tuple[str, Training]]:
    """The networks at a point with their settings; those that the point does not change serve as
    comparison."""
    settings = params if point.base else replaced(params, point.changes)
    with_projector = DIRECTCLR if point.nets == (DIRECTCLR,) else WITH
    for net in (with_projector, WITHOUT):
        yield net, settings if net in point.nets else params


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
