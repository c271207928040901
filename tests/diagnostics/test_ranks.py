"""Ranks and entropies against SciPy, NumPy and their limits."""

import numpy as np
import pytest
import torch
from scipy.stats import entropy

from reprise.diagnostics import ranks


def spectrum(*shape, seed=0):
    values = np.random.default_rng(seed).gamma(1.0, size=shape)
    return -np.sort(-values, axis=-1)


def test_entropy_and_effective_rank_are_scipys():
    values = spectrum(3, 20)
    got = torch.from_numpy(values)
    np.testing.assert_allclose(ranks.spectral_entropy(got), entropy(values, axis=-1), rtol=1e-12)
    np.testing.assert_allclose(ranks.effective_rank(got), np.exp(entropy(values, axis=-1)), rtol=1e-12)


@pytest.mark.parametrize("used", [1, 3, 16])
def test_equal_values_count_as_many_dimensions(used):
    values = torch.zeros(16, dtype=torch.float64)
    values[:used] = 0.3
    for rank in (ranks.effective_rank, ranks.stable_rank, ranks.intrinsic_dimension):
        assert rank(values).item() == pytest.approx(used)
    assert ranks.rank_of_entropy(values).item() == pytest.approx(used, rel=1e-4)
    assert ranks.spectral_entropy(values).item() == pytest.approx(np.log(used), abs=1e-12)


def test_rankme_is_that_of_the_matrix_without_centring():
    """RankMe from its definition: singular values of Z, scaled by their sum, plus 1e-7."""
    z = np.random.default_rng(1).normal(size=(60, 8)) + 3
    s = np.linalg.svd(z, compute_uv=False)
    p = s / np.abs(s).sum() + 1e-7
    expected = np.prod(p**-p)
    assert ranks.rank_of_entropy(torch.linalg.svdvals(torch.from_numpy(z))).item() == pytest.approx(expected)


def test_alpha_is_the_slope_of_a_weighted_line():
    values = spectrum(150) + 1e-3
    j = np.arange(6, 101)
    slope, _ = np.polyfit(np.log(j), np.log(values[5:100]), 1, w=j**-0.5)  # NumPy squares the weights
    assert ranks.alpha_req(torch.from_numpy(values)).item() == pytest.approx(-slope)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
def test_alpha_of_a_power_law_is_its_exponent_whatever_the_scale(alpha):
    values = 7 * torch.arange(1, 65).double() ** -alpha
    assert ranks.alpha_req(values).item() == pytest.approx(alpha, abs=1e-12)


def test_alpha_without_a_tail_is_nan():
    assert ranks.alpha_req(torch.ones(6)).isnan()
    assert ranks.alpha_req(torch.tensor([1.0] * 6 + [0.0] * 6)).isnan()


def test_collapsed_dimensions_are_those_under_the_threshold():
    values = torch.tensor([[1.0, 2e-3, 1e-3, 9e-4], [0.0] * 4])
    assert ranks.collapsed_dimensions(values).tolist() == [2, 4]
    assert ranks.collapsed_dimensions(values, threshold=0.01).tolist() == [3, 4]
