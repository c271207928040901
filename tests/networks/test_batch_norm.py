"""BatchNorm's compiled loops against PyTorch's modules in float64."""

import copy
import math

import pytest
import torch
from torch import nn

from reprise.networks.batch_norm import apart, batch_norm
from reprise.networks.encoders import Conv4, ResNet
from reprise.networks.projectors import MLP

ROUNDING, SUMS = 2**-8, 1e-5
"""Largest errors, as a share of the largest number: of a bfloat16, and of what is summed in float32."""
AFTER = {"alone": [], "relu": [nn.ReLU()], "pool and relu": [nn.MaxPool2d(2), nn.ReLU(inplace=True)]}


def normal(*shape, seed=0):
    numbers = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return numbers.to(memory_format=torch.channels_last) if len(shape) == 4 else numbers


def norm_of(channels, dims=4):
    """A BatchNorm with weights of both signs and statistics that are not the initial ones."""
    norm = (nn.BatchNorm2d if dims == 4 else nn.BatchNorm1d)(channels, momentum=0.3)
    with torch.no_grad():
        norm.weight.copy_(normal(channels, seed=1))
        norm.bias.copy_(normal(channels, seed=2))
        norm.running_mean.copy_(normal(channels, seed=3))
    return norm


def is_compiled(output):
    return type(output.grad_fn).__name__ == "_OneOperationBackward"


def passed(x, norm, after, by=batch_norm):
    """The output, the gradients of a weighted sum of it by x and by the parameters, and the running
    statistics."""
    norm, x = copy.deepcopy(norm), x.detach().clone().requires_grad_()
    output = by(x, norm, *after)
    output.backward(normal(*output.shape, seed=9).bfloat16().to(output.dtype))
    gradients = [tensor.grad for tensor in (x, norm.weight, norm.bias)]
    return output, [*gradients, norm.running_mean, norm.running_var, norm.num_batches_tracked]


def modules(x, norm, *after):
    return nn.Sequential(norm, *after)(x)


def assert_near(actual, exact, share):
    assert actual.shape == exact.shape
    scale = exact.double().abs().max().item()
    torch.testing.assert_close(actual.double(), exact.double(), rtol=0, atol=share * scale)


def assert_as_with_modules(x, norm, after):
    output, rest = passed(x, norm, after)
    exact, exact_rest = passed(x.double(), copy.deepcopy(norm).double(), after, by=modules)
    assert is_compiled(output)
    assert output.dtype == x.dtype
    assert output.ndim == 2 or output.is_contiguous(memory_format=torch.channels_last)
    assert_near(output, exact, ROUNDING)
    for number, exact_number in zip(rest, exact_rest, strict=True):
        assert_near(number, exact_number, ROUNDING if number.ndim > 1 else SUMS)


@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("shape", [(6, 5, 8, 8), (3, 16, 7, 5), (4, 2, 2, 3), (40, 16, 16, 16), (90, 40)])
def test_it_is_the_modules(shape, after):
    if len(shape) == 2 and after == "pool and relu":
        pytest.skip("only pictures are pooled")
    assert_as_with_modules((2 * normal(*shape) + 3).bfloat16(), norm_of(shape[1], len(shape)), AFTER[after])


def test_of_equal_numbers_the_first_is_chosen():
    x = normal(64, 3, 8, 8).round().bfloat16()  # mostly -1, 0 or 1
    assert_as_with_modules(x, norm_of(3), AFTER["pool and relu"])


@pytest.mark.parametrize("after", AFTER)
def test_a_weight_of_0(after):
    """Its own gradient where all outputs of a window are equal is that of the largest x."""
    x, norm = normal(6, 3, 4, 4).bfloat16(), norm_of(3)
    with torch.no_grad():
        norm.weight[1], norm.bias[1] = 0, 2
    output, (gradient, by_weight, *_) = passed(x, norm, AFTER[after])
    assert (output[:, 1] == 2).all()
    assert not gradient[:, 1].any()
    with torch.no_grad():
        norm.weight[1] = 1e-9
    assert by_weight[1] == pytest.approx(passed(x, norm, AFTER[after])[1][1][1].item(), rel=1e-5)


def test_outputs_are_rounded_to_even():
    norm = nn.BatchNorm1d(2, eps=0)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1 + 2**-8, 1 + 3 * 2**-8]))  # halfway between two of bfloat16
    output = batch_norm(torch.tensor([[1.0, 1.0], [-1.0, -1.0]]).bfloat16(), norm)
    assert is_compiled(output)
    assert output.tolist() == [[1, 1 + 2**-6], [-1, -1 - 2**-6]]


def test_a_small_variance_beside_a_large_mean():
    x, norm = (1000 + 4 * normal(32, 4, 6, 6)).bfloat16(), norm_of(4)
    output = batch_norm(x, norm)
    assert is_compiled(output)
    assert_near(output, norm_of(4).double()(x.double()), ROUNDING)
    variance = x.double().var((0, 2, 3))
    torch.testing.assert_close(norm.running_var.double(), 0.7 + 0.3 * variance, rtol=1e-6, atol=0)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_stays_so(bad):
    x = normal(4, 3, 4, 4).bfloat16()
    x[2, 0, 1, 1] = bad
    output, (gradient, *_) = passed(x, norm_of(3), AFTER["pool and relu"])
    assert output[:, 0].isnan().all()
    assert gradient[:, 0].isnan().all()
    assert output[:, 1:].isfinite().all()
    assert gradient[:, 1:].isfinite().all()


def test_no_number_depends_on_threads():
    def numbers():
        output, rest = passed(normal(64, 32, 16, 16).bfloat16(), norm_of(32), AFTER["pool and relu"])
        return [output, *rest]

    threads, alone = torch.get_num_threads(), None
    try:
        for count in (1, 1, 2):
            torch.set_num_threads(count)
            alone = alone or numbers()
            assert all(torch.equal(a, b) for a, b in zip(alone, numbers(), strict=True))
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("after", AFTER)
def test_parts_are_as_one_after_the_other(after, dtype):
    def in_turn(x, *layers):
        return torch.cat([batch_norm(part, *layers) for part in x.chunk(2)])

    x, norm = normal(8, 5, 6, 6).to(dtype), norm_of(5)
    with apart(2):
        output, rest = passed(x, norm, AFTER[after])
    expected, expected_rest = passed(x, norm, AFTER[after], by=in_turn)
    assert torch.equal(output, expected)
    for number, expected_number in zip(rest, expected_rest, strict=True):
        torch.testing.assert_close(number, expected_number, rtol=1e-6, atol=1e-6)
    assert rest[-1] == 2  # batches


ELSEWHERE = {
    "evaluation": lambda x, norm: (x, norm.eval(), AFTER["relu"]),
    "float32": lambda x, norm: (x.float(), norm, AFTER["relu"]),
    "float64": lambda x, norm: (x.double(), norm.double(), AFTER["relu"]),
    "channels first": lambda x, norm: (x.contiguous(), norm, AFTER["relu"]),
    "no momentum": lambda x, norm: (x, nn.BatchNorm2d(4, momentum=None), AFTER["relu"]),
    "no statistics": lambda x, norm: (x, nn.BatchNorm2d(4, track_running_stats=False), AFTER["relu"]),
    "no weight": lambda x, norm: (x, nn.BatchNorm2d(4, affine=False), AFTER["relu"]),
    "another norm": lambda x, norm: (x, nn.GroupNorm(2, 4), AFTER["relu"]),
    "another activation": lambda x, norm: (x, norm, [nn.GELU()]),
    "wide windows": lambda x, norm: (x, norm, [nn.MaxPool2d(3, stride=2, padding=1), nn.ReLU()]),
    "ReLU before pooling": lambda x, norm: (x, norm, [nn.ReLU(), nn.MaxPool2d(2)]),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_elsewhere_the_modules_compute(case):
    x, norm, after = ELSEWHERE[case](normal(5, 4, 6, 6).bfloat16(), norm_of(4))
    x.requires_grad_()
    output = batch_norm(x, copy.deepcopy(norm), *after)
    assert not is_compiled(output)
    assert torch.equal(output, modules(x, norm, *after))


def test_refused_as_by_the_modules():
    for x, norm, after in [
        (normal(1, 4), nn.BatchNorm1d(4), []),  # one number a channel
        (normal(5, 4), nn.BatchNorm1d(3), []),
        (normal(5, 4, 1, 6), nn.BatchNorm2d(4), AFTER["pool and relu"]),
    ]:
        with pytest.raises((ValueError, RuntimeError)):
            batch_norm(x.bfloat16(), norm, *after)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Conv4(widths=(16, 16, 32, 32)).build(3),
        lambda: ResNet(blocks=(1, 1, 1, 2), width=16, stem="stride2").build(3),
        lambda: ResNet(block="bottleneck", blocks=(1, 1, 1, 1), width=16, last_shortcut="none").build(3),
        lambda: nn.Sequential(nn.Flatten(), MLP(dims=(64, 32, 16), last_norm=True).build(3 * 18**2)),
    ],
)
def test_networks_compute_every_batch_norm_so(build):
    """And their gradients are as near to those in float64 as the modules' are in bfloat16."""
    torch.manual_seed(0)
    network = build().to(memory_format=torch.channels_last)
    modules_only, exact = copy.deepcopy(network), copy.deepcopy(network).double()
    for module in [*modules_only.modules()]:
        for name, child in module.named_children():
            if isinstance(child, (nn.BatchNorm1d, nn.BatchNorm2d)):
                setattr(module, name, nn.Sequential(child))  # which `batch_norm` does not know
    images = normal(32, 3, 18, 18)
    outputs = []
    with torch.autocast("cpu", torch.bfloat16):
        outputs += [network(images), modules_only(images)]
    outputs.append(exact(images.double()))
    assert compiled_nodes(outputs[0]) == sum(
        isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)) for module in network.modules()
    )
    assert not compiled_nodes(outputs[1])
    for output in outputs:
        (output * normal(*output.shape, seed=5)).sum().backward()
    errors = [
        sum(
            ((weight.grad - true.grad).norm() / true.grad.norm()).square().item()
            for weight, true in zip(each.parameters(), exact.parameters(), strict=True)
        )
        for each in (network, modules_only)
    ]
    assert errors[0] < 1.5 * errors[1]
    for buffer, true in zip(network.buffers(), exact.buffers(), strict=True):
        assert_near(buffer, true, 0.02)


def compiled_nodes(output):
    """The number of compiled BatchNorms in a tensor's graph."""
    seen, rest = set(), [output.grad_fn]
    while rest:
        node = rest.pop()
        if node is not None and node not in seen:
            seen.add(node)
            rest += [parent for parent, _ in node.next_functions]
    return sum(type(node).__name__ == "_OneOperationBackward" for node in seen)
