"""Trains the networks of Table 1, Section 6.3 and Figure 10, and measures them before and after training."""

import pandas as pd

from reprise.contract.experiment import Context
from reprise.evidence.learning import PIXELS
from reprise.papers.jing2022.image_nets import perform
from reprise.papers.jing2022.projector_spectra.experiment import Params
from reprise.papers.jing2022.projector_spectra.networks import STARTS, tasks

SPECTRA = ("representation", "embedding")
REFERENCES = (*PIXELS, "supervised")


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Tables: `spectra`, for every `data_set` with its `place`, 0 for the experiment's own, ln of the
    `index`-th singular value of the covariance of unit vectors, for representation and embedding; `probes`,
    on the experiment's own, top-1 accuracy in % of a linear probe on parts of the representation, the same
    before training (`initial`), what raw pixels tell (`PIXELS`), and the accuracy of a `supervised` network.
    """
    results = context.results(perform, params, tasks(params, context.objective))
    return split(pd.concat(results.values(), ignore_index=True))


def split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Splits the measurements into spectra and probes, each probe with the one before training."""
    probes = rows[rows["what"] == "top1"].rename(columns={"value": "accuracy"})
    keys = ["seed", "shortcut", "part"]
    at_start = probes["net"].isin(STARTS.values())
    initial = probes[at_start].rename(columns={"accuracy": "initial"})[[*keys, "initial"]]
    with_initial = probes[~at_start].merge(initial, on=keys, how="left", validate="many_to_one")
    references = rows[rows["what"].isin(REFERENCES)].set_index("what")["value"]
    with_initial = with_initial.assign(**references)
    spectra = rows[rows["what"].isin(SPECTRA)].astype({"index": int, "place": int, "seed": int})
    return {
        "spectra": spectra[["data_set", "place", "seed", "net", "what", "index", "value"]].rename(
            columns={"value": "log_value"}
        ),
        "probes": with_initial[["seed", "net", "part", "accuracy", "initial", *references.index]],
    }
