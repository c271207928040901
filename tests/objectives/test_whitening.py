"""W-MSE against lightly; what whitening makes of embeddings."""

import pytest
import torch
from lightly.loss.wmse_loss import WMSELoss

from reprise.errors import RepriseError
from reprise.objectives import w_mse, whiten
from reprise.objectives.whitening import Degenerate


def test_w_mse_is_lightlys_of_one_sub_batch(views):
    z1, z2 = views(12, 4)
    theirs = WMSELoss(embedding_dim=4, w_size=12, num_samples=2)
    torch.testing.assert_close(w_mse(z1, z2), theirs(torch.cat([z1, z2])).to(z1))


def test_sub_batches_are_whitened_apart(views):
    """The mean of lightly's losses of each."""
    z1, z2 = views(24, 4)
    theirs = WMSELoss(embedding_dim=4, w_size=8, num_samples=2)
    each = [theirs(torch.cat(part)) for part in zip(z1.split(8), z2.split(8), strict=True)]
    torch.testing.assert_close(w_mse(z1, z2, sub_batch=8), torch.stack(each).mean().to(z1))


@pytest.mark.parametrize("shape", [(12, 4), (3, 12, 4), (5, 4)])
def test_whitened_embeddings_have_the_identity_for_covariance(views, shape):
    for one in whiten(views(*shape)[0]).reshape(-1, *shape[-2:]):
        torch.testing.assert_close(torch.cov(one.T), torch.eye(4, dtype=torch.float64))
        assert one.mean(0).abs().max() < 1e-12


def test_whitening_is_cholesky_s(views):
    """The inverse of its matrix is lower triangular: dimension k is made of the first k of the embeddings."""
    z = views(12, 4)[0]
    moved = z.clone()
    moved[:, 2:] = views(12, 2, seed=5)[0]
    torch.testing.assert_close(whiten(moved)[:, :2], whiten(z)[:, :2])
    assert (whiten(moved)[:, 2:] - whiten(z)[:, 2:]).abs().max() > 0.1


@pytest.mark.parametrize(("sub_batch", "dim"), [(5, 4), (4, 4), (None, 12), (0, 4)])
def test_sub_batches_that_cannot_be_whitened(views, sub_batch, dim):
    with pytest.raises(RepriseError, match=r"w_mse: sub-batches of \d+ .*use larger sub-batches"):
        w_mse(*views(12, dim), sub_batch=sub_batch)


def test_embeddings_of_too_few_dimensions(views):
    z = views(12, 4)[0]
    z[:, 3] = z[:, 0]
    with pytest.raises(Degenerate, match="do not span all 4 dimensions"):
        w_mse(z, z)
