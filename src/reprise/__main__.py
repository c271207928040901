"""Starts the command line, which Ctrl-C ends in one line: also while modules are imported, and where a
library swallows the exception, turns it into another or calls Python from C, which can only report it."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from reprise.errors import INTERRUPTED, INTERRUPTION

PATIENCE = 5.0
"""Seconds that a command has after Ctrl-C to tidy up; whatever it is doing then may be killed."""
FULL_COLLECTIONS = 10
"""Factor by which full garbage collections are rarer than usual: most objects are of modules, and collections
while modules are imported take a tenth of the time of a drawing."""


def main() -> int:
    """Imports and runs `reprise.cli.main`; returns its exit code, or 130 if it was interrupted. In a terminal
    that lacks a character, a question mark stands for it."""
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # e.g. by nohup
    if not is_ignored:
        signal.signal(signal.SIGINT, _end)  # nothing to tidy up yet
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, FULL_COLLECTIONS * old)
    from reprise.cli import main as command

    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    return command() if is_ignored else _interruptible(command)


def _interruptible(command: Callable[[], int]) -> int:
    process, was_interrupted = os.getpid(), False

    def interrupt(*_: object) -> NoReturn:
        nonlocal was_interrupted
        was_interrupted = True
        if os.getpid() == process:  # not in a process that it has forked
            signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        raise KeyboardInterrupt

    def report(unraisable: "sys.UnraisableHookArgs") -> None:
        if was_interrupted and unraisable.exc_type is KeyboardInterrupt:
            _end()
        sys.__unraisablehook__(unraisable)

    signal.signal(signal.SIGALRM, _end)
    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = report
    try:
        code = command()
    except BaseException:
        if not was_interrupted:
            raise
        _end()
    if was_interrupted and code != INTERRUPTED:
        _end()
    return code


def _end(*_: object) -> NoReturn:
    """Ends the process at once. Not by an exception, which an import might swallow."""
    os.write(2, f"{INTERRUPTION}\n".encode())
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
