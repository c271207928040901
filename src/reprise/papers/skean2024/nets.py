"""The networks of the image experiments: the grid of runs, their specs, their data and what they need.
Imports no torch."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from reprise.datasets import recipes
from reprise.datasets.catalogue import DATA_SETS
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP
from reprise.papers.skean2024 import lineup
from reprise.papers.skean2024.lineup import narrowed
from reprise.papers.skean2024.training import PRETRAINED_ON, Training
from reprise.study.experiment import Resources
from reprise.study.settings import replaced
from reprise.training import costs
from reprise.training.image_settings import Source
from reprise.training.spec import Spec

RECIPES = {
    "cifar10": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "cifar100": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "stl10": (recipes.SKEAN_STL10, recipes.SKEAN_STL10_BASELINES),
    "imagenet": (recipes.SIMCLR_IMAGENET, recipes.SIMCLR_IMAGENET),
    "shapes": (recipes.SHAPES, recipes.SHAPES),
    "shapes-64": (recipes.SHAPES, recipes.SHAPES),
    "shapes-80": (recipes.SHAPES, recipes.SHAPES),
    "textures": (recipes.SHAPES, recipes.SHAPES),
    "textures-40": (recipes.SHAPES, recipes.SHAPES),
    "photographs-64": (recipes.SKEAN_STL10, recipes.SKEAN_STL10_BASELINES),  # of the nearest size
}
"""For each data set: FroSSL's augmentations, and those of most other methods. A data set without a row uses
CIFAR-10's."""


class Run(NamedTuple):
    """One training run: a row of the grid."""

    images: str
    method: str
    learning_rate: float
    batch: int
    dim: int
    seed: int


START = "start"
"""The method of a network before training."""


class Plan(NamedTuple):
    """What an experiment needs from each training, besides the settings.

    Attributes:
        probed: data sets of the same images, whose labels are used for the final linear probes.
    """

    steps: int
    trace_every: int = 0
    probe_every: int = 0
    probed: tuple[str, ...] = ()


def grid(params: Training, names: Sequence[str], rates: Sequence[float], images: str) -> list[Run]:
    """Every combination of method, learning rate and seed."""
    return [
        Run(images, name, rate, params.batch, lineup.method(name).at(params.width)[0], seed)
        for name, rate, seed in product(names, rates, range(params.seeds))
    ]


def with_starts(runs: Sequence[Run]) -> list[Run]:
    """The runs, after one network before training for each seed; all networks of a seed start from the same
    encoder."""
    starts = {(run.images, run.seed): run._replace(method=START) for run in runs}
    return [*starts.values(), *runs]


def task_name(run: Run) -> str:
    """The name of a run's task."""
    return "/".join(f"{value:g}" if isinstance(value, float) else str(value) for value in run)


def resources(params: Training, plan: Plan, runs: Sequence[Run], images: Source) -> dict[str, Resources]:
    """What the task of each run and of each network before training needs, by its name."""
    return {
        task_name(run): costs.resources(
            spec(params, run, plan), images, params.probe, device=params.device, probes=2 * len(plan.probed)
        )
        for run in with_starts(runs)
    }


def spec(params: Training, run: Run, plan: Plan) -> Spec:
    """The spec of a run, except for the weight of the matched method. A run with another batch size sees the
    same number of images, a network before training none."""
    method = lineup.method("frossl" if run.method == START else run.method)
    hyperparameters = method.at(params.width)[1]
    if "queue" in hyperparameters:
        hyperparameters["queue"] = params.queue
    if "momentum" in hyperparameters:
        hyperparameters["momentum"] = min(method.hyperparameters["momentum"], params.slowest_teacher)
    hidden = narrowed(params.projector_hidden, params.width)
    weaker, stronger = RECIPES.get(run.images, RECIPES["cifar10"])
    # The published encoder's stem depends on the data set; one that a config names stays.
    published = params.encoder.stem == ResNet().stem
    stem = "cifar" if published and run.images.startswith("cifar") else params.encoder.stem
    return params.spec(
        objective=method.objective,
        hyperparameters=hyperparameters,
        augmentation=weaker if method.weak or params.augmentation == "shared" else stronger,
        normalisation=DATA_SETS[run.images].normalisation,
        encoder=replaced(params.encoder, {"stem": stem}),
        projector=MLP(dims=(hidden, hidden, run.dim)),
        optimiser=replaced(params.optimiser, {"learning_rate": run.learning_rate}),
        batch=run.batch,
        steps=0 if run.method == START else plan.steps * params.batch // run.batch,
        seed=run.seed,
        trace_every=plan.trace_every,
        probe_every=plan.probe_every,
    )


def source(params: Training, name: str, online: int = 0) -> Source:
    """The images of a data set on which networks are trained.

    Args:
        online: number of test images for the online probe; 0 for all.
    """
    split = PRETRAINED_ON.get(name, "train")
    return Source(
        name=name, root=params.root, split=split, first=params.images, first_test=online or params.images
    )
