"""Figure 1."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.verdicts import setting
from reprise.papers.ren2023.two_stages.params import Params
from reprise.plotting.style import WIDTH, band, colors, drawable
from reprise.study.experiment import BASE, Tables, figure

PANELS = (
    ("alignment", "alignment score"),
    ("condition", "condition number"),
    ("distance", "distance of $K_A$ and $K_B$"),
    ("noise_to_signal", "noise-to-signal ratio"),
    ("stable_rank", "‖C‖²$_F$ / ‖C‖²$_2$"),
    ("intrinsic_dimension", "tr C / ‖C‖$_2$"),
    ("loss_value", "contrastive loss"),
    ("loss_value", "non-contrastive loss"),
)
SERIES = (
    ("contrastive", True, "contrastive"),
    ("contrastive", False, "contrastive, no noise"),
    ("non-contrastive", True, "non-contrastive"),
    ("non-contrastive", False, "non-contrastive, no noise"),
)
STYLES = ("-", (0, (5, 1)), "-.", ":")
MARKS = ("o", "s", "^", "D")
LOG = {"condition", "distance", "noise_to_signal"}
SMALLEST_DISTANCE = 1e-3
"""The limit's goes to 0; SGD's does not."""


@figure(
    "Figure 1",
    caption="""Both losses, trained by SGD at width m (lines; mean and 90 % interval over seeds) and in
    the limit of infinite width (marks, Eq. 8), on the linear spectrum of A (upper two rows) and on the
    spiked one (lower two), with noise and without. The dotted vertical line is the boundary of Stage 1
    (τ² small) and Stage 2 (τ² large), which only the contrastive loss has. Stable ranks, in both readings
    of Definition 4.2, and the alignment score are of the output on fresh pairs; the marks' stable ranks
    are of the exact covariance, which so few pairs understate. Grey: the alignment score's ceiling 1 -
    2^-r without noise, because a negative may share all signals; the condition number 1; the stable rank
    of the signal z itself on the fresh pairs. Condition number and noise-to-signal ratio are the larger
    ones of K_A and K_B; the latter rises before it falls. Distances of infinite width under 0.001 are
    left out.""",
)
def fig01(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    drawn, axes = plt.subplots(4, 4, figsize=(WIDTH, 7.0), sharex=True)
    blocks = axes.reshape(2, 8)
    for spectrum, block in zip(("linear", "spiked"), blocks, strict=True):
        ours, limit = (base[name][base[name]["spectrum"] == spectrum] for name in ("trajectory", "limit"))
        for panel, (column, label) in zip(block, PANELS, strict=True):
            _panel(panel, ours, limit, column, label)
            _references(panel, ours, column, params)
    for spectrum, panel in zip(("linear", "spiked"), blocks[:, 0], strict=True):
        panel.set_title(f"{spectrum} spectrum", loc="left", fontweight="bold")
    for panel in axes[-1]:
        panel.set_xlabel("step")
    handles, labels = blocks[0][0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=3.2)
    return drawn


def _panel(axes: Axes, ours: pd.DataFrame, limit: pd.DataFrame, column: str, label: str) -> None:
    for (loss, noise, name), color, line, mark in zip(SERIES, colors(4), STYLES, MARKS, strict=True):
        if column == "noise_to_signal" and not noise:
            continue
        if column == "loss_value" and label != f"{loss} loss":
            continue
        chosen = "loss == @loss and noise == @noise"
        log = column in LOG
        band(axes, ours.query(chosen), "step", column, log=log, color=color, ls=line, label=name)
        if column in limit:
            _marks(axes, limit.query(chosen), column, color, mark, name)
    axes.set_ylabel(label)
    if column in LOG:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter("")
    if column == "condition":
        axes.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    if column == "noise_to_signal":
        axes.set_yticks([0.1, 0.2, 0.5], ["0.1", "0.2", "0.5"])
        axes.set_ylim(0.1, 0.7)
    if column == "distance":
        axes.set_ylim(SMALLEST_DISTANCE, 3)


def _marks(axes: Axes, limit: pd.DataFrame, column: str, color: Any, mark: str, name: str) -> None:
    shown = limit.sort_values("step")
    drawable(shown[column], f"{column} of infinite width, {name}")
    if column == "distance":
        shown = shown[shown[column] > SMALLEST_DISTANCE]
    every = max(len(limit) // 10, 1)
    style: dict[str, Any] = {"ls": "", "marker": mark, "ms": 3, "mfc": "white", "mew": 0.8, "color": color}
    axes.plot(shown["step"].iloc[::every], shown[column].iloc[::every], label=f"_{name}", **style)


def _references(axes: Axes, ours: pd.DataFrame, column: str, params: Params) -> None:
    axes.axvline(params.stage1_steps, color="0.4", lw=0.8, ls=":", zorder=0)
    best = {
        "alignment": 1 - 2.0**-params.signals,
        "stable_rank": ours["best_stable_rank"].mean(),
        "condition": 1.0,
    }
    if column in best:
        axes.axhline(best[column], color="0.7", lw=0.8, zorder=0)
