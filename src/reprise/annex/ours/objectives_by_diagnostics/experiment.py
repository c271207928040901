"""Settings of the comparison. All of them are ours: no paper has it."""

from itertools import product
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from reprise.annex.ours.objectives_by_diagnostics.lineup import (
    DIM,
    FIRST,
    METHODS,
    TOYS,
    UNTRAINED,
    Method,
    Place,
    method,
)
from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, ours
from reprise.datasets.catalogue import DATA_SETS
from reprise.datasets.recipes import SHAPES
from reprise.networks.encoders import Conv4
from reprise.networks.projectors import MLP, Identity
from reprise.training import costs
from reprise.training.optimisers import AdamW
from reprise.training.schedules import Constant
from reprise.training.spec import Spec

Count = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(gt=0)]
Toy = Literal["linear", "relu"]

STEP_SECONDS, MEASURED_SECONDS, TOY_STEP_SECONDS = 0.002, 1.2, 0.002
"""Seconds on one core: of a step besides its products, of measuring a network, and of a toy network's
step."""


class Params(Seeded, TakesLosses):
    """Every objective trains the same encoder from the same weights, on the same views in the same order."""

    methods: tuple[str, ...] = ours(tuple(METHODS), "every objective of the image pipeline", min_length=2)
    data_sets: tuple[Literal["textures", "shapes"], ...] = ours(
        ("textures", "shapes"), "rendered at `size` pixels", min_length=1
    )
    size: int = ours(
        16,
        "pixels a side: a quarter of the time of 32, after a look at what one seed learns of either",
        ge=16,
    )
    images: int = ours(5000, "training images", ge=80)
    test_images: int = ours(2000, "on which diagnostics are measured", ge=80)
    encoder: Conv4 = ours(
        Conv4(widths=(16, 16, 32, 64)),
        "a third of the time of ResNet10, after a look at what one seed learns with either",
    )
    hidden: int = ours(256, "units of the projector's two hidden layers", ge=2)
    dim: int = ours(DIM, "of the embeddings of an untrained network and of another loss", ge=2)
    optimiser: AdamW = ours(
        AdamW(weight_decay=1e-6),
        "its steps do not depend on the loss's scale, which differs by a thousand between objectives",
    )
    learning_rates: tuple[Rate, ...] = ours(
        (0.002, 0.005, 0.015), "each objective has the one whose pilot is best", min_length=1
    )
    batch: int = ours(64, "images a step", ge=34)
    steps: int = ours(600, "as many as 40 minutes of one core allow; 400 at first, which take less", ge=1)
    pilot_steps: int = ours(150, "of the pilots, whose seed no compared network has", ge=1)
    precision: Literal["float32", "bfloat16"] = ours("bfloat16", "of the encoder and the projector")
    seeds: int = ours(5, "independent weights, orders of the images and views", ge=2)
    toys: tuple[Toy, ...] = ours(
        ("linear", "relu"), "two-layer networks, as Jing's and Esser's, and as Tian's", min_length=1
    )
    toy_dim: int = ours(32, "inputs and hidden units of the toy networks; half as many outputs", ge=8)
    toy_batch: int = ours(128, "pairs a step", ge=2)
    toy_steps: int = ours(500, "of plain gradient descent", ge=1)
    toy_rates: tuple[Rate, ...] = ours(
        (0.003, 0.03, 0.3), "each objective has the one whose pilot is best", min_length=1
    )
    toy_samples: int = ours(2000, "on which diagnostics are measured", ge=80)

    @model_validator(mode="after")
    def _methods_are_known(self) -> Self:
        if unknown := [name for name in self.methods if name not in METHODS]:
            raise ValueError(f"unknown method '{unknown[0]}'; allowed: {', '.join(METHODS)}")
        return self


class ImageRun(NamedTuple):
    """A network on images. A pilot has the number of its steps; an untrained network is of no objective."""

    images: str
    method: str
    place: Place
    seed: int

    def __str__(self) -> str:
        return "/".join(map(str, self))


class ToyRun(NamedTuple):
    """The toy networks of all seeds."""

    toy: Toy
    method: str
    place: Place

    def __str__(self) -> str:
        return "/".join(self)


class Pilot(NamedTuple):
    """A pilot at a learning rate."""

    method: str
    place: Place
    rate: float

    def __str__(self) -> str:
        return f"pilot/{self.method}/{self.place}/{self.rate:g}"


Task = Pilot | ImageRun | ToyRun


def compared(params: Params, objective: str | None) -> list[str]:
    """The objectives that are trained, or another loss alone."""
    return [objective] if objective else list(params.methods)


def runs(params: Params, objective: str | None = None) -> list[ImageRun]:
    """Each objective in each of its settings on each data set, and the untrained networks."""
    names = compared(params, objective) if objective else [UNTRAINED, *params.methods]
    return [
        ImageRun(images, name, place, seed)
        for name in names
        for images, place, seed in product(params.data_sets, places(name), params.seed_range(params.seeds))
    ]


def places(name: str) -> tuple[Place, ...]:
    """The settings of an objective; untrained networks have one."""
    return (FIRST,) if name == UNTRAINED else method(name).places


def pilots(params: Params, name: str, place: Place) -> list[Pilot]:
    """The pilots that choose the learning rate of an objective's setting, on the first data set for all."""
    return [Pilot(name, place, rate) for rate in params.learning_rates]


def toy_runs(params: Params, objective: str | None = None) -> list[ToyRun]:
    """Each objective without state in each of its settings with each toy network, and untrained networks."""
    stateless = [name for name in compared(params, objective) if method(name).is_stateless]
    names = stateless if objective else [UNTRAINED, *stateless, *TOYS]
    return [ToyRun(toy, name, place) for toy, name in product(params.toys, names) for place in places(name)]


def spec(params: Params, run: ImageRun, rate: float, steps: int) -> Spec:
    """The spec of a network; an untrained one has no steps."""
    chosen: Method = method("frossl" if run.method == UNTRAINED else run.method)
    dim = chosen.dim if run.method in METHODS else params.dim
    head = MLP(dims=(params.hidden, params.hidden, dim)) if dim else Identity()
    return Spec(
        objective=chosen.at(run.place),
        augmentation=SHAPES,
        normalisation=DATA_SETS[run.images].normalisation,
        encoder=params.encoder,
        projector=head,
        optimiser=params.optimiser.model_copy(update={"learning_rate": rate}),
        schedule=Constant(),
        batch=params.batch,
        steps=0 if run.method == UNTRAINED else steps,
        seed=run.seed,
        precision=params.precision,
    )


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each pilot, each network on images, and each objective with each toy network."""
    return [
        *(
            pilot
            for name in compared(params, objective)
            for place in method(name).places
            for pilot in pilots(params, name, place)
        ),
        *runs(params, objective),
        *toy_runs(params, objective),
    ]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task."""
    if isinstance(task, ToyRun):
        toy_steps = params.toy_steps * (1 + len(params.toy_rates) / 2)
        return Resources((toy_steps * TOY_STEP_SECONDS + params.seeds * MEASURED_SECONDS / 4) / 60)
    if isinstance(task, Pilot):
        steps = params.pilot_steps
    else:
        steps = 0 if task.method == UNTRAINED else params.steps
    work = params.encoder.work(3, params.size)
    products = costs.PASSES * 2 * params.batch * work.flops / costs.CPU_FLOPS
    seconds = steps * (STEP_SECONDS + products) + MEASURED_SECONDS
    return Resources(seconds / 60, disk_mb=costs.WEIGHT_BYTES * work.weights / 1e6 if steps else 0.0)


EXPERIMENT = Experiment(
    params=Params,
    tables=("diagnostics", "probes", "pilots"),
    plan=Plan(tasks, needs),
    # A network that diverged has no values, and a condition number may be infinite.
    gaps=("diagnostics.*", "*.accuracy"),
    coordinates=("learning_rate",),
)
