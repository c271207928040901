"""The network, its starts, the losses (1) and (2) and their matrices, which all of Esser 2024 shares."""

import numpy as np
import pytest
import torch

from reprise.numerics.streams import Streams
from reprise.papers.esser2024.half_moons import draw
from reprise.papers.esser2024.hidden_layer import outputs as fast_outputs
from reprise.papers.esser2024.losses import contrastive, cross_moment, non_contrastive, symmetric
from reprise.papers.esser2024.two_layers import orthonormal_start, outputs


def normal(*shape, purpose="numbers", seeds=range(3)):
    return Streams(seeds, purpose).normal(*shape).double()


def test_losses_are_the_sums_of_the_text_and_their_means():
    u, positive, negative = (normal(7, 2, purpose=name) for name in "abc")
    for seed in range(3):
        terms = [
            sum(u[seed, i, j] * (negative[seed, i, j] - positive[seed, i, j]) for j in range(2))
            for i in range(7)
        ]
        attracted = [sum(-u[seed, i, j] * positive[seed, i, j] for j in range(2)) for i in range(7)]
        for reduction, over in (("sum", 1), ("mean", 7)):
            found = contrastive(u, positive, negative, reduction=reduction)[seed]
            torch.testing.assert_close(found, sum(terms) / over)
            found = non_contrastive(u, positive, reduction=reduction)[seed]
            torch.testing.assert_close(found, sum(attracted) / over)


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_of_a_linear_network_the_loss_is_a_trace(reduction):
    data = draw(range(3), samples=30, noise=0.1, positive_variance=0.1)
    points = (data.anchor, data.positive, data.negative)
    weights = (normal(5, 2, purpose="w1"), normal(5, 3, purpose="w2"))
    loss = contrastive(*(outputs(weights, x) for x in points), reduction=reduction)
    cross = cross_moment(*points, reduction=reduction)
    q = weights[0].mT @ weights[1]
    for c in (cross, symmetric(cross)):
        torch.testing.assert_close(torch.einsum("rdz,rde,rez->r", q, c, q), loss)
    assert torch.equal(symmetric(cross), symmetric(cross).mT)
    assert not torch.allclose(cross, cross.mT)
    for seed in range(3):
        by_hand = sum(
            np.outer(data.anchor[seed, i], data.negative[seed, i] - data.positive[seed, i]) for i in range(30)
        )
        np.testing.assert_allclose(cross[seed], by_hand / (30 if reduction == "mean" else 1))


BY_HAND = {
    "linear": lambda a: a,
    "tanh": np.tanh,
    "relu": lambda a: max(a, 0),
    "sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "centred_sigmoid": lambda a: 1 / (1 + np.exp(-a)) - 0.5,
    "scaled_sigmoid": lambda a: 4 / (1 + np.exp(-a)) - 2,
}


@pytest.mark.parametrize("activation", BY_HAND)
def test_the_network_is_the_formula(activation):
    weights = (normal(5, 2, purpose="w1"), normal(5, 3, purpose="w2"))
    x = normal(4, 2, purpose="x")
    u = outputs(weights, x, activation)
    for seed in range(3):
        w1, w2 = (w[seed].numpy() for w in weights)
        for i in range(4):
            hidden = [BY_HAND[activation](float(a)) for a in w1 @ x[seed, i].numpy()]
            np.testing.assert_allclose(u[seed, i], w2.T @ hidden, rtol=1e-12, atol=1e-12)
    if activation != "linear":
        torch.testing.assert_close(fast_outputs(*weights, x, activation), u, rtol=1e-12, atol=1e-12)


def test_starts_are_orthonormal_and_a_seeds_own():
    w1, w2 = orthonormal_start(range(4), 20, 2, 3)
    torch.testing.assert_close(w1.mT @ w1, torch.eye(2).double().expand(4, -1, -1))
    torch.testing.assert_close(w2.mT @ w2, torch.eye(3).double().expand(4, -1, -1))
    for alone, together in zip(orthonormal_start([2], 20, 2, 3), (w1, w2), strict=True):
        assert torch.equal(alone[0], together[2])
    assert not torch.allclose(orthonormal_start([2], 20, 2, 2)[1], w1[2])


def test_starts_are_uniform():
    """E[w wᵀ] = I/h of a column, whose direction is uniform: E[w⁴] = 3 / (h (h + 2))."""
    w1, _ = orthonormal_start(range(4000), 4, 2, 1)
    np.testing.assert_allclose(torch.einsum("rhd,rkd->hk", w1, w1) / 8000, np.eye(4) / 4, atol=0.015)
    np.testing.assert_allclose((w1**4).mean(0), 3 / 24, atol=0.012)
    np.testing.assert_allclose(w1.mean(0), 0, atol=0.03)
