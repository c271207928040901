"""Objectives of a training on images, as settings: what a network learns by, and its hyperparameters.

`build(student, steps)` connects an objective to a student (`training.methods`). Imports no torch, so that
planning a run stays fast.
"""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from reprise.contract.settings import Settings

if TYPE_CHECKING:
    from reprise.training.methods import Loss, Method, Student

Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Momentum = Annotated[float, Field(ge=0, le=1)]


class _Objective(Settings):
    kind: str

    def __str__(self) -> str:
        return self.kind

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """All fields but `kind`."""
        return self.model_dump(exclude={"kind"})


class OfEmbeddings(_Objective):
    """A loss of the two views' embeddings alone; the hyperparameters are its keyword arguments."""

    def loss(self) -> "Loss":
        """The function in `reprise.objectives`."""
        raise NotImplementedError

    def build(self, student: "Student", steps: int) -> "Method":
        """The method at step 0 of a training of `steps` steps."""
        from reprise.training.methods import Stateless

        return Stateless(student, steps, loss=self.function())

    def function(self) -> "Loss":
        """The loss with these hyperparameters."""
        return partial(self.loss(), **self.hyperparameters)


class Named(OfEmbeddings):
    """A loss by its name in `reprise.objectives`, or a user's own by `path/mine.py:my_loss`."""

    kind: Literal["named"] = "named"
    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """No hyperparameters: a loss given by name has its own defaults."""
        return {}

    def loss(self) -> "Loss":
        from reprise.objectives import resolve

        return resolve(self.name)


ContrastiveKind = Literal[
    "nt_xent", "infonce_other_view", "infonce_cosine", "quadratic_cosine", "infonce_dot"
]


class Contrastive(OfEmbeddings):
    """A loss of similarities over a temperature: NT-Xent (SimCLR, Chen et al. 2020), that of Jing's code,
    whose negatives are of the other view, InfoNCE and the quadratic loss of cosines (Tian 2023), or InfoNCE
    of inner products."""

    kind: ContrastiveKind
    temperature: Positive = 0.1

    def loss(self) -> "Loss":
        from reprise import objectives

        losses: dict[str, Loss] = {
            "nt_xent": objectives.nt_xent,
            "infonce_other_view": objectives.infonce_other_view,
            "infonce_cosine": objectives.infonce_cosine,
            "quadratic_cosine": objectives.quadratic_cosine,
            "infonce_dot": objectives.infonce_dot,
        }
        return losses[self.kind]


class WithoutHyperparameters(OfEmbeddings):
    """InfoNCE of distances (Jing et al. 2022, Eq. 2), FroSSL of embeddings as they are, and FroSSL without
    logarithms of a covariance of trace 1 (Skean et al. 2024)."""

    kind: Literal["infonce_distance", "frossl_as_given", "frossl_no_logs_unit_trace"]

    def loss(self) -> "Loss":
        from reprise import objectives

        losses: dict[str, Loss] = {
            "infonce_distance": objectives.infonce_distance,
            "frossl_as_given": objectives.frossl_as_given,
            "frossl_no_logs_unit_trace": objectives.frossl_no_logs_unit_trace,
        }
        return losses[self.kind]


class VICReg(OfEmbeddings):
    """Bardes et al. 2022."""

    kind: Literal["vicreg"] = "vicreg"
    invariance_weight: Weight = 25.0
    variance_weight: Weight = 25.0
    covariance_weight: Weight = 1.0

    def loss(self) -> "Loss":
        from reprise.objectives import vicreg

        return vicreg


class BarlowTwins(OfEmbeddings):
    """Zbontar et al. 2021."""

    kind: Literal["barlow_twins"] = "barlow_twins"
    off_diagonal_weight: Weight = 0.005
    scale: Positive = 1.0

    def loss(self) -> "Loss":
        from reprise.objectives import barlow_twins

        return barlow_twins


class WMSE(OfEmbeddings):
    """Ermolov et al. 2021."""

    kind: Literal["w_mse"] = "w_mse"
    sub_batch: Count | None = None

    def loss(self) -> "Loss":
        from reprise.objectives import w_mse

        return w_mse


class FroSSL(OfEmbeddings):
    """Skean et al. 2024, Eq. 6."""

    kind: Literal["frossl"] = "frossl"
    invariance_weight: Weight = 1.0

    def loss(self) -> "Loss":
        from reprise.objectives import frossl

        return frossl


class FroSSLNoLogs(OfEmbeddings):
    """FroSSL without its logarithms, Skean et al. 2024, Section 3.1."""

    kind: Literal["frossl_no_logs"] = "frossl_no_logs"
    variance_weight: Positive = 1.0

    def loss(self) -> "Loss":
        from reprise.objectives import frossl_no_logs

        return frossl_no_logs


class DirectCLR(_Objective):
    """Jing et al. 2022, Section 6.

    Attributes:
        dimensions: d0, 360 of 2048 in the paper.
    """

    kind: Literal["directclr"] = "directclr"
    dimensions: Count = 360
    temperature: Positive = 0.1

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import DirectCLR

        return DirectCLR(student, steps, **self.hyperparameters)


class Supervised(_Objective):
    """Cross-entropy with the classes, for comparison."""

    kind: Literal["supervised"] = "supervised"

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import Supervised

        return Supervised(student, steps)


class SimSiam(_Objective):
    """Chen and He 2021.

    Attributes:
        hidden: hidden width of the predictor.
    """

    kind: Literal["simsiam"] = "simsiam"
    hidden: Count = 512

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import SimSiam

        return SimSiam(student, steps, **self.hyperparameters)


class BYOL(_Objective):
    """Grill et al. 2020.

    Attributes:
        hidden: hidden width of the predictor.
        momentum, final_momentum: of the teacher.
    """

    kind: Literal["byol"] = "byol"
    hidden: Count = 4096
    momentum: Momentum = 0.99
    final_momentum: Momentum = 1.0

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import BYOL

        return BYOL(student, steps, **self.hyperparameters)


class MoCo(_Objective):
    """MoCo v2, Chen et al. 2020.

    Attributes:
        queue: length of each view's queue.
        momentum, final_momentum: of the teacher.
    """

    kind: Literal["moco"] = "moco"
    temperature: Positive = 0.2
    queue: Count = 65536
    momentum: Momentum = 0.999
    final_momentum: Momentum = 0.999

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import MoCo

        return MoCo(student, steps, **self.hyperparameters)


class SwAV(_Objective):
    """Caron et al. 2020, with two views and no queue.

    Attributes:
        prototypes: number of prototypes.
        frozen: number of initial steps during which the prototypes stay fixed.
    """

    kind: Literal["swav"] = "swav"
    prototypes: Count = 3000
    temperature: Positive = 0.1
    epsilon: Positive = 0.05
    iterations: Count = 3
    frozen: int = Field(default=0, ge=0)

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import SwAV

        return SwAV(student, steps, **self.hyperparameters)


class DINO(_Objective):
    """Caron et al. 2021, with two views.

    Attributes:
        prototypes: number of outputs.
        warm_temperature, warmup: the teacher's temperature at step 0, and the number of steps over which it
            moves linearly to `teacher_temperature`.
        centre_momentum: of the running mean of the teacher's outputs.
        momentum, final_momentum: of the teacher.
        frozen: number of initial steps during which the last layer stays fixed.
    """

    kind: Literal["dino"] = "dino"
    prototypes: Count = 4096
    student_temperature: Positive = 0.1
    teacher_temperature: Positive = 0.07
    warm_temperature: Positive = 0.04
    warmup: int = Field(default=0, ge=0)
    centre_momentum: Momentum = 0.9
    momentum: Momentum = 0.996
    final_momentum: Momentum = 1.0
    frozen: int = Field(default=0, ge=0)

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import DINO

        return DINO(student, steps, **self.hyperparameters)


class CorInfoMax(_Objective):
    """Ozsoy et al. 2022.

    Attributes:
        attraction, forgetting, epsilon: as in `objectives.corinfomax`.
    """

    kind: Literal["corinfomax"] = "corinfomax"
    attraction: Positive = 500.0
    forgetting: Positive = 0.01
    epsilon: Positive = 1e-6

    def build(self, student: "Student", steps: int) -> "Method":
        from reprise.training.methods import CorInfoMax

        return CorInfoMax(student, steps, **self.hyperparameters)


Objective = Annotated[
    Named | Contrastive | WithoutHyperparameters | VICReg | BarlowTwins | WMSE | FroSSL | FroSSLNoLogs
    | DirectCLR | Supervised | SimSiam | BYOL | MoCo | SwAV | DINO | CorInfoMax,
    Field(discriminator="kind"),
]  # fmt: skip
