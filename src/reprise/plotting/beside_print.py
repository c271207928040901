"""Printed numbers beside ours: a row a number, with a line between the two."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reprise.evidence.comparison import LEARNED
from reprise.plotting.style import PERCENT, bounds, colors

GREY = "0.55"
PRINTED: dict[str, Any] = {"marker": "D", "ms": 4.5, "mfc": "none", "color": "black", "mew": 0.9, "ls": ""}
BEFORE: dict[str, Any] = {"marker": "|", "ms": 7, "color": GREY, "mew": 1.2, "ls": ""}
LINES = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))
LEARNING = f"""Grey: networks that did not learn: their linear probe gains less than {LEARNED:g} points over
    the untrained network or is not above raw pixels."""


class Row(NamedTuple):
    """A linear probe's accuracy, in %.

    Attributes:
        name: for the axis.
        printed: in the paper; NaN where it prints none.
        ours: one a seed, NaN where training diverged; None where no network was trained.
        before: of the untrained networks; None where no network was trained.
        gain: of the network that gains least (`evidence.learning.gain`), in percentage points.
    """

    name: str
    printed: float
    ours: pd.Series | None = None
    before: pd.Series | None = None
    gain: float = np.nan

    @property
    def learned(self) -> bool:
        return self.gain >= LEARNED

    @property
    def mean(self) -> float:
        """Of ours."""
        return np.nan if self.ours is None else float(self.ours.mean())

    @property
    def has_both(self) -> bool:
        """Whether there is a printed number and one of networks that learned."""
        return self.ours is not None and self.learned and bool(np.isfinite([self.printed, *self.ours]).all())


def dumbbells(axes: Axes, rows: Sequence[Row], references: Mapping[str, float]) -> None:
    """Draws a row each, from top to bottom, and a vertical line at each of the references.

    Args:
        references: what the accuracies are compared with, in %, by name.
    """
    for (name, value), line in zip(references.items(), LINES, strict=False):
        axes.axvline(value, color=GREY, lw=0.8, ls=line, label=name, zorder=0)
    printed = np.array([row.printed for row in rows])
    (places,) = np.isfinite(printed).nonzero()
    axes.plot(printed[places], places, label="printed", **PRINTED)
    for y, row in enumerate(rows):
        if row.ours is None or row.before is None:
            continue
        axes.plot(row.before.mean(), y, label="before training", **BEFORE)
        if row.ours.isna().any():
            axes.text(row.before.mean() + 2, y, "diverged", color=GREY, fontsize=6, va="center")
            continue
        mean, low, high = bounds(row.ours, PERCENT)
        label, color = ("ours", colors(2)[0]) if row.learned else ("ours, did not learn", GREY)
        style: dict[str, Any] = {"marker": "o", "ms": 4, "lw": 1, "ls": "", "color": color, "label": label}
        axes.errorbar(mean, y, xerr=[[mean - low], [high - mean]], **style)
        if np.isfinite(row.printed):
            axes.plot([row.printed, mean], [y, y], color="0.55", lw=1.6, zorder=0)
    axes.margins(x=0.12)  # more than half a diamond
    axes.grid(axis="y", lw=0.3, color="0.9")
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
