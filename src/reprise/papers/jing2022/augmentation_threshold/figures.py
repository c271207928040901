"""Section 4 as a picture; the published version of the paper draws its like as Figure 3."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.claims import COLLAPSED
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.augmentation_threshold.params import Params
from reprise.plotting.style import LINES, MARKERS, WIDTH, band, colors, steps_axis
from reprise.study.experiment import BASE, Tables, figure


@figure(
    "Section 4",
    caption="""Singular values of W after training, against the variance k of the noise on half of the inputs
    (data variance 1/2 there). With one view augmented the half collapses beyond k = 1, where Var(x' - x) = 2
    Var(x); with both views augmented nothing vanishes. Right: what the strongly augmented inputs add to W
    (largest singular value of their columns outside the span of the others) over the steps, measured (lines)
    and by Theorem 1's closed form for the X of the first step (dashed): X shrinks, and collapse is slower.
    Mean and 90 % interval over seeds.""",
)
def sec4_threshold(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    drawn, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.6))
    for panel, views in zip(axes, ("one", "both"), strict=False):
        _against_amplitude(panel, base["singular_values"], views, params)
    axes[0].set(title="one view augmented", ylabel="singular value of W")
    axes[1].set(title="both views augmented")
    axes[1].legend(
        loc="lower left",
        title=f"of {params.dim}, from the largest",
        alignment="left",
        frameon=True,
        framealpha=1,
        edgecolor="none",
    )
    _over_time(axes[2], base["strong_block"])
    return drawn


def _against_amplitude(axes: Axes, table: pd.DataFrame, views: str, params: Params) -> None:
    end = table[(table["views"] == views) & (table["step"] == table["step"].max())]
    half = params.dim // 2
    shown = {1: "1st", half: f"{half}th", half + 1: f"{half + 1}th", params.dim: f"{params.dim}th"}
    for (index, label), color, marker, line in zip(shown.items(), colors(4), MARKERS, LINES, strict=False):
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
            label=label,
        )
    largest = end[end["index"] == 1].groupby("amplitude")["singular_value"].mean()
    axes.plot(largest.index, COLLAPSED * largest, color="0.6", lw=0.8, label="collapsed below")
    axes.axvline(2 * params.input_variance, color="0.4", lw=0.8, ls=":")
    axes.set(xscale="log", yscale="log", xlabel="augmentation variance k", ylim=(1e-7, 20), xlim=(0.22, 4.6))
    axes.set_xticks([0.25, 0.5, 1, 2, 4], ["¼", "½", "1", "2", "4"])
    axes.minorticks_off()


def _over_time(axes: Axes, table: pd.DataFrame) -> None:
    one = table[table["views"] == "one"]
    shown = [k for k in (0.25, 0.9, 1.1, 1.25) if k in set(one["amplitude"])]
    for k, color in zip(shown, colors(len(shown)), strict=True):
        rows = one[one["amplitude"] == k]
        band(axes, rows, "step", "norm", log=True, color=color, label=f"k = {k:g}")
        fixed = rows.assign(norm=10.0 ** rows["log10_norm_if_x_fixed"].clip(-20, 20))
        band(axes, fixed, "step", "norm", log=True, color=color, ls="--", lw=0.8)
    axes.set(
        title="added by the strong half, one view", ylabel="singular value", yscale="log", ylim=(1e-7, 20)
    )
    steps_axis(axes)
    axes.legend(loc="lower left")
