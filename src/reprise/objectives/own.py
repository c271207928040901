"""A user's own loss, `path/mine.py:my_loss`: loaded, tried once on small views, and mapped over replicas.

What the replica engine needs is asked of every loss, also of one that trains on images alone: the same file
then means the same in every experiment.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from reprise.errors import RepriseError
from reprise.storage.user_code import executed, explained

REPLICAS, BATCH, DIM = 2, 8, 4
"""Sizes of the random embeddings on which a loss is tried."""
MUST = (
    "a loss takes the embeddings z1 and z2 of two views, each of shape [batch, dim], and returns one number, "
    "a tensor of shape []"
)
PURE = (
    "it must depend on z1 and z2 alone: nothing kept between calls, no random numbers but those of a "
    "torch.Generator that it seeds itself"
)
MAPPED = (
    "it is mapped over several nets by torch.func.vmap: no .item(), no `if` on a tensor's values, no shape "
    "that depends on them, nothing in place"
)

Evaluated = tuple[Tensor, Tensor, Tensor]
"""Losses, and their gradients for z1 and z2."""


def own_loss(name: str) -> Callable[[Tensor, Tensor], Tensor]:
    """A user's loss, from embeddings [*replica, batch, dim] to losses [*replica], after a trial.

    Raises:
        RepriseError: with the objective, the file and the line, if the file cannot be executed or lacks the
            function, or the trial shows that this is no loss; later, if the loss raises anything in training.
    """
    path, _, function = name.rpartition(":")
    file = Path(path)
    with _naming(name):
        loss = getattr(executed(file), function, None)
        if not callable(loss):
            raise RepriseError(f"{file} defines no function '{function}'")
        line = _line_of(function, file)
        with explained(file, line):
            _try(loss)

    def over_replicas(z1: Tensor, z2: Tensor) -> Tensor:
        with _naming(name), explained(file, line):
            return _over_replicas(loss, z1, z2)

    return over_replicas


def _over_replicas(loss: Callable[..., Any], z1: Tensor, z2: Tensor) -> Tensor:
    if z1.ndim > 2:
        # A generator that the loss seeds itself gives each replica what a batch alone would draw.
        return vmap(lambda a, b: _over_replicas(loss, a, b), randomness="same")(z1, z2)
    value = loss(z1, z2)
    if not isinstance(value, Tensor) or value.ndim or not value.is_floating_point():
        if inspect.iscoroutine(value):
            value.close()
        raise RepriseError(f"returned {_described(value)} for embeddings of shape {list(z1.shape)}; {MUST}")
    return value


def _described(value: object) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {list(value.shape)} and type {str(value.dtype).removeprefix('torch.')}"
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


def _try(loss: Callable[..., Any]) -> None:
    """Evaluates a loss and its gradient on random embeddings, twice, and for two replicas together.

    Raises:
        RepriseError: if it is none.
        Exception: whatever the loss raises.
    """
    _check_arguments(loss)
    generator = torch.Generator().manual_seed(0)
    first, noise = torch.randn(2, REPLICAS, BATCH, DIM, generator=generator)
    views = first, first + noise / 2
    with torch.random.fork_rng(), torch.enable_grad():
        with _noting(f"tried with embeddings of shape {[BATCH, DIM]}; {MUST}"):
            alone = [_evaluated(loss, z1, z2) for z1, z2 in zip(*views, strict=True)]
        again = _evaluated(loss, *(z[0] for z in views))
        if not all(map(torch.equal, alone[0], again)):
            raise RepriseError(
                f"gave {alone[0][0]:g}, then {again[0]:g} or another gradient for the same embeddings; {PURE}"
            )
        with _noting(MAPPED):
            together = _evaluated(loss, *views)
    for mapped, *each in zip(together, *alone, strict=True):
        if not torch.allclose(mapped, torch.stack(each), rtol=1e-3, atol=1e-4):
            raise RepriseError(f"gave other values for two nets together than for each alone; {MAPPED}")


def _check_arguments(loss: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(loss)
    except ValueError:  # written in C: the call will tell
        return
    try:
        signature.bind(None, None)
    except TypeError:
        raise RepriseError(f"takes the arguments {signature}, not (z1, z2); {MUST}") from None


def _evaluated(loss: Callable[..., Any], z1: Tensor, z2: Tensor) -> Evaluated:
    """The losses and gradients of a batch, or of a stack of them."""
    leaves = [z.clone().requires_grad_() for z in (z1, z2)]
    views = [leaf.clone() for leaf in leaves]  # may be changed in place, which leaves may not
    value = _over_replicas(loss, *views)
    for name, view, leaf in zip(("z1", "z2"), views, leaves, strict=True):
        if not torch.equal(view, leaf):
            raise RepriseError(f"changes {name} in place; it must leave its arguments as they are")
    if not value.isfinite().all():
        raise RepriseError(f"returned {value.flatten()[0]:g} for random embeddings; it must be finite")
    found = (
        torch.autograd.grad(value.sum(), leaves, allow_unused=True) if value.requires_grad else (None, None)
    )
    if found == (None, None):
        raise RepriseError(
            "has no gradient for z1 or z2; it must compute with torch, not in no_grad or on detached tensors"
        )
    gradients = [
        torch.zeros_like(z) if gradient is None else gradient
        for gradient, z in zip(found, leaves, strict=True)
    ]
    if not all(gradient.isfinite().all() for gradient in gradients):
        raise RepriseError("has a gradient that is not finite for random embeddings; it must be finite")
    return value.detach(), gradients[0], gradients[1]


def _line_of(name: str, file: Path) -> int:
    """The line of the last top-level statement of a file that binds a name."""
    lines = [1]
    for statement in ast.parse(file.read_bytes()).body:
        bound = {getattr(statement, "name", None)}
        bound |= {
            alias.asname or alias.name
            for alias in getattr(statement, "names", ())
            if hasattr(alias, "asname")
        }
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound |= {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
        if name in bound:
            lines.append(statement.lineno)
    return lines[-1]


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Begins messages with the objective."""
    try:
        yield
    except RepriseError as error:
        raise RepriseError(f"objective '{name}': {error}") from None


@contextmanager
def _noting(text: str) -> Iterator[None]:
    """Adds what was expected to the message of another program's error."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, RepriseError):
            error.add_note(text)
        raise
