"""The methods of Tables 2 and 3 and Figure 3: the objective and the published settings of each.

"Scripts" means the authors' scripts/pretrain/stl10, which produced Table 3 and the STL-10 column of Table 2;
exceptions are noted. Widths are the published ones; a reduced run scales all of them by the same factor.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from reprise.contract.losses import labels

Family = Literal["sample-contrastive", "asymmetric network", "dimension-contrastive", "another loss"]


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    Attributes:
        name: as in Table 2.
        objective: as in `training.spec.Spec`.
        dim: dimension of the embedding.
        hyperparameters: of the objective; MoCo's queue is one of the settings.
        widths: hyperparameters that are widths, scaled like `dim`.
        weak: whether its published runs used FroSSL's weaker augmentations.
        variant: whether it is our variant of a row rather than a row of the paper.
    """

    name: str
    family: Family
    objective: str
    dim: int
    hyperparameters: Mapping[str, float] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    weak: bool = False
    variant: bool = False

    def at(self, share: float) -> tuple[int, dict[str, float | int | bool | None]]:
        """The embedding dimension and the hyperparameters, with all widths scaled by `share`."""
        widths = {name: narrowed(width, share) for name, width in self.widths.items()}
        return narrowed(self.dim, share), {**self.hyperparameters, **widths}


def narrowed(width: int, share: float) -> int:
    """A width scaled by `share`, at least 2."""
    return max(round(width * share), 2)


METHODS: dict[str, Method] = {
    # B.1: τ = .2 and d = 256, as in solo-learn for CIFAR-100; the scripts have .5 and 512.
    "simclr": Method("SimCLR", "sample-contrastive", "nt_xent", 256, {"temperature": 0.2}),
    # Scripts; without their queue, which starts at epoch 50.
    "swav": Method("SwAV", "sample-contrastive", "swav", 128, {"temperature": 0.1}, {"prototypes": 3000}),
    # Scripts, except momentum 1, with which the teacher never moves: here solo-learn's .99 to .999.
    "mocov2": Method(
        "MoCo v2",
        "sample-contrastive",
        "moco",
        256,
        {"temperature": 0.2, "momentum": 0.99, "final_momentum": 0.999},
        weak=True,
    ),
    "simsiam": Method("SimSiam", "asymmetric network", "simsiam", 2048, {}, {"hidden": 512}, weak=True),
    "byol": Method(
        "BYOL",
        "asymmetric network",
        "byol",
        256,
        {"momentum": 0.99, "final_momentum": 1.0},
        {"hidden": 4096},
    ),
    "dino": Method(
        "DINO",
        "asymmetric network",
        "dino",
        256,
        {"momentum": 0.9995, "final_momentum": 1.0},
        {"prototypes": 4096},
    ),
    # The authors' code sums both views' variance terms, which gives them twice VICReg's weight.
    "vicreg": Method("VICReg", "dimension-contrastive", "vicreg", 1024, {"variance_weight": 25.0}),
    "vicreg-averaged": Method(
        "VICReg, variance averaged",
        "dimension-contrastive",
        "vicreg",
        1024,
        {"variance_weight": 12.5},
        variant=True,
    ),
    # λ from Section 6.2 and Zbontar 2021, whom Appendix B.1 cites for ten times that; the loss times .1 as in
    # the scripts, which have d = 2048.
    "barlow-twins": Method(
        "Barlow Twins",
        "dimension-contrastive",
        "barlow_twins",
        1024,
        {"off_diagonal_weight": 0.005, "scale": 0.1},
    ),
    "barlow-twins-b1": Method(
        "Barlow Twins, λ of B.1",
        "dimension-contrastive",
        "barlow_twins",
        1024,
        {"off_diagonal_weight": 0.05, "scale": 0.1},
        variant=True,
    ),
    # Scripts; the whole batch is whitened at once, as there.
    "w-mse-2": Method("W-MSE 2", "dimension-contrastive", "w_mse", 128),
    # The authors' scripts/pretrain/cifar/corinfomax_cifar100.
    "corinfomax": Method(
        "CorInfoMax",
        "dimension-contrastive",
        "corinfomax",
        128,
        {"attraction": 1000.0, "forgetting": 0.01, "epsilon": 1e-6},
    ),
    # Its scale is not published: the loss of Section 3.1, and two variants.
    "frossl-no-logs": Method("FroSSL (no logs)", "dimension-contrastive", "frossl_no_logs", 1024, weak=True),
    "frossl-no-logs-unit-trace": Method(
        "FroSSL (no logs), trace 1",
        "dimension-contrastive",
        "frossl_no_logs_unit_trace",
        1024,
        weak=True,
        variant=True,
    ),
    "frossl-no-logs-matched": Method(
        "FroSSL (no logs), matched",
        "dimension-contrastive",
        "frossl_no_logs",
        1024,
        weak=True,
        variant=True,
    ),
    "frossl": Method("FroSSL", "dimension-contrastive", "frossl", 1024, weak=True),
}
MATCHED = "frossl-no-logs-matched"
"""The variant whose variance term has the gradient of FroSSL's at step 0: its weight is 1 / |ZᵀZ|²_F
there."""

ROWS = tuple(key for key, method in METHODS.items() if not method.variant)
"""The rows of Table 2."""
EPOCHS = (3, 10, 30, 50, 100)
"""The epochs of Table 3."""
EARLY = EPOCHS[:3]
"""Those in which FroSSL is said to lead."""
FIGURE3 = ("simclr", "vicreg", "vicreg-averaged", "barlow-twins", "barlow-twins-b1", "frossl")
"""The methods of Figure 3, plus the other variance weight and the other λ."""
TOP = 14
"""Number of eigenvalues in Figure 3."""
FIGURE3_PUBLISHED = ("simclr", "vicreg", "barlow-twins")
"""The three methods that Figure 3 compares with FroSSL."""


def weighted(key: str, weight: float) -> str:
    """The key of a method with this invariance weight; the method's own key if the weight is 1."""
    return key if weight == 1 else f"{key}*{weight:g}"


def method(key: str) -> Method:
    """Looks up a row of the tables, a variant, a `weighted` method, or another loss (`objectives.resolve`),
    which gets FroSSL's embedding dimension."""
    name, _, weight = key.partition("*")
    if name not in METHODS:
        return Method(labels([key])[key], "another loss", key, METHODS["frossl"].dim)
    row = METHODS[name]
    if not weight:
        return row
    return replace(row, hyperparameters={**row.hyperparameters, "invariance_weight": float(weight)})
