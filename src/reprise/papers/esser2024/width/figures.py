"""Figure 2."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.errors import RepriseError
from reprise.evidence.statistics import mean_interval
from reprise.evidence.verdicts import setting
from reprise.papers.esser2024.width.claims import COVERED
from reprise.papers.esser2024.width.experiment import Params
from reprise.papers.esser2024.width.slopes import slope_of_means
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import WIDTH, colors, drawable, legend_below, legend_entries

NAMES = {
    "tanh": "tanh",
    "relu": "ReLU",
    "sigmoid": "sigmoid σ",
    "centred_sigmoid": "σ - 1/2 (ours)",
    "scaled_sigmoid": "4σ - 2 (ours)",
}
START_STYLE, END_STYLE = (
    {"color": "0.45", "marker": "o", "ls": "--"},
    {"color": "black", "marker": "s", "ls": "-"},
)


@figure(
    "Figure 2",
    reads=("differences", "starts", "bounds"),
    caption="""Distance of the nonlinear network's outputs from those of its linear twin, ‖u^φ - u^I‖,
    averaged over half moons and initialisations; W1 and W2 are projected onto their constraints at each step.
    Crosses: runs after whose last epoch the two outputs are opposite. An output ends at e_1 or -e_1, the
    first eigenvector of C, by the sign of its part along e_1 at the start (Theorem 3); where that is near 0
    the nonlinear network can go to the one and its twin to the other, and a few such runs decide the slope at
    the end. Row 1: during training, one line per width (colour bar). Row 2: against width, at initialisation
    and after the last epoch. Dots are seeds: at initialisation means over several starts of the same half
    moons, at the end single runs; above the panels, in the colours of the lines, the log-log slopes of the
    means with 95 % jackknife intervals, which at the end do not allow for rare runs that none of these is;
    dotted lines are Theorem 1's bound with K = 1, where the theorem applies. Not in the paper are row 3, as
    row 2 but relative to ‖u^I‖, and the last two columns: the sigmoid minus its value at 0, and the same
    scaled to slope 1 at 0. Other losses, if the settings name any,
    have colours of their own in rows 2 and 3.""",
)
def fig02(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    others = other_losses(tables, params)
    count = len(params.activations)
    fig, axes = plt.subplots(
        3, count, figsize=(WIDTH, 5.2), sharex="row", sharey="row", squeeze=False, height_ratios=(1, 1.1, 1.1)
    )
    for column, activation in zip(axes.T, params.activations, strict=True):
        trained, starts = (
            base[name][base[name]["activation"] == activation] for name in ("differences", "starts")
        )
        end = trained[trained["epoch"] == params.epochs]
        _training(column[0], trained, params)
        column[0].set_title(NAMES[activation])
        for panel, quantity in ((column[1], "difference"), (column[2], "relative")):
            slopes = [
                _against_width(panel, rows, quantity, params, label=label, **style)
                for rows, label, style in (
                    (starts, "initialisation", START_STYLE),
                    (end, f"epoch {params.epochs}", END_STYLE),
                )
            ]
            place: dict[str, Any] = {"transform": panel.transAxes, "ha": "center", "fontsize": 6.5}
            for slope, line, height in zip(slopes, (START_STYLE, END_STYLE), (1.17, 1.03), strict=True):
                panel.text(0.5, height, f"slope {slope}", color=line["color"], **place)
            opposite = end[end["up_to_sign"] < end["difference"]]
            if len(opposite):
                style = {"color": "#d62728", "ms": 4, "label": "outputs end opposite"}
                panel.plot(opposite["width"], opposite[quantity], "x", **style)
        for loss in others:
            table = loss.tables["differences"]
            final_rows = table[(table["activation"] == activation) & (table["epoch"] == params.epochs)]
            style = {"color": loss.color, "marker": "D", "ls": ":"}
            label = f"epoch {params.epochs}, {loss.label}"
            for panel, what in ((column[1], "difference"), (column[2], "relative")):
                _against_width(panel, final_rows, what, params, label=label, **style)
        bound = base["bounds"][base["bounds"]["activation"] == activation]
        if activation in COVERED:
            bound_means = _means(bound, "width", "bound", params.widths)
            column[1].plot(bound_means.index, bound_means, ls=":", color="0.4", label="bound, K = 1")
    _label_axes(fig, axes, params)
    return fig


def _training(axes: Axes, rows: pd.DataFrame, params: Params) -> None:
    for width, color in zip(params.widths, colors(len(params.widths)), strict=True):
        epochs = sorted(rows["epoch"].unique())
        means = _means(rows[rows["width"] == width], "epoch", "difference", epochs)
        axes.plot(means.index, means, color=color, lw=0.9)
    axes.set_xlabel("epoch")


def _against_width(axes: Axes, rows: pd.DataFrame, column: str, params: Params, **style: Any) -> str:
    """Draws the means and the single seeds; returns the slope of the means with its interval."""
    means = _means(rows, "width", column, params.widths)
    axes.plot(means.index, means, **style)
    axes.scatter(rows["width"], rows[column], s=3, color=style["color"], alpha=0.35, linewidth=0, zorder=1)
    slopes = slope_of_means(rows.pivot(index="seed", columns="width", values=column))
    if len(slopes) == 1:
        return f"{slopes.iloc[0]:z.2f}"
    interval = mean_interval(slopes)
    return f"{interval.mean:z.2f} ± {interval.high - interval.mean:.2f}"


def _means(rows: pd.DataFrame, x: str, y: str, expected: Sequence[int]) -> pd.Series:
    """Means over seeds at every expected x.

    Raises:
        RepriseError: if one of them is missing or not finite.
    """
    means = drawable(rows[y], f"'{y}'").groupby(rows[x]).mean().reindex(list(expected))
    if not np.isfinite(means).all():
        raise RepriseError(f"nothing to draw: '{y}' holds no number at {x} {list(means[means.isna()].index)}")
    return means


def _label_axes(fig: Figure, axes: np.ndarray, params: Params) -> None:
    for row in axes:
        row[0].set_yscale("log")
    for panel in axes[1:].flat:
        panel.set_xscale("log")
        panel.set_xlabel("width h")
    axes[0, 0].set_ylabel("‖u$^φ$ - u$^I$‖")
    axes[1, 0].set_ylabel("‖u$^φ$ - u$^I$‖")
    axes[2, 0].set_ylabel("‖u$^φ$ - u$^I$‖ / ‖u$^I$‖")
    widths = len(params.widths)
    scale = BoundaryNorm(np.arange(widths + 1) - 0.5, widths)
    bar = fig.colorbar(
        ScalarMappable(scale, ListedColormap(colors(widths))), ax=list(axes[0]), label="width h"
    )
    bar.set_ticks(range(widths), labels=[str(width) for width in params.widths])
    entries = legend_entries(axes[1])
    legend_below(fig, entries, columns=5)
