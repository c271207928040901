"""The parts of a computation, several at once, in processes that share what the first has imported."""

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess

import pandas as pd

from reprise.errors import RepriseError
from reprise.experiment import Part

Keep = Callable[[str, Callable[[], pd.DataFrame]], pd.DataFrame]
Tell = Callable[[int, int, str], None]

FORK = multiprocessing.get_context("fork")


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
    """A process a part, the longest first."""
    waiting = sorted(parts, key=lambda part: part.work)
    running: dict[Connection, tuple[Part, ForkProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                part = waiting.pop()
                reader, writer = FORK.Pipe(duplex=False)
                process = FORK.Process(target=_work, args=(part, keep, writer, [reader, *running]))
                process.start()
                writer.close()
                running[reader] = part, process
            ready = wait(list(running))
            for reader in [reader for reader in running if reader in ready]:
                part, process = running[reader]
                try:
                    news = reader.recv()
                except EOFError:
                    process.join()
                    del running[reader]
                    if process.exitcode:
                        raise RepriseError(
                            f"{part.name}: its process ended with exit code {process.exitcode} (negative: "
                            "the signal that killed it; -9 may be a lack of memory); what was finished is "
                            "kept, and the same command goes on"
                        ) from None
                    progress.done[part.name] = part.work
                    continue
                if isinstance(news, RepriseError):
                    raise news
                progress(part, news)
    finally:
        for _, process in running.values():
            process.terminate()
            process.join()


def _work(part: Part, keep: Keep, writer: Connection, inherited: Sequence[Connection]) -> None:
    """Ends at the next word of progress if the process that listens has been killed: nobody else reads."""
    for reader in inherited:
        reader.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the listener, who is told as well
    try:
        keep(part.name, partial(part.make, writer.send))
    except RepriseError as error:
        writer.send(error)
    except BrokenPipeError:
        raise SystemExit(1) from None
