"""Limits: courses on their way to 0 are not contradicted, courses that rest elsewhere are."""

import numpy as np
import pandas as pd
import pytest

from reprise.evidence.rest import asymptote, rest

TIMES = np.arange(1, 2001)
COURSES = {
    "t^-1/4": TIMES**-0.25, "t^-1/2": TIMES**-0.5, "t^-1": 1.0 / TIMES, "t^-2": TIMES**-2.0,
    "1 / log t": 1 / np.log(TIMES + 1), "exponential": np.exp(-TIMES / 800),
    "plateau, then t^-1": np.minimum(1.0, 1500 / TIMES),
}  # fmt: skip


def course(distance, seeds=6, noise=0.01):
    generator = np.random.default_rng(0)
    columns = {seed: distance * (1 + noise * generator.normal(size=len(TIMES))) for seed in range(seeds)}
    return pd.DataFrame(columns, index=TIMES)


@pytest.mark.parametrize("name", COURSES)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_course_whose_limit_is_zero_has_not_come_to_rest(name, noise):
    found = rest(course(COURSES[name], noise=noise), 1e-6)
    assert not found.rests
    assert found.heading


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_course_that_stays_away_from_its_limit_rests(noise):
    assert rest(course(np.full(len(TIMES), 0.3) + np.exp(-TIMES / 20), noise=noise), 1e-3).rests


def test_a_course_that_stays_within_the_resolution_of_its_limit_does_not_rest_elsewhere():
    assert not rest(course(np.full(len(TIMES), 1e-5)), 1e-3).rests


def test_the_asymptote_is_that_of_the_power_law():
    times = np.arange(250.0, 2001.0)
    assert asymptote(times, 0.2 + 3 / times) == pytest.approx(0.2, abs=1e-3)
    assert asymptote(times, 3 / times) == pytest.approx(0.0, abs=1e-3)
