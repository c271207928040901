"""The losses, each a pure function of two views' embeddings."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.cosine import infonce_cosine, quadratic_cosine
from reprise.objectives.infonce import infonce_distance, infonce_dot

__all__ = ["infonce_cosine", "infonce_distance", "infonce_dot", "quadratic_cosine", "resolve"]

Objective = Callable[[Tensor, Tensor], Tensor]
"""(z1, z2), each of shape [replica, batch, dim], to a loss of shape [replica]."""


def resolve(name: str) -> Objective:
    """A published loss by name, or a user's own as `path/mine.py:my_loss`.

    A user's loss takes two tensors of shape [batch, dim] and returns a scalar; it is mapped over the
    replicas.

    Raises:
        RepriseError: for an unknown name, a missing file, or a file without that function.
    """
    if ":" in name:
        return torch.func.vmap(_from_file(name))
    losses = {key: loss for key, loss in globals().items() if _is_loss(loss)}
    if name not in losses:
        raise RepriseError(
            f"unknown objective '{name}'; allowed: {', '.join(losses)}, or path/mine.py:my_loss"
        )
    return losses[name]


def _is_loss(candidate: object) -> bool:
    return getattr(candidate, "__module__", "").startswith(f"{__name__}.")


def _from_file(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    path, _, function = name.rpartition(":")
    file = Path(path)
    if not file.is_file():
        raise RepriseError(f"objective '{name}': no file {file.resolve()}")
    spec = importlib.util.spec_from_file_location(f"objective_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    if not callable(getattr(module, function, None)):
        raise RepriseError(f"objective '{name}': {file} defines no function '{function}'")
    return getattr(module, function)
