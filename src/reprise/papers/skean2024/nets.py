"""The networks of the image experiments: which there are, what each is trained with, and on what."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import torch

from reprise import objectives
from reprise.datasets import recipes
from reprise.datasets.augment import Views
from reprise.datasets.catalogue import DATA_SETS
from reprise.networks.projectors import MLP
from reprise.numerics.streams import generator
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024 import lineup
from reprise.papers.skean2024.lineup import narrowed
from reprise.papers.skean2024.training import PRETRAINED_ON, Training
from reprise.study.settings import replaced
from reprise.training import methods
from reprise.training.image_settings import Source
from reprise.training.images import Data, assemble, batch_indices
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
"""What `lineup` names, so that an edit of one of them is an edit of the experiments."""

RECIPES = {
    "cifar10": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "cifar100": (recipes.SKEAN_CIFAR, recipes.SKEAN_CIFAR_BASELINES),
    "stl10": (recipes.SKEAN_STL10, recipes.SKEAN_STL10_BASELINES),
    "imagenet": (recipes.SIMCLR_IMAGENET, recipes.SIMCLR_IMAGENET),
    "shapes": (recipes.SHAPES, recipes.SHAPES),
    "shapes-80": (recipes.SHAPES, recipes.SHAPES),
}
"""By data set: FroSSL's augmentations, and those of most other methods where these have their own. A data set
without a row has CIFAR-10's."""


class Run(NamedTuple):
    """One training: a row of the grid."""

    images: str
    method: str
    learning_rate: float
    batch: int
    dim: int
    seed: int


class Plan(NamedTuple):
    """What an experiment asks of each training beside the settings.

    Attributes:
        probed: data sets of the same images, by whose labels the representations are probed at the end.
    """

    steps: int
    trace_every: int = 0
    probe_every: int = 0
    probed: tuple[str, ...] = ()


def grid(params: Training, names: Sequence[str], rates: Sequence[float], images: str) -> list[Run]:
    """Every method at every rate with every seed."""
    return [
        Run(images, name, rate, params.batch, lineup.method(name).at(params.width)[0], seed)
        for name, rate, seed in product(names, rates, range(params.seeds))
    ]


def spec(params: Training, run: Run, plan: Plan) -> Spec:
    """What determines a training, bar the weight of the matched method. Another batch than the settings' sees
    as many images."""
    method = lineup.method(run.method)
    hyperparameters = method.at(params.width)[1]
    if "queue" in hyperparameters:
        hyperparameters["queue"] = params.queue
    if "momentum" in hyperparameters:
        hyperparameters["momentum"] = min(method.hyperparameters["momentum"], params.slowest_teacher)
    hidden = narrowed(params.projector_hidden, params.width)
    weaker, stronger = RECIPES.get(run.images, RECIPES["cifar10"])
    stem = "cifar" if run.images.startswith("cifar") else params.encoder.stem
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
    """The name of the objective in a `Spec`; a loss that is not the paper's keeps its own."""
    return methods.name_of(OBJECTIVES[name]) if name in OBJECTIVES else name


def source(params: Training, name: str, online: int = 0) -> Source:
    """The images of a data set that networks are trained on.

    Args:
        online: how many test images the online probe is tested with; 0 for all.
    """
    split = PRETRAINED_ON.get(name, "train")
    return Source(
        name=name, root=params.root, split=split, first=params.images, first_test=online or params.images
    )


def labelled(params: Training, name: str) -> Data:
    """The images and labels of a data set that linear probes learn from."""
    return Source(name=name, root=params.root, first=params.images, first_test=params.images).load()


def matched(spec: Spec, data: Data) -> Spec:
    """The spec of the method `MATCHED`, with its weight."""
    return replaced(
        spec, {"hyperparameters": {**spec.hyperparameters, "variance_weight": matched_weight(spec, data)}}
    )


@torch.no_grad()
def matched_weight(of: Spec, data: Data) -> float:
    """1 / |ZᵀZ|²_F of the first batch's embeddings at initialisation, the mean over both views: with it the
    gradient of the term without logarithm is that of FroSSL's, w ∇E = ∇ log E."""
    views = Views(of.augmentation, of.normalisation)
    index = batch_indices(of.seed, 0, of.batch, len(data.labels))
    numbers = views.draw(len(index), generator(of.seed, "views/0"))
    student = assemble(of, data.channels).student
    energies = [
        objectives.gram_energy(unit_columns(student(view)[1]))
        for view in views.of(data.images, index, numbers)
    ]
    return float(1 / torch.stack(energies).mean())
