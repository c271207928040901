"""Estimates: their tests against scipy's, and their intervals against their tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reprise.evidence.estimates import ALPHA, Estimate, Mean, Median, Share, Typical, unseen_share

NUMBERS = st.lists(st.integers(-20, 20), min_size=8, max_size=14)


def drawn(seed: int, size: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.4, 1, size)


@pytest.mark.parametrize("size", [3, 5, 20])
def test_a_mean_is_tested_by_students_t(size):
    values = drawn(size, size)
    expected = stats.ttest_1samp(values, 0.1, alternative="greater").pvalue
    assert Mean(values).p_above(0.1) == pytest.approx(expected)
    assert Mean(values).p_below(0.1) == pytest.approx(1 - expected)


def test_a_mean_beside_a_printed_one_is_tested_by_welchs_t():
    values = drawn(1, 6)
    expected = stats.ttest_ind_from_stats(
        values.mean(), values.std(ddof=1), 6, 0.1, 0.5, 4, equal_var=False, alternative="greater"
    )
    assert Mean(values, 0.5, 4).p_above(0.1) == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("size", [8, 11, 25])
def test_a_typical_value_is_tested_by_wilcoxons_signed_ranks(size):
    values = drawn(size, size)
    for edge in (-0.3, 0.0, 0.5):
        above = stats.wilcoxon(values - edge, alternative="greater", method="exact").pvalue
        below = stats.wilcoxon(values - edge, alternative="less", method="exact").pvalue
        assert Typical(values).p_above(edge) == pytest.approx(above)
        assert Typical(values).p_below(edge) == pytest.approx(below)


def test_a_median_is_tested_by_signs():
    values = np.array([3, 3, 4, 4, 5, 6, 7, 7])
    assert Median(values).p_above(3) == pytest.approx(stats.binomtest(6, 8, alternative="greater").pvalue)
    assert Median(values).p_above(3, inclusive=True) == 2.0**-8
    assert Median(values).p_below(7, inclusive=True) == 2.0**-8


@pytest.mark.parametrize("number", [0, 3, 10])
def test_a_share_is_tested_by_the_binomial_distribution(number):
    values = np.repeat([1.0, 0.0], [number, 10 - number])
    for share in (0.2, 0.5, 0.8):
        above = stats.binomtest(number, 10, share, alternative="greater").pvalue
        below = stats.binomtest(number, 10, share, alternative="less").pvalue
        assert Share(values).p_above(share) == pytest.approx(above)
        assert Share(values).p_below(share) == pytest.approx(below)


@given(NUMBERS, st.integers(-25, 25), st.sampled_from([Mean, Typical, Median]))
def test_an_interval_holds_the_edges_that_no_test_rejects(values, edge, kind):
    estimate: Estimate = kind(np.array(values, dtype=float))
    interval = estimate.interval()
    assert interval.low <= interval.mean <= interval.high
    assert (edge < interval.low) == (estimate.p_above(edge) <= ALPHA)
    assert (edge > interval.high) == (estimate.p_below(edge) <= ALPHA)


@given(NUMBERS, st.integers(-25, 25))
def test_ties_with_the_edge_speak_for_neither_side(values, edge):
    for kind in (Typical, Median):
        estimate = kind(np.array(values, dtype=float))
        assert estimate.p_above(edge, inclusive=True) <= estimate.p_above(edge)
        assert estimate.p_above(edge) + estimate.p_below(edge, inclusive=True) >= 1 - 1e-12


def test_a_sample_without_spread_is_known():
    assert Mean(np.full(3, 0.1)).p_above(0.1) == 1
    assert Mean(np.full(3, 0.1)).p_above(0.1, inclusive=True) == 0
    assert Mean(np.full(3, 0.1)).p_above(0.09) == 0


def test_the_share_that_no_run_has_shown():
    assert unseen_share(200) < 0.02 < unseen_share(182)
    assert (1 - unseen_share(5)) ** 5 == pytest.approx(ALPHA)
