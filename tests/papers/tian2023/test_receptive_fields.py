"""BatchNorm on the table of tokens, compiled, beside automatic differentiation."""

import pytest
import torch

from reprise.papers.tian2023.receptive_fields import batch_norm, differentiated_batch_norm


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_compiled_batch_norm_is_that_of_automatic_differentiation(dtype):
    """Of every combination of gradients, also where an incoming gradient is not contiguous."""
    draw = torch.Generator().manual_seed(0)
    table = torch.randn(4, 3, 2, 5, 7, generator=draw, dtype=dtype, requires_grad=True)
    share = torch.rand(3, 2, 2, 5, generator=draw, dtype=dtype)
    share[0, 0, 0, 1:] = 0  # all samples have the same token
    share /= share.sum(-1, keepdim=True)
    flows = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=torch.bool).T
    weights = torch.randn(4, 3, 2, 2, 7, 5, generator=draw, dtype=dtype).mT
    found = batch_norm(table, share, mean_gradient=flows[0], variance_gradient=flows[1])
    expected = differentiated_batch_norm(table, share, *flows)
    for of, to in (
        (found, expected),
        *zip(
            *(torch.autograd.grad((each * weights).sum(), table) for each in (found, expected)), strict=True
        ),
    ):
        # A variance of zero divides by sqrt(1e-5), and its gradient by as much again.
        torch.testing.assert_close(
            of, to, rtol=1e-9 if dtype == torch.float64 else 1e-3, atol=1e-3 * (dtype == torch.float32)
        )


def test_pooled_statistics_are_those_of_both_views_together():
    """As `torch` normalises the samples of both views in one batch, gradients included."""
    draw = torch.Generator().manual_seed(0)
    table = torch.randn(1, 1, 1, 4, 3, generator=draw, dtype=torch.float64, requires_grad=True)
    token = torch.randint(4, (2, 16), generator=draw)
    share = torch.nn.functional.one_hot(token, 4).double().mean(1)[None, None]
    flows = torch.tensor([True])
    found = batch_norm(table, share, mean_gradient=flows, variance_gradient=flows, pooled=True)
    expected = torch.nn.functional.batch_norm(table[0, 0, 0][token.flatten()], None, None, training=True)
    samples = torch.stack([found[0, 0, 0, view][token[view]] for view in (0, 1)]).flatten(0, 1)
    torch.testing.assert_close(samples, expected)
    weights = torch.randn(samples.shape, generator=draw, dtype=torch.float64)
    gradients = [torch.autograd.grad((each * weights).sum(), table)[0] for each in (samples, expected)]
    torch.testing.assert_close(*gradients)
