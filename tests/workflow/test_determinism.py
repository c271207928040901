"""The same seeds give the same bytes: on one core or two, in shares or whole, in this checkout or a clone."""

import pytest

pytestmark = pytest.mark.slow
SHARES = ("ren2023_zero_shot=2", "tian2023_batch_normalization=2")
"""Experiments that the clone computes in shares, the first checkout in one piece."""


def test_a_second_clone_on_one_core_makes_the_same_bytes_as_the_first_on_two(smoke_run, clone):
    clone.done("--cores", "1", "--set-scatter", *SHARES)
    first, second = smoke_run.results(), clone.results()
    assert set(first) == set(second)
    assert len(first) > 20
    assert [name for name in first if first[name] != second[name]] == []
