"""Image encoders: torchvision's ResNets at any width and with stems for small images, and Conv4.

A spec is a setting: it can appear in a paper's parameters and in the key of a trained model. `build` makes
the network, with random weights from torch's global generator, and imports torch, which a plan does without.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

from pydantic import Field

from reprise.contract.settings import Settings

if TYPE_CHECKING:
    from torch import nn

STAGES = 4
EXPANSION = {"basic": 1, "bottleneck": 4}
"""Channels that a block gives, over those of its 3x3 convolutions."""

Count = Annotated[int, Field(ge=1)]


class Work(NamedTuple):
    """Cost of a layer or a network for one image.

    Attributes:
        flops: floating-point operations; a product and its sum are two.
        outputs: computed numbers.
        weights: trained numbers, whatever the number of images.
    """

    flops: int
    outputs: int
    weights: int


def convolution(inputs: int, outputs: int, kernel: int, side: int) -> Work:
    """A convolution whose result has `outputs` channels and `side` pixels a side."""
    numbers, weights = outputs * side**2, inputs * outputs * kernel**2
    return Work(2 * weights * side**2, numbers, weights)


def _ceil(side: int, stride: int) -> int:
    """Pixels a side after a padded layer with this stride."""
    return -(-side // stride)


class ResNet(Settings):
    """A residual network as torchvision builds it; the defaults are ResNet-18.

    Source: He et al. 2015, "Deep Residual Learning for Image Recognition"; code: torchvision.models.resnet.

    Attributes:
        blocks: residual blocks in each of the four stages.
        width: channels of the first stage; each later stage doubles them.
        stem: `imagenet` is a 7x7 convolution of stride 2 and max-pooling, which shrink a picture to a
            quarter; `cifar` is 3x3, stride 1, no pooling (Chen et al. 2020, SimCLR, Appendix B.9); `stride2`
            is 3x3, stride 2, no pooling.
        zero_init_residual: whether residual branches start at zero (Goyal et al. 2017, "Accurate, Large
            Minibatch SGD: Training ImageNet in 1 Hour").
        last_shortcut: the shortcut around the last block. `identity` is torchvision's, which is a projection
            if the last stage has a single block; `projection` is a 1x1 convolution and BatchNorm; `none`
            removes the shortcut, and the block does not start at zero.
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
        """Dimension of the representation."""
        return self.width * 2 ** (STAGES - 1) * EXPANSION[self.block]

    def work(self, channels: int, side: int) -> Work:
        """Cost of a forward pass of an image, without BatchNorm, ReLU and pooling."""
        kernel = 7 if self.stem == "imagenet" else 3
        side = _ceil(side, 1 if self.stem == "cifar" else 2)
        terms = [convolution(channels, self.width, kernel, side)]
        side, inputs = _ceil(side, 2 if self.stem == "imagenet" else 1), self.width
        for stage, blocks in enumerate(self.blocks):
            planes = self.width * 2**stage
            for block in range(blocks):
                stride = 2 if stage and not block else 1
                outputs, narrow = planes * EXPANSION[self.block], _ceil(side, stride)
                if self.block == "basic":
                    terms += [convolution(inputs, planes, 3, narrow), convolution(planes, planes, 3, narrow)]
                else:
                    terms += [
                        convolution(inputs, planes, 1, side),
                        convolution(planes, planes, 3, narrow),
                        convolution(planes, outputs, 1, narrow),
                    ]
                shortcut = self.last_shortcut if (stage, block) == (STAGES - 1, blocks - 1) else "identity"
                if shortcut == "projection" or (shortcut == "identity" and (stride > 1 or inputs != outputs)):
                    terms.append(convolution(inputs, outputs, 1, narrow))
                side, inputs = narrow, outputs
        return Work(*map(sum, zip(*terms, strict=True)))

    def build(self, channels: int) -> "nn.Module":
        """The network, which maps [batch, channels, height, width] to representations [batch, dim]."""
        from reprise.networks import layers

        return layers.ResNet(
            channels,
            block=self.block,
            blocks=self.blocks,
            width=self.width,
            stem=self.stem,
            zero_init_residual=self.zero_init_residual,
            last_shortcut=self.last_shortcut,
        )


class Conv4(Settings):
    """Four blocks of 3x3 convolution, BatchNorm, ReLU and 2x2 max-pooling, then the mean over the picture.

    Pictures need at least 16 pixels a side.

    Source: Vinyals et al. 2016, "Matching Networks for One Shot Learning".

    Attributes:
        widths: channels after each convolution.
    """

    kind: Literal["conv4"] = "conv4"
    widths: tuple[Count, Count, Count, Count] = (64, 64, 64, 64)

    @property
    def dim(self) -> int:
        """Dimension of the representation."""
        return self.widths[-1]

    def work(self, channels: int, side: int) -> Work:
        """Cost of a forward pass of an image, without BatchNorm, ReLU and pooling."""
        sides = (side // 2**block for block in range(STAGES))
        terms = [
            convolution(before, after, 3, side)
            for (before, after), side in zip(pairwise((channels, *self.widths)), sides, strict=True)
        ]
        return Work(*map(sum, zip(*terms, strict=True)))

    def build(self, channels: int) -> "nn.Module":
        """The network, which maps [batch, channels, height, width] to representations [batch, dim]."""
        from reprise.networks import layers

        return layers.conv4(channels, self.widths)


Encoder = Annotated[ResNet | Conv4, Field(discriminator="kind")]

RESNET10_W16 = ResNet(blocks=(1, 1, 1, 1), width=16, stem="stride2")
"""Small enough to train on pictures of 32 pixels on a CPU."""
