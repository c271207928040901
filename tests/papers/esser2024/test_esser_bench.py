"""The bench of projected descent: both sides train the same networks, and it reports what it says."""

import pytest
import torch

from reprise.papers.esser2024 import bench as bench


@pytest.fixture(autouse=True)
def threads():
    """The bench measures on one thread."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("width", [2, 7, 100])
def test_both_sides_end_with_the_same_weights(width, monkeypatch):
    monkeypatch.setattr(bench, "STEPS", 5)
    monkeypatch.setattr(bench, "REPLICAS", 3)
    engine, plain = bench.engine_steps(width), bench.plain_steps(width)
    for ours, theirs, start in zip(engine, plain, bench._start(width), strict=True):
        assert ours.shape == start.shape
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
        assert (ours - start).abs().max() > 1e-4


def test_a_loop_is_a_width_beside_the_plain_loop_and_the_floor(monkeypatch):
    monkeypatch.setattr(bench, "WIDTHS", (2, 4))
    monkeypatch.setattr(bench, "STEPS", 2)
    monkeypatch.setattr(bench, "PLAIN_STEPS", 3)
    monkeypatch.setattr(bench, "_tanh_seconds", lambda: 2e-9)
    taken = iter([0.2, 0.9, 0.4, 0.6])  # engine and plain loop of each
    monkeypatch.setattr(bench, "seconds", lambda work: (work(), next(taken))[1])
    loops = bench.measure()
    assert [loop.seconds for loop in loops] == pytest.approx([1e-2, 2e-2])
    assert [loop.anchors["plain loop"] for loop in loops] == pytest.approx([3e-2, 2e-2])
    assert [loop.floor for loop in loops] == pytest.approx([150 * width * 2e-9 for width in (2, 4)])


def test_it_measures(monkeypatch):
    monkeypatch.setattr(bench, "WIDTHS", (3,))
    monkeypatch.setattr(bench, "STEPS", 1)
    monkeypatch.setattr(bench, "PLAIN_STEPS", 1)
    (loop,) = bench.measure()
    for seconds in (loop.seconds, loop.floor, *loop.anchors.values()):
        assert 0 < seconds < float("inf")
