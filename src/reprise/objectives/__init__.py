"""Losses of self-supervised learning, each a pure function that reads like its equation.

Most map the embeddings of two views to a loss: `(z1, z2) -> loss`. The others take what they need as
arguments: a predictor's output and its target, prototype scores, a queue, a centre, running moments. A loss
with state takes the old state and returns the new one.
"""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.clustering import prototype_scores, sinkhorn, swapped_prediction, swav
from reprise.objectives.contrastive import directclr, enqueue, infonce_other_view, moco, nt_xent
from reprise.objectives.cosine import infonce_cosine, quadratic_cosine
from reprise.objectives.frobenius import (
    frossl,
    frossl_as_given,
    frossl_no_logs,
    frossl_no_logs_unit_trace,
    gram_energy,
)
from reprise.objectives.infonce import infonce_distance, infonce_dot
from reprise.objectives.information import Moments, corinfomax
from reprise.objectives.redundancy import (
    AUTHORS_VARIANCE_WEIGHT,
    PAPER_OFF_DIAGONAL_WEIGHT,
    PAPER_VARIANCE_WEIGHT,
    SKEAN_OFF_DIAGONAL_WEIGHT,
    barlow_twins,
    vicreg,
)
from reprise.objectives.self_distillation import byol, dino, negative_cosine, update_centre
from reprise.objectives.whitening import w_mse, whiten

Objective = Callable[[Tensor, Tensor], Tensor]
"""Maps (z1, z2), each of shape [*replica, batch, dim], to a loss of shape [*replica]."""


def resolve(name: str) -> Objective:
    """Finds a loss: a published one by its name, or a user's own by `path/mine.py:my_loss`.

    Only losses of two views' embeddings, z1 and z2, have a name here. A user's loss takes two tensors of
    shape [batch, dim] and returns a scalar; a stack of replicas is mapped over with `torch.func.vmap`.

    Example:
        `resolve("vicreg")(z1, z2)`, or `resolve("mine.py:my_loss")(z1, z2)`.

    Raises:
        RepriseError: if the name is unknown, the file is missing, or the file lacks that function.
    """
    if ":" in name:
        return _over_replicas(name, _from_file(name))
    losses = {key: value for key, value in globals().items() if _is_loss_of_two_views(value)}
    if name not in losses:
        raise RepriseError(
            f"unknown objective '{name}'; allowed: {', '.join(losses)}, or path/mine.py:my_loss"
        )
    return losses[name]


def _is_loss_of_two_views(candidate: object) -> bool:
    """Whether this is a function from this package whose only required arguments are z1 and z2."""
    if not inspect.isfunction(candidate) or not candidate.__module__.startswith(f"{__name__}."):
        return False
    arguments = inspect.signature(candidate).parameters.values()
    return [argument.name for argument in arguments if argument.default is argument.empty] == ["z1", "z2"]


def _over_replicas(name: str, loss: Objective) -> Objective:
    def mapped(z1: Tensor, z2: Tensor) -> Tensor:
        if z1.ndim > 2:
            return torch.func.vmap(mapped)(z1, z2)
        value = loss(z1, z2)
        if not isinstance(value, Tensor) or value.ndim:
            description = list(value.shape) if isinstance(value, Tensor) else type(value).__name__
            raise RepriseError(
                f"objective '{name}' returned {description} for embeddings of shape {list(z1.shape)}; "
                "expected one number, a tensor of shape []"
            )
        return value

    return mapped


def _from_file(name: str) -> Objective:
    path, _, function = name.rpartition(":")
    file = Path(path)
    if not file.is_file():
        raise RepriseError(f"objective '{name}': no file {file.resolve()}")
    spec = importlib.util.spec_from_file_location(f"objective_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    with _modules_beside(file):
        spec.loader.exec_module(module)  # type: ignore[union-attr]
    if not callable(getattr(module, function, None)):
        raise RepriseError(f"objective '{name}': {file} defines no function '{function}'")
    return getattr(module, function)


@contextmanager
def _modules_beside(file: Path) -> Iterator[None]:
    """Lets a file import the modules beside it, then unloads them: a loss in another folder may have modules
    of the same names."""
    folder, modules_before = str(file.resolve().parent), set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - modules_before:
            if (getattr(sys.modules[name], "__file__", None) or "").startswith(f"{folder}/"):
                del sys.modules[name]
