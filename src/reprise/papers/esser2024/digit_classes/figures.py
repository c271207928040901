"""Figure 4."""

from itertools import count, cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.statistics import Interval, mean_interval
from reprise.evidence.verdicts import setting
from reprise.papers.esser2024.digit_classes.experiment import Params
from reprise.papers.esser2024.digit_classes.scaling import slopes, wide
from reprise.plotting.other_losses import OtherLoss, other_losses
from reprise.plotting.style import LINES, MARKERS, PERCENT, WIDTH, band, bounds, colors, drawable

METHODS = {
    "descent": "descent (11)",
    "printed": "ODE (12)",
    "corrected": "Euclidean ODE",
    "start": "random start",
    "limit": "their limit",
    "tanh": "tanh net",
    "relu": "ReLU net",
}
STEPS = {
    "descent": ("descent", "descent (11)"),
    "ode": ("printed", "ODE (12)"),
    "tanh": ("tanh", "descent, tanh net"),
}
"""The methods whose steps are timed: their names above, whose colours they have, and for the legend."""
SEEN = ("descent", "printed", "limit")
"""Methods whose seeds are shown one by one."""
APART = 1.05
"""Ratio of the positions of neighbouring methods at one dimension, where their points would coincide."""
FEWEST = 2
"""Embedding dimension at which seeds are shown one by one."""


@figure(
    "Figure 4",
    reads=("step_seconds", "accuracy", "pixels"),
    caption="""Left: CPU time on this machine of a step of projected gradient descent (11) and of the ODE (12)
    against the width of the hidden layer, both with C given; the title gives the ratio of these two at the
    smallest and at the largest width. Each time is a median after a warm-up; lines and bands are the
    geometric mean and 95 % interval over repeats; a nonlinear net's step is on all images. Dotted: a fit over
    the wider half of the widths, with its slope. Middle: accuracy of a linear support vector machine on the
    embeddings against their dimension, mean and 95 % interval over seeds (of nonlinear nets fewer), cut at
    100 %; the methods stand side by side at each dimension. The two classes are those that such a machine
    confuses most on raw pixels; the grey band is its accuracy on their raw pixels. The limit of descent and
    of both ODEs, the eigenvectors of C with the smallest eigenvalues, is shown for comparison. Right: at two
    outputs, a dot a seed, against how much of the eigenvector of C that separates the classes best the
    outputs hold. It is often the second one, to which an output turns late, past the saddle where it still
    holds others: the lowest seeds have not arrived there at the last step. Other losses, if the settings name
    any, have colours of their own; they were trained by projected gradient descent.""",
)
def fig04(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, (times_axes, accuracy_axes, seeds_axes) = plt.subplots(1, 3, figsize=(WIDTH, 3.5))
    _times(times_axes, base["step_seconds"])
    _accuracies(accuracy_axes, base["accuracy"], base["pixels"], params, other_losses(tables, params))
    _seeds(seeds_axes, base["accuracy"])
    handles, names = accuracy_axes.get_legend_handles_labels()
    fig.legend(handles, names, loc="outside lower center", ncols=5, title="middle and right")
    return fig


def _styles() -> dict[str, dict[str, Any]]:
    """Colour, marker, line and label of each method, the same in all panels."""
    styles = zip(METHODS.items(), colors(len(METHODS)), cycle(MARKERS), cycle(LINES), strict=False)
    return {
        method: {"color": color, "marker": marker, "ls": line, "label": name}
        for (method, name), color, marker, line in styles
    }


def _times(axes: Axes, table: pd.DataFrame) -> None:
    styles = _styles()
    for timed, (method, name) in STEPS.items():
        rows = table[table["method"] == timed]
        drawable(rows["seconds"], f"the time of {timed}")
        band(axes, rows, "width", "seconds", log=True, mfc="none", **styles[method] | {"label": name})
    descent, ode = (table[table["method"] == method] for method in ("descent", "ode"))
    log, log_ode = (np.log(rows["seconds"]).groupby(rows["width"]).mean() for rows in (descent, ode))
    descent_slopes = drawable(slopes(descent), "the slope of descent's time")
    interval = (
        mean_interval(descent_slopes)
        if len(descent_slopes) > 1
        else Interval(*[float(descent_slopes.iloc[0])] * 3)
    )
    log_widths = np.log(wide(descent["width"]))
    fit = np.exp(log.loc[wide(descent["width"])].mean() + interval.mean * (log_widths - log_widths.mean()))
    label = f"slope {interval.mean:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
    axes.plot(np.exp(log_widths), fit, color="0.3", ls=":", lw=2, label=label)
    ratio = np.exp(log - log_ode)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="width h",
        ylabel="CPU seconds per step",
        title=f"descent is {ratio.iloc[0]:.0f} to {ratio.iloc[-1]:.0f} times as slow",
    )
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.35)  # room for the legend
    axes.legend(loc="upper left")


def _accuracies(
    axes: Axes, table: pd.DataFrame, pixels: pd.DataFrame, params: Params, others: list[OtherLoss]
) -> None:
    pixel_accuracy = drawable(pixels["accuracy"], "the accuracy of raw pixels")
    dims = sorted(params.embedding_dims)
    axes.plot([dims[0], dims[-1]], [pixel_accuracy.mean()] * 2, color="0.5", lw=0.8, label="raw pixels")
    if len(pixel_accuracy) > 1:
        _, low, high = bounds(pixel_accuracy, PERCENT)
        axes.axhspan(low, high, color="0.5", alpha=0.2, lw=0)
    series = [(table[table["method"] == method], style) for method, style in _styles().items()]
    series += [
        (
            loss.tables["accuracy"],
            {"color": loss.color, "marker": "P", "ls": (0, (5, 1)), "label": loss.label},
        )
        for loss in others
    ]
    for (rows, style), place in zip(series, count(-(len(METHODS) // 2)), strict=False):
        beside = rows.assign(z=rows["z"] * APART**place)
        band(axes, beside, "z", "accuracy", within=PERCENT, mfc="none", **style)
    axes.set_xscale("log")
    axes.set_xticks(dims, [str(z) for z in dims])
    axes.minorticks_off()
    classes = f"classes {pixels['first'].iloc[0]} and {pixels['second'].iloc[0]}"
    axes.set(xlabel="embedding dimension z", ylabel="accuracy, % of test images", title=classes)


def _seeds(axes: Axes, table: pd.DataFrame) -> None:
    styles = _styles()
    for method in SEEN:
        rows = table[(table["method"] == method) & (table["z"] == FEWEST)]
        share = drawable(rows["separating"], f"the share of {method}")
        axes.plot(share, rows["accuracy"], mfc="none", **styles[method] | {"ls": ""})
    axes.set(
        xlabel="share of the separating\neigenvector held",
        ylabel="accuracy, % of test images",
        title=f"z = {FEWEST}, a dot a seed",
    )
