"""Figure 2."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.linear_regime.claims import THRESHOLD, Run, eigenvalues, rise, risen
from reprise.papers.skean2024.linear_regime.experiment import SHOWN, VIEWS, Params
from reprise.plotting.style import (
    LINES,
    MARKERS,
    NOT_NEGATIVE,
    WIDTH,
    band,
    colors,
    drawable,
    legend_below,
    legend_entries,
)

PANELS: tuple[tuple[Run, str], ...] = (
    ("frossl", "same"),
    ("barlow", "same"),
    ("frossl", "strong"),
    ("barlow", "strong"),
)
NAMES = {"frossl": "FroSSL (Eq. 8)", "barlow": "Barlow Twins"}
KINDS = {"same": "the same", "noise": "noise", "crops": "weak crops", "strong": "strong"}


@figure(
    "Figure 2",
    reads=("spectrum", "loss", "modes"),
    caption="""Two linear layers, one per view, under FroSSL's variant (Eq. 8) and Barlow Twins', in
    full-batch gradient descent at the same learning rate. Both views are the image itself (left half), or
    come from the authors' augmentation for CIFAR (right half). Top: the loss in the first seed; the axes
    differ because the floors do. Middle: the ten largest eigenvalues of view 1's covariance Z1ᵀZ1 in that
    seed (dark: the first), and those of the corrected closed form for each mode's λ, c and initial size
    (dashed). Bottom: the time at which the 10th eigenvalue reaches 0.25, for each kind of views: in t at the
    same learning rate, a fixed fraction of FroSSL's largest stable one (left), and in steps at that fraction
    of each loss's own (right); mean and 95 % interval over seeds, cut at 0, each with its own images, views
    and layers. Open triangles: in some seed the eigenvalue does not reach 0.25 before the end, which then
    counts. The largest stable learning rate is 2 / sharpness, 4 λ1 + 8 c1 for Eq. 8 and 4 c1 for Barlow
    Twins, as the Hessian at the end of the runs confirms. t = learning rate * step.""",
)
def fig02(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig = plt.figure(figsize=(WIDTH, 5.6))
    grid = fig.add_gridspec(3, 4)
    for column, (run, views) in enumerate(PANELS):
        top = fig.add_subplot(grid[0, column])
        middle = fig.add_subplot(grid[1, column], sharex=top)
        _loss(top, base["loss"], run, views)
        _spectrum(middle, base, run, views)
        top.set_title(f"{NAMES[run]}\n{views} views")
    fig.axes[0].set_ylabel("loss")
    label = "$\\lambda_{10}$ reaches " + f"{THRESHOLD} at"
    left, right = (fig.add_subplot(grid[2, columns]) for columns in (slice(0, 2), slice(2, 4)))
    _rises(left, base, "time", "barlow")
    left.set(ylabel=f"{label} $t$", title="same learning rate")
    _rises(right, base, "step", "barlow-own")
    right.set(ylabel=f"{label} step", title="each loss at its own learning rate")
    entries = legend_entries(fig.axes)
    legend_below(fig, entries, columns=3, handlelength=3)
    return fig


def _loss(axes: Axes, table: pd.DataFrame, run: str, views: str) -> None:
    rows = _first_seed(table, run, views)
    drawable(rows["loss"], f"the loss of {run}, {views}")
    axes.plot(rows["time"], rows["loss"], color=colors(2)[0])
    axes.set(ylim=(0, None), xlim=(0, None))


def _spectrum(axes: Axes, base: Tables, run: Run, views: str) -> None:
    rows, modes = (_first_seed(base[name], run, views) for name in ("spectrum", "modes"))
    for index, color in zip(range(1, SHOWN + 1), colors(SHOWN), strict=True):
        curve = rows[rows["index"] == index]
        drawable(curve["eigenvalue"], f"eigenvalue {index} of {run}, {views}")
        axes.plot(
            curve["time"],
            curve["eigenvalue"],
            color=color,
            label="gradient descent" if index == 1 else f"_{index}",
        )
    drawable(modes["start"], f"the modes of {run}, {views}")
    time = np.unique(rows["time"])
    for index, y in enumerate(eigenvalues(modes, run, time).T, 1):
        name = "closed form" if index == 1 else f"_closed {index}"
        axes.plot(time, y, color="0.35", ls=(0, (4, 2)), lw=0.7, label=name)
    axes.set(xlabel="$t$", ylabel="eigenvalue", ylim=(0, None), xlim=(0, None))


def _first_seed(table: pd.DataFrame, run: str, views: str) -> pd.DataFrame:
    return table[(table["run"] == run) & (table["views"] == views) & (table["seed"] == table["seed"].min())]


def _rises(axes: Axes, base: Tables, clock: str, barlow: Run) -> None:
    runs: tuple[tuple[Run, str], ...] = (("frossl", NAMES["frossl"]), (barlow, NAMES["barlow"]))
    for (run, name), color, marker, line in zip(runs, colors(2), MARKERS, LINES, strict=False):
        rises = {
            views: drawable(rise(views, run, clock)(base), f"the rise of {run}, {views}") for views in VIEWS
        }
        table = pd.concat(
            pd.DataFrame({"views": position, "seed": values.index, "rise": values})
            for position, values in enumerate(rises.values())
        )
        style = {"color": color, "marker": marker, "ls": line, "label": name}
        band(axes, table, "views", "rise", within=NOT_NEGATIVE, **style)
        late = [position for position, views in enumerate(VIEWS) if not risen(views, run)(base).all()]
        if late:
            means = table.groupby("views")["rise"].mean()[late]
            axes.plot(
                late, means, ls="", marker="^", ms=6, mfc="white", mec=color, label=f"{name}, not risen"
            )
    axes.set_xlabel("views")
    axes.set_xticks(range(len(VIEWS)), [KINDS[views] for views in VIEWS])
    axes.set_ylim(bottom=0)
