"""Convolutions with right gradients, in as little time as they should take, for the smallest images on a CPU.

In bfloat16, oneDNN's gradient by the weights takes up to ten times as long as a matrix product with the same
operations if outputs have few pixels. For kernels of 3x3, images of one pixel and a stride of 2 it contains
uninitialised memory (torch 2.14), for the weights that see no pixel. Convolutions of fewer than 16 channels
are left to PyTorch, and keep that fault.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import Function, once_differentiable
from torch.nn.functional import pad

FEW = 4
"""Pixels of an image's output up to which matrix products are faster."""
NARROW = 16
"""Channels below which networks have their channels first, so that pictures of one pixel, which have both
layouts, are left to PyTorch."""


class Convolution(nn.Conv2d):
    """A convolution of square kernels, without bias, dilation or groups.

    In training on a CPU with bfloat16 as autocast's precision, an output of few pixels is a matrix product of
    the patches that the kernel sees.
    """

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)

    def forward(self, x: Float[Tensor, "batch channel height width"]) -> Tensor:
        height, width = (-(-side // self.stride[0]) for side in x.shape[2:])
        if (
            x.device.type == "cpu"
            and height * width <= FEW
            and x.shape[1] >= NARROW
            and x.is_contiguous(memory_format=torch.channels_last)
            and torch.is_grad_enabled()
            and torch.is_autocast_enabled("cpu")
            and torch.get_autocast_dtype("cpu") == torch.bfloat16
        ):
            return _Products.apply(x.bfloat16(), self.weight.bfloat16(), self.stride[0], self.padding[0])
        return super().forward(x)


class _Products(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, stride: int, padding: int) -> Tensor:
        patches = _patches(x, weight.shape[2], stride, padding)
        ctx.save_for_backward(x, weight, patches)
        ctx.settings = [stride, stride], [padding, padding]
        batch, height, width, _ = patches.shape
        product = patches.flatten(0, 2) @ weight.permute(0, 2, 3, 1).flatten(1).T
        return product.view(batch, height, width, -1).permute(0, 3, 1, 2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, patches = ctx.saved_tensors
        gradient = gradient.contiguous(memory_format=torch.channels_last)
        dx = None
        if ctx.needs_input_grad[0]:
            rest = *ctx.settings, [1, 1], False, [0, 0], 1, [True, False, False]
            dx = torch.ops.aten.convolution_backward(gradient, x, weight, None, *rest)[0]
        product = gradient.permute(0, 2, 3, 1).flatten(0, 2).T @ patches.flatten(0, 2)
        outputs, inputs, kernel, _ = weight.shape
        return dx, product.view(outputs, kernel, kernel, inputs).permute(0, 3, 1, 2), None, None


def _patches(
    x: Float[Tensor, "batch channel height width"], kernel: int, stride: int, padding: int
) -> Float[Tensor, "batch row column patch"]:
    """The numbers that the kernel sees at each pixel of the output: [row, column, channel] of the kernel."""
    padded = pad(x.permute(0, 2, 3, 1), (0, 0, padding, padding, padding, padding))
    windows = padded.unfold(1, kernel, stride).unfold(2, kernel, stride)
    return windows.movedim(3, -1).flatten(3)
