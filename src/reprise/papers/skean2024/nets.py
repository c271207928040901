"""The networks of the image experiments: the grid of runs, their specs and their data."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch

from reprise import objectives
from reprise.datasets import recipes
from reprise.datasets.augment import Views
from reprise.datasets.catalogue import DATA_SETS
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP
from reprise.numerics.streams import generator
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024 import lineup
from reprise.papers.skean2024.lineup import narrowed
from reprise.papers.skean2024.training import PRETRAINED_ON, Training
from reprise.study.settings import replaced
from reprise.training import methods
from reprise.training.batches import batch_indices
from reprise.training.image_settings import Source
from reprise.training.images import Data, assemble
from reprise.training.spec import Spec

OBJECTIVES: dict[str, type[methods.Method] | methods.Loss] = {
    "nt_xent": objectives.nt_xent,
    "vicreg": objectives.vicreg,
    "barlow_twins": objectives.barlow_twins,
    "w_mse": objectives.w_mse,
    "frossl": objectives.frossl,
    "frossl_no_logs": objectives.frossl_no_logs,
    "frossl_no_logs_unit_trace": objectives.frossl_no_logs_unit_trace,
    "swav": methods.SwAV,
    "moco": methods.MoCo,
    "simsiam": methods.SimSiam,
    "byol": methods.BYOL,
    "dino": methods.DINO,
    "corinfomax": methods.CorInfoMax,
}
"""The objectives named in `lineup`, so that an edit of one of them reruns the experiments."""

RECIPES = {
    "cifar10": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "cifar100": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "stl10": (recipes.SKEAN_STL10, recipes.SKEAN_STL10_BASELINES),
    "imagenet": (recipes.SIMCLR_IMAGENET, recipes.SIMCLR_IMAGENET),
    "shapes": (recipes.SHAPES, recipes.SHAPES),
    "shapes-80": (recipes.SHAPES, recipes.SHAPES),
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


def spec(params: Training, run: Run, plan: Plan) -> Spec:
    """The spec of a run, except for the weight of the matched method. A run with another batch size sees the
    same number of images."""
    method = lineup.method(run.method)
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
        objective=_objective(method.objective),
        hyperparameters=hyperparameters,
        augmentation=weaker if method.weak or params.augmentation == "shared" else stronger,
        normalisation=DATA_SETS[run.images].normalisation,
        encoder=replaced(params.encoder, {"stem": stem}),
        projector=MLP(dims=(hidden, hidden, run.dim)),
        optimiser=replaced(params.optimiser, {"learning_rate": run.learning_rate}),
        batch=run.batch,
        steps=plan.steps * params.batch // run.batch,
        seed=run.seed,
        trace_every=plan.trace_every,
        probe_every=plan.probe_every,
    )


def _objective(name: str) -> str:
    """The name of the objective in a `Spec`; a loss that is not the paper's keeps its name."""
    return methods.name_of(OBJECTIVES[name]) if name in OBJECTIVES else name


def source(params: Training, name: str, online: int = 0) -> Source:
    """The images of a data set on which networks are trained.

    Args:
        online: number of test images for the online probe; 0 for all.
    """
    split = PRETRAINED_ON.get(name, "train")
    return Source(
        name=name, root=params.root, split=split, first=params.images, first_test=online or params.images
    )


def labelled(params: Training, name: str) -> Data:
    """The images and labels of a data set on which linear probes are trained."""
    return Source(name=name, root=params.root, first=params.images, first_test=params.images).load()


def matched(spec: Spec, data: Data) -> Spec:
    """The spec of the method `MATCHED` with its variance weight."""
    return replaced(
        spec, {"hyperparameters": {**spec.hyperparameters, "variance_weight": matched_weight(spec, data)}}
    )


@torch.no_grad()
def matched_weight(spec: Spec, data: Data) -> float:
    """1 / |ZᵀZ|²_F of the first batch's embeddings at initialisation, averaged over both views. With this
    weight, the term without logarithm has the gradient of FroSSL's term: w ∇E = ∇ log E."""
    views = Views(spec.augmentation, spec.normalisation)
    index = batch_indices(spec.seed, 0, spec.batch, len(data.labels))
    numbers = views.draw(len(index), generator(spec.seed, "views/0"))
    student = assemble(spec, data.channels).student
    energies = [
        objectives.gram_energy(unit_columns(student(view)[1]))
        for view in views.of(data.images, index, numbers)
    ]
    return float(1 / torch.stack(energies).mean())
