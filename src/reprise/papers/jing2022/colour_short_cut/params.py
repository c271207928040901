"""Settings of SimCLR on the rendered images that stand in for ImageNet; none of them is from the paper."""

from typing import Literal

from reprise.errors import RepriseError
from reprise.study.experiment import Resources
from reprise.study.losses import TakesLosses
from reprise.study.settings import ours, stated

TABLES = ("losses", "probes")
RESOURCES = Resources(memory_mb=4000)

ARMS = {"any hue": ("shapes", "shapes"), "short cut": ("shapes-bright", "colour_short_cut")}
"""Data set and augmentation recipe of each arm."""


class Params(TakesLosses):
    """ResNet10 of width 16 with a projector 256-128, on images of 32 pixels, by AdamW with a cosine on
    `nt_xent` (SimCLR, Section 3)."""

    data_set: Literal["imagenet", "shapes"] = stated(
        "imagenet", "Section 3; only the stand-in is looked at here"
    )
    images: int = ours(5000, "for training and for the probe", ge=80, le=5000)
    test_images: int = ours(2000, "for testing the probe", ge=80, le=2000)
    batch: int = ours(64, "images, of two views each", ge=2)
    steps: int = ours(
        700, "nine epochs; 350 steps, tried first, gave 28 points, with an interval that crossed 25", ge=2
    )
    learning_rate: float = ours(3e-3, "of AdamW, weight decay 0.01", gt=0)
    precision: Literal["float32", "bfloat16"] = ours("bfloat16", "mixed, as for the other image networks")
    probe_epochs: int = ours(50, "of the linear probe", ge=1)
    seeds: int = ours(3, "independent weights, orders of the images and augmentations", ge=1)


def check(params: Params) -> None:
    """Checks that the data set is the stand-in.

    Raises:
        RepriseError: if it is another data set.
    """
    if params.data_set != "shapes":
        raise RepriseError(
            f"jing2022/colour_short_cut: data_set '{params.data_set}'; only the stand-in is supported: "
            "write data_set: shapes"
        )
