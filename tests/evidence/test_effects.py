"""Smallest effects, by unit."""

import numpy as np
import pytest
from stating import stated
from worlds import column, tables

from reprise.evidence import comparison as m
from reprise.evidence.effects import smallest_effect
from reprise.evidence.judgement import judge


@pytest.mark.parametrize(
    ("unit", "reference", "expected"),
    [
        ("matching score", 0.3, 0.05),
        ("% top-1 linear probe", 50.0, 1.0),
        ("nats", 0.0, 0.05),
        ("stable rank", 8.0, 0.4),
        ("condition number", 20.0, 1.0),
        ("log condition number", 1.0, 0.05),
        ("log10 of λ1/λ14", 1.0, np.log10(np.exp(0.05))),
        ("slope of log difference over log width", 0.0, 0.075),
        ("local optima", 2.0, 1.0),
        ("share of starts", 0.0, 0.05),
        ("percentage points beyond the margin", 0.0, 0.0),  # the margin is in the observation already
        ("seconds", 1.0, 0.0),
    ],
)
def test_the_smallest_effect_is_that_of_the_unit(unit, reference, expected):
    assert smallest_effect(m.above(column("0"), reference, unit=unit), reference) == pytest.approx(expected)


def test_bounds_that_leave_no_larger_effect_leave_none_to_name():
    near_the_top = m.above(column("0"), 0.97, unit="matching score", bounds=m.SHARE)
    assert smallest_effect(near_the_top, 0.97) == 0
    assert smallest_effect(m.below(column("0"), 0.97, unit="matching score", bounds=m.SHARE), 0.97) == 0.05


@pytest.mark.parametrize(("mean", "verdict"), [(0.02, "tied"), (-0.02, "tied"), (0.2, "reproduced"),
                                              (-0.2, "contradicted")])  # fmt: skip
def test_an_interval_within_the_smallest_effect_is_tied_whichever_side_it_is_on(mean, verdict):
    claim = stated(m.above(column("0"), 0.0, unit="matching score"))
    sample = mean + 0.005 * np.array([[-1.0, 0.0, 1.0, 0.5, -0.5]])
    assert judge(claim, tables(sample)).verdict == verdict


def test_a_tie_contradicts_where_the_paper_prints_a_larger_effect():
    def claim(effect: float):
        return stated(m.above(column("0"), 0.0, unit="matching score", effect=effect))

    sample = tables(0.01 + 0.005 * np.array([[-1.0, 0.0, 1.0, 0.5, -0.5]]))
    assert judge(claim(0.2), sample).verdict == "contradicted"
    assert judge(claim(0.02), sample).verdict == "tied"
