"""Settings of SimCLR on the rendered images that stand in for ImageNet; none of them is from the paper."""

from itertools import product
from typing import Literal, NamedTuple

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, ours, stated
from reprise.datasets.catalogue import DATA_SETS
from reprise.datasets.recipes import RECIPES
from reprise.errors import RepriseError
from reprise.networks.encoders import RESNET10_W16
from reprise.networks.projectors import MLP
from reprise.training import costs
from reprise.training.image_settings import Probe, Source
from reprise.training.objective import Contrastive, Named
from reprise.training.optimisers import SGD, AdamW
from reprise.training.schedules import WarmupCosine
from reprise.training.spec import Spec

ARMS = {"any hue": ("shapes", "shapes"), "short cut": ("shapes-bright", "colour_short_cut")}
"""Data set and augmentation recipe of each arm."""


class Params(Seeded, TakesLosses):
    """ResNet10 of width 16 with a projector 256-128, on images of 32 pixels, by AdamW with a cosine on
    `nt_xent` (SimCLR, Section 3)."""

    data_set: Literal["imagenet", "shapes"] = stated(
        "imagenet", "Section 3; only the stand-in is looked at here"
    )
    images: int = ours(5000, "for training and for the probe", ge=80, le=5000)
    test_images: int = ours(2000, "for testing the probe", ge=80, le=2000)
    batch: int = ours(64, "images, of two views each", ge=2)
    steps: int = ours(700, "nine epochs", ge=2)
    loss: Contrastive = ours(Contrastive(kind="nt_xent"), "SimCLR's, Section 3, at the code's temperature")
    learning_rate: float = ours(3e-3, "of AdamW, weight decay 0.01", gt=0)
    precision: Literal["float32", "bfloat16"] = ours("bfloat16", "mixed, as for the other image networks")
    probe_epochs: int = ours(50, "of the linear probe", ge=1)
    seeds: int = ours(3, "independent weights, orders of the images and augmentations", ge=1)


def spec(params: Params, arm: str, seed: int, objective: str | None = None) -> Spec:
    """The spec of a network."""
    name, recipe = ARMS[arm]
    return Spec(
        objective=Named(name=objective) if objective else params.loss,
        augmentation=RECIPES[recipe],
        normalisation=DATA_SETS[name].normalisation,
        encoder=RESNET10_W16,
        projector=MLP(dims=(256, 128)),
        optimiser=AdamW(learning_rate=params.learning_rate),
        batch=params.batch,
        steps=params.steps,
        seed=seed,
        precision=params.precision,
    )


def source(params: Params, arm: str) -> Source:
    """The images of an arm."""
    return Source(name=ARMS[arm][0], root="", first=params.images, first_test=params.test_images)


def probe_settings(params: Params) -> Probe:
    """The linear probe's settings."""
    return Probe(optimiser=SGD(learning_rate=0.1), schedule=WarmupCosine(), epochs=params.probe_epochs)


class Task(NamedTuple):
    """A network of an arm."""

    arm: str
    seed: int

    def __str__(self) -> str:
        return f"{self.arm}, seed {self.seed}"


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each network."""
    return [Task(arm, seed) for arm, seed in product(ARMS, params.seed_range(params.seeds))]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task, which probes its network before and after training."""
    images = source(params, task.arm)
    return costs.resources(spec(params, *task), images, probe_settings(params), probes=2)


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


EXPERIMENT = Experiment(
    params=Params,
    tables=("losses", "probes"),
    plan=Plan(tasks, needs),
    check=check,
)
