"""Specs of optimisers: SGD and AdamW as in torch, LARS as in the official VICReg and Barlow Twins code."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from reprise.contract.settings import Settings

if TYPE_CHECKING:
    from reprise.training.descent import Optimiser

Parameters = Iterable[Any]
"""Tensors or parameter groups, as accepted by torch's optimisers."""


class SGD(Settings):
    """`torch.optim.SGD`, with weight decay on all parameters."""

    kind: Literal["sgd"] = "sgd"
    learning_rate: float = Field(default=0.1, gt=0)
    momentum: float = Field(default=0.9, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0)

    def build(self, parameters: Parameters) -> "Optimiser":
        from reprise.training import descent

        return descent.SGD(
            parameters, self.learning_rate, momentum=self.momentum, weight_decay=self.weight_decay
        )


class AdamW(Settings):
    """`torch.optim.AdamW`, with weight decay on all parameters."""

    kind: Literal["adamw"] = "adamw"
    learning_rate: float = Field(default=1e-3, gt=0)
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = Field(default=0.01, ge=0)

    def build(self, parameters: Parameters) -> "Optimiser":
        from reprise.training import descent

        return descent.AdamW(parameters, self.learning_rate, betas=self.betas, weight_decay=self.weight_decay)


class LARS(Settings):
    """Layer-wise adaptive rates (You et al. 2017) as in the official VICReg and Barlow Twins code.

    For a parameter w of more than one dimension with gradient g: u = g + wd w, u <- η |w|/|u| u (unchanged
    if either norm is 0), m <- μ m + u, w <- w - lr m, with lr from the schedule. Biases and BatchNorm's
    parameters, of one dimension, have neither decay nor adaptation: u = g.

    Attributes:
        trust: η.
        clip: solo-learn's LARS with its `clip_lr`: u <- min(η |w| / (|g| + wd |w|) / lr, 1) (g + wd w), or g
            without decay if |w| or |g| is 0. A step lr u is that of LARS where it is shorter than SGD's, and
            SGD's otherwise.
    """

    kind: Literal["lars"] = "lars"
    learning_rate: float = Field(default=0.3, gt=0)
    momentum: float = Field(default=0.9, ge=0, lt=1)
    weight_decay: float = Field(default=1e-6, ge=0)
    trust: float = Field(default=1e-3, gt=0)
    clip: bool = False

    def build(self, parameters: Parameters) -> "Optimiser":
        from reprise.training import descent

        return descent.LARS(
            parameters, lr=self.learning_rate, **self.model_dump(exclude={"kind", "learning_rate"})
        )


OptimiserSpec = Annotated[SGD | AdamW | LARS, Field(discriminator="kind")]
