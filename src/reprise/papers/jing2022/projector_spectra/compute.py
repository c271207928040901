"""Trains the networks of Table 1, Section 6.3 and Figure 10, and measures them before and after training."""

import pandas as pd

from reprise.contract.experiment import Context, Progress
from reprise.evidence.learning import PIXELS
from reprise.papers.jing2022.image_nets import published, start, trained
from reprise.papers.jing2022.image_settings import spec
from reprise.papers.jing2022.projector_spectra.experiment import Params
from reprise.papers.jing2022.projector_spectra.networks import STARTS, Pixels, Supervised, Task, tasks
from reprise.training.baselines import pixel_baselines
from reprise.training.supervised import supervised_accuracy

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


def perform(params: Params, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task."""
    if isinstance(task, Pixels):
        shares = pixel_baselines(params.source, params.probe, seed=0, device=params.device)
        return pd.DataFrame(
            [{"what": what, "value": 100 * share} for what, share in zip(PIXELS, shares, strict=True)]
        )
    if isinstance(task, Supervised):
        samples = len(params.source.load().labels)
        net_spec = spec(params, "nonlinear", 0, samples, published("nonlinear"))
        share = supervised_accuracy(
            net_spec, params.source, context.root, device=params.device, progress=progress
        )
        return pd.DataFrame([{"what": "supervised", "value": 100 * share}])
    training = task.settings(params)
    data = training.source.load()
    labels = {task.data_set: (data.labels, data.test_labels)}
    measured = task.seed, labels, context.root, task._asdict(), task.parts
    if task.before_training:
        return start(training, *measured, progress=progress)
    return trained(training, task.trained, *measured, context.objective, progress=progress)


def split(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Splits the measurements into spectra and probes, each probe with the one before training."""
    probes = rows[rows["what"] == "probe"].rename(columns={"value": "accuracy"})
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
