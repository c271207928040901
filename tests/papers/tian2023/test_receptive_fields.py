"""The plain net on tables of tokens and of images' views."""

import pytest
import torch

from reprise.papers.tian2023.receptive_fields import Minibatch, Net, batch_norm
from reprise.papers.tian2023.sequences import Arm


@pytest.mark.parametrize("pooled", [False, True])
def test_statistics_are_those_that_torch_takes_of_the_samples(pooled):
    """One field's units are the output. Pooled statistics are those of both views in one batch; gradients
    agree, too."""
    draw = torch.Generator().manual_seed(0)
    table = torch.randn(1, 1, 1, 4, 3, generator=draw, dtype=torch.float64, requires_grad=True)
    token = torch.randint(4, (1, 2, 16, 1), generator=draw)
    net = Net([Arm("linear", variance=True)], pooled_statistics=pooled)
    found = net.embed([table, torch.eye(3).double().view(1, 1, 1, 3, 3)], Minibatch(token))[0, 0]
    samples = table[0, 0, 0][token[0, :, :, 0]]
    batches = [samples.flatten(0, 1)] if pooled else samples
    expected = torch.cat(
        [torch.nn.functional.batch_norm(batch, None, None, training=True) for batch in batches]
    )
    torch.testing.assert_close(found.flatten(0, 1), expected)
    weights = torch.randn(expected.shape, generator=draw, dtype=torch.float64)
    gradients = [
        torch.autograd.grad((each * weights).sum(), table)[0] for each in (found.flatten(0, 1), expected)
    ]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("variance", [False, True])
def test_a_statistic_without_gradient_is_a_constant(mean, variance):
    """All rows weigh alike; the reference is BatchNorm by its formula."""
    draw = torch.Generator().manual_seed(0)
    rows = torch.randn(1, 1, 1, 5, 3, generator=draw, dtype=torch.float64, requires_grad=True)
    flags = (torch.tensor([flag]) for flag in (mean, variance))
    found = batch_norm(rows, torch.full((1, 1, 1, 5), 1 / 5, dtype=torch.float64), *flags)[..., 0, :, :]
    average = rows.mean(-2, keepdim=True)
    spread = ((rows - average).square().mean(-2, keepdim=True) + 1e-5).sqrt()
    expected = (rows - (average if mean else average.detach())) / spread.detach()
    if variance:
        centred = rows - (average if mean else average.detach())
        expected = centred / (centred.square().mean(-2, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(found, expected)
    weights = torch.randn(rows.shape, generator=draw, dtype=torch.float64)
    torch.testing.assert_close(
        *(torch.autograd.grad((each * weights).sum(), rows)[0] for each in (found, expected))
    )
