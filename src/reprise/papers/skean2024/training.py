"""The settings that the image experiments share, without torch."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from reprise.datasets import catalogue
from reprise.papers.skean2024.lineup import METHODS
from reprise.study.settings import Settings, from_code, ours, place, stated, unstated

Encoder = Literal["resnet18", "resnet10-w16", "resnet10-w4"]
DataSet = Literal["cifar10", "cifar100", "stl10", "imagenet", "shapes", "shapes-80"]
Schedule = Literal["warmup_cosine", "cosine_restarts", "constant"]
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0)]

PRETRAINED_ON = {"stl10": "train+unlabelled"}
"""The split, where it is not `train`, which linear probes learn from."""
SAME_IMAGES = {"shapes-80": "shapes"}
"""The stand-in for CIFAR-100 has the images of that for CIFAR-10: one network serves both."""


class Training(Settings):
    """An encoder and a projector of three layers, 2048-2048-d; every method at every learning rate, with the
    same seeds, steps and views.

    At a smaller batch all widths are smaller in proportion: d/N stays 4, which decides how much FroSSL's
    invariance weighs, 2 (d/N) (1 - c) with c the mean correlation of the views.
    """

    root: str = place(
        "data", "folder of the data sets; of ImageNet, the one with train/ and val/", min_length=1
    )
    device: Literal["cpu", "cuda"] = place("cpu", "where networks are trained and read")
    images: int = ours(2_000_000, "of each split, at most", ge=8)
    encoder: Encoder = stated("resnet18", "Sections 5.2 and 6; its stem by data set, as in the authors' code")
    projector_hidden: int = from_code(
        2048, "of both hidden layers; some methods had two layers, or 4096", ge=8
    )
    augmentation: Literal["per method", "shared"] = from_code(
        "per method", "weaker for FroSSL, MoCo v2 and SimSiam than for the others"
    )
    optimiser: Literal["lars", "sgd"] = stated("lars", "Section 6.1")
    momentum: float = unstated(0.9, "solo-learn's default", ge=0, lt=1)
    weight_decay: float = stated(1e-6, "Section 6.1; the authors' scripts have 1e-4", ge=0)
    trust: float = from_code(0.02, "LARS's η; but W-MSE's and MoCo v2's runs had solo-learn's 0.001", gt=0)
    clip: bool = from_code(True, "LARS's `clip_lr`; but W-MSE's and MoCo v2's runs had none")
    schedule: Schedule = stated("warmup_cosine", "Section 6.1")
    warmup: float = unstated(0.01, "share of the training: solo-learn's 10 of 1000 epochs", ge=0, lt=1)
    batch: int = stated(256, "Sections 5.2 and 6.1", ge=8)
    full_width_batch: int = stated(256, "the batch at which widths are as published", ge=8)
    queue: int = from_code(32768, "MoCo v2's, whatever the batch", ge=8)
    slowest_teacher: float = from_code(0.9995, "a teacher's first momentum, at most: DINO's", gt=0, lt=1)
    precision: Literal["float32", "bfloat16"] = from_code("float32", "for CIFAR; elsewhere mixed, 16 bits")
    probe_optimiser: Literal["sgd", "adam"] = stated("sgd", "Section 6.1")
    probe_learning_rate: float = stated(0.3, "Section 6.1", gt=0)
    probe_drops: tuple[Share, ...] = stated((0.6, 0.8), "of its epochs, where its rate falls to a tenth")
    probe_epochs: int = stated(100, "Section 6.1", ge=1)
    seeds: int = ours(3, "independent weights, orders of the images and augmentations", ge=1)

    @property
    def width(self) -> float:
        """The share of all widths."""
        return self.batch / self.full_width_batch


def check_data(names: Iterable[str], root: str) -> None:
    """That the data sets are there, with the splits that pre-training and probes take.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    for name in names:
        for split in (PRETRAINED_ON.get(name, "train"), "train", "test"):
            catalogue.check(name, root, split)


def check_methods(methods: Iterable[str]) -> None:
    """Raises ValueError for a name that is no method's."""
    if unknown := [name for name in methods if name not in METHODS]:
        raise ValueError(f"unknown method '{unknown[0]}'; allowed: {', '.join(METHODS)}")
