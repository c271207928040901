"""The objectives that are compared, each at its published hyperparameters and, where it has one, at another
temperature or weight. Imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from reprise.contract.losses import labels
from reprise.contract.settings import replaced
from reprise.training.objective import (
    BYOL,
    DINO,
    WMSE,
    BarlowTwins,
    Contrastive,
    ContrastiveKind,
    CorInfoMax,
    DirectCLR,
    FroSSL,
    FroSSLNoLogs,
    MoCo,
    Named,
    Objective,
    OfEmbeddings,
    SimSiam,
    SwAV,
    VICReg,
    WithoutHyperparameters,
)

Family = Literal[
    "sample-contrastive",
    "teacher or predictor",
    "dimension-contrastive",
    "orthonormal layers",
    "another loss",
]
FIRST: Literal["first"] = "first"
OTHER: Literal["other"] = "other"
Place = Literal["first", "other"]
"""One of an objective's two settings."""
UNTRAINED = "untrained"


@dataclass(frozen=True)
class Method:
    """An objective and its settings.

    Attributes:
        objective: in its first setting; None for a loss of toy networks alone.
        dim: of the embedding; 0 without a projector. Published widths are those of a batch of 256, or of
            their own batch, scaled to one of 64.
        other: the hyperparameter that differs in its other setting, and its value there.
    """

    name: str
    family: Family
    objective: Objective | None
    dim: int
    other: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_stateless(self) -> bool:
        """Tells if the objective is a loss of two views' embeddings, which toy networks can descend on."""
        return isinstance(self.objective, OfEmbeddings)

    @property
    def places(self) -> tuple[Place, ...]:
        """The settings of the objective."""
        return (FIRST, OTHER) if self.other else (FIRST,)

    def at(self, place: Place) -> Objective:
        """The objective in a setting."""
        assert self.objective is not None, f"{self.name} has no networks on images"
        return self.objective if place == FIRST else replaced(self.objective, self.other)

    def label(self, place: Place) -> str:
        """The name with the hyperparameter that differs between settings."""
        values = [f"{SYMBOLS[name]} {getattr(self.at(place), name):g}" for name in self.other]
        return ", ".join([self.name, *values])


SYMBOLS = {
    "temperature": "τ",
    "student_temperature": "τ",
    "invariance_weight": "invariance",
    "variance_weight": "variance",
    "covariance_weight": "covariance",
    "off_diagonal_weight": "λ",
    "attraction": "α",
}
"""Symbols of hyperparameters, in labels."""


def _at(kind: ContrastiveKind, temperature: float) -> Contrastive:
    return Contrastive(kind=kind, temperature=temperature)


METHODS: dict[str, Method] = {
    # Temperatures of Skean 2024, Appendix B.1, and of the authors' scripts.
    "simclr": Method("SimCLR", "sample-contrastive", _at("nt_xent", 0.2), 64, {"temperature": 0.5}),
    # The authors' code of DirectCLR, and with SimCLR's other temperature.
    "infonce-other-view": Method(
        "InfoNCE, other view", "sample-contrastive", _at("infonce_other_view", 0.1), 64, {"temperature": 0.5}
    ),
    # Without a projector, on as many of 64 dimensions as 360 of the published 2048.
    "directclr": Method(
        "DirectCLR", "sample-contrastive", DirectCLR(dimensions=11, temperature=0.1), 0, {"temperature": 0.5}
    ),
    "infonce-cosine": Method(
        "InfoNCE, Tian", "sample-contrastive", _at("infonce_cosine", 0.1), 64, {"temperature": 0.5}
    ),
    # Its temperature is a factor of the loss.
    "quadratic-cosine": Method("Quadratic, Tian", "sample-contrastive", _at("quadratic_cosine", 0.1), 64),
    "infonce-distance": Method(
        "InfoNCE, Jing", "sample-contrastive", WithoutHyperparameters(kind="infonce_distance"), 64
    ),
    "infonce-dot": Method(
        "InfoNCE, dot", "sample-contrastive", _at("infonce_dot", 0.1), 64, {"temperature": 1.0}
    ),
    # The published share of the images in the queue, 65536 of 1.28 million, would be less than a batch. Here
    # and below teachers start at .9: at a published .99 or .996 they would hardly leave their random start in
    # so few steps.
    "mocov2": Method(
        "MoCo v2", "sample-contrastive",
        MoCo(queue=512, temperature=0.2, momentum=0.9, final_momentum=1.0), 64, {"temperature": 0.5},
    ),
    "swav": Method(
        "SwAV", "sample-contrastive", SwAV(prototypes=750, temperature=0.1), 32, {"temperature": 0.5}
    ),
    "simsiam": Method("SimSiam", "teacher or predictor", SimSiam(hidden=128), 512),
    "byol": Method(
        "BYOL", "teacher or predictor", BYOL(hidden=1024, momentum=0.9, final_momentum=1.0), 64
    ),
    "dino": Method(
        "DINO", "teacher or predictor",
        DINO(prototypes=1024, student_temperature=0.1, momentum=0.9, final_momentum=1.0), 64,
        {"student_temperature": 0.2},
    ),
    "vicreg": Method(
        "VICReg", "dimension-contrastive", VICReg(covariance_weight=1.0), 256, {"covariance_weight": 10.0}
    ),
    # Zbontar 2021, and Skean 2024, Appendix B.1.
    "barlow-twins": Method(
        "Barlow Twins", "dimension-contrastive", BarlowTwins(scale=0.1, off_diagonal_weight=0.005), 256,
        {"off_diagonal_weight": 0.05},
    ),
    "w-mse": Method("W-MSE", "dimension-contrastive", WMSE(), 32),
    # Its code for CIFAR-100, and its default.
    "corinfomax": Method(
        "CorInfoMax", "dimension-contrastive", CorInfoMax(attraction=1000.0), 32, {"attraction": 500.0}
    ),
    "frossl": Method(
        "FroSSL", "dimension-contrastive", FroSSL(invariance_weight=1.0), 256, {"invariance_weight": 4.0}
    ),
    "frossl-as-given": Method(
        "FroSSL, as given", "dimension-contrastive", WithoutHyperparameters(kind="frossl_as_given"), 256
    ),
    "frossl-no-logs": Method(
        "FroSSL, no logs", "dimension-contrastive", FroSSLNoLogs(variance_weight=1.0), 256,
        {"variance_weight": 0.01},
    ),
    "frossl-no-logs-unit-trace": Method(
        "FroSSL, trace 1", "dimension-contrastive",
        WithoutHyperparameters(kind="frossl_no_logs_unit_trace"), 256,
    ),
}  # fmt: skip
TOYS: dict[str, Method] = {
    "esser-contrastive": Method("Esser, Eq. 1", "orthonormal layers", None, 0),
    "esser-non-contrastive": Method("Esser, Eq. 2", "orthonormal layers", None, 0),
}
"""Losses of toy networks alone: their layers must stay orthonormal."""
DIM = METHODS["frossl"].dim
"""Dimension of the embeddings of another loss."""


def method(key: str) -> Method:
    """Looks up an objective, or another loss (`objectives.resolve`)."""
    known = METHODS | TOYS
    return known[key] if key in known else Method(labels([key])[key], "another loss", Named(name=key), DIM)
