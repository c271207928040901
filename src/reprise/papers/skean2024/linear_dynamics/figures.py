"""A figure for Appendix D, which has none in the paper."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.linear_dynamics.claims import distances
from reprise.papers.skean2024.linear_dynamics.experiment import Params
from reprise.plotting.style import MARKERS, WIDTH, band, colors, drawable

TITLES = {"frossl": "FroSSL (Eq. 8)", "barlow": "Barlow Twins"}
LEAST = 1e-3
"""Smallest singular value drawn; those of Eq. 18 go to 0."""


@figure(
    "Appendix D, closed form",
    reads=("closed_form", "equation_18", "small_starts"),
    caption="""Left and middle: singular values of view 1's layer in gradient descent from aligned layers
    (lines; dark: the mode with the largest variance), by the corrected closed form (marks), and, for FroSSL,
    by Eq. 18 as printed (dotted), which takes them to 0; the first seed. Right: the largest difference, over
    time and eigenvalues of view 1's covariance, between random layers and the aligned layers that small
    random ones approach (Proposition D.2), against the initial standard deviation; its floor is due to
    descent's finite steps; mean and 95 % interval over seeds.""",
)
def appD_closed_form(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    for axes, loss in ((left, "frossl"), (middle, "barlow")):
        _trajectories(axes, base, loss, len(params.variances))
    middle.set_ylabel("")
    by_std = distances(base).rename("difference").reset_index()
    drawable(by_std["difference"], "differences from aligned layers")
    band(right, by_std, "std", "difference", log=True, color=colors(2)[0], marker=MARKERS[0])
    right.set(
        xscale="log",
        yscale="log",
        title="random layers",
        xlabel="initial standard deviation",
        ylabel="difference of eigenvalues",
    )
    handles, labels = left.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=3)
    return fig


def _trajectories(axes: Axes, base: Tables, loss: str, modes: int) -> None:
    rows = base["closed_form"]
    rows = rows[(rows["loss"] == loss) & (rows["seed"] == rows["seed"].min())]
    for mode, color in zip(range(1, modes + 1), colors(modes), strict=True):
        curves = rows[rows["mode"] == mode].sort_values("time")
        spacing = max(len(curves) // 12, 1)
        hidden = "" if mode == 1 else f"_{mode} "
        what = f"singular values of {loss}, mode {mode}"
        axes.plot(
            curves["time"], drawable(curves["descent"], what), color=color, label=f"{hidden}gradient descent"
        )
        marks = drawable(curves["closed_form"], f"closed form's {what}")[::spacing]
        style: dict[str, Any] = {"ls": "", "marker": "o", "mfc": "white", "color": color}
        axes.plot(curves["time"][::spacing], marks, label=f"{hidden}closed form, corrected", **style)
        if loss == "frossl":
            printed = base["equation_18"][base["equation_18"]["mode"] == mode].sort_values("time")
            visible = printed[drawable(printed["singular_value"], f"Eq. 18's {what}") >= LEAST]
            label = f"{hidden}Eq. 18 as printed"
            axes.plot(visible["time"], visible["singular_value"], color=color, ls=":", label=label)
    axes.set(yscale="log", title=TITLES[loss], xlabel="$t$", ylabel="singular value of $W_1$")
