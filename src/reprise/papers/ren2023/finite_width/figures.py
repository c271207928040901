"""Effects of width, step and batch size as figures; the paper has none."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.ren2023.finite_width.claims import KINDS, at_end
from reprise.papers.ren2023.finite_width.experiment import Params
from reprise.papers.ren2023.words import ASSUMED
from reprise.plotting.style import MARKERS, SHARE, WIDTH, band, colors, drawable

ARMS = (
    ("end of Stage 1", 1, "contrastive"),
    ("end of Stage 2", 2, "contrastive"),
    ("non-contrastive, end", 2, "non-contrastive"),
)
STYLES = ("-", "--", "-.")


@figure(
    "Lemma 5.1",
    reads=("widths",),
    caption=f"""Gradient flow at width m (few latents, exact expectations) against the limit of infinite width
    (Eq. 8). Left: relative distance of their Gram matrices of K_A and K_B at the ends of Stages 1 and 2 and,
    without contrastive pairs, after the same time; the grey line is m^(-1/2). Right: the largest cosine
    between columns that are orthogonal in the limit, over time, at the smallest width and the largest, which
    is written beside the lines; the dotted line is the boundary of the stages. Mean and 95 % interval over
    seeds, that of a cosine cut at 1. {ASSUMED}""",
)
def lemma51_width(tables: Tables, params: Params) -> Figure:
    table = setting(tables, BASE)["widths"]
    fig, (width_axes, time_axes) = plt.subplots(1, 2, figsize=(WIDTH, 3.0))
    for (label, stage, loss), color, mark, line in zip(ARMS, colors(3), MARKERS, STYLES, strict=False):
        rows = at_end(table, stage, loss)
        band(width_axes, rows, "width", "distance", log=True, color=color, marker=mark, ls=line, label=label)
    _guide(width_axes, params.widths, -0.5, "$m^{-1/2}$")
    width_axes.set(xscale="log", yscale="log", xlabel="width m", ylabel="distance from infinite width")
    contrastive = table[table["loss"] == "contrastive"]
    for width in (min(params.widths), max(params.widths)):
        rows = contrastive[contrastive["width"] == width]
        for (column, label), color, line in zip(KINDS.items(), colors(3), STYLES, strict=True):
            name = label if width == min(params.widths) else f"_{label}"
            style = {"color": color, "ls": line, "label": name}
            band(time_axes, rows, "time", column, log=True, within=SHARE, **style)
        x, y = time_axes.lines[-1].get_xydata()[-1]
        place = {"xytext": (0, 4), "textcoords": "offset points", "ha": "right"}
        time_axes.annotate(f"m = {width}", (x, y), fontsize=7, **place)
    time_axes.axvline(params.stage1_time, color="0.4", lw=0.8, ls=":", zorder=0, label="end of Stage 1")
    time_axes.set(yscale="log", xlabel="time of gradient flow", ylabel="largest |cosine|")
    for axes in (width_axes, time_axes):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return fig


@figure(
    "Appendix D",
    reads=("steps", "batches"),
    caption=f"""From gradient flow to SGD at one width: the largest relative distance of the Gram matrices of
    K_A and K_B over both stages. Left: distance of gradient descent on the exact loss from gradient flow,
    against the step. Right: distance of SGD from gradient descent on the exact loss with the same step,
    against the batch size. Grey lines are proportional to the step and to the batch size to the power -1/2.
    Mean and 95 % interval over seeds. {ASSUMED}""",
)
def appD_descent(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, (step_axes, batch_axes) = plt.subplots(1, 2, figsize=(WIDTH, 2.5))
    for axes, name, column, values, power, label in (
        (step_axes, "steps", "step_size", params.step_sizes, 1.0, "proportional to the step"),
        (batch_axes, "batches", "batch_size", params.batch_sizes, -0.5, "batch to the power -1/2"),
    ):
        rows = _largest(base[name], column)
        for value in values:
            drawable(rows.loc[rows[column] == value, "distance"], f"distance at {column} {value:g}")
        band(axes, rows, column, "distance", log=True, color=colors(2)[0], marker="o", label="measured")
        _guide(axes, values, power, label)
        axes.set(xscale="log", yscale="log")
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.xaxis.minorticks_off()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")
        axes.legend(loc="upper left" if power > 0 else "lower left")
    step_axes.set(xlabel="step size", ylabel="distance from gradient flow")
    batch_axes.set(xlabel="batch size", ylabel="distance from full batches")
    return fig


def _largest(table: pd.DataFrame, column: str) -> pd.DataFrame:
    return table.groupby(["seed", column], as_index=False).agg({"distance": "max"})


def _guide(axes: Axes, values: tuple[float, ...], power: float, label: str) -> None:
    """Draws a line with this slope, slightly below the measured one."""
    x, y = np.asarray(axes.lines[0].get_xydata()).T
    ends = np.array([min(values), max(values)], dtype=float)
    axes.plot(ends, 0.6 * y[0] * (ends / x[0]) ** power, color="0.55", lw=0.8, label=label)
