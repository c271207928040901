"""Losses that know their own gradient, under the transforms of torch.func that a user may apply."""

import torch

from reprise.objectives import infonce_distance


def test_a_mapped_gradient_is_that_of_each_replica(views):
    z1, z2 = views(3, 8, 4)
    mapped = torch.func.vmap(torch.func.grad(lambda *both: 2 * infonce_distance(*both)))(z1, z2)
    alone = []
    for both in zip(z1, z2, strict=True):
        first = both[0].clone().requires_grad_()
        alone += torch.autograd.grad(2 * infonce_distance(first, both[1]), first)
    torch.testing.assert_close(mapped, torch.stack(alone))
