"""SwAV and its codes against lightly and the definition of an assignment in equal parts."""

import pytest
import torch
from lightly.loss import SwaVLoss
from lightly.loss.swav_loss import sinkhorn as lightlys_sinkhorn

from reprise.errors import RepriseError
from reprise.objectives import prototype_scores, sinkhorn, swapped_prediction, swav


@pytest.fixture
def scores(views):
    """Cosines with prototypes, of two views."""
    prototypes = torch.randn(5, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return [prototype_scores(z, prototypes) for z in views(12, 4)]


def test_swav_is_lightlys(scores):
    torch.testing.assert_close(swav(*scores), SwaVLoss()(scores, [])[0])
    theirs = SwaVLoss(temperature=0.2, sinkhorn_epsilon=0.1, sinkhorn_iterations=5)
    ours = swav(*scores, temperature=0.2, epsilon=0.1, iterations=5)
    torch.testing.assert_close(ours, theirs(scores, [])[0])


def test_codes_are_lightlys(scores):
    torch.testing.assert_close(sinkhorn(scores[0]), lightlys_sinkhorn(scores[0]))


def test_codes_of_a_queue_and_a_batch_are_lightlys(scores):
    """As a caller with a queue does it."""
    batch, queue = [s[:4] for s in scores], [s[4:] for s in scores]
    codes = [sinkhorn(torch.cat(both))[:4] for both in zip(batch, queue, strict=True)]
    ours = (swapped_prediction(batch[0], codes[1]) + swapped_prediction(batch[1], codes[0])) / 2
    torch.testing.assert_close(ours, SwaVLoss()(batch, [], queue)[0])


def test_codes_use_all_prototypes_equally(scores):
    codes = sinkhorn(scores[0], epsilon=0.5, iterations=50)
    torch.testing.assert_close(codes.sum(1), torch.ones(12, dtype=torch.float64))
    torch.testing.assert_close(codes.sum(0), torch.full((5,), 12 / 5, dtype=torch.float64))
    few = sinkhorn(scores[0], iterations=1)
    torch.testing.assert_close(few.sum(1), torch.ones(12, dtype=torch.float64))
    assert (few.sum(0) - 12 / 5).abs().max() > 0.1


def test_codes_scale_the_kernel_by_rows_and_columns(scores):
    """Eq. 5: the logarithm of codes over exp(scores / ε) is a sum of a number a sample and one a
    prototype."""
    potentials = sinkhorn(scores[0]).log() - scores[0] / 0.05
    residual = potentials - potentials[:1] - potentials[:, :1] + potentials[0, 0]
    assert residual.abs().max() < 1e-9


def test_large_scores_do_not_overflow(scores):
    codes = sinkhorn(1e3 + scores[0].float())
    assert codes.isfinite().all()
    torch.testing.assert_close(codes, sinkhorn(scores[0]).float(), rtol=0.02, atol=1e-3)


def test_codes_carry_no_gradient(scores):
    """So that SwAV's gradient is that at fixed codes."""
    first, second = (s.clone().requires_grad_() for s in scores)
    found = torch.autograd.grad(swav(first, second), (first, second))
    codes = [sinkhorn(s) for s in scores]
    fixed = (swapped_prediction(first, codes[1]) + swapped_prediction(second, codes[0])) / 2
    for ours, expected in zip(found, torch.autograd.grad(fixed, (first, second)), strict=True):
        torch.testing.assert_close(ours, expected)


def test_scores_are_cosines(views):
    z, prototypes = views(6, 4)
    expected = torch.nn.functional.cosine_similarity(z[:, None], prototypes[None], dim=-1)
    torch.testing.assert_close(prototype_scores(z, prototypes), expected)


def test_prototypes_of_another_dimension(views):
    with pytest.raises(RepriseError, match=r"prototypes of shape \[5, 3\] for embeddings of shape \[6, 4\]"):
        prototype_scores(views(6, 4)[0], torch.ones(5, 3))


def test_codes_of_a_sample_far_from_all_prototypes_do_not_underflow():
    scores = torch.tensor([[0.0, 0.1], [-6.0, -5.8], [0.2, -0.1]])
    torch.testing.assert_close(sinkhorn(scores).double(), sinkhorn(scores.double()), rtol=1e-4, atol=0)
