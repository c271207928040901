"""Tries a user's loss before a run, in a process of its own: a loss that ends Python ends that one alone.

The trial also looks at what the loss reads besides its own file and the modules that it imports by name: the
digests of these files are in a result's key, as those of data sets are.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from reprise.contract import losses
from reprise.contract.losses import Seen
from reprise.engine import loss_watch, memo
from reprise.engine.loss_watch import Watch
from reprise.errors import RepriseError
from reprise.numerics.processes import context
from reprise.storage import versions
from reprise.storage.closure import imported
from reprise.storage.disk import sha256

OTHER_SHAPE = 16, 8
"""The second shape of embeddings on which a loss is tried: `torch.eye(4)` fits the first alone."""
OBJECTIVES = "reprise.objectives"
"""The module of the losses, which needs torch, and so is imported only when a loss is tried."""


def seen(name: str) -> Seen:
    """Dependencies of a user's loss, `path/mine.py:my_loss`. The loss is tried unless a process has tried it
    in the present state of everything that it reads.

    Raises:
        RepriseError: from `try_loss`.
    """
    loss = losses.foreign(name)
    origin = [
        os.path.abspath(name),
        os.getcwd(),
        _search_path(),
        loss.content.hex(),
        versions.of(loss.libraries),
    ]
    known, found = Seen(), None
    while True:
        # A trial counts as long as what it read is as it was; there may be one for each state.
        state = sha256(json.dumps([origin, losses.states(known.files)]).encode())

        def listed() -> list[list[str]]:
            nonlocal found
            found = found or try_loss(name)
            return [sorted(found.files), sorted(found.libraries)]

        files, libraries = memo.of_package().value(f"loss {state}", listed)
        now = Seen(frozenset(files), frozenset(libraries))
        if now.files <= known.files:
            losses.note(name, now)
            return now
        known = Seen(known.files | now.files)


@cache
def _search_path() -> tuple[str, ...]:
    """`sys.path` when a loss is first tried. Later a library may add to it, such as a compiler that a loss
    runs; a loss's own additions follow from its code."""
    return tuple(sys.path)


def guarded(names: Iterable[str]) -> AbstractContextManager[None]:
    """Refuses within the context what these losses read and did not read when they were tried."""
    known = {str(file) for name in names for file in losses.foreign(name).files}
    return loss_watch.guarded(known.union(*(seen(name).files for name in names)))


def try_loss(name: str) -> Seen:
    """Tries a user's loss, `path/mine.py:my_loss`; returns what it read.

    Raises:
        RepriseError: if it is no loss, ends Python, or depends on what no result's key can cover, such as an
            environment variable.
    """
    importlib.import_module(OBJECTIVES)  # before a fork, which inherits it
    ours, theirs = context().Pipe(duplex=False)
    trial = context().Process(target=_try, args=(name, theirs), daemon=True)
    trial.start()
    theirs.close()
    try:
        refusal, files, libraries = ours.recv()
    except EOFError:
        trial.join()
        raise RepriseError(
            f"objective '{name}': ended Python (exit code {trial.exitcode}) when it was tried; a loss must "
            "return, or raise an exception"
        ) from None
    trial.join()
    if refusal:
        raise RepriseError(refusal)
    code = losses.foreign(name)
    outside = frozenset(files) - {str(file) for file in code.files}
    modules = {Path(file) for file in outside if file.endswith(".py") and os.path.isfile(file)}
    return Seen(outside, imported(code.files | modules) | libraries)


def in_shapes(name: str) -> Callable[..., Any]:
    """Tries a loss in this process, on embeddings of two shapes; returns it.

    Raises:
        RepriseError: if it is no loss, or takes one shape alone.
    """
    loss = importlib.import_module(OBJECTIVES).resolve(name)
    torch = importlib.import_module("torch")
    try:
        loss(*torch.randn(2, *OTHER_SHAPE, generator=torch.Generator().manual_seed(0)))
    except RepriseError as error:
        raise RepriseError(
            f"{error}; tried with embeddings of shape {[*OTHER_SHAPE]}: a loss takes any batch and "
            "dimension, by len(z1) and z1.shape[1], not by numbers"
        ) from None
    return loss


def _try(name: str, answer: Connection) -> None:
    """Tries the loss in the process of the trial, and sends the refusal, if any, and what was read."""
    importlib.import_module("torch").set_num_threads(1)  # those that a fork left behind answer no more
    importlib.import_module(OBJECTIVES)  # before the watch, which then notes no file of torch's
    watch = Watch()
    watch.start()
    refusal = ""
    try:
        in_shapes(name)
    except RepriseError as error:
        refusal = str(error)
    except KeyboardInterrupt:
        os._exit(1)  # said by the process that waits
    watch.stop()
    if watch.refusal and not refusal:  # the loss went on
        refusal = f"objective '{name}': {watch.refusal}"
    answer.send((refusal, watch.files, watch.libraries))
