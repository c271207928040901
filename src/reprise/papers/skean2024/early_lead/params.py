"""Settings of Figure 4."""

from typing import Literal, Self

from pydantic import model_validator

from reprise.papers.skean2024.training import DataSet, Rate, Schedule, Share, Training, check_data
from reprise.study.experiment import Resources
from reprise.study.settings import ours, place, stated, unstated

TABLES = ("probes", "online")
RESOURCES = Resources(minutes=60, memory_mb=4000)

PAIR = ("barlow-twins", "frossl")
EPOCHS = 100
SHOWN = 30
"""Epochs that Figure 4 shows."""


class Params(Training):
    """FroSSL and Barlow Twins on the exact same setup; an epoch is a hundredth of the steps."""

    data_set: DataSet = stated("imagenet", "Section 6.2")
    root: str = place("data/imagenet", "folder that holds train/ and val/", min_length=1)
    batch: int = stated(224, "4 GPUs x 56, Section 6.2", ge=8)
    full_width_batch: int = unstated(224, "the batch at which widths are as published", ge=8)
    augmentation: Literal["per method", "shared"] = stated("shared", "Chen et al.'s, Section 6.2")
    optimiser: Literal["lars", "sgd"] = stated("sgd", "Section 6.2")
    weight_decay: float = stated(5e-4, "Section 6.2", ge=0)
    schedule: Schedule = stated("cosine_restarts", "every 15 epochs, Section 6.2")
    steps: int = stated(571_900, "100 epochs of 5719 batches", ge=1)
    learning_rates: tuple[Rate, ...] = stated((0.01,), "Section 6.2, for both", min_length=1)
    probe_optimiser: Literal["sgd", "adam"] = stated("adam", "Section 6.2")
    probe_learning_rate: float = stated(5e-3, "Section 6.2", gt=0)
    probe_drops: tuple[Share, ...] = stated(
        tuple(tenth / 10 for tenth in range(1, 10)),
        "Section 6.2: every 10 of 100 epochs",
    )
    probe_every: int = unstated(1, "epochs between two tests of the online probe", ge=1)
    online_images: int = ours(50_000, "test images of that probe", ge=8)

    @model_validator(mode="after")
    def _looks_are_whole_steps(self) -> Self:
        if SHOWN % self.probe_every or EPOCHS % self.probe_every:
            raise ValueError(f"probe_every must divide {SHOWN} and {EPOCHS}")
        if self.steps * self.probe_every % EPOCHS:
            raise ValueError(f"steps must give whole ones for {self.probe_every} of {EPOCHS} epochs")
        return self


def check(params: Params) -> None:
    """That the data set is there.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    check_data([params.data_set], params.root)
