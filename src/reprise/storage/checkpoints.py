"""The state from which a killed training goes on: two generations, each in one file, checked when read.

A file is named after the step it was saved at and the SHA-256 of its bytes. It is written beside its place,
flushed to the disk and renamed, so that a kill or a full disk at any instant leaves what was there.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
from torch import Tensor

from reprise.storage.store import sha256, write, writing

GENERATIONS = 2
RECORD = "record"
"""The one key of a safetensors file's metadata that we use: JSON."""


class Checkpoint(NamedTuple):
    """Attributes:
    step: how many steps had been made.
    tensors: on the CPU.
    record: what else there is to remember.
    """

    step: int
    tensors: dict[str, Tensor]
    record: dict[str, Any]


def save(folder: Path, step: int, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
    """Writes a generation into `folder`, and keeps the one before.

    Raises:
        RepriseError: when it cannot be written; the generations that were there remain.
    """
    content = pack(tensors, record)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for draft in folder.glob(".*.safetensors"):  # of killed runs
            draft.unlink()
        write(folder / f"{step:09d}.{sha256(content)}.safetensors", content)
        files = _newest_first(folder)
        # Later ones were passed over.
        later = [file for file in files if _step(file) > step]
        for useless in (*later, *files[len(later) + GENERATIONS :]):
            useless.unlink()


def load(folder: Path) -> Checkpoint | None:
    """The newest generation in `folder` that is whole, if there is one; each newer one is reported on stderr,
    and passed over."""
    for file in _newest_first(folder):
        content = file.read_bytes()
        if sha256(content) == file.suffixes[-2][1:]:
            return Checkpoint(_step(file), *unpack(content))
        print(
            f"{file}: truncated or altered ({len(content)} bytes, its SHA-256 is not the one in its name); "
            "passed over in favour of the one before",
            file=sys.stderr,
            flush=True,
        )
    return None


def pack(tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> bytes:
    """A safetensors file: the same bytes for the same content."""
    metadata = {RECORD: json.dumps(record, sort_keys=True)}
    return safetensors.torch.save({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, metadata)


def unpack(content: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the record of a safetensors file made by `pack`."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return safetensors.torch.load(content), json.loads(header["__metadata__"][RECORD])


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.safetensors"), reverse=True)


def _step(file: Path) -> int:
    return int(file.name.split(".")[0])
