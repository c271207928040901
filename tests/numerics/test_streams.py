"""Random numbers depend on a seed and a purpose, and on nothing that runs beside them."""

import subprocess
import sys
from itertools import islice
from zlib import crc32

import numpy as np
import pytest
import torch

from reprise.numerics.streams import Streams, spread, stream


@pytest.mark.parametrize("company", [[3], [3, 4], [0, 1, 2, 3], [9, 3, 0]])
def test_a_seeds_numbers_are_the_same_in_any_company(company):
    alone = Streams([3], "data")
    among = Streams(company, "data")
    for shape in ((4, 5), (7,), (40, 33)):
        assert torch.equal(among.normal(*shape)[company.index(3)], alone.normal(*shape)[0])


def test_seeds_and_purposes_have_numbers_of_their_own():
    drawn = [
        numbers for p in ("data", "weights", "dat", "") for numbers in Streams([0, 1, 10, 11], p).normal(8)
    ]
    assert len({tuple(numbers.tolist()) for numbers in drawn}) == 16
    correlations = torch.corrcoef(Streams(range(12), "data").normal(4000)) - torch.eye(12)
    assert correlations.abs().max() < 5 / 4000**0.5


def test_a_seed_and_a_purpose_do_not_run_together():
    """`run/1` with seed 2 is not `run` with seed `1/2`, or seed 12 of another: no two are the same stream."""
    pairs = [("run", 12), ("run/1", 2), ("run1", 2), ("run", 2)]
    drawn = {tuple(Streams([seed], purpose).normal(4)[0].tolist()) for purpose, seed in pairs}
    assert len(drawn) == len(pairs)


def test_a_stream_goes_on_where_it_was():
    streams = Streams([0, 1], "data")
    first, second = streams.normal(6), streams.normal(6)
    assert not torch.equal(first, second)
    again = Streams([0, 1], "data")
    assert torch.equal(again.normal(6), first)
    assert torch.equal(again.normal(6), second)


def test_the_global_random_state_is_neither_read_nor_moved():
    torch.manual_seed(0)
    expected = Streams([5], "data").normal(3)
    state = torch.get_rng_state()
    torch.manual_seed(1)
    assert torch.equal(Streams([5], "data").normal(3), expected)
    torch.manual_seed(0)
    assert torch.equal(torch.get_rng_state(), state)


def test_minibatches_are_consecutive_blocks_of_the_streams():
    """20 minibatches are drawn 8 at a time: they are all different, and the very numbers of the stream."""
    batches = list(islice(Streams([0, 1], "train").batches(3, 4), 20))
    stream = Streams([0, 1], "train")
    expected = torch.cat([stream.normal(Streams.BLOCK, 3, 4) for _ in range(3)], 1)
    assert torch.equal(torch.stack(batches, 1), expected[:, :20])
    assert len({tuple(batch.flatten().tolist()) for batch in batches}) == 20


@pytest.mark.parametrize("company", [[1], [0, 1], [1, 2, 3]])
def test_minibatches_of_a_seed_are_the_same_in_any_company(company):
    alone = islice(Streams([1], "train").batches(5), 18)
    among = islice(Streams(company, "train").batches(5), 18)
    assert all(torch.equal(a[0], b[company.index(1)]) for a, b in zip(alone, among, strict=True))


def test_a_kept_minibatch_does_not_change_when_the_next_are_drawn():
    batches = Streams([0], "train").batches(4)
    first = next(batches)
    kept = first.clone()
    for _ in range(20):
        next(batches)
    assert torch.equal(first, kept)


def test_numbers_are_standard_normal():
    numbers = Streams(range(5), "data").normal(100, 400).double()
    n = numbers[0].numel()
    for moment, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        found = numbers.pow(moment).mean((1, 2))
        assert ((found - expected).abs() < 4.5 * (variance / n) ** 0.5).all()
    inside = (numbers.abs() < 1).double().mean((1, 2))
    assert ((inside - 0.6827).abs() < 4.5 * (0.6827 * 0.3173 / n) ** 0.5).all()


@pytest.mark.parametrize(
    ("purpose", "number"), [("patterns", crc32(b"patterns")), ("μ", crc32(b"\xce\xbc")), (3, 3)]
)
def test_a_stream_of_numpy_is_that_of_its_seed_and_of_its_purposes_number(purpose, number):
    expected = np.random.default_rng([7, number]).normal(size=5)
    assert np.array_equal(stream(7, purpose).normal(size=5), expected)
    others = [stream(8, purpose), stream(7, f"{purpose}/"), stream(7, 4)]
    assert not any(np.isin(other.normal(size=5), expected).any() for other in others)


def test_streams_of_numpy_need_no_torch():
    program = "import sys; from reprise.numerics.streams import stream; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_spread_pairs_settings_by_seed():
    by_seed = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert spread(by_seed, 3).tolist() == [[1, 2]] * 3 + [[3, 4]] * 3
