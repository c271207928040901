"""The speed bench: both sides do the same work, and it counts and reports what it says."""

import pytest
import torch

from reprise.objectives import infonce_distance
from reprise.papers.jing2022 import bench as bench


@pytest.fixture(autouse=True)
def threads():
    """The bench measures on one thread."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("batch", "dim"), [(2, 1), (9, 3), (128, 16)])
def test_the_plain_loop_has_the_same_loss_and_gradient(batch, dim):
    z1, z2 = torch.randn(2, batch, dim, generator=torch.Generator().manual_seed(0)).double()
    z1, z2 = z1.requires_grad_(), z2.requires_grad_()
    plain, ours = bench.plain_infonce(z1, z2), infonce_distance(z1, z2)
    torch.testing.assert_close(plain, ours, rtol=1e-12, atol=0)
    for a, b in zip(torch.autograd.grad(plain, (z1, z2)), torch.autograd.grad(ours, (z1, z2)), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)


def test_both_sides_take_as_many_steps_of_as_many_samples(monkeypatch):
    seen = {"plain": [], "engine": []}
    plain, engine = bench.plain_infonce, bench.infonce_distance
    monkeypatch.setattr(bench, "STEPS", 3)
    monkeypatch.setattr(bench, "plain_infonce", lambda *z: seen["plain"].append(z[0].shape) or plain(*z))
    monkeypatch.setattr(bench, "infonce_distance", lambda *z: seen["engine"].append(z[0].shape) or engine(*z))
    bench._plain_loop()
    bench._engine(4)
    assert seen["plain"] == [(bench.BATCH, bench.DIM)] * 3
    assert seen["engine"] == [(4, bench.BATCH, bench.DIM)] * 3


def test_a_loop_is_a_number_of_replicas_beside_the_plain_loop_and_the_floor(monkeypatch):
    monkeypatch.setattr(bench, "STEPS", 4)
    monkeypatch.setattr(bench, "REPLICAS", (1, 3))
    monkeypatch.setattr(bench, "product_speed", lambda precision: 1e9)
    taken = iter([0.008, 0.004, 0.006])  # the plain loop, then one and three replicas
    works, replicas = [], []
    monkeypatch.setattr(bench, "seconds", lambda work: works.append(work) or next(taken))
    monkeypatch.setattr(bench, "_engine", replicas.append)
    loops = bench.measure()
    assert [loop.anchors["plain loop"] for loop in loops] == pytest.approx([2e-3, 2e-3])
    assert [loop.seconds for loop in loops] == pytest.approx([1e-3, 5e-4])
    assert [loop.floor for loop in loops] == pytest.approx([bench.flops() / 1e9] * 2)
    for work in works[1:]:
        work()
    assert replicas == [1, 3]


def test_it_measures(monkeypatch):
    monkeypatch.setattr(bench, "STEPS", 2)
    monkeypatch.setattr(bench, "REPLICAS", (1, 2))
    for loop in bench.measure():
        for seconds in (loop.seconds, loop.floor, *loop.anchors.values()):
            assert 0 < seconds < float("inf")


def test_operations_grow_as_the_products_do(monkeypatch):
    """A count by hand for three samples of two dimensions: nine pairs with 2 products of 2 x 2 operations and
    4 more, and two views through a 2 x 2 matrix at 2 operations an entry, forward and backward.
    """
    monkeypatch.setattr(bench, "BATCH", 3)
    monkeypatch.setattr(bench, "DIM", 2)
    assert bench.flops() == 9 * (2 * 2 * 2 + 4) + 2 * 3 * 4 * 2 * 2 > 0
