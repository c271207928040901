"""Learning rates at steps worked out by hand."""

import pytest
from pydantic import TypeAdapter

from reprise.training.schedules import Constant, CosineRestarts, Milestones, Schedule, WarmupCosine


def test_a_constant():
    assert {Constant()(step, 100) for step in range(100)} == {1.0}


def test_a_warm_up_and_a_cosine():
    rate = WarmupCosine(warmup=1 / 11, final=0.2)
    assert [rate(step, 110) for step in (0, 5, 10, 60, 110)] == pytest.approx([0, 0.5, 1, 0.6, 0.2])
    assert WarmupCosine()(0, 10) == 1
    assert WarmupCosine(warmup=1)(7, 8) == 7 / 8


def test_milestones():
    rate = Milestones(at=(0.6, 0.8))
    found = [rate(step, 100) for step in (0, 59, 60, 79, 80, 99)]
    assert found == pytest.approx([1, 1, 0.1, 0.1, 0.01, 0.01])


def test_cosines_that_begin_again():
    rate = CosineRestarts(period=0.1)
    assert [rate(step, 100) for step in (0, 5, 10, 25)] == pytest.approx([1, 0.5, 1, 0.5])
    assert 0 < rate(9, 100) < 0.03


def test_a_schedule_goes_through_json():
    for spec in (Constant(), WarmupCosine(warmup=0.3), Milestones(), CosineRestarts(period=0.7)):
        assert TypeAdapter(Schedule).validate_json(spec.model_dump_json()) == spec
