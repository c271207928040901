"""The networks of the image experiments: which there are, what each is trained with, and on what."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import torch

from reprise import objectives
from reprise.datasets import recipes
from reprise.datasets.augment import NORMALISATIONS, Views
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP
from reprise.numerics.streams import generator
from reprise.objectives.embeddings import unit_columns
from reprise.papers.skean2024 import lineup
from reprise.papers.skean2024.lineup import MATCHED, narrowed
from reprise.papers.skean2024.training import PRETRAINED_ON, Training
from reprise.training import methods
from reprise.training.images import Data, assemble, batch_indices
from reprise.training.models import Model, Spec, data_set, model
from reprise.training.optimisers import LARS, SGD, OptimiserSpec
from reprise.training.schedules import Constant, CosineRestarts, Schedule, WarmupCosine

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
"""By data set: FroSSL's augmentations, and those of most other methods where these have their own."""
SMALL = {"resnet10-w16": 16, "resnet10-w4": 4}
"""Widths of the encoders of one block a stage, for pictures of 32 pixels."""
RESTARTS = 100 / 15
"""Section 6.2: every 15 of 100 epochs."""


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
    steps = plan.steps * params.batch // run.batch
    hidden = narrowed(params.projector_hidden, params.width)
    weaker, stronger = RECIPES[run.images]
    return Spec(
        objective=methods.name_of(OBJECTIVES[method.objective]),
        hyperparameters=hyperparameters,
        augmentation=weaker if method.weak or params.augmentation == "shared" else stronger,
        normalisation=NORMALISATIONS[run.images],
        encoder=_encoder(params, run.images),
        projector=MLP(dims=(hidden, hidden, run.dim)),
        optimiser=_optimiser(params, run.learning_rate),
        schedule=_schedule(params, steps),
        batch=run.batch,
        steps=steps,
        seed=run.seed,
        precision=params.precision,
        trace_every=plan.trace_every,
        probe_every=plan.probe_every,
    )


def _encoder(params: Training, data_set: str) -> ResNet:
    if params.encoder in SMALL:
        return ResNet(blocks=(1, 1, 1, 1), width=SMALL[params.encoder], stem="stride2")
    return ResNet(stem="cifar" if data_set.startswith("cifar") else "imagenet")


def _optimiser(params: Training, learning_rate: float) -> OptimiserSpec:
    if params.optimiser == "sgd":
        return SGD(learning_rate=learning_rate, momentum=params.momentum, weight_decay=params.weight_decay)
    return LARS(
        learning_rate=learning_rate,
        momentum=params.momentum,
        weight_decay=params.weight_decay,
        trust=params.trust,
        clip=params.clip,
    )


def _schedule(params: Training, steps: int) -> Schedule:
    if params.schedule == "constant":
        return Constant()
    if params.schedule == "cosine_restarts":
        return CosineRestarts(period=max(round(steps / RESTARTS), 1))
    return WarmupCosine(warmup=round(params.warmup * steps))


class Sets(NamedTuple):
    """A data set to train on, and the labelled ones of the same images to probe with."""

    training: Data
    labelled: dict[str, Data]


def sets(params: Training, name: str, probed: Sequence[str], online: int = 0) -> Sets:
    """
    Args:
        name: of the data set that is trained on.
        online: how many test images the online probe is tested with; 0 for all.
    """
    training = _first(data_set(name, params.root, PRETRAINED_ON.get(name, "train")), params.images)
    labelled = {of: _first(data_set(of, params.root), params.images) for of in probed}
    return Sets(_first(training, len(training.labels), online or params.images), labelled)


def _first(data: Data, train: int, test: int = 0) -> Data:
    """So many images of each split; a `Folder` stays whole."""
    test = test or train
    images, test_images = (
        part[:of] if isinstance(part, torch.Tensor) else part
        for part, of in ((data.images, train), (data.test_images, test))
    )
    return Data(images, data.labels[: len(images)], test_images, data.test_labels[: len(test_images)])


def network(
    params: Training, of: Spec, run: Run, data: Data, root: Path, told: Callable[[float], None]
) -> Model:
    """Trained, or found among those kept."""
    if run.method == MATCHED:
        weight = matched_weight(of, data)
        of = of.model_copy(update={"hyperparameters": {**of.hyperparameters, "variance_weight": weight}})
    return model(of, data, root, told, device=params.device)


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
