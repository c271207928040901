"""What counts as learned."""

import math

import pandas as pd

from reprise.papers.skean2024.learned import gains


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
