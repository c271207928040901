"""BatchNorm over all processes, in a group of one."""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from reprise.training.processes import GlobalBatchNorm


@pytest.fixture
def group():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.parametrize("affine", [True, False])
def test_a_group_of_one_has_torchs_batchnorm(group, affine):
    theirs = nn.BatchNorm2d(3, affine=affine, dtype=torch.float64)
    for weight in theirs.parameters():
        nn.init.normal_(weight, generator=torch.Generator().manual_seed(1))
    ours = GlobalBatchNorm(nn.BatchNorm2d(3, affine=affine, dtype=torch.float64))
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(4, 3, 2, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    results = []
    for norm in (ours, theirs):
        inputs = x.clone().requires_grad_()
        trained = norm(inputs)
        gradients = torch.autograd.grad(trained.pow(3).sum(), [inputs, *norm.parameters()])
        results.append([trained, *gradients, norm.eval()(x), *norm.state_dict().values()])
    torch.testing.assert_close(*results)
