"""Image encoders: torchvision's ResNets at any width and with stems for small images, and Conv4.

A spec is a setting: it can appear in a paper's parameters and in the key of a trained model. `build` makes
the network, with random weights from torch's global generator.
"""

from typing import Annotated, Literal

from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn
from torchvision.models import resnet

from reprise.study.settings import Settings

TORCHVISION_WIDTH = 64
STAGES = 4

Count = Annotated[int, Field(ge=1)]


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
    width: int = Field(default=TORCHVISION_WIDTH, ge=1)
    stem: Literal["imagenet", "cifar", "stride2"] = "imagenet"
    zero_init_residual: bool = False
    last_shortcut: Literal["identity", "projection", "none"] = "identity"

    @property
    def dim(self) -> int:
        """Dimension of the representation."""
        return self.width * 2 ** (STAGES - 1) * _BLOCKS[self.block].expansion

    def build(self, channels: int) -> nn.Module:
        """The network, which maps [batch, channels, height, width] to representations [batch, dim]."""
        return _ResNet(self, channels)


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

    def build(self, channels: int) -> nn.Module:
        """The network, which maps [batch, channels, height, width] to representations [batch, dim]."""
        layers: list[nn.Module] = []
        for inputs, outputs in zip((channels, *self.widths), self.widths, strict=False):
            convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
            layers += [convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True), nn.MaxPool2d(2)]
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


Encoder = Annotated[ResNet | Conv4, Field(discriminator="kind")]

RESNET18 = ResNet()
RESNET50 = ResNet(block="bottleneck", blocks=(3, 4, 6, 3))
RESNET10_W16 = ResNet(blocks=(1, 1, 1, 1), width=16, stem="stride2")
"""Small enough to train on pictures of 32 pixels on a CPU."""

_BLOCKS = {"basic": resnet.BasicBlock, "bottleneck": resnet.Bottleneck}


class _ResNet(resnet.ResNet):
    def __init__(self, spec: ResNet, channels: int) -> None:
        self._width = spec.width  # torchvision's constructor calls _make_layer
        super().__init__(_BLOCKS[spec.block], list(spec.blocks), zero_init_residual=spec.zero_init_residual)
        kernel, stride, padding = (7, 2, 3) if spec.stem == "imagenet" else (3, 1, 1)
        if spec.stem == "stride2":
            stride = 2
        self.conv1 = nn.Conv2d(channels, spec.width, kernel, stride, padding, bias=False)
        nn.init.kaiming_normal_(self.conv1.weight, mode="fan_out", nonlinearity="relu")
        self.bn1 = nn.BatchNorm2d(spec.width)
        if spec.stem != "imagenet":
            self.maxpool = nn.Identity()
        self.fc = nn.Identity()
        last_block = self.layer4[-1]
        if spec.last_shortcut == "projection" and last_block.downsample is None:
            last_block.downsample = _projection(spec.dim)
        elif spec.last_shortcut == "none":
            last_block.downsample = _Nothing()
            *_, norm = (layer for layer in last_block.children() if isinstance(layer, nn.BatchNorm2d))
            nn.init.ones_(norm.weight)

    def _make_layer(
        self,
        block: type[resnet.BasicBlock | resnet.Bottleneck],
        planes: int,
        blocks: int,
        stride: int = 1,
        dilate: bool = False,
    ) -> nn.Sequential:
        """Builds torchvision's stages of 64, 128, 256 and 512 planes at our width."""
        if planes == TORCHVISION_WIDTH:
            self.inplanes = self._width
        return super()._make_layer(block, planes * self._width // TORCHVISION_WIDTH, blocks, stride, dilate)

    def forward(self, x: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch dim"]:
        return super().forward(x)


def _projection(channels: int) -> nn.Module:
    convolution = nn.Conv2d(channels, channels, 1, bias=False)
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(convolution, nn.BatchNorm2d(channels))


class _Nothing(nn.Module):
    """Replaces a shortcut by zero."""

    def forward(self, x: Tensor) -> Float[Tensor, ""]:
        return x.new_zeros(())
