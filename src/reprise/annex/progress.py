"""One bar for computations one after another, each with its share of the whole."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import accumulate

import pandas as pd

from reprise.contract.experiment import Context, Make
from reprise.notices import Progress

Report = Callable[[float], None]
"""Callback for the share of a computation that is done, from 0 to 1."""
STEPS = 1000
"""Steps of the bar."""


def parts(progress: Progress, seconds: Mapping[str, float]) -> list[Report]:
    """The reports of computations one after another, which move one bar, and only forwards.

    Args:
        seconds: that each takes, by what the bar calls it.
    """
    total, reached = sum(seconds.values()), 0.0

    def part(what: str, before: float) -> Report:
        def report(share: float) -> None:
            nonlocal reached
            reached = max(reached, (before + share * seconds[what]) / total)
            progress(int(STEPS * reached), STEPS, what)

        return report

    starts = accumulate(seconds.values(), initial=0.0)
    return [part(what, before) for what, before in zip(seconds, starts, strict=False)]


def of_tasks(context: Context, minutes: Mapping[str, float], report: Report) -> Context:
    """A context whose tasks move a report; each of them is computed once.

    Args:
        minutes: that tasks take, by name; others that they ask for are parts of them.
    """
    tables: dict[str, pd.DataFrame] = {}

    def done(name: str = "", share: float = 0.0) -> None:
        known = sum(minutes.get(each, 0.0) for each in tables)
        report((known + share * minutes.get(name, 0.0)) / sum(minutes.values()))

    def cached(name: str, make: Make) -> pd.DataFrame:
        if name not in tables:
            tables[name] = make(partial(done, name))
            done()
        return tables[name]

    return replace(context, cached=cached)


def in_stages(context: Context, report: Report) -> Context:
    """A context for a computation in one piece, of as many stages as it happens to have: each halves what is
    left."""
    stage, last = 0, 0.0

    def progress(done: int, total: int, what: str) -> None:
        nonlocal stage, last
        stage += done / total < last
        last = done / total
        report(1 - 0.5 ** (stage + last))

    return replace(context, progress=progress)
