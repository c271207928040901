"""Trains the networks of Table 1, Section 6.3 and Figure 10, and measures them before and after training."""

from typing import NamedTuple

import pandas as pd

from reprise.papers.jing2022.image_nets import start, trained
from reprise.papers.jing2022.image_settings import NETS, OTHER_LABELS, PARTS, Shortcut
from reprise.papers.jing2022.projector_spectra.params import Params
from reprise.study.experiment import Context, Task
from reprise.study.settings import replaced
from reprise.training.image_settings import Source

START: dict[Shortcut, str] = {"identity": "start", "none": "start, no shortcut"}
"""Name of the network before training, by the shortcut around its last block."""
WITHOUT_SHORTCUT = "directclr, no shortcut"
OTHER_LOSS = ("start", "nonlinear", "none")
"""The networks trained with other losses, and their initial network."""


class Cell(NamedTuple):
    """A measured network: one of `NETS`, DirectCLR without the last shortcut, or one before training."""

    net: str
    shortcut: Shortcut
    seed: int


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `spectra`, ln of the `index`-th singular value of the covariance of unit vectors, for
    representation and embedding; `probes`, top-1 accuracy in % of a linear probe on parts of the
    representation, and the same before training, `initial`."""
    return split(pd.concat(context.results(tasks(params, context)), ignore_index=True))


def tasks(params: Params, context: Context) -> list[Task]:
    """One task per cell."""
    name = params.data_set if params.labels == "own" else OTHER_LABELS[params.data_set]
    labelled = Source(name=name, root=params.root).load()
    labels = {name: (labelled.labels, labelled.test_labels)}

    def declared(cell: Cell) -> Task:
        training = replaced(params, {"encoder.last_shortcut": cell.shortcut})
        name_and_settings = f"{cell.net}/{cell.seed}", training
        if cell.net == START[cell.shortcut]:
            return start(*name_and_settings, cell.seed, labels, context.root, cell._asdict(), PARTS)
        net = "directclr" if cell.net == WITHOUT_SHORTCUT else cell.net
        parts = PARTS if net == "directclr" else PARTS[:1]
        columns, loss = cell._asdict(), context.objective
        return trained(*name_and_settings, net, cell.seed, labels, context.root, columns, parts, loss)

    cells = _cells(params)
    if context.objective:  # only the published loss has variants
        cells = [cell for cell in cells if cell.net in OTHER_LOSS]
    return [declared(cell) for cell in cells]


def _cells(params: Params) -> list[Cell]:
    return [
        cell
        for seed in range(params.seeds)
        for cell in (
            *(Cell(net, shortcut, seed) for shortcut, net in START.items()),
            *(Cell(net, "identity", seed) for net in NETS),
            Cell(WITHOUT_SHORTCUT, "none", seed),
        )
    ]


def split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Splits the measurements into spectra and probes, each probe with the one before training."""
    probes = rows[rows["what"] == "probe"].rename(columns={"value": "accuracy"})
    keys = ["shortcut", "seed", "labels", "part"]
    at_start = probes["net"].isin(START.values())
    initial = probes[at_start].rename(columns={"accuracy": "initial"})[[*keys, "initial"]]
    with_initial = probes[~at_start].merge(initial, on=keys, how="left", validate="many_to_one")
    spectra = rows[rows["what"] != "probe"].astype({"index": int})
    return {
        "spectra": spectra[["net", "seed", "what", "index", "value"]].rename(columns={"value": "log_value"}),
        "probes": with_initial[["net", "seed", "labels", "part", "accuracy", "initial"]],
    }
