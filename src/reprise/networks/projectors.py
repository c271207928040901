"""Projectors, which map the representation r to the embedding z that the loss sees.

A spec is a setting, as for encoders; `build(inputs)` makes the network for representations of that dimension.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from reprise.contract.settings import Settings

if TYPE_CHECKING:
    from torch import nn

Count = Annotated[int, Field(ge=1)]


class MLP(Settings):
    """Linear layers with BatchNorm and ReLU between them.

    A layer before a BatchNorm has no bias, because BatchNorm would cancel it.

    Attributes:
        dims: outputs of each layer; the last is the embedding's dimension.
        norm: whether BatchNorm follows each hidden layer.
        last_norm: whether BatchNorm follows the last layer, as in the official heads of SimCLR
            (github.com/google-research/simclr) and MoCo v3 (github.com/facebookresearch/moco-v3).
        last_bias: whether the last layer has a bias, if no BatchNorm follows it.
    """

    kind: Literal["mlp"] = "mlp"
    dims: tuple[Count, ...] = Field(default=(2048, 2048, 1024), min_length=1)
    norm: bool = True
    last_norm: bool = False
    last_bias: bool = True

    def build(self, inputs: int) -> "nn.Module":
        """The network, which maps [batch, inputs] to [batch, dims[-1]]."""
        from reprise.networks import layers

        return layers.mlp(
            inputs, self.dims, norm=self.norm, last_norm=self.last_norm, last_bias=self.last_bias
        )

    def dim(self, inputs: int) -> int:
        """Dimension of the embedding."""
        return self.dims[-1]

    def flops(self, inputs: int) -> int:
        """Operations of a forward pass of an image; a product and its sum are two."""
        return sum(2 * before * after for before, after in pairwise((inputs, *self.dims)))


class Linear(Settings):
    """Linear projector z = W r, without bias."""

    kind: Literal["linear"] = "linear"
    out: int = Field(default=128, ge=1)

    def build(self, inputs: int) -> "nn.Module":
        """The network, which maps [batch, inputs] to [batch, out]."""
        from torch import nn

        return nn.Linear(inputs, self.out, bias=False)

    def dim(self, inputs: int) -> int:
        """Dimension of the embedding."""
        return self.out

    def flops(self, inputs: int) -> int:
        """Operations of a forward pass of an image; a product and its sum are two."""
        return 2 * inputs * self.out


class Diagonal(Settings):
    """Diagonal projector z = w * r with trainable w, initially 1.

    Source: Jing et al. 2022, "Understanding Dimensional Collapse in Contrastive Self-supervised Learning",
    Section 6.3; code: github.com/facebookresearch/directclr.
    """

    kind: Literal["diagonal"] = "diagonal"

    def build(self, inputs: int) -> "nn.Module":
        """The network, which maps [batch, inputs] to the same shape."""
        from reprise.networks import layers

        return layers.Diagonal(inputs)

    def dim(self, inputs: int) -> int:
        """Dimension of the embedding."""
        return inputs

    def flops(self, inputs: int) -> int:
        """Operations of a forward pass of an image; a product and its sum are two."""
        return inputs


class LowRank(Settings):
    """Fixed projector z = M r; M has `rank` singular values of 1, the others 0, and random singular vectors.

    Source: Jing et al. 2022, "Understanding Dimensional Collapse in Contrastive Self-supervised Learning",
    Section 6.3; code: github.com/facebookresearch/directclr.
    """

    kind: Literal["low_rank"] = "low_rank"
    rank: int = Field(default=360, ge=1)

    def build(self, inputs: int) -> "nn.Module":
        """The network, which maps [batch, inputs] to the same shape.

        Raises:
            RepriseError: if the rank exceeds `inputs`.
        """
        from reprise.networks import layers

        return layers.LowRank(inputs, self.rank)

    def dim(self, inputs: int) -> int:
        """Dimension of the embedding."""
        return inputs

    def flops(self, inputs: int) -> int:
        """Operations of a forward pass of an image; a product and its sum are two."""
        return 2 * inputs**2


class Identity(Settings):
    """No projector: z = r."""

    kind: Literal["none"] = "none"

    def build(self, inputs: int) -> "nn.Module":
        """The network, which returns its input, [batch, inputs]."""
        from torch import nn

        return nn.Identity()

    def dim(self, inputs: int) -> int:
        """Dimension of the embedding."""
        return inputs

    def flops(self, inputs: int) -> int:
        """Operations of a forward pass of an image; a product and its sum are two."""
        return 0


Projector = Annotated[MLP | Linear | Diagonal | LowRank | Identity, Field(discriminator="kind")]
