"""The methods of Tables 2 and 3 and Figure 3: the objective and the published settings of each.

"Scripts" means the authors' scripts/pretrain/stl10, which produced Table 3 and the STL-10 column of Table 2;
exceptions are noted. Widths are the published ones; a reduced run scales all of them by the same factor.
"""

from dataclasses import dataclass
from typing import Literal

from reprise.contract.losses import labels
from reprise.contract.settings import Settings, replaced
from reprise.training.objective import (
    BYOL,
    DINO,
    WMSE,
    BarlowTwins,
    Contrastive,
    CorInfoMax,
    FroSSL,
    FroSSLNoLogs,
    MoCo,
    Named,
    Objective,
    SimSiam,
    SwAV,
    VICReg,
    WithoutHyperparameters,
)

Family = Literal["sample-contrastive", "asymmetric network", "dimension-contrastive", "another loss"]


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    Attributes:
        name: as in Table 2.
        dim: dimension of the embedding.
        weak: whether its published runs used FroSSL's weaker augmentations.
        variant: whether it is our variant of a row rather than a row of the paper.
    """

    name: str
    family: Family
    dim: int
    weak: bool = False
    variant: bool = False


METHODS: dict[str, Method] = {
    "simclr": Method("SimCLR", "sample-contrastive", 256),
    "swav": Method("SwAV", "sample-contrastive", 128),
    "mocov2": Method("MoCo v2", "sample-contrastive", 256, weak=True),
    "simsiam": Method("SimSiam", "asymmetric network", 2048, weak=True),
    "byol": Method("BYOL", "asymmetric network", 256),
    "dino": Method("DINO", "asymmetric network", 256),
    "vicreg": Method("VICReg", "dimension-contrastive", 1024),
    "vicreg-averaged": Method("VICReg, variance averaged", "dimension-contrastive", 1024, variant=True),
    "barlow-twins": Method("Barlow Twins", "dimension-contrastive", 1024),
    "barlow-twins-b1": Method("Barlow Twins, λ of B.1", "dimension-contrastive", 1024, variant=True),
    "w-mse-2": Method("W-MSE 2", "dimension-contrastive", 128),
    "corinfomax": Method("CorInfoMax", "dimension-contrastive", 128),
    "frossl-no-logs": Method("FroSSL (no logs)", "dimension-contrastive", 1024, weak=True),
    "frossl-no-logs-unit-trace": Method(
        "FroSSL (no logs), trace 1", "dimension-contrastive", 1024, weak=True, variant=True
    ),
    "frossl-no-logs-matched": Method(
        "FroSSL (no logs), matched", "dimension-contrastive", 1024, weak=True, variant=True
    ),
    "frossl": Method("FroSSL", "dimension-contrastive", 1024, weak=True),
}


class Objectives(Settings):
    """The objective of each method, in a field named by its key with `_` for `-`. Widths are those of a batch
    of 256."""

    # B.1: τ = .2 and d = 256, as in solo-learn for CIFAR-100; the scripts have .5 and 512.
    simclr: Contrastive = Contrastive(kind="nt_xent", temperature=0.2)
    # Scripts; without their queue, which starts at epoch 50.
    swav: SwAV = SwAV(temperature=0.1, prototypes=3000)
    # Scripts, except momentum 1, with which the teacher never moves: here solo-learn's .99 to .999.
    mocov2: MoCo = MoCo(temperature=0.2, queue=32768, momentum=0.99, final_momentum=0.999)
    simsiam: SimSiam = SimSiam(hidden=512)
    byol: BYOL = BYOL(hidden=4096, momentum=0.99, final_momentum=1.0)
    dino: DINO = DINO(prototypes=4096, momentum=0.9995, final_momentum=1.0)
    # The authors' code sums both views' variance terms, which gives them twice VICReg's weight.
    vicreg: VICReg = VICReg(variance_weight=25.0)
    vicreg_averaged: VICReg = VICReg(variance_weight=12.5)
    # λ from Section 6.2 and Zbontar 2021, whom Appendix B.1 cites for ten times that; the loss times .1 as in
    # the scripts, which have d = 2048.
    barlow_twins: BarlowTwins = BarlowTwins(off_diagonal_weight=0.005, scale=0.1)
    barlow_twins_b1: BarlowTwins = BarlowTwins(off_diagonal_weight=0.05, scale=0.1)
    # Scripts; the whole batch is whitened at once, as there.
    w_mse_2: WMSE = WMSE()
    # The authors' scripts/pretrain/cifar/corinfomax_cifar100.
    corinfomax: CorInfoMax = CorInfoMax(attraction=1000.0, forgetting=0.01, epsilon=1e-6)
    # Its scale is not published: the loss of Section 3.1, and two variants.
    frossl_no_logs: FroSSLNoLogs = FroSSLNoLogs()
    frossl_no_logs_unit_trace: WithoutHyperparameters = WithoutHyperparameters(
        kind="frossl_no_logs_unit_trace"
    )
    frossl_no_logs_matched: FroSSLNoLogs = FroSSLNoLogs()
    frossl: FroSSL = FroSSL()

    def of(self, key: str, share: float) -> Objective:
        """A method's objective, or another loss by its name.

        Args:
            share: factor on the widths of predictors, and on numbers of prototypes.
        """
        name, _, weight = key.partition("*")
        if name not in METHODS:
            return Named(name=key)
        objective = getattr(self, name.replace("-", "_"))
        widths = {"hidden", "prototypes"} & type(objective).model_fields.keys()
        changes = {width: narrowed(getattr(objective, width), share) for width in widths}
        return replaced(objective, changes | ({"invariance_weight": float(weight)} if weight else {}))


def narrowed(width: int, share: float) -> int:
    """A width scaled by `share`, at least 2."""
    return max(round(width * share), 2)


MATCHED = "frossl-no-logs-matched"
"""The variant whose variance term has the gradient of FroSSL's at step 0: its weight is 1 / |ZᵀZ|²_F
there."""

ROWS = tuple(key for key, method in METHODS.items() if not method.variant)
"""The rows of Table 2."""
EPOCHS = (3, 10, 30, 50, 100)
"""The epochs of Table 3."""
EARLY = EPOCHS[:3]
"""Epochs in which FroSSL is said to lead."""
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
    name = key.partition("*")[0]
    known = METHODS.get(name)
    return known or Method(labels([key])[key], "another loss", METHODS["frossl"].dim)
