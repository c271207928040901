"""Token sequences from a pool of generators with wildcards, such as `**C*B*A*D*` (Section 5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from reprise.numerics.streams import Streams
from reprise.papers.tian2023.receptive_fields import Block

BLOCK = 8
"""Minibatches drawn per call of the generator."""


@dataclass(frozen=True)
class Pool:
    """The generators of each seed.

    Attributes:
        fixed: whether a generator fills the field; otherwise the field is a wildcard.
        token: the token that it fills the field with.
        relevant: whether some generator uses the token in the field: the part of R^g that occurs.
    """

    fixed: Bool[Tensor, "seed generator field"]
    token: Int[Tensor, "seed generator field"]
    relevant: Bool[Tensor, "seed field token"]


def draw_pool(
    seeds: Sequence[int], *, generators: int, fields: int, tokens: int, candidates: int, filled: int
) -> Pool:
    """Draws a pool for each seed: every generator fills `filled` fields, each with one of the field's
    candidates.

    The candidates are the first tokens of a random order. For the same seed, fewer candidates are a subset of
    more, and the same fields are filled.
    """
    streams = Streams(seeds, "generator pool")
    order = streams.uniform(fields, tokens).argsort(-1)
    rank = streams.uniform(generators, fields).argsort(-1).argsort(-1)
    choice = (streams.uniform(generators, fields) * candidates).long()
    token = order[:, None].expand(-1, generators, -1, -1).gather(-1, choice[..., None]).squeeze(-1)
    fixed = rank < filled
    used = torch.nn.functional.one_hot(token, tokens).bool() & fixed[..., None]
    return Pool(fixed, token, used.any(1))


def minibatches(pool: Pool, seeds: Sequence[int], batch_size: int) -> Iterator[Block]:
    """Yields blocks of minibatches forever; the rows are the tokens.

    The two views of a sample share a generator; each draws its own wildcards uniformly from all tokens.
    """
    streams = Streams(seeds, "token sequences")
    seed, generators, fields = pool.fixed.shape
    tokens = pool.relevant.shape[-1]
    seed_index, pool_token = torch.arange(seed)[:, None, None], pool.token.int()
    while True:
        generator = streams.integers(generators, BLOCK, batch_size)
        wildcard = streams.integers(tokens, BLOCK, 2, batch_size, fields).int()
        fixed, token = (table[seed_index, generator][:, :, None] for table in (pool.fixed, pool_token))
        yield Block(torch.where(fixed, token, wildcard))
