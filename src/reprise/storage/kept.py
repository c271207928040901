"""Tensors that are computed once and kept on the disk, in safetensors files, by what determines them."""

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
import torchvision
from jaxtyping import Float
from torch import Tensor

from reprise.storage import checkpoints
from reprise.storage.closure import closure_hash
from reprise.storage.store import locked, writing

code_of = cache(closure_hash)
"""The hash of all that symbols need; the code does not change while it runs."""

VERSIONS = {"torch": torch.__version__, "torchvision": torchvision.__version__}
"""What a network's numbers depend on beside our code."""
SHARD = 4096
"""Items whose features lie in one file."""
FEATURES = "features"
"""The one tensor of such a file."""


class Kept(NamedTuple):
    """Attributes:
    tensors: those of the file.
    hit: whether it was there.
    """

    tensors: dict[str, Tensor]
    hit: bool


def kept(folder: Path, key: str, make: Callable[[], Mapping[str, Tensor]]) -> Kept:
    """The tensors that `make` computes, or that an earlier call under this key had computed.

    Both ways they are those of the file, KEY.SHA256.safetensors; one that is truncated or altered is reported
    on stderr, and made again. Of several processes that ask for them at once, one computes and the others
    wait.

    Args:
        key: of `key_of`.

    Raises:
        RepriseError: when the folder cannot be written.
    """
    with locked(folder / f".{key}.lock"):
        for file in folder.glob(f"{key}.*.safetensors"):
            content = file.read_bytes()
            if hashlib.sha256(content).hexdigest() == file.suffixes[-2][1:]:
                return Kept(checkpoints.unpack(content)[0], True)
            print(f"{file}: truncated or altered; made again", file=sys.stderr, flush=True)
            file.unlink()
        content = checkpoints.pack(make(), {})
        file = folder / f"{key}.{hashlib.sha256(content).hexdigest()}.safetensors"
        with writing(file):
            checkpoints.write(file, content)
    return Kept(checkpoints.unpack(content)[0], False)


def features(
    folder: Path,
    encoder: str,
    items: Sequence[str],
    encode: Callable[[range], Float[Tensor, "item features"]],
    what: str,
    progress: Callable[[float], None] = lambda share: None,
) -> Float[Tensor, "item features"]:
    """What an encoder makes of the items, shard by shard: those that the disk holds are not computed. How
    many these were is printed on stderr.

    Args:
        encoder: what determines it, with its code.
        items: what tells each item from others: a text itself, or an image file's name and size.
        encode: from the numbers of some items to their features.
        what: for the message.
    """
    shards = []
    for start in range(0, len(items), SHARD):
        rows = range(start, min(start + SHARD, len(items)))
        key = key_of(encoder, [items[row] for row in rows])
        shards.append(kept(folder, key, lambda rows=rows: {FEATURES: encode(rows)}))  # type: ignore[misc]
        progress(rows.stop / len(items))
    hits = sum(shard.hit for shard in shards)
    print(f"features of {what}: HIT {hits}, MISS {len(shards) - hits}", file=sys.stderr, flush=True)
    return torch.cat([shard.tensors[FEATURES] for shard in shards])


def key_of(*what: object) -> str:
    """32 hexadecimal digits over what JSON makes of it, and the versions of torch and torchvision."""
    return hashlib.sha256(json.dumps([*what, VERSIONS], sort_keys=True).encode()).hexdigest()[:32]
