"""Trains the networks of Table 1, Section 6.3 and Figure 10, and measures them before and after training."""

import pandas as pd

from reprise.papers.jing2022.image_nets import start, trained
from reprise.papers.jing2022.projector_spectra.cells import STARTS, Cell, cells
from reprise.papers.jing2022.projector_spectra.params import Params
from reprise.study.experiment import Context, Task


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `spectra`, ln of the `index`-th singular value of the covariance of unit vectors, for
    representation and embedding; `probes`, top-1 accuracy in % of a linear probe on parts of the
    representation, and the same before training, `initial`."""
    return split(pd.concat(context.results(tasks(params, context)), ignore_index=True))


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per cell."""
    data = params.source.load()
    labels = {params.data_set: (data.labels, data.test_labels)}

    def declared(cell: Cell) -> Task:
        training = cell.settings(params)
        measured = cell.seed, labels, context.root, cell._asdict(), cell.parts
        if cell.before_training:
            return start(cell.task, training, *measured)
        return trained(cell.task, training, cell.trained, *measured, context.objective)

    return [declared(cell) for cell in cells(params, params.nets, context.objective)]


def split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Splits the measurements into spectra and probes, each probe with the one before training."""
    probes = rows[rows["what"] == "probe"].rename(columns={"value": "accuracy"})
    keys = ["shortcut", "seed", "labels", "part"]
    at_start = probes["net"].isin(STARTS.values())
    initial = probes[at_start].rename(columns={"accuracy": "initial"})[[*keys, "initial"]]
    with_initial = probes[~at_start].merge(initial, on=keys, how="left", validate="many_to_one")
    spectra = rows[rows["what"] != "probe"].astype({"index": int})
    return {
        "spectra": spectra[["net", "seed", "what", "index", "value"]].rename(columns={"value": "log_value"}),
        "probes": with_initial[["net", "seed", "labels", "part", "accuracy", "initial"]],
    }
