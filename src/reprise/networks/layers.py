"""The modules that `encoders` and `projectors` describe, built from their settings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint
from torchvision.models import resnet

from reprise.errors import RepriseError

TORCHVISION_WIDTH = 64
_BLOCKS = {"basic": resnet.BasicBlock, "bottleneck": resnet.Bottleneck}


class ResNet(resnet.ResNet):
    """Arguments but the channels of the images are the fields of `encoders.ResNet`."""

    def __init__(
        self,
        channels: int,
        *,
        block: Literal["basic", "bottleneck"],
        blocks: Sequence[int],
        width: int,
        stem: Literal["imagenet", "cifar", "stride2"],
        zero_init_residual: bool,
        last_shortcut: Literal["identity", "projection", "none"],
    ) -> None:
        self._width = width  # torchvision's constructor calls _make_layer
        super().__init__(_BLOCKS[block], list(blocks), zero_init_residual=zero_init_residual)
        kernel, stride, padding = (7, 2, 3) if stem == "imagenet" else (3, 1, 1)
        if stem == "stride2":
            stride = 2
        self.conv1 = nn.Conv2d(channels, width, kernel, stride, padding, bias=False)
        nn.init.kaiming_normal_(self.conv1.weight, mode="fan_out", nonlinearity="relu")
        self.bn1 = nn.BatchNorm2d(width)
        if stem != "imagenet":
            self.maxpool = nn.Identity()
        self.fc = nn.Identity()
        last = self.layer4[-1]
        if last_shortcut == "projection" and last.downsample is None:
            last.downsample = _projection(self.inplanes)  # what the last block gives
        elif last_shortcut == "none":
            last.downsample = _Nothing()
            *_, norm = (layer for layer in last.children() if isinstance(layer, nn.BatchNorm2d))
            nn.init.ones_(norm.weight)

    def _make_layer(
        self,
        block: type[resnet.BasicBlock | resnet.Bottleneck],
        planes: int,
        blocks: int,
        stride: int = 1,
        dilate: bool = False,
    ) -> nn.Sequential:
        """torchvision's stages, of 64, 128, 256 and 512 planes, at our width."""
        if planes == TORCHVISION_WIDTH:
            self.inplanes = self._width
        planes = planes * self._width // TORCHVISION_WIDTH
        return Stage(*super()._make_layer(block, planes, blocks, stride, dilate))

    def forward(self, x: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch dim"]:
        return super().forward(x)


class Stage(nn.Sequential):
    """Residual blocks, one after the other.

    Attributes:
        recompute: whether the backward pass computes each block again from its input, instead of keeping all
            activations in memory. Outputs, gradients and running statistics are the same to the bit.
    """

    recompute = False

    def forward(self, x: Float[Tensor, "batch channel height width"]) -> Tensor:
        for block in self:
            x = _recomputed(block, x) if self.recompute and torch.is_grad_enabled() else block(x)
        return x


def _recomputed(block: nn.Module, x: Tensor) -> Tensor:
    return checkpoint(
        block,
        x,
        use_reentrant=False,
        preserve_rng_state=False,  # a block draws nothing
        context_fn=lambda: (nullcontext(), _statistics_kept(block)),
    )


@contextmanager
def _statistics_kept(network: nn.Module) -> Iterator[None]:
    """BatchNorm's running statistics, which the first forward pass has updated, stay as they are: a second
    one updates copies."""
    buffers = [
        (module, name, buffer)
        for module in network.modules()
        for name, buffer in module.named_buffers(recurse=False)
    ]
    for module, name, buffer in buffers:
        setattr(module, name, buffer.clone())
    try:
        yield
    finally:
        for module, name, buffer in buffers:
            setattr(module, name, buffer)


def _projection(channels: int) -> nn.Module:
    convolution = nn.Conv2d(channels, channels, 1, bias=False)
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(convolution, nn.BatchNorm2d(channels))


class _Nothing(nn.Module):
    """In place of a shortcut: zero."""

    def forward(self, x: Tensor) -> Float[Tensor, ""]:
        return x.new_zeros(())


def conv4(channels: int, widths: Sequence[int]) -> nn.Module:
    """Images with so many channels to representations. ReLU comes after max-pooling, where a quarter of the
    numbers is left; the result is the same to the bit, because it is monotonic."""
    layers: list[nn.Module] = []
    for before, after in pairwise((channels, *widths)):
        convolution = nn.Conv2d(before, after, 3, padding=1, bias=False)
        layers += [convolution, nn.BatchNorm2d(after), nn.MaxPool2d(2), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


def mlp(inputs: int, dims: Sequence[int], *, norm: bool, last_norm: bool, last_bias: bool) -> nn.Module:
    """Representations of so many dimensions to embeddings (`projectors.MLP`)."""
    layers: list[nn.Module] = []
    for before, after in pairwise((inputs, *dims[:-1])):
        layers.append(nn.Linear(before, after, bias=not norm))
        layers += [nn.BatchNorm1d(after)] if norm else []
        layers.append(nn.ReLU(inplace=True))
    last = (inputs, *dims)[-2]
    layers.append(nn.Linear(last, dims[-1], bias=last_bias and not last_norm))
    layers += [nn.BatchNorm1d(dims[-1])] if last_norm else []
    return nn.Sequential(*layers)


class Diagonal(nn.Module):
    """z = w * r."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, r: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        return r * self.weight


class LowRank(nn.Module):
    """z = M r with a fixed M.

    Raises:
        RepriseError: when the rank exceeds the dimension.
    """

    weight: Tensor

    def __init__(self, dim: int, rank: int) -> None:
        super().__init__()
        if rank > dim:
            raise RepriseError(
                f"projector 'low_rank': rank {rank} of representations of {dim} dimensions; lower it"
            )
        left, right = (torch.linalg.qr(torch.randn(dim, rank)).Q for _ in range(2))
        self.register_buffer("weight", left @ right.T)

    def forward(self, r: Float[Tensor, "batch dim"]) -> Float[Tensor, "batch dim"]:
        return r @ self.weight.T
