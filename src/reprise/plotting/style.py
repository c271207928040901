"""The style that all figures share."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import matplotlib as mpl

if "IPython" not in sys.modules:  # a notebook has a backend that shows figures
    mpl.use("Agg", force=False)

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Affine2D

from reprise.errors import RepriseError
from reprise.evidence.statistics import mean_interval
from reprise.plotting.data import save_data

STYLE = {
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "image.interpolation": "none",  # in PDF and SVG, images of as many pixels as they show values
    "pdf.fonttype": 42,
    "svg.hashsalt": "reprise",
}
Drawn = TypeVar("Drawn", pd.Series, pd.DataFrame)

WIDTH = 6.75
"""Width of a two-column figure, in inches."""
MARKERS = ("o", "s", "^", "D", "v", "P")
DPI = 200
"""Pixels an inch of a saved PNG."""
Range = tuple[float, float]
UNBOUNDED: Range = (-np.inf, np.inf)
NOT_NEGATIVE: Range = (0.0, np.inf)
AT_LEAST_1: Range = (1.0, np.inf)
SHARE: Range = (0.0, 1.0)
PERCENT: Range = (0.0, 100.0)
COSINE: Range = (-1.0, 1.0)
MARKS = {"reproduced": "✓", "contradicted": "✗", "depends": "◐", "inconclusive": "?", "not run": "–"}
"""Symbol of each verdict in a figure."""
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


@contextmanager
def styled() -> Iterator[None]:
    """Applies matplotlib's defaults and our style, regardless of the user's own settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def colors(n: int) -> np.ndarray:
    """n colours of shape [n, 4], from dark to light, which keep their order when printed in grey. The
    lightest still has a contrast of 3:1 with white."""
    return plt.get_cmap("viridis")(np.linspace(0.0, 0.59, n))


def band(
    axes: Axes,
    table: pd.DataFrame,
    x: str,
    y: str,
    *,
    log: bool = False,
    within: Range = UNBOUNDED,
    **line: Any,
) -> None:
    """Draws the mean over seeds as a line and its 95 % interval as a band.

    Args:
        table: one observation per row, with the columns `x`, `y` and `seed`.
        log: whether to average logarithms, for a log axis.
        within: the quantity's possible range, to which the band is cut.
        line: passed to `Axes.plot`.

    Raises:
        RepriseError: if the table holds no number to draw, or for a log axis no positive one.
    """
    positions, mean, low, high = _intervals(table, x, y, log=log, within=within)
    (curve,) = axes.plot(positions, mean, **line)
    axes.fill_between(positions, low, high, color=curve.get_color(), alpha=0.2, linewidth=0)


def whiskers(
    axes: Axes, table: pd.DataFrame, x: str, y: str, *, factor: float, within: Range = UNBOUNDED, **line: Any
) -> None:
    """Draws the means over seeds as `band` does, and their 95 % intervals as bars, beside those of other
    series at the same x.

    Args:
        factor: by which they stand beside it, on a log axis.
        table, within, line: as of `band`.

    Raises:
        RepriseError: as `band` does.
    """
    positions, mean, low, high = _intervals(table, x, y, log=False, within=within)
    place = Affine2D().scale(factor, 1) + axes.transData  # the data stay what they are
    axes.errorbar(positions, mean, [mean - low, high - mean], transform=place, elinewidth=0.7, **line)


def _intervals(
    table: pd.DataFrame, x: str, y: str, *, log: bool, within: Range
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Each x, in order, with the mean of y over seeds and the bounds of its 95 % interval."""
    rows = table[table[x].notna() & (table[y] > 0 if log else table[y].notna())]
    if rows.empty:
        raise RepriseError(f"nothing to draw: column '{y}' holds no {'positive ' if log else ''}number")
    values = np.log(rows[y].to_numpy(dtype=float)) if log else rows[y].to_numpy(dtype=float)
    positions, group = np.unique(rows[x].to_numpy(dtype=float), return_inverse=True)
    ends = np.cumsum(np.bincount(group))
    samples = np.split(values[np.argsort(group, kind="stable")], ends[:-1])
    limits = np.array([bounds(sample) for sample in samples])
    mean, low, high = (np.exp(limits) if log else limits).T
    return positions, mean, *np.clip((low, high), *within)


def drawable(values: Drawn, what: str) -> Drawn:
    """Returns the values unchanged if there is anything to draw.

    Raises:
        RepriseError: if none of them is a finite number.
    """
    if not np.isfinite(values.to_numpy(dtype=float)).any():
        raise RepriseError(f"nothing to draw: {what} holds no number")
    return values


def bounds(values: pd.Series | np.ndarray, within: Range = UNBOUNDED) -> tuple[float, float, float]:
    """Mean and interval bounds, cut to the quantity's possible range; a single seed has no interval, so its
    bounds are the mean."""
    if len(values) == 1:
        return (float(np.asarray(values)[0]),) * 3
    interval = mean_interval(values)
    low, high = np.clip((interval.low, interval.high), *within)
    return interval.mean, float(low), float(high)


def legend_entries(panels: Iterable[Axes]) -> dict[str, Any]:
    """The panels' labels and handles, each label once."""
    return {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }


def legend_below(figure: Figure, entries: Mapping[str, Any], *, columns: int, **options: Any) -> None:
    """A legend below the panels, in as many columns as fit: a user's loss may have a long name.

    Args:
        entries: label -> handle, from `legend_entries`.
        columns: at most.
    """
    for number in range(columns, 0, -1):
        place = {"loc": "outside lower center", "ncols": number}
        legend = figure.legend(entries.values(), entries, **place, **options)
        if number == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def key_of_marks(verdicts: Iterable[str]) -> str:
    """The marks of the verdicts that occur, each with its verdict, for a figure's margin."""
    occurring = set(verdicts)
    return "    ".join(f"{mark} {verdict}" for verdict, mark in MARKS.items() if verdict in occurring)


def steps_axis(axes: Axes) -> None:
    """Sets a step axis that starts at 0, linear up to 10 and logarithmic beyond."""
    last_step = max(float(np.max(line.get_xdata())) for line in axes.lines)
    axes.set_xscale("symlog", linthresh=10)
    powers = [power for power in range(1, 7) if 10**power <= last_step]
    axes.set_xticks([0, *(10**power for power in powers)], ["0", *(f"$10^{power}$" for power in powers)])
    axes.set_xlim(-1, 1.1 * last_step)
    axes.xaxis.minorticks_off()
    axes.set_xlabel("step")


def save(figure: Figure, file: Path, kind: str) -> None:
    """Writes a figure without a date, so that the same figure gives the same bytes; an SVG's text is text. A
    CSV is the data that it shows (`plotting.data`).

    Its panels are placed once, for the pixels of a PNG, and stay there in all files that it is saved in.
    """
    with styled(), mpl.rc_context({"svg.fonttype": "none", "figure.constrained_layout.use": False}):
        if layout := figure.get_layout_engine():
            figure.set_dpi(DPI)
            for _ in range(2):  # once leaves panels of a fixed shape some pixels off
                layout.execute(figure)
            figure.set_layout_engine(None)
        if kind == "csv":
            save_data(figure, file)
            return
        metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}[kind]
        figure.savefig(file, format=kind, metadata=metadata, dpi=DPI)
    if kind == "svg":
        file.write_text(_with_numbered_clips(file.read_text(encoding="utf-8")), encoding="utf-8")


def _with_numbered_clips(svg: str) -> str:
    """Names clip paths by their order. Matplotlib names them by a hash of their places, whose last bits,
    beyond what it writes, differ from one run to the next."""
    numbers: dict[str, str] = {}
    return re.sub(
        r'(?<=[#"])p[0-9a-f]{10}(?=[")])',
        lambda name: numbers.setdefault(name[0], f"clip{len(numbers)}"),
        svg,
    )
