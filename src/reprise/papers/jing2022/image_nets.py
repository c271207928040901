"""The networks of the image experiments, measured as in the authors' code: in evaluation mode, on the test
set."""

from collections.abc import Iterator
from math import nan

import pandas as pd
from torch import no_grad

from reprise.contract.experiment import Context, Progress
from reprise.diagnostics.spectra import normalised_log_spectrum
from reprise.papers.jing2022.image_settings import Training
from reprise.training import grid_tasks
from reprise.training.grid import Net, Task
from reprise.training.image_tasks import Network, features


def perform(params: Training, task: Task, context: Context, progress: Progress) -> pd.DataFrame:
    """The table of a task: of a network, ln of the `index`-th singular value of the covariance of its
    representations and embeddings as unit vectors, and linear probes (`grid_tasks.perform`)."""

    def observe(network: Network, net: Net) -> Iterator[dict[str, object]]:
        return spectra(network, net, params.device)

    def ask(other: Task) -> pd.DataFrame:
        return context.result(perform, params, other)

    return grid_tasks.perform(params, task, context, progress, observe, ask)


def spectra(network: Network, net: Net, device: str) -> Iterator[dict[str, object]]:
    """The logarithms, `what` saying whether of the `representation` or the `embedding`; NaN after a
    divergence."""
    dim = net.spec.encoder.dim
    logs = {"representation": [nan] * dim, "embedding": [nan] * net.spec.projector.dim(dim)}
    if network.diverged is None:
        r = features(network.student, net.spec, net.source.load().test_images, device)
        with no_grad():
            vectors = {"representation": r, "embedding": network.student.projector(r)}
        logs = {what: normalised_log_spectrum(values).tolist() for what, values in vectors.items()}
    for what, values in logs.items():
        yield from ({"what": what, "index": index, "value": value} for index, value in enumerate(values, 1))
