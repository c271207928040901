"""A training of seconds: pictures of 8 pixels, a net of four channels."""

import json
from typing import get_args

import torch
from pydantic import TypeAdapter

from reprise.datasets.recipes import Recipe, Strengths
from reprise.networks.encoders import ResNet
from reprise.networks.projectors import MLP
from reprise.training.images import Data
from reprise.training.objective import Named, Objective
from reprise.training.optimisers import SGD
from reprise.training.spec import Spec

RECIPE = Recipe(Strengths(scale=(0.5, 1.0), blur=0.0), Strengths(scale=(0.5, 1.0), blur=0.0, hue=0.2))


def data(samples=64, size=8, channels=3, classes=4):
    """Patches of one colour a class, in noise."""
    random = torch.Generator().manual_seed(0)
    labels = torch.arange(samples) % classes
    colours = torch.randint(64, 192, (classes, channels, 1, 1), generator=random)
    noise = torch.randint(-60, 60, (samples, channels, size, size), generator=random)
    images = (colours[labels] + noise).to(torch.uint8)
    half = samples // 2
    return Data(images[:half], labels[:half], images[half:], labels[half:])


def objective(name, **hyperparameters):
    """The settings of an objective, or of a loss by its name."""
    kinds = [each.model_fields["kind"] for each in get_args(get_args(Objective)[0])]
    if name not in [kind for field in kinds for kind in get_args(field.annotation)]:
        return Named(name=name)
    return TypeAdapter(Objective).validate_json(json.dumps({"kind": name, **hyperparameters}))


def spec(name="nt_xent", hyperparameters=(), **changes):
    settings = {
        "objective": objective(name, **dict(hyperparameters)),
        "augmentation": RECIPE,
        "encoder": ResNet(blocks=(1, 1, 1, 1), width=4, stem="stride2"),
        "projector": MLP(dims=(16, 8)),
        "optimiser": SGD(learning_rate=0.05),
        "batch": 16,
        "steps": 45,
        "trace_every": 10,
        "probe_every": 20,
    }
    return Spec(**(settings | changes))


STATEFUL = {
    "simsiam": {"hidden": 8},
    "byol": {"hidden": 8},
    "moco": {"queue": 32},
    "swav": {"prototypes": 12, "frozen": 5},
    "dino": {"prototypes": 12, "frozen": 5, "warmup": 10},
    "corinfomax": {"attraction": 10.0, "epsilon": 1e-2},
}
"""Each method with state, and hyperparameters of its size."""
