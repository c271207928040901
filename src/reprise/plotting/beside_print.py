"""Printed numbers beside ours: a row a number, in two panels, for a reduced run measures something else."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reprise.evidence.comparison import LEARNED
from reprise.evidence.separability import rank_intervals, separable
from reprise.plotting.style import PERCENT, bounds, colors

GREY = "0.55"
PRINTED: dict[str, Any] = {"marker": "D", "ms": 4.5, "mfc": "none", "color": "black", "mew": 0.9, "ls": ""}
BEFORE: dict[str, Any] = {"marker": "|", "ms": 7, "color": GREY, "mew": 1.2, "ls": ""}
LINES = ("--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)))
HOW = f"""Printed numbers (diamonds) and ours (dots, with the 95 % interval over seeds) have an axis each, for
    in a reduced run, on other images, only their order can be compared. Ticks: the same probe of the
    untrained network. Rows without a dot were not trained here. Grey: networks that did not learn: their
    linear probe gains less than {LEARNED:g} points over the untrained network or is not above raw pixels. On
    the right, ranks, printed → ours, among the rows that have both numbers and learned: ours are those that
    the seeds leave open (pairs compared seed by seed, with Holm's correction), in bold where the printed one
    is none of them. Vertical lines: what the accuracies are compared with."""


class Row(NamedTuple):
    """A linear probe's accuracy, in %.

    Attributes:
        name: for the axis.
        printed: in the paper; NaN where it prints none.
        ours: one a seed, by seed, NaN where training diverged; None where no network was trained.
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
    def has_both(self) -> bool:
        """Tells if there is a printed number, and one of networks that learned, both finite."""
        return self.ours is not None and self.learned and bool(np.isfinite([self.printed, *self.ours]).all())


def beside(printed: Axes, ours: Axes, rows: Sequence[Row], references: Mapping[str, float]) -> None:
    """Draws a row each, from top to bottom: the printed number in one panel, ours and the ranks in the other.

    Args:
        printed, ours: panels side by side, which share their y axis.
        references: what ours are compared with, in %, by name.
    """
    numbers = np.array([row.printed for row in rows])
    (places,) = np.isfinite(numbers).nonzero()
    printed.plot(numbers[places], places, label="printed", **PRINTED)
    for (name, value), line in zip(references.items(), LINES, strict=False):
        ours.axvline(value, color=GREY, lw=0.8, ls=line, label=name, zorder=0)
    for y, row in enumerate(rows):
        if row.ours is None or row.before is None:
            continue
        ours.plot(row.before.mean(), y, label="before training", **BEFORE)
        if row.ours.isna().any():
            ours.text(row.before.mean() + 2, y, "diverged", color=GREY, fontsize=6, va="center")
            continue
        mean, low, high = bounds(row.ours, PERCENT)
        label, color = ("ours", colors(2)[0]) if row.learned else ("ours, did not learn", GREY)
        style: dict[str, Any] = {"marker": "o", "ms": 4, "lw": 1, "ls": "", "color": color, "label": label}
        ours.errorbar(mean, y, xerr=[[mean - low], [high - mean]], **style)
    place: dict[str, Any] = {"transform": ours.get_yaxis_transform(), "va": "center", "fontsize": 6}
    for y, rank, low, high in ranks(rows).itertuples(name=None):
        own = f"{low}" if low == high else f"{low} to {high}"
        weight = "normal" if low <= rank <= high else "bold"
        ours.text(1.03, y, f"{rank} → {own}", fontweight=weight, **place)
    ours.text(1.1, 0, "rank, printed\n→ ours", transform=ours.transAxes, fontsize=6, va="top")
    for panel in (printed, ours):
        panel.margins(x=0.12)  # more than half a diamond
        panel.grid(axis="y", lw=0.3, color="0.9")
    printed.set_yticks(range(len(rows)), [row.name for row in rows])
    printed.set_ylim(len(rows) - 0.4, -0.6)


def ranks(rows: Sequence[Row]) -> pd.DataFrame:
    """The printed rank and the lowest and highest that ours can have, `rank`, `low` and `high`, of the rows
    that have both, by their number."""
    both = {y: row for y, row in enumerate(rows) if row.has_both}
    printed = pd.Series({y: row.printed for y, row in both.items()}, dtype=float)
    ours = pd.DataFrame({y: row.ours for y, row in both.items()})
    own = rank_intervals(separable(ours) * (len(ours) > 1))  # one seed separates nothing
    own.insert(0, "rank", printed.rank(ascending=False, method="min").astype(int))
    return own
