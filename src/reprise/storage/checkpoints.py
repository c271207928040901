"""Checkpoints from which an interrupted training resumes: two generations, one file each, verified on
reading.

A file's name holds the step and the SHA-256 of the content. It is written as a draft, flushed to disk and
renamed, so that a kill or a full disk at any instant leaves the previous files intact.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
from torch import Tensor

from reprise.storage.disk import sha256, write, writing

GENERATIONS = 2
RECORD = "record"
"""The only key that we use in a safetensors file's metadata; its value is JSON."""


class Checkpoint(NamedTuple):
    """Attributes:
    step: number of steps done.
    tensors: the state, on the CPU.
    record: further values, as JSON.
    """

    step: int
    tensors: dict[str, Tensor]
    record: dict[str, Any]


def save(folder: Path, step: int, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
    """Writes a generation into `folder`, and keeps the previous one.

    Raises:
        RepriseError: if it cannot be written; existing generations remain.
    """
    content = pack(tensors, record)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for draft in folder.glob(".*.safetensors"):  # left by killed runs
            draft.unlink()
        write(folder / f"{step:09d}.{sha256(content)}.safetensors", content)
        files = _newest_first(folder)
        # `load` skipped the later ones, which are damaged.
        later = [file for file in files if _step(file) > step]
        for obsolete in (*later, *files[len(later) + GENERATIONS :]):
            obsolete.unlink()


def load(folder: Path) -> Checkpoint | None:
    """Loads the newest intact generation in `folder`, or None; reports each damaged one on stderr."""
    for file in _newest_first(folder):
        content = file.read_bytes()
        if sha256(content) == file.suffixes[-2][1:]:
            return Checkpoint(_step(file), *unpack(content))
        print(
            f"{file}: truncated or altered ({len(content)} bytes, its SHA-256 is not the one in its name); "
            "trying the previous checkpoint",
            file=sys.stderr,
            flush=True,
        )
    return None


def newest_step(folder: Path) -> int:
    """Number of steps after which the newest generation in `folder` was saved; 0 if there is none."""
    return max(map(_step, _newest_first(folder)), default=0)


def pack(tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> bytes:
    """Encodes a safetensors file; the same content always gives the same bytes."""
    metadata = {RECORD: json.dumps(record, sort_keys=True)}
    return safetensors.torch.save({k: v.detach().cpu().contiguous() for k, v in tensors.items()}, metadata)


def unpack(content: bytes) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Decodes a file made by `pack` into its tensors and its record."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return safetensors.torch.load(content), json.loads(header["__metadata__"][RECORD])


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.safetensors"), reverse=True)


def _step(file: Path) -> int:
    return int(file.name.split(".")[0])
