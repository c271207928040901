"""Projectors: what lies between the representation r and the embedding z that the loss sees.

A spec is a setting, as an encoder's; `build(inputs)` makes the network for representations of that dimension.
"""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from reprise.study.settings import Settings

if TYPE_CHECKING:
    from torch import nn

Count = Annotated[int, Field(ge=1)]


class MLP(Settings):
    """Linear layers with BatchNorm and ReLU between them. A layer before a BatchNorm has no bias: it would
    do nothing.

    Attributes:
        dims: outputs of each layer, the embedding's last.
        norm: BatchNorm after the hidden layers.
        last_norm: BatchNorm after the last one, as in SimCLR's and MoCo v3's official heads.
        last_bias: of the last layer, if no BatchNorm follows.
    """

    kind: Literal["mlp"] = "mlp"
    dims: tuple[Count, ...] = Field(default=(2048, 2048, 1024), min_length=1)
    norm: bool = True
    last_norm: bool = False
    last_bias: bool = True

    def build(self, inputs: int) -> "nn.Module":
        """[batch, inputs] to [batch, dims[-1]]."""
        from reprise.networks import layers

        return layers.mlp(self, inputs)

    def dim(self, inputs: int) -> int:
        """Of the embedding."""
        return self.dims[-1]


class Linear(Settings):
    """z = W r, no bias."""

    kind: Literal["linear"] = "linear"
    out: int = Field(default=128, ge=1)

    def build(self, inputs: int) -> "nn.Module":
        """[batch, inputs] to [batch, out]."""
        from torch import nn

        return nn.Linear(inputs, self.out, bias=False)

    def dim(self, inputs: int) -> int:
        """Of the embedding."""
        return self.out


class Diagonal(Settings):
    """z = w * r with trainable w that starts at 1 (Jing 2022, Sec. 6.3)."""

    kind: Literal["diagonal"] = "diagonal"

    def build(self, inputs: int) -> "nn.Module":
        """[batch, inputs] to the same shape."""
        from reprise.networks import layers

        return layers.Diagonal(inputs)

    def dim(self, inputs: int) -> int:
        """Of the embedding."""
        return inputs


class LowRank(Settings):
    """z = M r with a fixed M: `rank` singular values of 1, the rest 0, and random singular vectors (Jing
    2022, Sec. 6.3)."""

    kind: Literal["low_rank"] = "low_rank"
    rank: int = Field(default=360, ge=1)

    def build(self, inputs: int) -> "nn.Module":
        """[batch, inputs] to the same shape.

        Raises:
            RepriseError: when the rank exceeds the dimension.
        """
        from reprise.networks import layers

        return layers.LowRank(inputs, self.rank)

    def dim(self, inputs: int) -> int:
        """Of the embedding."""
        return inputs


class Identity(Settings):
    """No projector: z = r."""

    kind: Literal["none"] = "none"

    def build(self, inputs: int) -> "nn.Module":
        """[batch, inputs] to itself."""
        from torch import nn

        return nn.Identity()

    def dim(self, inputs: int) -> int:
        """Of the embedding."""
        return inputs


Projector = Annotated[MLP | Linear | Diagonal | LowRank | Identity, Field(discriminator="kind")]
