"""Figure 7, extended by checks of Theorem 6 and its remark."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.tian2023.global_modulation.experiment import Params
from reprise.plotting.style import LINES, MARKERS, SHARE, WIDTH, band, colors, drawable

CROSSES: dict[str, Any] = {"ls": "none", "color": "0.25", "marker": "x"}


@figure(
    "Figure 7",
    reads=("flow", "basins", "probabilities"),
    caption="""The one-dimensional dynamics of Eq. 146, in units of b. Top left: the velocity; y = -b is
    stable, y = 0 is not. Top right: solutions by integration (lines) and by Eq. 147 (circles), and the
    critical times of Eq. 150 (dotted), at which solutions from above 0 blow up. The bottom row is not in the
    paper. Left: P[E_l] of Eq. 155 (lines) and the share of random draws (crosses). Right: share of random
    unit weights that reach the modulated one of d patterns, integrated with normalisation (lines), and share
    for which Eq. 150, which ignores normalisation, gives that pattern the smallest critical time (dashed).
    Bands: 95 % interval of the mean over seeds, cut to [0, 1].""",
)
def fig07(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, ((velocity, solutions), (probabilities, basins)) = plt.subplots(2, 2, figsize=(WIDTH, 4.8))
    _velocity(velocity, base["flow"])
    _solutions(solutions, base["flow"], params)
    _probabilities(probabilities, base["probabilities"], params)
    _basins(basins, base["basins"], params)
    return fig


def _velocity(axes: Axes, flow: pd.DataFrame) -> None:
    curve = drawable(flow[["y", "velocity"]], "the velocity").sort_values("y")
    shade = colors(2)[0]
    axes.axhline(0, color="0.55", lw=0.6)
    axes.plot(curve["y"], curve["velocity"], color=shade)
    for start, end in ((-1.75, -1.25), (-0.3, -0.7), (0.2, 0.7)):
        arrow = {"arrowstyle": "-|>", "color": "0.3", "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", xy=(end, 0), xytext=(start, 0), arrowprops=arrow)
    for y, fill, name, shift in ((-1.0, shade, "stable", -18), (0.0, "white", "unstable", 24)):
        axes.plot([y], [0], ls="none", marker="o", ms=6, color=shade, mfc=fill)
        axes.annotate(name, (y, 0), (shift, -14), textcoords="offset points", ha="center", fontsize=7)
    axes.set(xlim=(-1.9, 1.1), ylim=(-0.6, 1.6), xlabel="y / b", ylabel="velocity $\\dot y$ / b²")


def _solutions(axes: Axes, flow: pd.DataFrame, params: Params) -> None:
    shade = colors(2)[0]
    for index, start in enumerate(params.flow_starts):
        is_first = index == 0
        rows = flow[flow["start"] == start]
        drawable(rows[["y", "closed_form"]], f"the solution from {start}")
        axes.plot(rows["time"], rows["y"], color=shade, label="integrated" if is_first else None)
        samples = rows.iloc[::12]
        axes.plot(
            samples["time"], samples["closed_form"], ls="none", marker="o", color="0.25", mfc="white",
            label="Eq. 147" if is_first else None,
        )  # fmt: skip
    for index, time in enumerate(sorted(set(flow.loc[flow["start"] > 0, "critical_time"]))):
        axes.axvline(time, color="0.4", lw=0.8, ls=":", label="Eq. 150" if index == 0 else None)
    axes.set(xlim=(-0.1, 5.2), ylim=(-2.2, 5.2), xlabel="time, b t", ylabel="y / b")
    axes.legend(loc="upper left", bbox_to_anchor=(0.28, 1.02))


def _colors(params: Params) -> dict[int, np.ndarray]:
    """A colour for every dimension in either panel."""
    dims = sorted({*params.probability_dims, *params.dims})
    return dict(zip(dims, colors(len(dims)), strict=True))


def _probabilities(axes: Axes, table: pd.DataFrame, params: Params) -> None:
    dims = params.probability_dims
    color_of = _colors(params)
    for dim, line in zip(dims, LINES, strict=False):
        color = color_of[dim]
        rows = table[table["dim"] == dim]
        formula = drawable(rows.groupby("epsilon")["formula"].mean(), f"P[E_l] at d = {dim}")
        axes.plot(formula, color=color, ls=line, label=f"d = {dim}")
        band(axes, rows, "epsilon", "simulated", within=SHARE, **CROSSES,
             label="drawn" if dim == dims[-1] else None)  # fmt: skip
    axes.set(xlabel="modulation factor ε", ylabel="$P[E_l]$", ylim=(-0.02, 0.56))
    axes.legend(loc="upper left")


def _basins(axes: Axes, table: pd.DataFrame, params: Params) -> None:
    color_of = _colors(params)
    for dim, marker in zip(params.dims, MARKERS, strict=False):
        color = color_of[dim]
        rows = table[table["dim"] == dim]
        style: dict[str, Any] = {"color": color, "marker": marker, "label": f"d = {dim}"}
        band(axes, rows, "modulation", "reached", within=SHARE, **style)
        style = {"color": color, "ls": "--", "lw": 0.9}
        band(axes, rows, "modulation", "first_critical", within=SHARE, **style)
    axes.plot([], [], color="0.3", ls="--", lw=0.9, label="smallest $t^*$")
    axes.set(xlabel="modulation c", ylabel="share that reaches the pattern", ylim=(0, 0.62))
    axes.legend(loc="upper left", ncols=2)
