"""Separable pairs and ranks: against scipy and hand-made tables, and on samples whose order is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reprise.evidence.separability import (
    holm,
    paired_p_values,
    rank_intervals,
    separable,
)


def test_holm_rejects_what_its_step_down_procedure_rejects():
    random = np.random.default_rng(0)
    for _ in range(50):
        p = random.uniform(size=12) ** 4
        rejected = np.zeros(12, dtype=bool)
        for k, index in enumerate(np.argsort(p)):
            if p[index] > 0.05 / (12 - k):
                break
            rejected[index] = True
        np.testing.assert_array_equal(holm(p) <= 0.05, rejected)


def test_p_values_are_those_of_the_paired_t_test():
    random = np.random.default_rng(1)
    a, b = random.normal(size=(2, 5, 7))
    np.testing.assert_allclose(paired_p_values(a - b), stats.ttest_rel(a, b).pvalue)


@pytest.mark.parametrize(
    ("differences", "p"), [([0.0] * 4, 1), ([0.1] * 4, 0), ([0.1, np.nan, 0.1, 0.1], 1), ([np.inf] * 4, 0)]
)
def test_differences_without_spread_and_those_that_are_no_numbers(differences, p):
    assert paired_p_values(np.array(differences)[:, None]).tolist() == [p]


def test_ranks_of_a_table_with_a_known_order():
    """Three levels, far apart; the two arms of the middle one differ by less than the seeds do."""
    noise = np.random.default_rng(2).normal(0, 0.01, (5, 4))
    values = pd.DataFrame(noise + np.array([10, 5, 5, 0]), columns=["top", "middle", "like it", "bottom"])
    ranks = rank_intervals(separable(values))
    assert ranks.to_dict("index") == {
        "top": {"low": 1, "high": 1},
        "middle": {"low": 2, "high": 3},
        "like it": {"low": 2, "high": 3},
        "bottom": {"low": 4, "high": 4},
    }


def test_what_seeds_share_does_not_hide_a_difference():
    """All arms rise and fall with the seed."""
    random = np.random.default_rng(3)
    seeds, noise = random.normal(0, 100, (6, 1)), random.normal(0, 0.01, (6, 3))
    assert (separable(pd.DataFrame(seeds + noise + np.arange(3))).loc[2, [0, 1]] == 1).all()


def test_an_arm_with_a_missing_number_is_separable_from_none():
    values = pd.DataFrame({"a": [1.0, 1.1, 1.2], "b": [9.0, 9.1, 9.3], "lost": [5.0, np.nan, 5.0]})
    signs = separable(values)
    assert signs.loc["b", "a"] == 1
    assert (signs["lost"] == 0).all()
    assert rank_intervals(signs).loc["lost"].tolist() == [1, 3]


def test_one_arm_alone_is_first():
    assert rank_intervals(separable(pd.DataFrame({"a": [1.0, 2.0]}))).loc["a"].tolist() == [1, 1]


def test_ranks_hold_at_once_in_95_percent_of_samples():
    """Eight arms of unequal deviations have equal means, so that every rank must be possible, or a known
    order."""
    random = np.random.default_rng(4)
    deviations = np.geomspace(0.3, 3, 8)
    for means in (np.zeros(8), np.repeat(np.arange(4), 2)):
        above = (means[:, None] < means).sum(1)  # arms that are truly larger
        below = (means[:, None] > means).sum(1)
        held = 0
        for _ in range(300):
            sample = means + deviations * random.normal(size=(5, 8))
            ranks = rank_intervals(separable(pd.DataFrame(sample)))
            held += bool((ranks["low"] <= 1 + above).all() and (ranks["high"] >= 8 - below).all())
        assert held >= stats.binom.ppf(1e-4, 300, 0.95)
