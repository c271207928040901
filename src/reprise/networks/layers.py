"""The modules that `encoders` and `projectors` describe, built from their settings."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import pairwise, takewhile
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

from reprise.errors import RepriseError
from reprise.networks.batch_norm import apart, batch_norm, parts
from reprise.networks.convolution import Convolution


class ResNet(nn.Module):
    """torchvision's ResNet without its classifier, at any width and with other stems.

    Layers have torchvision's names, and weights are drawn in torchvision's order. torchvision itself imports
    torch's compiler, `torch._dynamo`, which takes over a second. Arguments but the channels of the images
    are the fields of `encoders.ResNet`.
    """

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
        super().__init__()
        self.conv1 = Convolution(3, 64, 7, 2)  # torchvision's stem, drawn as its classifier is below
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1) if stem == "imagenet" else nn.Identity()
        inputs = width
        for stage, count in enumerate(blocks):
            residual = []
            for stride in [2 if stage else 1] + [1] * (count - 1):
                residual.append(Block(block, inputs, width * 2**stage, stride))
                inputs = residual[-1].outputs
            self.add_module(f"layer{stage + 1}", Stage(*residual))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        nn.Linear(64 * inputs // width, 1000)
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                _drawn(layer)
            elif isinstance(layer, Block) and zero_init_residual:
                nn.init.zeros_(layer.last_norm.weight)
        kernel, stride = {"imagenet": (7, 2), "cifar": (3, 1), "stride2": (3, 2)}[stem]
        self.conv1 = _drawn(Convolution(channels, width, kernel, stride))
        last = self.layer4[-1]
        if last_shortcut == "projection" and last.downsample is None:
            last.downsample = Chain(_drawn(Convolution(inputs, inputs, 1)), nn.BatchNorm2d(inputs))
        elif last_shortcut == "none":
            last.downsample = _Nothing()
            nn.init.ones_(last.last_norm.weight)

    def forward(self, x: Float[Tensor, "batch channel height width"]) -> Float[Tensor, "batch dim"]:
        x = self.maxpool(batch_norm(self.conv1(x), self.bn1, self.relu))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.avgpool(x).flatten(1)


class Chain(nn.Sequential):
    """Layers, one after the other. Each takes the pooling and ReLU that follow it along, for `batch_norm`."""

    def forward(self, x: Tensor) -> Tensor:
        rest = list(self)
        while rest:
            after = list(takewhile(lambda layer: isinstance(layer, (nn.MaxPool2d, nn.ReLU)), rest[1:]))
            x = batch_norm(x, rest[0], *after)
            del rest[: 1 + len(after)]
        return x


def keeps_apart(network: nn.Module) -> bool:
    """Tells if each BatchNorm of a network is in a module that heeds `apart`, as in all networks here."""
    heeding = {
        id(layer)
        for module in network.modules()
        if isinstance(module, (ResNet, Chain, Block))
        for layer in module.children()
    }
    return all(id(layer) in heeding for layer in network.modules() if isinstance(layer, _BatchNorm))


class Block(nn.Module):
    """A residual block; its 3x3 convolution, the first of a basic block's two, has the stride.

    Args:
        inputs: channels that it takes.
        planes: channels of its 3x3 convolutions.

    Attributes:
        outputs: channels that it gives.
        downsample: the shortcut; None is the identity.
    """

    def __init__(self, kind: Literal["basic", "bottleneck"], inputs: int, planes: int, stride: int) -> None:
        super().__init__()
        self.outputs = planes if kind == "basic" else 4 * planes
        shortcut = None
        if stride != 1 or inputs != self.outputs:
            shortcut = Chain(Convolution(inputs, self.outputs, 1, stride), nn.BatchNorm2d(self.outputs))
        shapes = {
            "basic": [(inputs, planes, 3, stride), (planes, planes, 3, 1)],
            "bottleneck": [(inputs, planes, 1, 1), (planes, planes, 3, stride), (planes, self.outputs, 1, 1)],
        }[kind]
        self.depth = len(shapes)
        for number, shape in enumerate(shapes, 1):
            self.add_module(f"conv{number}", Convolution(*shape))
            self.add_module(f"bn{number}", nn.BatchNorm2d(shape[1]))
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Module | None = shortcut

    @property
    def last_norm(self) -> nn.BatchNorm2d:
        """The BatchNorm that ends the residual branch."""
        return getattr(self, f"bn{self.depth}")

    def forward(self, x: Float[Tensor, "batch channel height width"]) -> Tensor:
        branch = x
        for number in range(1, self.depth + 1):
            convolution, norm = getattr(self, f"conv{number}"), getattr(self, f"bn{number}")
            branch = batch_norm(convolution(branch), norm, *([self.relu] if number < self.depth else []))
        branch += x if self.downsample is None else self.downsample(x)
        return self.relu(branch)


class Stage(nn.Sequential):
    """Residual blocks, one after the other.

    Attributes:
        recompute: from a kind of device to the arithmetic in which the backward pass computes each block
            again from its input, which must be that of the forward pass, instead of keeping all activations
            in memory; None if it keeps them.
            Outputs, gradients and running statistics are the same to the bit.
    """

    recompute: Callable[[str], AbstractContextManager[Any]] | None = None

    def forward(self, x: Float[Tensor, "batch channel height width"]) -> Tensor:
        again = self.recompute if torch.is_grad_enabled() else None
        for block in self:
            x = _recomputed(block, x, again) if again else block(x)
        return x


def _recomputed(
    block: nn.Module, x: Tensor, arithmetic: Callable[[str], AbstractContextManager[Any]]
) -> Tensor:
    return checkpoint(
        block,
        x,
        use_reentrant=False,
        preserve_rng_state=False,  # a block draws nothing
        context_fn=lambda: (nullcontext(), _again(block, parts(), arithmetic(x.device.type))),
    )


@contextmanager
def _again(network: nn.Module, batches: int, arithmetic: AbstractContextManager[Any]) -> Iterator[None]:
    """Prepares a second forward pass, in the same arithmetic and with BatchNorm of as many parts: running
    statistics, which the first pass has updated, stay as they are, and copies are updated."""
    buffers = [
        (module, name, buffer)
        for module in network.modules()
        for name, buffer in module.named_buffers(recurse=False)
    ]
    for module, name, buffer in buffers:
        setattr(module, name, buffer.clone())
    try:
        with apart(batches), arithmetic:
            yield
    finally:
        for module, name, buffer in buffers:
            setattr(module, name, buffer)


def _drawn(convolution: nn.Conv2d) -> nn.Conv2d:
    """The convolution with weights as ReLU needs them."""
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    return convolution


class _Nothing(nn.Module):
    """Zero, in place of a shortcut."""

    def forward(self, x: Tensor) -> Float[Tensor, ""]:
        return x.new_zeros(())


def conv4(channels: int, widths: Sequence[int]) -> nn.Module:
    """Images with so many channels to representations. ReLU comes after max-pooling, where a quarter of the
    numbers is left; the result is the same to the bit, because it is monotonic."""
    layers: list[nn.Module] = []
    for before, after in pairwise((channels, *widths)):
        convolution = Convolution(before, after, 3)
        layers += [convolution, nn.BatchNorm2d(after), nn.MaxPool2d(2), nn.ReLU(inplace=True)]
    return Chain(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


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
    return Chain(*layers)


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
