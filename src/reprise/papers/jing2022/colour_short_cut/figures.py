"""Figure of learning from the stand-in images; the paper has no such figure."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.colour_short_cut.experiment import ARMS, Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import (
    LINES,
    MARKERS,
    PERCENT,
    UNBOUNDED,
    WIDTH,
    band,
    colors,
    legend_below,
    legend_entries,
)

LABELS = {"any hue": "dark backdrops, any hue", "short cut": "bright backdrops, hues kept"}


@figure(
    "Stand-in",
    reads=("losses", "probes"),
    caption="""SimCLR on the rendered shapes that stand in for ImageNet, and on the negative control: bright
    backdrops whose hues hardly change from view to view. Left: the loss, averaged over each twentieth of the
    training. Right: accuracy of a linear probe for the shape, at random initialisation and after training;
    dotted: chance. In the control, colour reveals which views belong together: the loss falls lower, and the
    shape is not learned. Mean and 95 % interval over seeds, cut to [0, 100 %]. Lower rows: other losses, if
    the settings name any.""",
)
def stand_in(tables: Tables, params: Params) -> Figure:
    others = other_losses(tables, params)
    fig, axes = plt.subplots(1 + len(others), 2, figsize=(WIDTH, 2.5 * (1 + len(others))), squeeze=False)
    _row(axes[0], setting(tables, BASE), params, colors(len(ARMS)), "nt-xent")
    for row, loss in zip(axes[1:], others, strict=True):
        _row(row, loss.tables, params, loss.shades(len(ARMS)), loss.label, f"{loss.label}, ")
    entries = legend_entries(axes.flat)
    legend_below(fig, entries, columns=3)
    return fig


def _row(
    axes: np.ndarray, tables: Tables, params: Params, tints: np.ndarray, loss: str, prefix: str = ""
) -> None:
    """Draws the loss over the steps, and the accuracy before and after training."""
    left, right = axes
    for arm, color, marker, line in zip(ARMS, tints, MARKERS, LINES, strict=False):
        style = {"color": color, "marker": marker, "ls": line, "label": f"{prefix}{LABELS[arm]}"}
        for panel, name, column, within in (
            (left, "losses", "loss", UNBOUNDED), (right, "probes", "accuracy", PERCENT),
        ):  # fmt: skip
            band(panel, tables[name][tables[name]["arm"] == arm], "step", column, within=within, **style)
    right.axhline(10, color="0.55", lw=0.8, ls=":", label="chance")
    right.set_xticks([0, params.steps])
    right.set(ylim=(0, 100), xlabel="step", ylabel="linear probe for shape, %")
    right.set_xlim(-0.15 * params.steps, 1.15 * params.steps)
    left.set(xlabel="step", ylabel=f"loss ({loss})")
