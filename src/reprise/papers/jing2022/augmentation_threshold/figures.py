"""A figure for Section 4, similar to Figure 3 of the paper's published version."""

from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.comparison import COLLAPSED
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.augmentation_threshold.experiment import Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import (
    LINES,
    MARKERS,
    WIDTH,
    band,
    colors,
    legend_below,
    legend_entries,
    steps_axis,
)

CLOSED_FORM: dict[str, Any] = {"ls": "--", "lw": 0.8}


@figure(
    "Section 4, threshold",
    reads=("singular_values", "strong_block"),
    caption="""Singular values of W after training, against the variance k of the noise on half of the inputs
    (data variance 1/2 there). With one view augmented, this half collapses beyond k = 1, where Var(x' - x) =
    2 Var(x); with both views augmented, there is no such threshold. Right: the contribution of the strongly
    augmented inputs to W (largest singular value of their columns outside the span of the others) over the
    steps, measured (lines) and by Theorem 1's closed form with the X of the first step (dashed).
    Mean and 95 % interval over seeds. Lower rows: other losses, if the settings name any, without the closed
    form, which holds for InfoNCE only.""",
)
def sec4_threshold(tables: Tables, params: Params) -> Figure:
    others = other_losses(tables, params)
    fig, axes = plt.subplots(1 + len(others), 3, figsize=(WIDTH, 2.6 * (1 + len(others))), squeeze=False)
    _row(axes[0], setting(tables, BASE), params, colors)
    for row, loss in zip(axes[1:], others, strict=True):
        _row(row, loss.tables, params, loss.shades, f"{loss.label}, ")
    entries = legend_entries(axes[:, 1])
    title = f"left and middle: singular values, of {params.dim}, from the largest"
    legend_below(fig, entries, columns=6, title=title)
    return fig


def _row(
    axes: np.ndarray, tables: Tables, params: Params, shades: Callable[[int], np.ndarray], loss: str = ""
) -> None:
    """Draws singular values against the amplitude, with one and both views augmented, and one over the steps.

    Args:
        shades: returns n colours, from dark to light.
        loss: the label of a loss other than the published one, which has no closed form.
    """
    for panel, views in zip(axes, ("one", "both"), strict=False):
        _against_amplitude(panel, tables["singular_values"], views, params, shades(4), loss)
    axes[0].set(title="one view augmented", ylabel="singular value of W")
    axes[1].set(title="both views augmented")
    one_view = tables["strong_block"][tables["strong_block"]["views"] == "one"]
    amplitudes = [k for k in (0.25, 0.9, 1.1, 1.25) if k in set(one_view["amplitude"])]
    for k, color in zip(amplitudes, shades(len(amplitudes)), strict=True):
        _over_time(
            axes[2], one_view[one_view["amplitude"] == k], color, f"{loss}k = {k:g}", closed_form=not loss
        )
    axes[2].set(title="strong half, one view", ylabel="singular value", yscale="log", ylim=(1e-7, 20))
    steps_axis(axes[2])
    if not loss:
        axes[2].plot([], [], **CLOSED_FORM, color="0.25", label="Theorem 1")
    axes[2].legend(loc="lower left")


def _against_amplitude(
    axes: Axes, table: pd.DataFrame, views: str, params: Params, tints: np.ndarray, loss: str
) -> None:
    end = table[(table["views"] == views) & (table["step"] == table["step"].max())]
    half = params.dim // 2
    ranks = {1: "1st", half: f"{half}th", half + 1: f"{half + 1}th", params.dim: f"{params.dim}th"}
    for (index, rank), color, marker, line in zip(ranks.items(), tints, MARKERS, LINES, strict=False):
        rows = end[end["index"] == index]
        band(
            axes,
            rows,
            "amplitude",
            "singular_value",
            log=True,
            color=color,
            marker=marker,
            ls=line,
            label=f"{loss}{rank}",
        )
    largest = end[end["index"] == 1].groupby("amplitude")["singular_value"].mean()
    axes.plot(largest.index, COLLAPSED * largest, color="0.55", lw=0.8, label="collapsed below")
    threshold = 2 * params.input_variance
    axes.axvline(threshold, color="0.4", lw=0.8, ls=":", label=f"threshold k = {threshold:g}")
    axes.set(xscale="log", yscale="log", xlabel="augmentation variance k", ylim=(1e-7, 20), xlim=(0.22, 4.6))
    axes.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    axes.minorticks_off()


def _over_time(axes: Axes, rows: pd.DataFrame, color: np.ndarray, label: str, *, closed_form: bool) -> None:
    band(axes, rows, "step", "norm", log=True, color=color, label=label)
    if closed_form:
        fixed = rows.assign(norm=10.0 ** rows["log10_norm_if_x_fixed"].clip(-20, 20))
        band(axes, fixed, "step", "norm", log=True, color=color, **CLOSED_FORM)
