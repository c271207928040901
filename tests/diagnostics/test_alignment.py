"""Alignment, subspaces and balance of adjacent layers: limit cases, random bases, numpy."""

import numpy as np
import pytest
import torch

from reprise.diagnostics.alignment import (
    alignment_matrix,
    imbalance,
    off_diagonal_mass,
    subspace_mass_outside,
)
from reprise.networks.dense import decaying_spectrum, random_orthogonal
from reprise.numerics.streams import Streams
from reprise.objectives import infonce_distance
from reprise.training.replicas import sgd

DIM = 16


def bases(count, purpose="bases", dim=DIM):
    return torch.linalg.qr(random_orthogonal(Streams(range(count), purpose), dim).double()).Q


def layers(u1, v2, s1=None, s2=None):
    """W1 = U1 S1 V1ᵀ and W2 = U2 S2 V2ᵀ with random outer bases."""
    count, dim = len(u1), u1.shape[-1]
    s1 = torch.linspace(2, 1, dim).double() if s1 is None else s1
    s2 = torch.linspace(3, 0.5, dim).double() if s2 is None else s2
    w1 = (u1 * s1) @ bases(count, "v1", dim).mT
    w2 = (bases(count, "u2", dim) * s2) @ v2.mT
    return w1, w2


def test_it_is_numpys_of_the_two_decompositions():
    w1, w2 = layers(bases(3), bases(3, "other"))
    found = alignment_matrix(w1, w2).abs()
    for ours, a, b in zip(found.numpy(), w1.numpy(), w2.numpy(), strict=True):
        expected = np.linalg.svd(b)[2] @ np.linalg.svd(a)[0]
        np.testing.assert_allclose(ours, np.abs(expected), atol=1e-10)


def test_layers_that_share_their_inner_basis_are_aligned_up_to_signs():
    inner = bases(4)
    signs = torch.tensor([1.0, -1.0]).repeat(DIM // 2).double()
    a = alignment_matrix(*layers(inner, inner * signs))
    torch.testing.assert_close(a.abs(), torch.eye(DIM).double().expand(4, DIM, DIM), atol=1e-10, rtol=0)
    assert off_diagonal_mass(a).abs().max() < 1e-10


def test_the_same_basis_in_another_order_is_not_aligned():
    inner = bases(2)
    a = alignment_matrix(*layers(inner, inner.flip(-1)))
    torch.testing.assert_close(off_diagonal_mass(a), torch.ones(2).double())


def test_two_vectors_turned_by_an_angle_lose_sine_squared():
    angle, inner = 0.3, bases(1)
    turned = inner.clone()
    cos, sin = np.cos(angle), np.sin(angle)
    turned[..., 4] = cos * inner[..., 4] + sin * inner[..., 9]
    turned[..., 9] = cos * inner[..., 9] - sin * inner[..., 4]
    mass = off_diagonal_mass(alignment_matrix(*layers(inner, turned)))
    assert mass.item() == pytest.approx(2 / DIM * sin**2)


def test_random_bases_have_a_mass_of_one_less_a_dimensions_share():
    count = 400
    for dim in (4, DIM):
        mass = off_diagonal_mass(alignment_matrix(*layers(bases(count, "a", dim), bases(count, "b", dim))))
        assert abs(mass.mean() - (1 - 1 / dim)) < 4.5 * mass.std() / count**0.5


def test_singular_vectors_are_ordered_from_the_largest_value():
    """W1's values given in the opposite order pair its smallest with W2's largest."""
    inner = bases(1)
    rising = torch.linspace(1, 2, DIM).double()
    a = alignment_matrix(*layers(inner, inner, s1=rising))
    torch.testing.assert_close(a[0].abs(), torch.eye(DIM).double().flip(0), atol=1e-10, rtol=0)


@pytest.mark.parametrize("rank", [1, 5, DIM])
def test_a_shared_subspace_has_no_mass_outside_whatever_the_bases_in_it(rank):
    inner, within = bases(3), bases(3, "within", rank)
    turned = torch.cat([inner[..., :rank] @ within, inner[..., rank:]], -1)
    a = alignment_matrix(*layers(inner, turned))
    assert subspace_mass_outside(a, rank).abs().max() < 1e-10
    if rank > 1:
        assert off_diagonal_mass(a).min() > 0.01


def test_orthogonal_subspaces_have_all_their_mass_outside():
    inner = bases(2)
    a = alignment_matrix(*layers(inner, inner.roll(DIM // 2, -1)))
    torch.testing.assert_close(subspace_mass_outside(a, DIM // 2), torch.ones(2).double())
    torch.testing.assert_close(subspace_mass_outside(a, DIM), torch.zeros(2).double(), atol=1e-10, rtol=0)


def test_a_random_subspace_has_its_share_inside():
    count, rank = 400, 6
    outside = subspace_mass_outside(alignment_matrix(*layers(bases(count, "a"), bases(count, "b"))), rank)
    assert abs(outside.mean() - (1 - rank / DIM)) < 4.5 * outside.std() / count**0.5


def test_the_subspace_a_low_rank_projector_reads_needs_no_order_among_its_zeros():
    """W2 of rank 5: its other right vectors are any basis of what it does not read."""
    inner, rank = bases(2), 5
    w1, _ = layers(inner, inner)
    reads = inner[..., :rank] @ bases(2, "within", rank).mT
    w2 = bases(2, "out")[..., :rank] @ reads.mT
    assert subspace_mass_outside(alignment_matrix(w1, w2), rank).abs().max() < 1e-10


def test_imbalance_is_numpys_norm_of_the_difference():
    w1, w2 = layers(bases(3), bases(3, "other"))
    for ours, a, b in zip(imbalance(w1, w2), w1.numpy(), w2.numpy(), strict=True):
        assert ours.item() == pytest.approx(np.linalg.norm(a @ a.T - b.T @ b))


def test_orthogonal_layers_of_one_scale_are_balanced_and_of_two_are_not():
    w1, w2 = bases(2, "w1"), bases(2, "w2")
    assert imbalance(w1, w2).max() < 1e-12
    torch.testing.assert_close(imbalance(2 * w1, w2), torch.full((2,), 3 * DIM**0.5).double())


def test_layers_of_other_widths():
    """4 inputs, 6 hidden units, 3 outputs."""
    rng = torch.Generator().manual_seed(0)
    w1, w2 = torch.randn(2, 6, 4, generator=rng), torch.randn(2, 3, 6, generator=rng)
    assert alignment_matrix(w1, w2).shape == (2, 6, 6)
    assert imbalance(w1, w2).shape == (2,)


def drift_of_balance(rate):
    """Drift of W1 W1ᵀ - W2ᵀ W2, relative to that of W1 W1ᵀ, in a fixed time of descent; and the last
    weights."""
    streams = Streams(range(2), "descent")
    weights = [decaying_spectrum(streams, 4).double() for _ in range(2)]
    x = streams.normal(32, 4).double()
    x1, x2 = (x + 0.3 * streams.normal(32, 4).double() for _ in range(2))

    def loss(now):
        both = now[1] @ now[0]
        return infonce_distance(x1 @ both.mT, x2 @ both.mT)

    (_, start), (_, end) = sgd(
        weights, loss, learning_rate=rate, steps=round(4 / rate), checkpoints={0, round(4 / rate)}
    )

    def balance(w):
        return w[0] @ w[0].mT - w[1].mT @ w[1]

    def moved(of):
        return torch.linalg.matrix_norm(of(end) - of(start))

    return (moved(balance) / moved(lambda w: w[0] @ w[0].mT)).max().item(), end


def test_descent_in_small_steps_conserves_imbalance():
    """Gradient flow conserves the imbalance exactly; descent, to first order in the step."""
    (coarse, _), (fine, end) = drift_of_balance(0.02), drift_of_balance(0.005)
    assert fine < 0.01
    assert fine < 0.35 * coarse
    assert imbalance(*end).min() > 0.1
