"""Trains the nets of the image experiments, and measures them as the authors' code does: in evaluation mode,
on the test set."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from torch import Tensor, no_grad

from reprise.datasets.augment import NORMALISATIONS, Normalisation
from reprise.datasets.recipes import RECIPES, Recipe, Strengths
from reprise.diagnostics.probes import linear_probe, representations
from reprise.diagnostics.spectra import normalised_log_spectrum
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP, Diagonal, Identity, Linear, LowRank, Projector
from reprise.objectives import infonce_other_view
from reprise.papers.jing2022.image_settings import PARTS, Training
from reprise.study.experiment import Task
from reprise.training.images import Data, assemble
from reprise.training.launch import train_on_all_gpus
from reprise.training.methods import DirectCLR, Student, name_of
from reprise.training.models import Spec, model
from reprise.training.optimisers import LARS, SGD, AdamW, OptimiserSpec
from reprise.training.schedules import WarmupCosine

PROBE_WEIGHT_DECAY = 1e-6
OPTIMISERS: dict[str, type[LARS | SGD | AdamW]] = {"lars": LARS, "sgd": SGD, "adamw": AdamW}

Labels = dict[str, tuple[Tensor, Tensor]]
"""Name -> labels of the training and of the test images."""


def spec(training: Training, net: str, seed: int, samples: int) -> Spec:
    """What determines a trained net.

    Args:
        net: one of `NETS`.
        samples: images to train on.
    """
    steps = max(1, round(training.epochs * (samples // training.batch)))
    hyperparameters: dict[str, float | int | bool | None] = {"temperature": training.temperature}
    if net == "directclr":
        hyperparameters["dimensions"] = training.d0
    return Spec(
        objective=name_of(DirectCLR if net == "directclr" else infonce_other_view),
        hyperparameters=hyperparameters,
        augmentation=augmentation(training),
        normalisation=normalisation(training),
        encoder=ResNet(
            block=training.block,
            blocks=training.blocks,
            width=training.width,
            stem=training.stem,
            zero_init_residual=training.zero_init_residual,
            last_shortcut=training.last_shortcut,
        ),
        projector=projector(training, net),
        optimiser=optimiser(training),
        schedule=WarmupCosine(warmup=round(training.warmup * steps), final=training.final_rate),
        batch=training.batch,
        steps=steps,
        seed=seed,
        precision=training.precision,
    )


def projector(training: Training, net: str) -> Projector:
    """Between the representation and the loss; DirectCLR's sub-vector is its objective's."""
    hidden = (training.head_hidden,) * (training.head_layers - 1)
    projectors: dict[str, Projector] = {
        "nonlinear": MLP(
            dims=(*hidden, training.embedding), last_norm=training.head_norm, last_bias=False
        ),
        "linear": Linear(out=training.embedding),
        "low_rank": LowRank(rank=training.d0),
        "diagonal": Diagonal(),
        "none": Identity(),
        "directclr": Identity(),
    }  # fmt: skip
    return projectors[net]


def augmentation(training: Training) -> Recipe:
    """The named recipe at these strengths."""

    def at_strength(of: Strengths) -> Strengths:
        return replace(
            of,
            scale=(training.crop, 1.0),
            brightness=training.jitter,
            contrast=training.jitter,
            saturation=of.saturation / of.brightness * training.jitter,
            hue=training.hue,
        )

    recipe = RECIPES[training.recipe]
    return Recipe(at_strength(recipe.first), at_strength(recipe.second))


def normalisation(training: Training) -> Normalisation:
    return NORMALISATIONS[training.data_set]


def optimiser(training: Training) -> OptimiserSpec:
    kind = OPTIMISERS[training.optimiser]
    return kind(learning_rate=training.learning_rate, weight_decay=training.weight_decay)


def trained(
    name: str,
    training: Training,
    net: str,
    seed: int,
    data: Data,
    labels: Labels,
    root: Path,
    parts: tuple[str, ...] = ("all",),
) -> Task:
    """A net that is trained, or found among those kept, and then measured; see `measured` for its table.

    Args:
        parts: those of `PARTS` that are probed.
    """
    of = spec(training, net, seed, len(data.labels))

    def make(told: Callable[[float], None]) -> pd.DataFrame:
        if training.device == "cuda":
            train_on_all_gpus(of, training.data_set, training.root, root)
        found = model(of, data, root, told, device=training.device)
        if found.diverged is None:
            return measured(found.method.student, training, seed, data, labels, parts)
        start = assemble(of, data.channels).eval().student  # for the rows, none of which has a number
        return measured(start, training, seed, data, labels, parts).assign(value=np.nan)

    return Task(name, make, work=of.steps * training.width**2)


def untrained(
    name: str,
    training: Training,
    seed: int,
    data: Data,
    labels: Labels,
    parts: tuple[str, ...] = ("all",),
) -> Task:
    """The same of the net that SimCLR with a nonlinear projector starts from; all nets of a seed start from
    its encoder."""
    of = spec(training, "nonlinear", seed, len(data.labels))

    def make(told: Callable[[float], None]) -> pd.DataFrame:
        student = assemble(of, data.channels).eval().student
        return measured(student, training, seed, data, labels, parts)

    return Task(name, make, work=1)


def measured(
    student: Student, training: Training, seed: int, data: Data, labels: Labels, parts: tuple[str, ...]
) -> pd.DataFrame:
    """A row a number: `what` is `representation` or `embedding`, with ln of the `index`-th singular value of
    the covariance of unit vectors, or `probe` with the `labels` and the `part` that it reads, and a top-1
    accuracy in %."""
    student.to(training.device)
    train, test = (
        representations(student.encoder, normalisation(training), images, training.device)
        for images in (data.images, data.test_images)
    )
    with no_grad():
        vectors = {"representation": test, "embedding": student.projector(test)}
    tables = [pd.DataFrame(_probes(train, test, training, seed, labels, parts))]
    for what, of_images in vectors.items():
        values = normalised_log_spectrum(of_images).cpu().numpy()
        tables.append(pd.DataFrame({"what": what, "index": np.arange(1, len(values) + 1), "value": values}))
    return pd.concat(tables, ignore_index=True)


def _probes(
    train: Tensor, test: Tensor, training: Training, seed: int, labels: Labels, parts: tuple[str, ...]
) -> Iterator[dict[str, object]]:
    columns = dict(zip(PARTS, (slice(None), slice(training.d0), slice(training.d0, None)), strict=True))
    for part in parts:
        for name, (of_train, of_test) in labels.items():
            found = linear_probe(
                train[:, columns[part]],
                of_train,
                test[:, columns[part]],
                of_test,
                schedule=WarmupCosine(),
                learning_rate=training.probe_learning_rate,
                weight_decay=PROBE_WEIGHT_DECAY,
                epochs=training.probe_epochs,
                batch=training.probe_batch,
                seed=seed,
            )
            yield {"what": "probe", "labels": name, "part": part, "value": 100 * found.top1}
