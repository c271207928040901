"""Settings shared by the image experiments. Imports no torch."""

from collections.abc import Iterable
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from reprise.contract.settings import from_code, location, ours, stated
from reprise.datasets import catalogue
from reprise.datasets.catalogue import DataSetName
from reprise.networks.encoders import Encoder, ResNet
from reprise.papers.skean2024.lineup import METHODS, Objectives
from reprise.training.image_settings import ImageTraining, Probe
from reprise.training.optimisers import LARS, OptimiserSpec
from reprise.training.schedules import Schedule, WarmupCosine

PER_RUN = {"learning_rate": "each run has its own"}
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0)]

FROM_SCRIPTS = (
    *(f"swav.{name}" for name in ("temperature", "prototypes", "epsilon", "iterations", "frozen")),
    *("simsiam.hidden", "byol.hidden", "byol.momentum"),
    *(f"mocov2.{name}" for name in ("temperature", "queue", "momentum", "final_momentum")),
    *(f"dino.{name}" for name in type(Objectives().dino).model_fields),
    *(f"corinfomax.{name}" for name in ("attraction", "forgetting", "epsilon")),
    *("byol.final_momentum", "barlow_twins.scale", "barlow_twins_b1.scale", "w_mse_2.sub_batch"),
)
"""Hyperparameters that the paper does not state, and its code does."""
OUR_VARIANTS = {
    "frossl_no_logs.variance_weight": "the weight of Section 3.1 without a factor",
    "vicreg_averaged.variance_weight": "half of VICReg's, of a sum over both views",
}
PRETRAINED_ON = {"stl10": "train+unlabelled"}
"""The pre-training split where it differs from `train`, the split for linear probes."""


class Training(ImageTraining):
    """An encoder and a three-layer projector, 2048-2048-d; every method runs with the same seeds, steps and
    views, at its own learning rate of a grid that all methods share (`training.pilots`).

    A smaller batch scales all widths in proportion, so that d/N stays 4: it sets the weight of FroSSL's
    invariance term, 2 (d/N) (1 - c) with c the mean correlation of the views.
    """

    root: str = location(
        "data", "folder of the data sets; of ImageNet, the one with train/ and val/", min_length=1
    )
    images: int = ours(2_000_000, "of each split, at most", ge=8)
    encoder: Encoder = stated(
        ResNet(), "ResNet18, Sections 5.2 and 6; on CIFAR with the authors' stem for it"
    )
    projector_hidden: int = from_code(
        2048, "of both hidden layers; some methods had two layers, or 4096", ge=8
    )
    augmentation: Literal["per method", "shared"] = from_code(
        "per method", "weaker for FroSSL, MoCo v2 and SimSiam than for the others"
    )
    optimiser: OptimiserSpec = stated(
        LARS(trust=0.02, clip=True),
        "Section 6.1; the scripts' weight decay is 1e-4",
        unstated={"momentum": "solo-learn's default"},
        code=dict.fromkeys(
            ("trust", "clip"), "the scripts', but W-MSE's and MoCo v2's had solo-learn's .001 and none"
        ),
        unused=PER_RUN,
    )
    schedule: Schedule = stated(
        WarmupCosine(warmup=0.01), "Section 6.1", unstated={"warmup": "solo-learn's 10 of 1000 epochs"}
    )
    learning_rates: tuple[Rate, ...]
    pilot_steps: int | None = ours(
        None,
        "steps of the pilots that choose each method's learning rate; by default as many as a run's",
        ge=1,
    )
    pilot_seeds: int = ours(1, "pilots at each rate, whose mean accuracy on held-out images chooses", ge=1)
    batch: int = stated(256, "Sections 5.2 and 6.1", ge=8)
    full_width_batch: int = stated(256, "the batch at which widths are as published", ge=8)
    objectives: Objectives = stated(
        Objectives(),
        "Appendix B.1; Barlow Twins' λ: Section 6.2; FroSSL's: Section 3.1",
        code=dict.fromkeys(FROM_SCRIPTS, "the scripts for STL-10, or solo-learn's; `lineup` says which"),
        unstated=OUR_VARIANTS,
        unused={"frossl_no_logs_matched.variance_weight": "each network has that of its first batch"},
    )
    precision: Literal["float32", "bfloat16"] = from_code("float32", "for CIFAR; elsewhere mixed, 16 bits")
    probe: Probe = stated(Probe(), "Section 6.1: a tenth of the rate after 60 and 80 of 100 epochs")
    trace_every: int = ours(0, "steps between traces of the spectrum, which Figure 3 uses; 0 for none", ge=0)
    probe_every: int = ours(
        0, "steps between tests of the online probe, which Table 3 and Figure 4 use; 0 for none", ge=0
    )
    online_images: int | None = ours(None, "test images of the online probe; by default all", ge=1)
    seeds: int = ours(3, "independent weights, orders of the images and augmentations", ge=1)

    @property
    def width(self) -> float:
        """The factor on all widths."""
        return self.batch / self.full_width_batch


class OneDataSet(Training):
    """Trainings on one data set."""

    data_set: DataSetName
    steps: int


class OnOtherImages(OneDataSet):
    """Trainings on one data set, and on others as settings of their own."""

    other_images: tuple[DataSetName, ...] = ours((), "sets of images, each a setting of its own")


S = TypeVar("S", bound=OnOtherImages)


def on_other_images(params: S) -> dict[str, S]:
    """The same trainings on each of the other sets of images."""
    return {
        name: params.model_copy(update={"data_set": name, "other_images": ()}) for name in params.other_images
    }


def check_data(names: Iterable[str], root: str) -> None:
    """Checks that the data sets exist, with the splits for pre-training and probes.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    for name in names:
        for split in (PRETRAINED_ON.get(name, "train"), "train", "test"):
            catalogue.check(name, root, split)


def check_methods(methods: Iterable[str]) -> None:
    """Raises ValueError for an unknown method."""
    if unknown := [name for name in methods if name not in METHODS]:
        raise ValueError(f"unknown method '{unknown[0]}'; allowed: {', '.join(METHODS)}")
