"""The effect of the temperature as a figure; the paper has none."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.ren2023.temperature.claims import stages
from reprise.papers.ren2023.temperature.experiment import Params
from reprise.papers.ren2023.words import ASSUMED
from reprise.plotting.style import AT_LEAST_1, LINES, MARKERS, WIDTH, band, colors, steps_axis

CURVES = 5
"""Number of temperatures in the first panel, spread over the grid, including its ends."""


@figure(
    "Section 5",
    reads=("uniform", "stage1"),
    caption=f"""Contrastive learning with a single temperature τ² throughout, in the limit of infinite width
    (Eq. 8 with noise). Left: the condition number of K_A over the steps, for the K that is written above.
    Middle: the ratio of its largest to its first value for that K, and its last value for each K. Small τ²
    show both stages, slowly; large τ² show no first stage, and with K = 1 the second stage is slow. Right:
    Lemma B.9, the largest relative distance during Stage 1 between the dynamics with negatives and those
    without, whose time is scaled by 2K / (1 + K) or not; the dotted line is proportional to τ². Means and 95
    % intervals over random spectra, cut at 1 for condition numbers. {ASSUMED}""",
)
def sec5_temperature(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.6))
    _over_time(axes[0], base["uniform"], params)
    _against_temperature(axes[1], base["uniform"], params)
    _stage1(axes[2], base["stage1"])
    return fig


def _over_time(axes: Axes, table: pd.DataFrame, params: Params) -> None:
    rows = table[table["claimed"]]
    grid = params.tau2
    temperatures = sorted(
        {grid[round(index)] for index in np.linspace(0, len(grid) - 1, min(CURVES, len(grid)))}
    )
    for tau2, color, line in zip(temperatures, colors(len(temperatures)), LINES, strict=False):
        curve = rows[rows["tau2"] == tau2]
        style = {"color": color, "ls": line, "label": f"τ² = {tau2:g}"}
        band(axes, curve, "step", "condition", log=True, within=AT_LEAST_1, **style)
    steps_axis(axes)
    axes.set(ylabel="condition number of $K_A$", title=f"K = {params.claimed_negatives:g}")
    axes.set_ylim(top=1.4 * rows["condition"].max())  # room for the legend
    axes.legend(loc="upper left")


def _against_temperature(axes: Axes, table: pd.DataFrame, params: Params) -> None:
    stage_table = stages(table).reset_index()
    stage_table["rise"] = stage_table["largest"] / stage_table["first"]
    rise = stage_table[stage_table["negatives"] == params.claimed_negatives]
    band(axes, rise, "tau2", "rise", log=True, within=AT_LEAST_1, color="0.5", label="largest / first")
    for negatives, color, marker, line in zip(
        params.negatives, colors(len(params.negatives)), MARKERS, LINES[1:], strict=False
    ):
        rows = stage_table[stage_table["negatives"] == negatives]
        style = {"color": color, "marker": marker, "ls": line, "label": f"last, K = {negatives:g}"}
        band(axes, rows, "tau2", "last", log=True, within=AT_LEAST_1, **style)
    axes.set(xscale="log", xlabel="τ²", ylabel="condition number, or ratio")
    axes.legend(loc="upper center")


def _stage1(axes: Axes, table: pd.DataFrame) -> None:
    scaled_color, plain_color = colors(2)
    band(
        axes, table, "tau2", "distance_unscaled", log=True, color=plain_color, ls="--", label="time unscaled"
    )
    band(axes, table, "tau2", "distance", log=True, color=scaled_color, marker="o", label="time scaled")
    lowest = table[table["tau2"] == table["tau2"].min()]
    ends = np.array([table["tau2"].min(), 0.3])
    level = float(np.exp(np.log(lowest["distance"]).mean()))
    axes.plot(ends, level * ends / ends[0], color="0.55", lw=0.8, ls=":", label="∝ τ²")
    axes.set(xscale="log", yscale="log", xlabel="τ²", ylabel="distance from no negatives")
    axes.legend(loc="lower right")
