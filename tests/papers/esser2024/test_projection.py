"""The polar factor, against its definition, scipy, and other matrices with orthonormal columns."""

import numpy as np
import pytest
import scipy.linalg
import torch

from reprise.errors import RepriseError
from reprise.numerics.streams import Streams
from reprise.papers.esser2024.projection import polar
from reprise.training.replicas import sgd

SHAPES = [(1, 1), (2, 1), (2, 2), (7, 3), (300, 2), (2000, 1), (40, 40)]
EACH = pytest.mark.parametrize("shape", SHAPES)


def normal(*shape, seeds=range(4)):
    return Streams(seeds, "matrices").normal(*shape).double()


def orthonormal(*shape, seeds=range(4)):
    """By QR, which shares no code with the polar factor."""
    return torch.from_numpy(np.linalg.qr(Streams(seeds, "q").normal(*shape).double().numpy())[0])


@EACH
def test_it_is_scipys_polar_factor(shape):
    weights = normal(*shape)
    for found, weight in zip(polar(weights), weights, strict=True):
        expected, _ = scipy.linalg.polar(weight.numpy())
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


@EACH
def test_columns_are_orthonormal_and_what_has_such_stays(shape):
    projected = polar(normal(*shape))
    torch.testing.assert_close(projected.mT @ projected, torch.eye(shape[1]).double().expand(4, -1, -1))
    torch.testing.assert_close(polar(projected), projected, rtol=0, atol=1e-14)
    torch.testing.assert_close(polar(3.0 * projected), projected, rtol=0, atol=1e-14)


@EACH
def test_the_rest_is_symmetric_and_positive(shape):
    """W = Q P with P = (Wᵀ W)^(1/2): the definition, and unique."""
    weights = normal(*shape)
    p = polar(weights).mT @ weights
    torch.testing.assert_close(p, p.mT)
    assert (torch.linalg.eigvalsh(p) > 0).all()
    torch.testing.assert_close(p @ p, weights.mT @ weights)


@EACH
def test_no_matrix_with_orthonormal_columns_is_nearer(shape):
    """Neither near the polar factor nor far from it; QR's Q, for one, is farther."""
    weights = normal(*shape)
    best = torch.linalg.matrix_norm(weights - polar(weights))
    for scale in (1e-3, 0.1, 1.0):
        for seed in range(5):
            moved = polar(weights) + scale * normal(*shape, seeds=range(10 + seed, 14 + seed))
            other = torch.from_numpy(np.linalg.qr(moved.numpy())[0])
            other = other * (other * polar(weights)).sum(-2, keepdim=True).sign()
            assert (torch.linalg.matrix_norm(weights - other) >= best - 1e-12).all()


@EACH
def test_it_turns_with_the_weights_on_both_sides(shape):
    n, k = shape
    weights, left, right = normal(n, k), orthonormal(n, n), orthonormal(k, k)
    torch.testing.assert_close(
        polar(left @ weights @ right), left @ polar(weights) @ right, rtol=0, atol=1e-10
    )


def test_it_keeps_its_digits_where_the_gram_matrix_loses_them():
    q, r = orthonormal(50, 2), orthonormal(2, 2)
    weights = q @ torch.diag(torch.tensor([1.0, 1e-7]).double()) @ r
    torch.testing.assert_close(polar(weights), q @ r, rtol=0, atol=1e-7)
    values, vectors = torch.linalg.eigh(weights.mT @ weights)
    gram = weights @ (vectors * values.abs().rsqrt()[:, None]) @ vectors.mT
    assert (gram - q @ r).abs().max() > 1e-4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@EACH
def test_a_replica_does_not_depend_on_the_others(shape, dtype):
    weights = normal(*shape, seeds=range(7)).to(dtype)
    together = polar(weights)
    assert together.dtype == dtype
    for at, weight in enumerate(weights):
        assert torch.equal(polar(weight), together[at])
        assert torch.equal(polar(weights[at : at + 2])[0], together[at])
    assert torch.equal(polar(weights.view(7, 1, *shape))[:, 0], together)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (torch.ones(1, 2), "2 columns of length 1 .* make the layer 2 wide"),
        (torch.ones(3, 5, 2), "dependent columns.*lower learning_rate"),
        (torch.zeros(5, 1), "dependent columns"),
        (torch.cat([torch.eye(4, 2)[None], torch.ones(1, 4, 2)]), "dependent columns"),
        (torch.full((4, 2), torch.nan), "not finite; lower learning_rate"),
        (torch.tensor([[1.0, torch.inf], [0.0, 1.0]]), "not finite"),
    ],
)
def test_without_one_nearest_matrix_it_says_what_to_do(weights, message):
    with pytest.raises(RepriseError, match=message):
        polar(weights.double())


def test_descent_projects_after_each_step_and_not_before():
    """Against a loop by hand; what is projected is the step's end, with momentum untouched."""
    start, target = normal(6, 2), normal(6, 2, seeds=range(4, 8))
    arguments = {"learning_rate": 0.1, "momentum": 0.5, "steps": 3, "checkpoints": {0, 1, 2, 3}}

    def loss(weights):
        return (weights[0] - target).square().sum((-2, -1))

    found = [weights[0] for _, weights in sgd([start], loss, project=polar, **arguments)]
    assert torch.equal(found[0], start)
    now, velocity = start, torch.zeros_like(start)
    for weights in found[1:]:
        velocity = 0.5 * velocity + 2 * (now - target)
        now = polar(now - 0.1 * velocity)
        torch.testing.assert_close(weights, now, rtol=1e-12, atol=1e-12)
    free, same = (
        [weights[0] for _, weights in sgd([start], loss, project=project, **arguments)]
        for project in (None, lambda weight: weight)
    )
    assert all(torch.equal(a, b) for a, b in zip(free, same, strict=True))
    assert not torch.allclose(free[-1], found[-1])
