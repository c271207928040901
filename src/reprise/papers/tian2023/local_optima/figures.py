"""Figure 8, with a Gaussian α and with random rotations added."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.comparison import IDENTITY_TOLERANCE
from reprise.evidence.verdicts import setting
from reprise.papers.tian2023.local_optima.experiment import Params
from reprise.plotting.style import NOT_NEGATIVE, WIDTH, band, colors, drawable

ACTIVATIONS = {"relu": ("ReLU", "-"), "linear": ("linear", "--")}
POINTS: dict[str, Any] = {"color": "0.55", "lw": 0.7, "ls": ":"}


@figure(
    "Figure 8",
    reads=("curves", "optima", "counts"),
    caption="""Objective ½ C_α[h(wᵀ x)] of one unit, w = (cos θ, sin θ), on nine points of the circle
    (dotted), scaled to a maximum of 1, for ReLU (solid) and linear activation (dashed). Top left: uniform α,
    as published. Top right: Gaussian α (Corollary 2). Bottom left: InfoNCE's own α, which is normalised.
    Markers show the local optima, where Eq. 7, whose α is held fixed (stop-gradient), comes to rest. Under a
    uniform α they are the maxima; another α changes along the curve, and its maxima need not attract. Hollow
    markers: a corner of the objective, where a data point enters the active half, A(w) jumps, and A(w) w is
    not parallel to w. Full markers: a critical point. Bottom right: number of optima for ReLU and uniform α
    when random rotations of up to the given angle augment the data (Appendix B.5). 180 degrees is the whole
    rotation group, under which the objective is constant, and 0 for points of equal length. Random data: mean
    and 95 % interval over data sets, cut at 0.""",
)
def fig08(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    titles = {
        "uniform": "uniform α",
        "gaussian": f"Gaussian α, τ = {params.tau:g}",
        "infonce": f"InfoNCE's α, τ = {params.tau:g}",
    }
    fig, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.6))
    for panel, (alpha, title) in zip(axes.flat, titles.items(), strict=False):
        _objective(panel, base, alpha, params)
        panel.set(title=title, ylabel="objective / its largest value")
    _rotations(axes[1, 1], base["counts"])
    key = [
        Line2D([], [], **POINTS, label="data point"),
        Line2D([], [], ls="", marker="o", color="0.25", label="optimum: a critical point"),
        Line2D([], [], ls="", marker="o", color="0.25", mfc="white", label="optimum: a corner"),
    ]
    fig.legend(handles=key, loc="outside lower center", ncols=len(key))
    return fig


def _objective(axes: Axes, base: dict[str, pd.DataFrame], alpha: str, params: Params) -> None:
    for point in params.points:
        axes.axvline(180 * point, zorder=0, **POINTS)
    optima = base["optima"].query("data == 'E.1' and seed == seed.min() and alpha == @alpha")
    for (activation, (name, line)), color in zip(ACTIVATIONS.items(), colors(2), strict=True):
        curve = base["curves"].query("alpha == @alpha and activation == @activation").sort_values("angle")
        drawable(curve["objective"], f"the objective of {name}, {alpha} α")
        attractors = optima[optima["activation"] == activation]
        drawable(attractors["height"], f"the optima of {name}, {alpha} α")
        label = f"{name}: {len(attractors)} optima"
        axes.plot(np.degrees(curve["angle"]), curve["objective"], color=color, ls=line, label=label)
        critical = attractors["speed"] <= IDENTITY_TOLERANCE
        for rows, face in ((attractors[critical], color), (attractors[~critical], "white")):
            style = {"ls": "", "marker": "o", "color": color, "markerfacecolor": face, "label": "_optima"}
            axes.plot(np.degrees(rows["angle"]), rows["height"], **style)
    axes.set(xlabel="angle θ of w (degrees)", xlim=(-180, 180), ylim=(0, 1.05))
    axes.set_xticks([-180, -90, 0, 90, 180])
    axes.legend(loc="lower left", frameon=True, framealpha=1, edgecolor="none")


def _rotations(axes: Axes, counts: pd.DataFrame) -> None:
    """Draws the number of optima; rotated copies of the nine points have equal counts, so their band has no
    width."""
    styles = {"E.1": ("the nine points", "o", "-"), "random": ("random data", "s", "--")}
    for (data, (name, marker, line)), color in zip(styles.items(), colors(2), strict=True):
        rows = counts[counts["data"] == data]
        style = {"color": color, "marker": marker, "ls": line, "label": name}
        band(axes, rows, "rotation", "maxima", within=NOT_NEGATIVE, **style)
    axes.set(title="with rotations (ReLU)", xlabel="largest rotation (degrees)", ylabel="local optima")
    axes.set(xlim=(-6, 186), ylim=(-0.3, None))
    axes.set_xticks([0, 45, 90, 135, 180])
    axes.legend(loc="upper right")
