"""The rule by which learning rates are chosen, and what counts as learned."""

import math

import pandas as pd
import pytest

from reprise.papers.skean2024.learned import gains
from reprise.papers.skean2024.rates import chosen


@pytest.mark.parametrize(
    ("accuracies", "rate"),
    [
        ({0.01: 50.0, 0.1: 80.0, 1.0: 70.0}, 0.1),
        ({0.01: 30.0, 0.1: math.nan}, 0.01),
        ({0.1: 30.0, 0.01: 30.0}, 0.01),
        ({0.1: math.nan, 0.01: math.nan}, 0.01),
        ({0.1: math.nan, 1.0: 0.0}, 1.0),
    ],
    ids=["the best", "not one that diverged", "of equals the lowest", "of none the lowest", "zero is finite"],
)
def test_the_rate_of_the_best_pilot_is_chosen(accuracies, rate):
    assert chosen(accuracies) == rate


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
