import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from reprise.training import precision
from reprise.training.precision import Rounded, arithmetic


def small_network():
    """A convolution, BatchNorm, and two products of matrices, one of them written `@`."""
    torch.manual_seed(0)
    return nn.ModuleList(
        [nn.Conv2d(3, 8, 3, stride=2, bias=False), nn.BatchNorm2d(8), nn.Linear(8, 6), nn.Linear(6, 4)]
    )


def outputs_and_gradients(context):
    """The network's features, its output, and its gradients with respect to the images and the weights."""
    convolution, norm, first, second = network = small_network()
    random = torch.Generator().manual_seed(1)
    images = torch.randn(16, 3, 9, 9, generator=random, requires_grad=True)
    with context:
        features = norm(convolution(images)).relu().mean((2, 3))
        output = first(features).relu() @ second.weight.T
    output.float().square().sum().backward()
    return (
        output,
        images.grad,
        *(weight.grad for weight in (*network.parameters(),) if weight.grad is not None),
    )


def test_rounded_products_are_autocasts():
    ours = outputs_and_gradients(Rounded(torch.bfloat16))
    theirs = outputs_and_gradients(torch.autocast("cpu", torch.bfloat16))
    assert len(ours) == len(theirs)
    for mine, reference in zip(ours, theirs, strict=True):
        assert mine.dtype == reference.dtype
        scale = reference.float().abs().max().item()
        # a few roundings to 8 bits, which fall either way where sums differ in their last bits
        torch.testing.assert_close(mine.float(), reference.float(), rtol=0, atol=2**-6 * scale)


def test_operands_and_results_are_rounded_and_sums_are_not():
    step = 2**-8  # between 1 and 2, numbers of bfloat16 are 2^-7 apart
    ones = torch.ones(1, 512)
    with Rounded(torch.bfloat16):
        operand = nn.functional.linear(torch.tensor([[1 + 0.9 * step]]), torch.ones(1, 1))
        total = nn.functional.linear(ones, ones)
        result = nn.functional.linear(torch.tensor([[1.0, 0.9 * step]]), torch.ones(1, 2))
    assert operand.item() == 1
    assert total.item() == 512  # summed in bfloat16, the 257th one would be lost
    assert result.item() == 1


@pytest.mark.filterwarnings("ignore:CUDA is not available")
@pytest.mark.parametrize(
    ("device", "instructions", "dtype", "expected"),
    [
        ("cpu", False, torch.bfloat16, "Rounded"),
        ("cpu", True, torch.bfloat16, "autocast"),
        ("cuda", False, torch.bfloat16, "autocast"),
        ("cpu", False, torch.float32, "nullcontext"),
    ],
)
def test_rounding_is_for_processors_without_the_instructions(
    monkeypatch, device, instructions, dtype, expected
):
    monkeypatch.setattr(precision, "multiplies_bfloat16", lambda: instructions)
    assert type(arithmetic(device, dtype)).__name__ == expected


TWO_NETWORKS = """
import sys
from pathlib import Path
import tiny
from reprise.training.models import trained
for objective in ("nt_xent", "vicreg"):
    trained(tiny.spec(objective, steps=2), tiny.data(), Path(sys.argv[1]))
"""
HAS_AVX512 = torch.backends.cpu.get_cpu_capability().startswith("AVX512")


@pytest.mark.parametrize(
    "variable",
    [
        "ATEN_CPU_CAPABILITY=avx2",
        "ONEDNN_MAX_CPU_ISA=AVX2",
        pytest.param("", marks=pytest.mark.skipif(not HAS_AVX512, reason="without AVX-512")),
    ],
)
def test_a_processor_without_the_instructions_is_told_once_not_for_each_network(tmp_path, variable):
    name, _, value = variable.partition("=")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parent)])}
    environment |= {name: value} if name else {}
    command = [sys.executable, "-c", TWO_NETWORKS, tmp_path]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr
    assert printed.count("MISS") == 2
    told = [
        line
        for line in printed.splitlines()
        if line.startswith("reprise: slower: networks train without AVX")
    ]
    assert len(told) == bool(variable)
    assert all(line.endswith(f"; unset {variable}") for line in told)
