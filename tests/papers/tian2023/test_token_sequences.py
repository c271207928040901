"""Token sequences: what the paper says of their distribution."""

import itertools

import pytest
import torch

from reprise.papers.tian2023.token_sequences import draw_pool, minibatches

SIZES = {"generators": 40, "fields": 10, "tokens": 20, "filled": 5}
SEEDS = range(3)


def pool_of(candidates, seeds=SEEDS):
    return draw_pool(seeds, candidates=candidates, **SIZES)


@pytest.mark.parametrize("candidates", [1, 3, 10])
def test_each_generator_fills_five_fields_with_candidates(candidates):
    pool = pool_of(candidates)
    assert pool.fixed.shape == (3, 40, 10)
    assert (pool.fixed.sum(-1) == 5).all()
    for seed, field in itertools.product(range(3), range(10)):
        used = set(pool.token[seed, pool.fixed[seed, :, field], field].tolist())
        assert len(used) <= candidates
        assert used == set(pool.relevant[seed, field].nonzero().flatten().tolist())
    if candidates <= 3:  # forty generators use them all
        assert (pool.relevant.sum(-1) == candidates).all()


def test_all_fields_and_candidates_are_used_alike():
    pool = pool_of(4, range(200))
    assert pool.fixed.double().mean((0, 1)).sub(0.5).abs().max() < 0.02
    assert pool.relevant.double().mean((0, 1)).sub(4 / 20).abs().max() < 0.04
    used = torch.stack([(pool.token == token).double().mean() for token in range(20)])
    assert used.sub(1 / 20).abs().max() < 0.006


def test_a_smaller_number_of_candidates_is_a_subset():
    few, many = pool_of(3), pool_of(10)
    assert torch.equal(few.fixed, many.fixed)
    assert (few.token == many.token).double().mean() > 0.05
    order = [{*pool_of(p).token[0, :, 0].tolist()} for p in (1, 3, 5)]
    assert order[0] <= order[1] <= order[2]


def test_views_share_the_generator_and_draw_their_own_wildcards():
    pool = pool_of(3)
    data = minibatches(pool, SEEDS, 128)
    token = torch.cat([next(data).row for _ in range(2)], 1).long()  # seed, batch, view, sample, field
    for seed in range(3):
        one, two = token[seed].permute(1, 0, 2, 3).reshape(2, -1, 10)
        of_one, of_two = (
            (~pool.fixed[seed] | (view[:, None] == pool.token[seed])).all(-1) for view in (one, two)
        )
        assert (of_one & of_two).any(1).all()  # some generator made both
        assert (one == two).all(1).double().mean() < 0.01
    # A wildcard is uniform: a field of a sample is one with probability 1/2, and then any of 20 tokens.
    noise = ~pool.relevant[:, None, None, None].expand(*token.shape, 20)
    rate = torch.nn.functional.one_hot(token, 20)[noise].double().mean()
    assert rate == pytest.approx(0.5 / 20, rel=0.03)


def test_a_seeds_data_do_not_depend_on_its_company():
    together, apart = (minibatches(pool_of(3, seeds), seeds, 16) for seeds in (range(3), range(2, 3)))
    for _ in range(2):
        assert torch.equal(next(together).row[2:], next(apart).row)
