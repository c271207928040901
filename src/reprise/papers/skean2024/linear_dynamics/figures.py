"""Appendix D, of which the paper has no figure."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.linear_dynamics.claims import distances
from reprise.papers.skean2024.linear_dynamics.params import Params
from reprise.plotting.style import MARKERS, WIDTH, band, colors, drawable
from reprise.study.experiment import BASE, Tables, figure

TITLES = {"frossl": "FroSSL (Eq. 10)", "barlow": "Barlow Twins"}
LEAST = 1e-3
"""Singular values under it are not drawn: those of Eq. 18 go to 0."""


@figure(
    "Appendix D",
    caption="""Left and middle: singular values of view 1's layer in gradient descent from aligned layers
    (lines; dark: the mode with the largest variance), by the closed form, corrected (marks), and, for FroSSL,
    by Eq. 18 as printed (dotted), which takes them to 0; seed 0. Right: from random layers, the largest
    difference, over time and over eigenvalues of view 1's covariance, from the aligned layers that small
    random ones come to (Proposition D.2), against the initial standard deviation; its floor is that of
    descent's finite steps; mean and 90 % interval over seeds.""",
)
def appD_closed_form(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    for axes, loss in ((left, "frossl"), (middle, "barlow")):
        _courses(axes, base, loss, len(params.variances))
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


def _courses(axes: Axes, base: Tables, loss: str, modes: int) -> None:
    rows = base["closed_form"]
    rows = rows[(rows["loss"] == loss) & (rows["seed"] == 0)]
    for mode, color in zip(range(1, modes + 1), colors(modes), strict=True):
        of = rows[rows["mode"] == mode].sort_values("time")
        every = max(len(of) // 12, 1)
        hidden = "" if mode == 1 else f"_{mode} "
        what = f"singular values of {loss}, mode {mode}"
        axes.plot(of["time"], drawable(of["descent"], what), color=color, label=f"{hidden}gradient descent")
        marked = drawable(of["closed_form"], f"closed form's {what}")[::every]
        look: dict[str, Any] = {"ls": "", "marker": "o", "mfc": "white", "color": color}
        axes.plot(of["time"][::every], marked, label=f"{hidden}closed form, corrected", **look)
        if loss == "frossl":
            printed = base["equation_18"][base["equation_18"]["mode"] == mode].sort_values("time")
            shown = printed[drawable(printed["singular_value"], f"Eq. 18's {what}") >= LEAST]
            label = f"{hidden}Eq. 18 as printed"
            axes.plot(shown["time"], shown["singular_value"], color=color, ls=":", label=label)
    axes.set(yscale="log", title=TITLES[loss], xlabel="$t$", ylabel="singular value of $W_1$")
