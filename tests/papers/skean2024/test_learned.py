"""Gains and rises in accuracy that count as learning."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from reprise.papers.skean2024.learned import above_start, gains


def test_a_gain_is_over_the_start_where_the_probe_is_above_pixels():
    probes = pd.DataFrame(
        {
            "top1": [60.0, 30.0, 35.0, math.nan],
            "start": 20.0,
            "pixel_neighbours": [35.0, 35.0, 35.0, 35.0],
            "pixel_probe": [18.0, 18.0, 18.0, 18.0],
        }
    )
    assert gains(probes).tolist()[:3] == [40.0, -5.0, 0.0]
    assert math.isnan(gains(probes)[3])


@pytest.mark.parametrize("mean", [0.0, 0.5, 1.0, 2.0])
def test_the_premise_of_first_epochs_is_a_t_test_of_each_method(mean):
    rng = np.random.default_rng(0)
    for _ in range(20):
        gained = {"frossl": rng.normal(mean, 1, 6), "vicreg": rng.normal(mean, 1, 6)}
        probes = pd.concat(
            pd.DataFrame({"method": method, "seed": range(6), "top1": 20 + values, "start": 20.0})
            for method, values in gained.items()
        )
        risen = [ttest_1samp(values, 0, alternative="greater").pvalue < 0.025 for values in gained.values()]
        for any_of, expected in ((True, any(risen)), (False, all(risen))):
            found = above_start("probes", any_of=any_of, method=tuple(gained)).measure({"probes": probes})
            assert found.tolist() == 6 * [expected]


def test_one_run_and_a_divergence_show_no_rise():
    alone = pd.DataFrame({"method": "frossl", "seed": [0], "top1": 50.0, "start": 20.0})
    diverged = pd.DataFrame({"method": "frossl", "seed": [0, 1], "top1": [50.0, math.nan], "start": 20.0})
    for probes in (alone, diverged):
        assert not above_start("probes", method="frossl").measure({"probes": probes}).any()
