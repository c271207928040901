"""Tries a user's loss before a run, in a process of its own: a loss that ends Python ends that one alone.

The trial also looks at which files below the loss's folder are read. A result's key covers the file of the
loss and the modules that it imports, so any other file, such as weights, must be named there by its SHA-256.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from reprise.errors import RepriseError
from reprise.storage.store import sha256
from reprise.study import losses

OBJECTIVES = "reprise.objectives"
"""Needs torch, and so is imported only when it runs."""
CODE = {".py", ".pyc", ".so"}
"""Endings of files that are imported, not read."""


def try_loss(name: str) -> None:
    """Tries a user's loss, `path/mine.py:my_loss`.

    Raises:
        RepriseError: if it is no loss, ends Python, or reads a file below its folder whose SHA-256 stands
            neither in its own file nor in a module that it imports.
    """
    importlib.import_module(OBJECTIVES)  # before the fork, which then notes no file of torch's
    fork = get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    trial = fork.Process(target=_try, args=(name, theirs), daemon=True)
    trial.start()
    theirs.close()
    try:
        refusal, files = ours.recv()
    except EOFError:
        trial.join()
        raise RepriseError(
            f"objective '{name}': ended Python (exit code {trial.exitcode}) when it was tried; a loss must "
            "return, or raise an exception"
        ) from None
    trial.join()
    if refusal:
        raise RepriseError(refusal)
    _require_sums(name, files)


def _try(name: str, answer: Connection) -> None:
    """What the process of the trial does: sends the refusal, if any, and the files that were opened."""
    importlib.import_module("torch").set_num_threads(1)  # those that the fork left behind answer no more
    files: list[str] = []
    sys.addaudithook(lambda event, details: _note(event, details, files))
    try:
        importlib.import_module(OBJECTIVES).resolve(name)
        refusal = ""
    except RepriseError as error:
        refusal = str(error)
    except KeyboardInterrupt:
        os._exit(1)  # said by the process that waits
    answer.send((refusal, [os.path.abspath(file) for file in files]))


def _note(event: str, details: Sequence[Any], files: list[str]) -> None:
    if event == "open" and isinstance(details[0], (str, bytes)):
        files.append(os.fsdecode(details[0]))


def _require_sums(name: str, files: Sequence[str]) -> None:
    """Raises RepriseError for a file below the loss's folder that the loss reads and does not name by its
    SHA-256."""
    code = losses.foreign(name).files
    folder, environment = Path(name.rpartition(":")[0]).resolve().parent, Path(sys.prefix).resolve()
    texts = [file.read_bytes() for file in code]
    for file in sorted({Path(file).resolve() for file in files} - code):
        is_data = file.is_file() and file.suffix not in CODE
        if not is_data or not file.is_relative_to(folder) or file.is_relative_to(environment):
            continue
        digest = sha256(file.read_bytes())
        if not any(digest.encode() in text for text in texts):
            raise RepriseError(
                f"objective '{name}': reads {file.relative_to(folder)}, which no result's key covers; write "
                f"its SHA-256 into the file of the loss, and anew when it changes: # {digest}"
            )
