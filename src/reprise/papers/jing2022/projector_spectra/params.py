"""Settings of the image experiments; the text states the encoder, the data set and the epochs; the rest is
from the public code."""

from typing import Literal

from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.image_settings import OTHER_LABELS, Training
from reprise.papers.jing2022.projector_spectra.cells import START, cells
from reprise.study.experiment import Resources
from reprise.study.losses import TakesLosses
from reprise.study.settings import ours

TABLES = ("spectra", "probes")

EXCUSED = {
    "precision": "the rounding of products alone, and a training of every net for each",
    "probe_views": "another kind of probe, of every net",
}

check = image_settings.check


class Params(Training, TakesLosses):
    """SimCLR with each projector of Table 1 and Section 6.3, DirectCLR, and DirectCLR whose last block has no
    shortcut."""

    labels: Literal["own", "other"] = ours(
        "own", "labels for the probes: the data set's own, or those of OTHER_LABELS"
    )


def resources(params: Params, objective: str | None = None) -> dict[str, Resources]:
    """What each task needs, by its name; with other labels, the networks are in the cache already."""
    return {
        cell.task: image_settings.resources(
            cell.settings(params), cell.trained if params.labels == "own" else START, probes=len(cell.parts)
        )
        for cell in cells(params, objective)
    }


def alternatives(params: Params) -> dict[str, Params]:
    """The same networks, probed for other labels if the data set has them."""
    if params.data_set not in OTHER_LABELS:
        return {}
    return {f"labels of {OTHER_LABELS[params.data_set]}": params.model_copy(update={"labels": "other"})}
