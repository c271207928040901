"""The objectives that are compared, each at its published hyperparameters and, where it has one, at another
temperature or weight. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from reprise.contract.losses import labels

Family = Literal[
    "sample-contrastive",
    "teacher or predictor",
    "dimension-contrastive",
    "orthonormal layers",
    "another loss",
]
Numbers = Mapping[str, float | int]
FIRST: Literal["first"] = "first"
OTHER: Literal["other"] = "other"
Place = Literal["first", "other"]
"""Which of an objective's two settings."""
UNTRAINED = "untrained"


@dataclass(frozen=True)
class Method:
    """An objective and its settings.

    Attributes:
        objective: as in `training.spec.Spec`.
        dim: of the embedding; 0 without a projector. Published widths are those of a batch of 256, or of
            their own batch, scaled to one of 64.
        fixed: hyperparameters of both settings.
        first, other: the hyperparameter that differs; of an objective without one, both are empty.
    """

    name: str
    family: Family
    objective: str
    dim: int
    fixed: Numbers = field(default_factory=dict)
    first: Numbers = field(default_factory=dict)
    other: Numbers = field(default_factory=dict)

    @property
    def is_stateless(self) -> bool:
        """Whether it is a loss of two views' embeddings, which toy networks can descend on."""
        return self.objective not in STATEFUL

    @property
    def places(self) -> tuple[Place, ...]:
        """The settings that it has."""
        return (FIRST, OTHER) if self.other else (FIRST,)

    def hyperparameters(self, place: Place) -> dict[str, float | int | bool | None]:
        """Those of a setting."""
        return {**self.fixed, **(self.first if place == FIRST else self.other)}

    def label(self, place: Place) -> str:
        """Its name with the hyperparameter that differs."""
        varied = self.first if place == FIRST else self.other
        return ", ".join([self.name, *(f"{SYMBOLS[key]} {value:g}" for key, value in varied.items())])


SYMBOLS = {
    "temperature": "τ",
    "student_temperature": "τ",
    "invariance_weight": "invariance",
    "variance_weight": "variance",
    "covariance_weight": "covariance",
    "off_diagonal_weight": "λ",
    "attraction": "α",
}
"""Of hyperparameters, in labels."""
STATEFUL = ("directclr", "moco", "swav", "simsiam", "byol", "dino", "corinfomax")
"""Objectives that are more than a loss of two views' embeddings: they have a predictor, a teacher, a queue,
prototypes or running moments, or need the representation."""
SLOW_START = {"momentum": 0.9, "final_momentum": 1.0}
"""Of a teacher: at a published .99 or .996 it would hardly leave its random start in so few steps."""

METHODS: dict[str, Method] = {
    # Temperatures of Skean 2024, Appendix B.1, and of the authors' scripts.
    "simclr": Method(
        "SimCLR", "sample-contrastive", "nt_xent", 64, first={"temperature": 0.2}, other={"temperature": 0.5}
    ),
    # The authors' code of DirectCLR, and with SimCLR's other temperature.
    "infonce-other-view": Method(
        "InfoNCE, other view", "sample-contrastive", "infonce_other_view", 64,
        first={"temperature": 0.1}, other={"temperature": 0.5},
    ),
    # Without a projector, on as many of 64 dimensions as 360 of the published 2048.
    "directclr": Method(
        "DirectCLR", "sample-contrastive", "directclr", 0, {"dimensions": 11},
        first={"temperature": 0.1}, other={"temperature": 0.5},
    ),
    "infonce-cosine": Method(
        "InfoNCE, Tian", "sample-contrastive", "infonce_cosine", 64,
        first={"temperature": 0.1}, other={"temperature": 0.5},
    ),
    # Its temperature is a factor of the loss.
    "quadratic-cosine": Method("Quadratic, Tian", "sample-contrastive", "quadratic_cosine", 64),
    "infonce-distance": Method("InfoNCE, Jing", "sample-contrastive", "infonce_distance", 64),
    "infonce-dot": Method(
        "InfoNCE, dot", "sample-contrastive", "infonce_dot", 64,
        first={"temperature": 0.1}, other={"temperature": 1.0},
    ),
    # The published share of the images in the queue, 65536 of 1.28 million, would be less than a batch.
    "mocov2": Method(
        "MoCo v2", "sample-contrastive", "moco", 64, {"queue": 512, **SLOW_START},
        first={"temperature": 0.2}, other={"temperature": 0.5},
    ),
    "swav": Method(
        "SwAV", "sample-contrastive", "swav", 32, {"prototypes": 750},
        first={"temperature": 0.1}, other={"temperature": 0.5},
    ),
    "simsiam": Method("SimSiam", "teacher or predictor", "simsiam", 512, {"hidden": 128}),
    "byol": Method("BYOL", "teacher or predictor", "byol", 64, {"hidden": 1024, **SLOW_START}),
    "dino": Method(
        "DINO", "teacher or predictor", "dino", 64, {"prototypes": 1024, **SLOW_START},
        first={"student_temperature": 0.1}, other={"student_temperature": 0.2},
    ),
    "vicreg": Method(
        "VICReg", "dimension-contrastive", "vicreg", 256,
        first={"covariance_weight": 1.0}, other={"covariance_weight": 10.0},
    ),
    # Zbontar 2021, and Skean 2024, Appendix B.1.
    "barlow-twins": Method(
        "Barlow Twins", "dimension-contrastive", "barlow_twins", 256, {"scale": 0.1},
        first={"off_diagonal_weight": 0.005}, other={"off_diagonal_weight": 0.05},
    ),
    "w-mse": Method("W-MSE", "dimension-contrastive", "w_mse", 32),
    # Its code for CIFAR-100, and its default.
    "corinfomax": Method(
        "CorInfoMax", "dimension-contrastive", "corinfomax", 32,
        first={"attraction": 1000.0}, other={"attraction": 500.0},
    ),
    "frossl": Method(
        "FroSSL", "dimension-contrastive", "frossl", 256,
        first={"invariance_weight": 1.0}, other={"invariance_weight": 4.0},
    ),
    "frossl-as-given": Method("FroSSL, as given", "dimension-contrastive", "frossl_as_given", 256),
    "frossl-no-logs": Method(
        "FroSSL, no logs", "dimension-contrastive", "frossl_no_logs", 256,
        first={"variance_weight": 1.0}, other={"variance_weight": 0.01},
    ),
    "frossl-no-logs-unit-trace": Method(
        "FroSSL, trace 1", "dimension-contrastive", "frossl_no_logs_unit_trace", 256
    ),
}  # fmt: skip
TOYS: dict[str, Method] = {
    "esser-contrastive": Method("Esser, Eq. 1", "orthonormal layers", "contrastive", 0),
    "esser-non-contrastive": Method("Esser, Eq. 2", "orthonormal layers", "non_contrastive", 0),
}
"""Losses of toy networks alone: their layers must stay orthonormal."""
DIM = METHODS["frossl"].dim
"""Of the embeddings of another loss."""


def method(key: str) -> Method:
    """Looks up an objective, or another loss (`objectives.resolve`)."""
    known = METHODS | TOYS
    return known[key] if key in known else Method(labels([key])[key], "another loss", key, DIM)
