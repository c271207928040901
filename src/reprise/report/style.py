"""The one look of all figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg", force=False)

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from reprise.evidence.statistics import mean_interval  # noqa: E402

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
    "pdf.fonttype": 42,
    "svg.hashsalt": "reprise",
}
WIDTH = 6.75
"""Width of a two-column figure, in inches."""
MARKERS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


@contextmanager
def styled() -> Iterator[None]:
    """matplotlib's defaults and our style, whatever the user's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def colors(n: int) -> np.ndarray:
    """n colours, dark to light, that keep their order in grey. Shape [n, 4]."""
    return plt.get_cmap("viridis")(np.linspace(0.0, 0.85, n))


def band(axes: Axes, table: pd.DataFrame, x: str, y: str, *, log: bool = False, **line: object) -> None:
    """A line of the mean over seeds and a band of its 90 % interval; on a log axis both of the logarithm.

    Args:
        table: one observation a row, with the columns `x`, `y` and `seed`.
        line: passed to `Axes.plot`.
    """
    points = []
    for at, rows in table.groupby(x)[y]:
        values = np.log(rows[rows > 0]) if log else rows
        if len(values) >= 2:
            interval = mean_interval(values)
            points.append((at, interval.mean, interval.low, interval.high))
        elif len(values) == 1:
            points.append((at, *[float(values.iloc[0])] * 3))
    at, mean, low, high = (np.array(column) for column in zip(*points, strict=True))
    if log:
        mean, low, high = np.exp(mean), np.exp(low), np.exp(high)
    (drawn,) = axes.plot(at, mean, **line)
    axes.fill_between(at, low, high, color=drawn.get_color(), alpha=0.2, linewidth=0)


def steps_axis(axes: Axes) -> None:
    """Steps from 0, linear to 10 and logarithmic beyond."""
    axes.set_xscale("symlog", linthresh=10)
    axes.set_xticks([0, 10, 100, 1000], ["0", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set_xlabel("step")


def save(figure: Figure, file: Path, kind: str) -> None:
    """Writes a figure with no date in it, so that the same figure is the same bytes."""
    metadata = {"pdf": {"CreationDate": None}, "png": {"Software": None}}[kind]
    figure.savefig(file, format=kind, metadata=metadata, dpi=200)
