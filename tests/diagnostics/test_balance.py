"""Alignment and balance scores against their definitions."""

import numpy as np
import pytest
import torch

from reprise.diagnostics.balance import (
    alignment_score,
    condition_number,
    covariance_eigenvalues,
    intrinsic_dimension,
    stable_rank,
)


def some(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).double()


def test_the_share_of_pairs_that_are_nearer_than_a_negative():
    a, positive, negative = (some(3, 50, 4, seed=seed) for seed in range(3))
    found = alignment_score(a, positive, negative)
    for replica in range(3):
        nearer = [
            torch.dist(x, y) < torch.dist(x, z)
            for x, y, z in zip(a[replica], positive[replica], negative[replica], strict=True)
        ]
        assert found[replica] == torch.tensor(nearer).double().mean()


def test_a_constant_map_scores_0_because_ties_do_not_count():
    assert alignment_score(*torch.ones(3, 50, 4)) == 0


def test_matching_pairs_score_1_unless_the_negative_is_the_same():
    a, negative = some(50, 4), some(50, 4, seed=1)
    assert alignment_score(a, a, negative) == 1
    negative[:10] = a[:10]
    assert alignment_score(a, a, negative) == 0.8


def test_both_stable_ranks_are_those_of_the_covariance():
    z = some(2, 200, 5) @ some(5, 5, seed=1) + 7
    eigenvalues = covariance_eigenvalues(z)
    for replica in range(2):
        covariance = torch.cov(z[replica].T, correction=0)
        largest = torch.linalg.matrix_norm(covariance, 2)
        torch.testing.assert_close(eigenvalues[replica], torch.linalg.svdvals(covariance))
        torch.testing.assert_close(stable_rank(eigenvalues)[replica], covariance.norm() ** 2 / largest**2)
        torch.testing.assert_close(intrinsic_dimension(eigenvalues)[replica], covariance.trace() / largest)


def test_the_condition_number_is_numpys_of_the_centred_embeddings():
    z = some(2, 200, 5) @ some(5, 5, seed=1) + 7
    for replica in range(2):
        centred = (z[replica] - z[replica].mean(0)).numpy()
        assert condition_number(z)[replica] == pytest.approx(np.linalg.cond(centred))
    stretched = torch.diag(torch.tensor([6.0, 3.0, 2.0, 0.0])).double()
    both = torch.cat([stretched, -stretched])
    assert [condition_number(both, rank).item() for rank in (1, 2, 3)] == pytest.approx([1, 2, 3])


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_the_stable_rank_of_equal_eigenvalues_is_their_number(rank):
    eigenvalues = 0.3 * (torch.arange(5) < rank).double()
    assert stable_rank(eigenvalues) == intrinsic_dimension(eigenvalues) == rank
