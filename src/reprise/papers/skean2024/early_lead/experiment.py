"""Settings of Figure 4."""

from typing import Literal, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Plan
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import location, stated, unstated
from reprise.datasets.catalogue import DataSetName
from reprise.papers.skean2024 import nets
from reprise.papers.skean2024.training import PER_RUN, OnOtherImages, Rate, on_other_images
from reprise.training.grid import Task
from reprise.training.image_settings import Probe
from reprise.training.optimisers import SGD, AdamW, OptimiserSpec
from reprise.training.schedules import CosineRestarts, Milestones, Schedule

PAIR = ("barlow-twins", "frossl")
EPOCHS = 100
SHOWN = 30
"""Number of epochs in Figure 4."""
LOOKS = (10, 20, 30)
"""Epochs of Figure 4 after which claims read."""


class Params(OnOtherImages, TakesLosses):
    """FroSSL and Barlow Twins in exactly the same setup; an epoch is a hundredth of the steps."""

    data_set: DataSetName = stated("imagenet", "Section 6.2")
    root: str = location("data/imagenet", "folder that holds train/ and val/", min_length=1)
    batch: int = stated(224, "4 GPUs x 56, Section 6.2", ge=8)
    full_width_batch: int = unstated(224, "the batch at which widths are as published", ge=8)
    augmentation: Literal["per method", "shared"] = stated("shared", "Chen et al.'s, Section 6.2")
    optimiser: OptimiserSpec = stated(
        SGD(weight_decay=5e-4), "Section 6.2", unstated={"momentum": "solo-learn's default"}, unused=PER_RUN
    )
    schedule: Schedule = stated(CosineRestarts(period=0.15), "every 15 of 100 epochs, Section 6.2")
    steps: int = stated(571_900, "100 epochs of 5719 batches", ge=1)
    learning_rates: tuple[Rate, ...] = stated((0.01,), "Section 6.2, for both", min_length=1)
    probe: Probe = stated(
        Probe(
            optimiser=AdamW(learning_rate=5e-3, weight_decay=0.0),  # without decay, this is Adam
            schedule=Milestones(at=tuple(tenth / 10 for tenth in range(1, 10))),
        ),
        "Section 6.2: Adam, a tenth of the rate after every 10 of 100 epochs",
    )
    probe_every: int = unstated(5719, "steps between tests of the online probe: an epoch", ge=1)

    @model_validator(mode="after")
    def _looks_are_whole_steps(self) -> Self:
        if self.probe_every * EPOCHS % self.steps or LOOKS[0] % epochs_between_looks(self):
            raise ValueError(
                f"probe_every must be a divisor of {LOOKS[0]} of the {EPOCHS} epochs, {self.steps} steps, so "
                "that claims can read there"
            )
        return self


def epochs_between_looks(params: Params) -> int:
    """Epochs from one online probe to the next."""
    return params.probe_every * EPOCHS // params.steps


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """The tasks of both methods, or of the other loss."""
    return nets.own_tasks(params, [objective] if objective else PAIR)


EXPERIMENT = Experiment(
    params=Params,
    tables=("probes", "online"),
    plan=Plan(tasks, nets.needs),
    alternatives=on_other_images,
    excused=dict.fromkeys(
        ("optimiser.momentum", "full_width_batch", "probe_every"),
        "a training of both networks for each value",
    ),
    check=nets.check,
    coordinates=("learning_rate", "start"),
)
