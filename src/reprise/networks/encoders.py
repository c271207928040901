"""Encoders of images: torchvision's ResNets at any width and with the stems for small images, and Conv4.

A spec is a setting, so that it can stand in a paper's parameters and in the key of a trained model; `build`
makes the network, with random weights from torch's own generator. Torch is imported only then: settings hold
specs, and a plan is made without torch.
"""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from reprise.study.settings import Settings

if TYPE_CHECKING:
    from torch import nn

STAGES = 4
EXPANSION = {"basic": 1, "bottleneck": 4}
"""Channels that a block gives, over those of its 3x3 convolutions."""

Count = Annotated[int, Field(ge=1)]


class ResNet(Settings):
    """He et al. 2015, as torchvision builds it; the defaults are ResNet-18.

    Attributes:
        blocks: residual blocks in each of the four stages.
        width: channels of the first stage; each further one doubles them.
        stem: `imagenet`: 7x7, stride 2, then max-pooling, so that a picture shrinks to a quarter; `cifar`:
            3x3, stride 1, no pooling (SimCLR, App. B.9); `stride2`: 3x3, stride 2, no pooling.
        zero_init_residual: whether a residual branch starts as zero (Goyal et al. 2017).
        last_shortcut: around the last block: `identity`, as torchvision has it (where the last stage has a
            single block, that is a projection); `projection`: 1x1 convolution and BatchNorm; `none`: the
            last block is no residual one, and does not start as zero.
    """

    kind: Literal["resnet"] = "resnet"
    block: Literal["basic", "bottleneck"] = "basic"
    blocks: tuple[Count, Count, Count, Count] = (2, 2, 2, 2)
    width: int = Field(default=64, ge=1)
    stem: Literal["imagenet", "cifar", "stride2"] = "imagenet"
    zero_init_residual: bool = False
    last_shortcut: Literal["identity", "projection", "none"] = "identity"

    @property
    def dim(self) -> int:
        """Of the representation."""
        return self.width * 2 ** (STAGES - 1) * EXPANSION[self.block]

    @property
    def work(self) -> int:
        """What an image takes, in a unit of its own: enough to tell a long training from a short one."""
        return self.width**2 * sum(self.blocks)

    def build(self, channels: int) -> "nn.Module":
        """[batch, channels, height, width] to representations [batch, dim]."""
        from reprise.networks import layers

        return layers.ResNet(self, channels)


class Conv4(Settings):
    """Four times 3x3 convolution, BatchNorm, ReLU and 2x2 max-pooling (Vinyals et al. 2016), then the mean
    over the picture. Pictures of at least 16 pixels.

    Attributes:
        widths: channels after each convolution.
    """

    kind: Literal["conv4"] = "conv4"
    widths: tuple[Count, Count, Count, Count] = (64, 64, 64, 64)

    @property
    def dim(self) -> int:
        """Of the representation."""
        return self.widths[-1]

    @property
    def work(self) -> int:
        """What an image takes, in the unit of `ResNet.work`."""
        return sum(width**2 for width in self.widths)

    def build(self, channels: int) -> "nn.Module":
        """[batch, channels, height, width] to representations [batch, dim]."""
        from reprise.networks import layers

        return layers.conv4(self, channels)


Encoder = Annotated[ResNet | Conv4, Field(discriminator="kind")]

RESNET10_W16 = ResNet(blocks=(1, 1, 1, 1), width=16, stem="stride2")
"""For pictures of 32 pixels on a CPU."""
