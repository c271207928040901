"""The replica engine: gradient descent as torch.optim has it, and no replica knows of the others."""

import pytest
import torch
from torch import nn

from reprise import objectives
from reprise.errors import RepriseError
from reprise.networks import dense
from reprise.numerics.streams import Streams, spread
from reprise.training import replicas
from reprise.training.replicas import left_of_start, sgd

DIM, STEPS = 16, 3
SETTINGS = (0.1, 0.3, 1.0)
"""Deviations of the noise: what tells a replica's settings apart."""


@pytest.fixture(params=[1, 2], ids=["1 thread", "2 threads"])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def trained(objective, seeds, settings, *, layers=2, batch=128, network=dense.linear):
    """Final weights by (seed, setting): a small experiment as the papers' rooms write them."""
    starts = Streams(seeds, "weights")
    weights = [spread(0.3 * dense.random_orthogonal(starts, DIM), len(settings)) for _ in range(layers)]
    noise_std = torch.tensor(settings).repeat(len(seeds))[:, None, None]
    batches = Streams(seeds, "train").batches(3, batch, DIM)
    loss_of = objectives.resolve(objective)

    def loss(now):
        x, noise1, noise2 = (spread(numbers, len(settings)) for numbers in next(batches).unbind(1))
        views = [network([now], (x + noise_std * noise)[None])[0] for noise in (noise1, noise2)]
        return loss_of(*views)

    ((_, final),) = sgd(weights, loss, learning_rate=0.1, steps=STEPS, checkpoints={STEPS})
    names = [(seed, setting) for seed in seeds for setting in settings]
    return {name: [weight[at] for weight in final] for at, name in enumerate(names)}


def assert_same_bits(found, expected):
    for name in set(found) & set(expected):
        for ours, theirs in zip(found[name], expected[name], strict=True):
            assert ours.isfinite().all()
            assert torch.equal(ours, theirs), name


@pytest.mark.parametrize("network", [dense.linear, dense.relu], ids=["linear", "relu"])
@pytest.mark.parametrize("objective", ["infonce_distance", "infonce_dot"])
def test_a_replica_is_the_same_to_the_last_bit_in_any_company(threads, objective, network):
    whole = trained(objective, range(6), SETTINGS, network=network)
    companies = {
        "alone": ([4], SETTINGS[1:2]),
        "fewer seeds": ([3, 4, 5], SETTINGS),
        "other order": ([5, 4, 0], SETTINGS[::-1]),
        "one setting": (range(6), SETTINGS[1:2]),
        "more settings": ([4, 2], (*SETTINGS, 0.2, 0.7)),
    }
    for seeds, settings in companies.values():
        assert_same_bits(trained(objective, seeds, settings, network=network), whole)


@pytest.mark.parametrize(("batch", "count"), [(512, 3), (256, 9), (3, 50), (130, 17)])
def test_nor_does_it_matter_how_the_stack_is_cut_into_chunks(threads, batch, count):
    """From one replica a chunk to all of them in one."""
    whole = trained("infonce_distance", range(count), SETTINGS[:1], batch=batch)
    for seeds in ([count - 1], range(count - 2, count)):
        assert_same_bits(trained("infonce_distance", seeds, SETTINGS[:1], batch=batch), whole)


def test_nor_for_a_users_loss(threads, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "def loss(z1, z2):\n"
        "    s = z1 @ z2.T\n"
        "    return (s.logsumexp(1) - s.diagonal()).mean() + z1.std(0).mean()\n"
    )
    whole = trained(f"{mine}:loss", range(6), SETTINGS)
    assert_same_bits(trained(f"{mine}:loss", [4], SETTINGS[1:2]), whole)
    assert_same_bits(trained(f"{mine}:loss", [5, 4], SETTINGS), whole)


@pytest.mark.parametrize("batch", [128, 130])
def test_the_number_of_threads_changes_no_bit(batch):
    before, found = torch.get_num_threads(), []
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            found.append(trained("infonce_distance", range(6), SETTINGS, batch=batch, network=dense.relu))
    finally:
        torch.set_num_threads(before)
    assert_same_bits(found[1], found[0])
    assert_same_bits(found[2], found[0])


def descent_by_torch(weights, loss, steps, **rates):
    parameters = [nn.Parameter(weight.clone()) for weight in weights]
    optimiser = torch.optim.SGD(parameters, **rates)
    path = [[p.detach().clone() for p in parameters]]
    for _ in range(steps):
        optimiser.zero_grad()
        loss(parameters).backward()
        optimiser.step()
        path.append([p.detach().clone() for p in parameters])
    return path


@pytest.mark.parametrize(("momentum", "weight_decay"), [(0.9, 5e-3), (0.0, 0.1), (0.5, 0.0)])
def test_what_is_left_of_a_start_is_what_torchs_sgd_leaves_without_gradients(momentum, weight_decay):
    rates = {"momentum": momentum, "weight_decay": weight_decay}
    weight = nn.Parameter(torch.ones((), dtype=torch.float64))
    weight.grad = torch.zeros_like(weight)
    optimiser = torch.optim.SGD([weight], lr=0.2, **rates)
    for left in left_of_start(learning_rate=0.2, steps=300, **rates):
        assert weight.item() == pytest.approx(left, rel=1e-12)
        optimiser.step()


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize(("momentum", "weight_decay"), [(0.0, 0.0), (0.9, 5e-3), (0.0, 0.1), (0.5, 0.0)])
def test_descent_is_torchs_sgd(layers, momentum, weight_decay):
    """In float64, on fixed pairs, at every step; the losses of the stack's replicas are of several sizes."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    weights, x1 = [0.3 * normal(3, 4, 4) for _ in range(layers)], normal(3, 20, 4)
    x2, size = x1 + 0.3 * normal(3, 20, 4), torch.tensor([1.0, 3.0, 0.1], dtype=torch.float64)

    def loss(now):
        both = dense.product(now)
        return size * objectives.infonce_distance(x1 @ both.mT, x2 @ both.mT)

    rates = {"momentum": momentum, "weight_decay": weight_decay}
    found = list(sgd(weights, loss, learning_rate=0.2, **rates, steps=15, checkpoints=range(16)))
    assert [step for step, _ in found] == list(range(16))
    for replica in range(3):
        part = slice(replica, replica + 1)

        def alone(now, part=part):
            both = dense.product(now)
            return (size[part] * objectives.infonce_distance(x1[part] @ both.mT, x2[part] @ both.mT)).sum()

        path = descent_by_torch([weight[part] for weight in weights], alone, 15, lr=0.2, **rates)
        for (_, ours), theirs in zip(found, path, strict=True):
            for a, b in zip(ours, theirs, strict=True):
                torch.testing.assert_close(a[part], b, rtol=1e-6, atol=1e-9)
    assert all((a - b).abs().max() > 0.01 for a, b in zip(found[-1][1], weights, strict=True))


def quadratic(weights):
    return weights[0].square().sum((1, 2)) / 2


def test_a_parabola_shrinks_geometrically():
    start = [torch.ones(2, 1, 1)]
    path = dict(sgd(start, quadratic, learning_rate=0.1, steps=20, checkpoints={0, 7, 20}))
    for step, (weight,) in path.items():
        torch.testing.assert_close(weight, torch.full((2, 1, 1), 0.9**step))


@pytest.mark.parametrize("checkpoints", [{0, 3, 5}, [5, 3, 0], range(0, 6, 5), {5}, {0}, set()])
def test_checkpoints_are_yielded_in_order_and_no_others(checkpoints):
    found = sgd([torch.ones(1, 1, 1)], quadratic, learning_rate=0.1, steps=5, checkpoints=checkpoints)
    assert [step for step, _ in found] == sorted(checkpoints)


def test_no_minibatch_is_drawn_beyond_the_last_step():
    calls = []

    def loss(weights):
        calls.append(1)
        return quadratic(weights)

    list(sgd([torch.ones(1, 1, 1)], loss, learning_rate=0.1, steps=5, checkpoints={0, 5}))
    assert len(calls) == 5
    calls.clear()
    list(sgd([torch.ones(1, 1, 1)], loss, learning_rate=0.1, steps=0, checkpoints={0}))
    assert calls == []


def test_the_start_is_not_changed_and_what_is_yielded_is_a_copy():
    start = torch.ones(2, 1, 1, requires_grad=True)
    given = [start]
    kept = []
    for _, (weight,) in sgd(given, quadratic, learning_rate=0.5, steps=2, checkpoints={0, 1, 2}):
        assert not weight.requires_grad
        kept.append(weight.clone())
        weight.fill_(99)  # a careless reader
    assert [weight[0].item() for weight in kept] == [1, 0.5, 0.25]
    assert given[0] is start
    assert start.detach().flatten().tolist() == [1, 1]
    assert start.grad is None


def test_progress_is_told_now_and_then_and_never_backwards():
    told = []
    list(
        sgd(
            [torch.ones(1, 1, 1)],
            quadratic,
            learning_rate=0.1,
            steps=250,
            checkpoints={250},
            progress=told.append,
        )
    )
    assert told == sorted(told)
    assert told[0] == 0
    assert 2 <= len(told) <= 251


def test_the_engine_runs_where_there_is_no_glibc(monkeypatch):
    """On another C library it may be slower."""

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(replicas.ctypes, "CDLL", missing)
    monkeypatch.setattr(replicas, "keep_freed_memory", replicas.keep_freed_memory.__wrapped__)
    ((_, (weight,)),) = sgd([torch.ones(1, 1, 1)], quadratic, learning_rate=0.5, steps=1, checkpoints={1})
    assert weight.item() == 0.5


def test_a_divergence_is_a_clear_error_that_names_the_step():
    def unbounded(weights):
        return -weights[0].pow(4).sum((-2, -1))

    with pytest.raises(RepriseError, match=r"weights are not finite at step 400; lower learning_rate"):
        list(sgd([torch.ones(2, 1, 1)], unbounded, learning_rate=1.0, steps=400, checkpoints={400}))


def test_training_leaves_the_processor_as_it_was():
    list(sgd([torch.ones(1, 1, 1)], quadratic, learning_rate=0.5, steps=3, checkpoints={3}))
    assert torch.tensor(1e-40).mul(1.0).item() > 0  # a denormal number
