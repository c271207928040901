"""Settings of the image experiments; the text states the encoder, the data set and the epochs; the rest is
from the public code."""

from typing import Annotated

from pydantic import AfterValidator

from reprise.papers.jing2022 import image_settings
from reprise.papers.jing2022.image_settings import NETS, Training
from reprise.papers.jing2022.projector_spectra.cells import WITHOUT_SHORTCUT, cells
from reprise.study.experiment import Resources
from reprise.study.losses import TakesLosses
from reprise.study.settings import ours

TABLES = ("spectra", "probes")

EXCUSED = {"precision": "the rounding of products alone, and a training of every net for each"}

check = image_settings.check


def _known(net: str) -> str:
    if net not in (*NETS, WITHOUT_SHORTCUT):
        raise ValueError(f"unknown network; allowed: {', '.join((*NETS, WITHOUT_SHORTCUT))}")
    return net


Name = Annotated[str, AfterValidator(_known)]


class Params(Training, TakesLosses):
    """SimCLR with each projector of Table 1 and Section 6.3, DirectCLR, and DirectCLR whose last block has no
    shortcut."""

    nets: tuple[Name, ...] = ours((*NETS, WITHOUT_SHORTCUT), "the networks that are trained", min_length=1)


def resources(params: Params, objective: str | None = None) -> dict[str, Resources]:
    """What each task needs, by its name."""
    return {
        cell.task: image_settings.resources(cell.settings(params), cell.trained, probes=len(cell.parts))
        for cell in cells(params, params.nets, objective)
    }


def alternatives(params: Params) -> dict[str, Params]:
    """The networks of Figure 7b and DirectCLR's at the authors' temperature, if the run's is another, and
    probed by two random crops and flips of each image, if the run's probes see the images alone."""
    few = {"nets": tuple(net for net in ("nonlinear", "none", "directclr") if net in params.nets)}
    code = {name: Params.model_fields[name].default for name in ("temperature", "probe_views")}
    grid: dict[str, dict[str, float]] = {}
    if params.temperature != code["temperature"]:
        grid[f"temperature {code['temperature']:g}"] = {"temperature": code["temperature"]}
    if not params.probe_views:
        grid["probe of two crops and flips"] = {"probe_views": 2}
    return {name: params.model_copy(update={**few, **changes}) for name, changes in grid.items()}
