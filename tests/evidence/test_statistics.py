"""Intervals against scipy's, and their coverage by simulation."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from reprise.evidence.statistics import (
    at_least,
    at_most,
    false_discovery_rate,
    jackknife,
    mean_interval,
    median_interval,
    share_interval,
)

numbers = st.floats(-1e3, 1e3, allow_nan=False)
samples = st.lists(numbers, min_size=3, max_size=12)


@given(samples)
def test_the_interval_of_the_mean_is_scipys(values):
    assume(np.ptp(values) > 1e-6)
    ours = mean_interval(pd.Series(values))
    theirs = stats.t.interval(
        0.95, len(values) - 1, np.mean(values), np.std(values, ddof=1) / len(values) ** 0.5
    )
    assert ours.mean == pytest.approx(np.mean(values), abs=1e-9)
    assert (ours.low, ours.high) == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_the_interval_of_the_mean_is_the_t_tests():
    values = np.random.default_rng(0).normal(3, 2, 7)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    ours = mean_interval(values)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_the_interval_of_three_seeds_against_a_table_of_student():
    """t(.975, 2) = 4.30265; the sample 1, 2, 3 has the standard error 1/sqrt(3)."""
    ours = mean_interval(pd.Series([1.0, 2.0, 3.0]))
    assert (ours.low, ours.high) == pytest.approx((2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-5)


@pytest.mark.parametrize("n", [3, 10])
def test_95_of_100_intervals_hold_the_true_mean(n):
    draws = np.random.default_rng(n).normal(5, 3, (4000, n))
    intervals = [mean_interval(draw) for draw in draws]
    covered = np.mean([interval.low <= 5 <= interval.high for interval in intervals])
    assert covered == pytest.approx(0.95, abs=0.0104)  # three standard errors of a share of .95 in 4000


@pytest.mark.parametrize("value", [0.0, 0.1, 7.0, -1 / 3])
@pytest.mark.parametrize("n", [3, 10, 11])
def test_a_sample_without_spread_has_an_interval_without_width_at_exactly_its_value(value, n):
    ours = mean_interval([value] * n)
    assert (ours.low, ours.mean, ours.high) == (value, value, value)


@pytest.mark.parametrize("level", [0.95, 0.99])
@pytest.mark.parametrize(("successes", "runs"), [(0, 10), (10, 10), (3, 7), (1, 200)])
def test_the_interval_of_a_share_is_scipys_clopper_and_pearson(successes, runs, level):
    expected = stats.binomtest(successes, runs).proportion_ci(level, method="exact")
    ours = share_interval(successes, runs, level)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("size", [6, 7, 10, 25])
@pytest.mark.parametrize(
    "draw", [lambda rng, shape: rng.normal(size=shape), lambda rng, shape: rng.poisson(3, shape)]
)
def test_the_interval_of_the_median_holds_it_in_95_of_100_samples_or_more(size, draw):
    rng = np.random.default_rng(size)
    median = float(np.median(draw(rng, 100_001)))
    intervals = [median_interval(sample) for sample in draw(rng, (3000, size))]
    covered = np.mean([interval.low <= median <= interval.high for interval in intervals])
    assert covered >= 0.95 - 3 * (0.05 * 0.95 / 3000) ** 0.5


def test_the_interval_of_the_median_is_scipys_quantile_test():
    values = np.random.default_rng(3).normal(size=20)
    ours, theirs = median_interval(values), stats.quantile_test(values, q=0, p=0.5).confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_five_seeds_have_no_interval_of_the_median():
    with pytest.raises(ValueError, match="5 observations have no interval of the median"):
        median_interval([1.0] * 5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1))
def test_the_false_discovery_rate_is_scipys(p_values, threshold):
    decided = [p <= threshold for p in p_values]
    assume(any(decided))
    adjusted = stats.false_discovery_control(p_values, method="bh")
    ours = false_discovery_rate(p_values, decided)
    largest = max(p for p in p_values if p <= threshold)
    same = [q for q, p in zip(adjusted, p_values, strict=True) if p == largest]
    assert ours >= max(same) - 1e-12  # BH may lower it by a larger p-value's
    assert ours == pytest.approx(min(1.0, len(p_values) * largest / sum(decided)))


def test_nothing_decided_is_nothing_decided_wrongly():
    assert false_discovery_rate([0.5, 0.9], [False, False]) == 0.0


@pytest.mark.parametrize(
    ("number", "runs", "share"), [(0, 6, 0.5), (3, 10, 0.02), (10, 10, 0.9), (7, 40, 0.3)]
)
def test_the_chances_of_successes_are_scipys_binomial(number, runs, share):
    binomial = stats.binom(runs, share)
    assert float(at_most(number, runs, share)) == pytest.approx(binomial.cdf(number), rel=1e-9)
    assert at_least(number, runs, share) == pytest.approx(binomial.sf(number - 1), rel=1e-9)


def test_jackknife_values_of_a_mean_are_the_observations():
    values = np.random.default_rng(0).normal(size=7)
    np.testing.assert_allclose(jackknife(np.mean, values), values)


def test_jackknife_values_have_the_estimate_as_mean_and_the_jackknifes_error():
    values = np.random.default_rng(0).gamma(2, size=(8, 3))

    def estimate(sample):
        return float(np.log(sample.mean(0)).sum())

    found = jackknife(estimate, values)
    assert found.mean() == pytest.approx(estimate(values))
    # The delta method's: log m has the gradient 1 / m.
    linear = (values / values.mean(0)).sum(1)
    assert found.std(ddof=1) == pytest.approx(linear.std(ddof=1), rel=0.15)
