"""The bench on receptive fields: both sides train the same network, and it reports what it says."""

import pytest
import torch
from torch.nn.functional import one_hot

from reprise.papers.tian2023 import bench as bench
from reprise.papers.tian2023.receptive_fields import Net
from reprise.papers.tian2023.sequences import Arm
from reprise.papers.tian2023.token_sequences import minibatches


@pytest.fixture(autouse=True)
def threads():
    """The bench measures on one thread."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_the_plain_network_has_the_same_loss_and_gradient():
    """The gradient flows through both statistics, as in torch's BatchNorm."""
    net = bench.PlainNetwork(3).double()
    minibatch = next(iter(next(minibatches(bench._pool(range(1)), range(1), 16))))
    plain = bench.plain_loss(*(net(x) for x in one_hot(minibatch.row[0].long(), bench.TOKENS).double()))
    lower = torch.stack([layer.weight.T for layer in net.lower])[None, None]
    upper = net.upper.weight.T.unflatten(0, (bench.FIELDS, -1))[None, None]
    ours = Net([Arm(variance=True)]).losses([lower, upper], minibatch).sum()
    torch.testing.assert_close(ours, plain)
    weights = list(net.parameters())
    for a, b in zip(torch.autograd.grad(plain, weights), torch.autograd.grad(ours, weights), strict=True):
        torch.testing.assert_close(a, b)


def test_a_loop_is_a_number_of_units_beside_the_plain_loop_and_the_floor(monkeypatch):
    monkeypatch.setattr(bench, "UNITS", (2, 4))
    monkeypatch.setattr(bench, "product_speed", lambda precision: 1e9)
    monkeypatch.setattr(bench, "STEPS", 2)
    monkeypatch.setattr(bench, "PLAIN_STEPS", 2)
    taken = iter([0.8, 0.02, 1.6, 0.06])  # engine and plain loop of each
    monkeypatch.setattr(bench, "seconds", lambda work: (work(), next(taken))[1])
    loops = bench.measure()
    assert [loop.seconds for loop in loops] == pytest.approx([0.8 / 2 / 40, 1.6 / 2 / 40])
    assert [loop.anchors["plain loop"] for loop in loops] == pytest.approx([0.01, 0.03])
    assert [loop.floor for loop in loops] == pytest.approx([bench.flops(units) / 1e9 for units in (2, 4)])


def test_operations_of_the_paper():
    """Operations by hand at M = 25: 10 fields of 40 rows by 25 by 50, three times; 128 x 128 pairs of 50,
    twice."""
    assert bench.flops(25) == 3 * 2 * 10 * 40 * 25 * 50 + 2 * 2 * 128 * 128 * 50
