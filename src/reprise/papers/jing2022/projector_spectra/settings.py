"""Settings of the image experiments."""

from typing import Annotated

from pydantic import AfterValidator, Field

from reprise.contract.losses import TakesLosses
from reprise.contract.settings import ours
from reprise.datasets.catalogue import DataSetName
from reprise.papers.jing2022.image_settings import NETS, Training
from reprise.training.optimisers import OptimiserSpec

WITHOUT_SHORTCUT = "directclr, no shortcut"


def _known(net: str) -> str:
    if net not in (*NETS, WITHOUT_SHORTCUT):
        raise ValueError(f"unknown network; allowed: {', '.join((*NETS, WITHOUT_SHORTCUT))}")
    return net


Name = Annotated[str, AfterValidator(_known)]


class Params(Training, TakesLosses):
    """SimCLR with each projector of Table 1 and Section 6.3, DirectCLR, and DirectCLR whose last block has no
    shortcut. At other settings, the networks of `OF_SPECTRA` alone."""

    nets: tuple[Name, ...] = ours((*NETS, WITHOUT_SHORTCUT), "the networks that are trained", min_length=1)
    further_sets: tuple[DataSetName, ...] = ours((), "data sets on which spectra are looked at too")
    further_nets: tuple[Name, ...] = ours(
        ("nonlinear", "none", "directclr"), "the networks on them, of those that are trained"
    )
    further_seeds: int = ours(
        3, "there, at other temperatures and optimisers, and of the networks outside Table 1", ge=1
    )
    other_temperatures: tuple[Annotated[float, Field(gt=0)], ...] = ours((), "at which claims are judged too")
    other_optimisers: tuple[OptimiserSpec, ...] = ours((), "with which claims are judged too")
