"""Settings of Tables 2 and 3."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from reprise.contract.experiment import Experiment, Plan
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import ours, stated
from reprise.datasets.catalogue import MANY_CLASSES, DataSetName, images_of
from reprise.papers.skean2024 import nets
from reprise.papers.skean2024.lineup import EPOCHS, FIGURE3_PUBLISHED, METHODS
from reprise.papers.skean2024.training import Rate, Training, check_data, check_methods
from reprise.training.grid import Task

Steps = Annotated[int, Field(ge=1)]


class Params(Training, TakesLosses):
    """All methods on each data set; `place` in the tables is the data set's position in this list."""

    data_sets: tuple[DataSetName, ...] = stated(("cifar10", "cifar100", "stl10"), "Table 2", min_length=2)
    steps: tuple[Steps, ...] = stated(
        (195_000, 195_000, 205_000), "1000 epochs of CIFAR, 500 of STL-10 with its unlabelled images"
    )
    learning_rates: tuple[Rate, ...] = stated((0.3,), "Section 6.1", min_length=1)
    methods: tuple[str, ...] = ours(tuple(METHODS), "the methods of Table 2, plus variants of three of them")
    online: DataSetName = stated("stl10", "Table 3")
    other_images: tuple[DataSetName, ...] = ours((), "sets of images, each a setting with Figure 3's methods")
    looks: tuple[Steps, ...] = stated(
        (1230, 4100, 12_300, 20_500, 41_000), "Table 3: epochs 3, 10, 30, 50 and 100, of 410 steps"
    )
    probe_every: int = ours(410, "steps between tests of the online probe, on `online` only", ge=1)

    @model_validator(mode="after")
    def _tables_have_their_numbers(self) -> Self:
        check_methods(self.methods)
        if len(self.steps) != len(self.data_sets):
            raise ValueError(f"steps must have {len(self.data_sets)} values, one for each of data_sets")
        if self.online not in self.data_sets:
            raise ValueError(f"online must be one of {', '.join(self.data_sets)}")
        by_images: dict[str, int] = {}
        for name, steps in zip(self.data_sets, self.steps, strict=True):
            images = images_of(name)
            if by_images.setdefault(images, steps) != steps:
                raise ValueError(
                    f"steps of {name} must be {by_images[images]}, as of {images}: one network serves both"
                )
        last = self.steps[self.data_sets.index(self.online)]
        if len(self.looks) != len(EPOCHS) or list(self.looks) != sorted(set(self.looks)):
            raise ValueError(f"looks must be {len(EPOCHS)} increasing steps")
        if any(look % self.probe_every for look in self.looks):
            raise ValueError(f"looks must be multiples of probe_every, {self.probe_every}")
        if missing := [name for name in self.other_images if name not in MANY_CLASSES]:
            raise ValueError(f"other_images: '{missing[0]}' has no second set of labels")
        if self.looks[-1] > last:
            raise ValueError(f"looks must not go beyond the {last} steps on {self.online}")
        return self


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """The tasks of each method, or of the other loss, by set of images; each has a supervised network."""
    return [
        task
        for images, budget in budgets(params).items()
        for task in nets.tasks(
            params,
            nets.nets(params, budget, [objective] if objective else params.methods, images),
            supervised=True,
        )
    ]


def budgets(params: Params) -> dict[str, nets.Budget]:
    """The budget of the trainings on each set of images."""
    found: dict[str, nets.Budget] = {}
    for name, steps in zip(params.data_sets, params.steps, strict=True):
        images = images_of(name)
        probed = (*(found[images].probed if images in found else ()), name)
        online = images == images_of(params.online)
        budget = nets.budget(params, steps, *probed)
        found[images] = budget._replace(probe_every=params.probe_every if online else 0)
    return found


def check(params: Params) -> None:
    """Checks that the data sets exist.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    check_data([*params.data_sets, *params.other_images], params.root)


def alternatives(params: Params) -> dict[str, Params]:
    """Figure 3's methods and FroSSL on each of the other sets of images, with its few and many classes."""
    few = tuple(name for name in params.methods if name in (*FIGURE3_PUBLISHED, "frossl"))
    return {
        name: params.model_copy(
            update={
                "data_sets": (name, MANY_CLASSES[name]),
                "online": name, "steps": 2 * (params.steps[params.data_sets.index(params.online)],),
                "methods": few, "other_images": (),
            }
        )
        for name in params.other_images
    }  # fmt: skip


EXPERIMENT = Experiment(
    params=Params,
    tables=("probes", "online", "pilots"),
    plan=Plan(tasks, nets.needs),
    alternatives=alternatives,
    excused={"optimiser.momentum": "a training of every network for each value"},
    # No epoch of Table 3; a pilot diverged, or one rate needs none.
    gaps=("online.epoch", "pilots.held_out"),
    check=check,
    coordinates=("learning_rate", "start"),
)
