"""Settings of Figure 3."""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Plan, Quick
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import ours, stated, unstated
from reprise.datasets.catalogue import DataSetName, images_of
from reprise.papers.skean2024 import nets
from reprise.papers.skean2024.lineup import FIGURE3
from reprise.papers.skean2024.training import (
    PER_RUN,
    OnOtherImages,
    Rate,
    check_methods,
    on_other_images,
)
from reprise.training.grid import Task
from reprise.training.optimisers import SGD, OptimiserSpec
from reprise.training.schedules import Constant, Schedule

SHARED_RATE = 0.1
"""Section 5.2: 'best for all objectives'."""


class Params(OnOtherImages, TakesLosses):
    """Figure 3's methods on one data set; the last step is the horizon on which saturation depends."""

    data_set: DataSetName = stated("stl10", "Section 5.2")
    steps: int = stated(2050, "5 epochs, 'roughly 2000 steps', of STL-10 with its unlabelled images", ge=4)
    optimiser: OptimiserSpec = stated(
        SGD(weight_decay=1e-6),
        "Section 5.2",
        unstated={"momentum": "solo-learn's default", "weight_decay": "that of Section 6.1"},
        unused=PER_RUN,
    )
    schedule: Schedule = unstated(Constant(), "5 epochs are the beginning of a longer schedule")
    learning_rates: tuple[Rate, ...] = stated((1e-4, 1e-3, 1e-2, SHARED_RATE), "Section 5.2", min_length=1)
    methods: tuple[str, ...] = ours(
        FIGURE3, "the methods of Figure 3, plus the other variance weight and the other λ"
    )
    trace_every: int = unstated(10, "steps between traces of the spectrum, each of one batch", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_numbers(self) -> Self:
        check_methods(self.methods)
        return self


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """The tasks of each method, or of the other loss, at the shared learning rate and at its own."""
    images = images_of(params.data_set)
    methods = [objective] if objective else params.methods
    own = nets.nets(params, nets.own_budget(params), methods, images, (SHARED_RATE, None))
    return nets.tasks(params, own)


EXPERIMENT = Experiment(
    params=Params,
    tables=("eigenvalues", "traces", "probes", "pilots"),
    plan=Plan(tasks, nets.needs),
    alternatives=on_other_images,
    excused=dict.fromkeys(
        ("optimiser.momentum", "optimiser.weight_decay", "schedule", "trace_every"),
        "a training of every network for each value",
    ),
    gaps=("pilots.held_out",),  # a pilot diverged, or one rate needs none
    check=nets.check,
    coordinates=("learning_rate", "start"),
    quick=Quick(
        changes={
            "encoder": {"kind": "conv4", "widths": (16, 16, 32, 64)},
            "batch": 128,
            "data_set": "textures-16",
            "seeds": 1,
            "steps": 500,
            "methods": ("vicreg", "frossl"),
            "learning_rates": (0.1,),
            "pilot_steps": 1,
            "projector_hidden": 1024,
            "augmentation": "shared",
            "optimiser": {"kind": "sgd", "momentum": 0.0, "weight_decay": 1e-6},
            "full_width_batch": 512,
            "probe": {"epochs": 1},
            "precision": "float32",
        },
        figures=("fig03",),
    ),
)
