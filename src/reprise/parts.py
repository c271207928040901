"""The parts of a computation, several at once, in processes that share what the first has imported."""

import multiprocessing
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

import pandas as pd

from reprise.errors import RepriseError
from reprise.experiment import Part

Keep = Callable[[str, Callable[[], pd.DataFrame]], pd.DataFrame]
Tell = Callable[[int, int, str], None]

FORK = multiprocessing.get_context("fork")
DONE = None
"""What a process says when a part is kept; before, it says the share that is done."""


def make(parts: Sequence[Part], keep: Keep, tell: Tell, workers: int) -> list[pd.DataFrame]:
    """The table of every part.

    Args:
        keep: `(name, make)` to the table that an earlier call with this name made, in any process, or that
            `make` makes now.
        tell: called with (work done, work in all, the part's name).
        workers: the number of processes; with one, all is done in this one.

    Raises:
        RepriseError: of a part, and when the process of a part was killed.
    """
    progress = _Progress(parts, tell)
    if workers > 1:
        _fork(parts, keep, progress, workers)
    tables = []
    for part in parts:
        tables.append(keep(part.name, partial(part.make, partial(progress, part))))
        progress.done[part.name] = part.work
    return tables


class _Progress:
    def __init__(self, parts: Sequence[Part], tell: Tell) -> None:
        self.done = {part.name: 0.0 for part in parts}
        self._total = sum(part.work for part in parts)
        self._tell = tell

    def __call__(self, part: Part, share: float) -> None:
        self.done[part.name] = part.work * share
        self._tell(round(sum(self.done.values())), self._total, part.name)


def _fork(parts: Sequence[Part], keep: Keep, progress: _Progress, workers: int) -> None:
    """Processes that make one part after the other, the longest first: what a process must import or set up
    when it first computes, it does once."""
    named = {part.name: part for part in parts}
    waiting = sorted(parts, key=lambda part: part.work)
    processes: dict[Connection, ForkProcess] = {}
    making: dict[Connection, Part] = {}

    def give(connection: Connection) -> None:
        making[connection] = waiting.pop()
        with suppress(BrokenPipeError):  # of a process that was killed: the next word from it is its end
            connection.send(making[connection].name)

    try:
        for _ in range(min(workers, len(parts))):
            ours, theirs = FORK.Pipe()
            process = FORK.Process(target=_work, args=(named, keep, theirs, [ours, *processes]))
            process.start()
            theirs.close()
            processes[ours] = process
            give(ours)
        while making:
            for connection in [ready for ready in wait(list(making)) if isinstance(ready, Connection)]:
                part = making[connection]
                try:
                    news = connection.recv()
                except (EOFError, ConnectionResetError):
                    processes[connection].join()
                    raise RepriseError(
                        f"{part.name}: its process ended with exit code {processes[connection].exitcode} "
                        "(negative: the signal that killed it; -9 may be a lack of memory); what was "
                        "finished is kept, and the same command goes on"
                    ) from None
                if isinstance(news, RepriseError):
                    raise news
                if news is not DONE:
                    progress(part, news)
                    continue
                progress.done[part.name] = part.work
                del making[connection]
                if waiting:
                    give(connection)
    finally:
        for process in processes.values():
            process.terminate()
            process.join()


def _work(
    parts: Mapping[str, Part], keep: Keep, listener: Connection, inherited: Sequence[Connection]
) -> None:
    """Ends at the next word of progress if the process that listens has been killed: nobody else reads."""
    for connection in inherited:
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the listener, who is told as well
    try:
        while name := _next(listener):
            keep(name, partial(parts[name].make, listener.send))
            listener.send(DONE)
    except RepriseError as error:
        listener.send(error)
    except BrokenPipeError:
        raise SystemExit(1) from None


def _next(listener: Connection) -> str | None:
    """The name of the part to make; None where nobody is left to ask for one."""
    try:
        return listener.recv()
    except EOFError:
        return None
