import pytest
import torch
from torch import nn

from reprise.networks.convolution import Convolution

SHAPES = [
    (16, 32, 3, 1, 2),
    (64, 128, 3, 2, 1),
    (16, 32, 3, 2, 4),
    (32, 24, 1, 2, 3),
    (20, 16, 3, 2, 3),
    (16, 16, 7, 2, 4),
    (4, 8, 3, 2, 1),
    (8, 4, 3, 2, 2),
    (3, 16, 1, 2, 2),
    (16, 32, 3, 2, (1, 14)),
    (4, 8, 3, 2, (14, 2)),
]
"""Inputs, outputs, kernel, stride, and side or height and width of the images."""


def images(*shape):
    numbers = torch.randn(*shape, generator=torch.Generator().manual_seed(0))
    return numbers.to(memory_format=torch.channels_last)


def convolved(layer, x):
    """The output, and the gradients of a weighted sum of it by x and the weights."""
    x = x.clone().requires_grad_()
    layer.weight.grad = None
    output = layer(x)
    output.backward(images(*output.shape).bfloat16().to(output.dtype))
    return output, x.grad, layer.weight.grad


def rounded(layer):
    """PyTorch's convolution in float64 of the weights in bfloat16."""
    inputs, outputs, kernel = layer.in_channels, layer.out_channels, layer.kernel_size[0]
    exact = nn.Conv2d(inputs, outputs, kernel, layer.stride, layer.padding, bias=False).double()
    with torch.no_grad():
        exact.weight.copy_(layer.weight.bfloat16())
    return exact


@pytest.mark.parametrize("layout", [torch.channels_last, torch.contiguous_format])
@pytest.mark.parametrize("shape", SHAPES)
def test_few_pixels_are_products(shape, layout):
    inputs, outputs, kernel, stride, side = shape
    torch.manual_seed(0)
    layer = Convolution(inputs, outputs, kernel, stride).to(memory_format=layout)
    height, width = (side, side) if isinstance(side, int) else side
    x = images(12, inputs, height, width).bfloat16().contiguous(memory_format=layout)
    with torch.autocast("cpu", torch.bfloat16):
        results = convolved(layer, x)
    assert type(results[0].grad_fn).__name__ == "_ProductsBackward"
    assert results[0].is_contiguous(memory_format=layout)
    assert results[2].dtype == torch.float32
    for result, exact in zip(results, convolved(rounded(layer), x.double()), strict=True):
        torch.testing.assert_close(
            result.double(), exact.double(), rtol=0, atol=2**-8 * exact.abs().max().item()
        )


def test_images_need_no_gradient():
    layer = Convolution(16, 16, 3)
    with torch.autocast("cpu", torch.bfloat16):
        layer(images(2, 16, 2, 2)).sum().backward()
    assert layer.weight.grad is not None


@pytest.mark.parametrize("case", ["float32", "many pixels", "no gradient"])
def test_elsewhere_it_is_pytorchs(case):
    torch.manual_seed(0)
    layer, x = Convolution(16, 16, 3), images(2, 16, 3, 3) if case == "many pixels" else images(2, 16, 2, 2)
    with (
        torch.set_grad_enabled(case != "no gradient"),
        torch.autocast("cpu", torch.bfloat16, enabled=case != "float32"),
    ):
        output = layer(x)
        assert torch.equal(output, torch.conv2d(x, layer.weight, padding=1))
    assert type(output.grad_fn).__name__ != "_ProductsBackward"
