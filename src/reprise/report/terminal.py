"""Terminal output of Snakemake: a line for each finished figure, the run's progress, and all of an error.
Snakemake's own log, in .snakemake/log, has the rest."""

import atexit
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from reprise import notices

KEPT = ("Nothing to be done",)
"""Beginnings of Snakemake's plain messages that are shown."""


class Terminal(logging.Filter):
    """A filter of the handler through which Snakemake writes to the terminal.

    Attributes:
        rules: those of the jobs that run, once Snakemake has chosen them.

    Args:
        logs: the name of each rule that draws a figure or table -> the log of its job, whose last line says
            what is drawn.
        is_running: whether Snakemake runs jobs on this machine; otherwise, as in a dry run, everything is
            shown.
    """

    def __init__(self, logs: Mapping[str, str], is_running: Callable[[], bool]) -> None:
        super().__init__()
        self._logs, self._is_running = logs, is_running
        self._rules: dict[int, str] = {}
        self._failed = False
        self.rules: set[str] = set()
        self._done = 0
        self._expected, self._began = "", time.monotonic()
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._bar: tuple[Progress, TaskID] | None = None
        atexit.register(self._end_bar)  # whatever ends Snakemake: a bar hides the cursor

    @property
    def total(self) -> int:
        """Number of figures and tables to draw."""
        return len(self.rules & self._logs.keys())

    def start(self, minutes: float) -> None:
        """Begins to count the time, and shows it on a terminal.

        Args:
            minutes: that the run is expected to take.
        """
        self._began = time.monotonic()
        self._expected = f"about {_in_minutes(minutes)}"
        if stream := notices.terminal():
            columns = (
                TimeElapsedColumn(),
                TextColumn(f"of {self._expected}"),
                BarColumn(),
                TextColumn("{task.completed:.0f} of {task.total:.0f} figures and tables"),
            )
            self._console = Console(file=stream, highlight=False, soft_wrap=True)
            progress = Progress(*columns, console=self._console, transient=True)
            self._bar = progress, progress.add_task("", total=self.total)
            progress.start()

    def stop(self) -> None:
        """Ends with a line of what was done in which time."""
        self._end_bar()
        took = (time.monotonic() - self._began) / 60
        expected = f", {self._expected} expected" if self._expected else ""
        self._say(f"{self._done} of {self.total} figures and tables drawn in {_in_minutes(took)}{expected}")

    def filter(self, record: logging.LogRecord) -> bool:
        """Tells if Snakemake shows a record; prints a line for the figure whose job has finished."""
        if not self._is_running():
            return True
        event = str(getattr(record, "event", None) or "")
        if event == "run_info":
            self.rules = set(getattr(record, "stats", ()))
        elif event == "job_info":
            self._rules[record.jobid] = record.rule_name  # type: ignore[attr-defined]
        elif event == "job_finished":
            self._finish(self._rules.get(record.job_id, ""))  # type: ignore[attr-defined]
        elif record.levelno >= logging.WARNING or (self._failed and not event):
            self._failed = self._failed or record.levelno >= logging.ERROR
            self._end_bar()  # a message would be written into its line
            return True
        return str(record.msg).startswith(KEPT)

    def _finish(self, rule: str) -> None:
        if rule not in self._logs:
            return
        self._done += 1
        said = [rule]
        with suppress(OSError):  # a job without a word
            said += Path(self._logs[rule]).read_text(encoding="utf-8", errors="replace").splitlines()
        self._say(said[-1])
        if self._bar:
            progress, task = self._bar
            progress.update(task, completed=self._done, total=self.total)

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False)

    def _end_bar(self) -> None:
        if self._bar:
            self._bar[0].stop()
            self._bar = None


def _in_minutes(minutes: float) -> str:
    return f"{max(1, round(minutes))} min"
