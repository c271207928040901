"""Notices to a person in a terminal: why a run takes much longer than it could, and how far it is."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from stat import S_ISFIFO
from typing import Any, TextIO

from reprise.storage.store import ASKER

SAID: set[tuple[str, str]] = set()
"""The run and the switch of each line that this process has printed."""
OF_LOGS = re.compile(r"(HIT|MISS) [0-9a-f]+ |features of .*: HIT \d+, MISS \d+$")
"""Lines for a log, which a person does not read: whether a network was in the cache."""
Progress = Callable[[int, int, str], None]
"""Called with (steps done, total steps, description of the current step)."""


def slower(switch: str, why: str, remedy: str) -> None:
    """Says that a run has taken a slow path, unless this process has said so of the run and the switch.

    Args:
        switch: names what chose the path, in all networks and steps alike.
        why: what the path is, how much slower, and for what reason.
        remedy: what the user can change.
    """
    if (ASKER.get(), switch) not in SAID:
        SAID.add((ASKER.get(), switch))
        print(f"reprise: slower: {why}; {remedy}", file=sys.stderr, flush=True)


def is_verbose() -> bool:
    """Tells if the environment asks for all messages, with VERBOSE=1."""
    return os.environ.get("VERBOSE", "0") not in ("", "0")


def is_read() -> bool:
    """Tells if a person, and not a log, reads stderr, and has not asked for all messages."""
    return sys.stderr is not None and sys.stderr.isatty() and not is_verbose()


def terminal() -> TextIO | None:
    """The terminal of the person who waits for this process; None if there is none. It is stderr, or where
    that goes through a pipe, as to `tee`, the terminal in whose foreground the process runs."""
    if sys.stderr is None or sys.stderr.isatty():
        return sys.stderr
    with suppress(OSError, ValueError):  # no terminal, or no file at all
        if S_ISFIFO(os.fstat(sys.stderr.fileno()).st_mode) and os.tcgetpgrp(0) == os.getpgrp():
            return open("/dev/tty", "w", encoding="utf-8")
    return None


@contextmanager
def progress(name: str) -> Iterator[Progress]:
    """Shows how far something is: to a person by a bar with an estimate, in a log by a line every 10 %. Lines
    that are for logs alone are kept from a person.

    Args:
        name: what is done.
    """
    lines = _Lines(name)
    if (stream := terminal()) is None:
        yield lines
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console, is_piped = Console(file=stream), not sys.stderr.isatty()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, redirect_stderr=False, transient=True) as bar:
        task = bar.add_task(name)

        def update(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=f"{name}: {what}")
            if is_piped:  # the log that it goes to has the lines, too
                lines(done, total, what)

        with redirect_stderr(sys.stderr if is_piped else _Above(console)):
            yield update


class _Lines:
    """A line every 10 %, with the seconds that are left."""

    def __init__(self, name: str) -> None:
        self._name, self._start, self._first, self._printed = name, time.monotonic(), 0, -1

    def __call__(self, done: int, total: int, what: str) -> None:
        tenth = 10 * done // total
        if tenth < self._printed or self._printed < 0 or done == 0:  # a new start, or an interrupted run
            self._start, self._first, self._printed = time.monotonic(), done, tenth
        elif tenth > self._printed:
            self._printed = tenth
            left = (time.monotonic() - self._start) * (total - done) / (done - self._first)
            print(f"{self._name}: {what}: {10 * tenth} %, {left:.0f} s left", file=sys.stderr, flush=True)


class _Above:
    """A stream that shows whole lines above a bar, unless they are for logs alone."""

    encoding = "utf-8"

    def __init__(self, console: Any) -> None:
        self._console, self._begun = console, ""

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            if is_verbose() or not OF_LOGS.match(line):
                self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True
