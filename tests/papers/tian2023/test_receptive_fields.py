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
