"""Tensors in the cache, and the features that an encoder makes of many items."""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.storage.checkpoints import pack, unpack
from reprise.storage.disk import write
from reprise.storage.records import key_of
from reprise.storage.store import cached
from reprise.storage.versions import code_and_versions

code_of = cache(code_and_versions)
"""The hash of all that symbols need, libraries included; neither changes while it runs."""

FILE = "tensors.safetensors"
KIND = "features"
SHARD = 4096
"""Items whose features lie in one entry."""


class Kept(NamedTuple):
    """Tensors in the cache.

    Attributes:
        tensors: those of the file.
        hit: whether it was there.
    """

    tensors: dict[str, Tensor]
    hit: bool


def cached_tensors(
    root: Path, kind: str, key: str, what: str, make: Callable[[], Mapping[str, Tensor]]
) -> Kept:
    """The tensors that `make` computes, kept in the cache of the checkout `root`: computed now or before,
    they are read from the file.

    Raises:
        RepriseError: when the cache cannot be written.
    """

    def make_file(folder: Path) -> None:
        write(folder / FILE, pack(make(), {}))

    with cached(root, kind, key, what, make_file) as entry:
        return Kept(unpack((entry.folder / FILE).read_bytes())[0], entry.hit)


def features(
    root: Path,
    encoder: str,
    items: Sequence[str],
    encode: Callable[[range], Float[Tensor, "item features"]],
    what: str,
) -> Float[Tensor, "item features"]:
    """Features of the items by an encoder, shard by shard; shards on disk are not computed again. Prints the
    numbers of shards found and computed on stderr.

    Args:
        root: the checkout.
        encoder: what determines it, with its code.
        items: what tells each item from others: a text itself, or an image file's name and size.
        encode: from the numbers of some items to their features.
        what: the items, in words.
    """
    shards = []
    for start in range(0, len(items), SHARD):
        rows = range(start, min(start + SHARD, len(items)))
        key = key_of(encoder, [items[row] for row in rows])
        words = f"{what}, {rows.start} to {rows.stop - 1}"
        shards.append(cached_tensors(root, KIND, key, words, lambda rows=rows: {KIND: encode(rows)}))  # type: ignore[misc]
    hits = sum(shard.hit for shard in shards)
    print(f"features of {what}: HIT {hits}, MISS {len(shards) - hits}", file=sys.stderr, flush=True)
    return torch.cat([shard.tensors[KIND] for shard in shards])
