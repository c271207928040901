"""Figures 6a and 6b."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.comparison import COLLAPSED, collapsed
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.depth_and_nonlinearity.experiment import Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import LINES, MARKERS, SHARE, WIDTH, band, colors, legend_below, legend_entries

FILLS = ("full", "none", "left", "right", "top", "bottom")
"""Fills of the markers, one a depth, where colour tells something else."""


@figure(
    "Figure 6a",
    reads=("spectrum",),
    caption="""Singular values of the embeddings' covariance for 1 to 4 linear layers, divided by the largest,
    at the step used by claims: on data with a spread covariance (dotted: the spectrum of the shallowest net
    at initialisation), on isotropic data, and on these from a degenerate start, which Section 5.3 excludes
    (control). Values below the grey line count as collapsed. Right: their number against the steps; it falls
    again as small values grow slowly (upright line: the step used by claims). Controls did not run at the
    depths named below them. Mean and 95 % interval over seeds, cut to the possible range. Lower rows: other
    losses, if the settings name any.""",
)
def fig06a(tables: Tables, params: Params) -> Figure:
    others = other_losses(tables, params)
    fig, axes = plt.subplots(1 + len(others), 4, figsize=(WIDTH, 2.5 * (1 + len(others))), squeeze=False)
    tints = colors(len(params.depths))
    _depths(axes[0], setting(tables, BASE)["spectrum"], params, tints)
    for row, loss in zip(axes[1:], others, strict=True):
        shades = loss.shades(len(params.depths))
        _depths(row, loss.tables["spectrum"], params, shades, f"{loss.label}, ")
    _legend(fig, axes, columns=7)
    return fig


def _depths(
    axes: np.ndarray, spectrum: pd.DataFrame, params: Params, tints: np.ndarray, loss: str = ""
) -> None:
    """Draws a row of panels: spectra of linear networks and controls, and collapse counts of the former."""
    titles = {"linear": "linear", "isotropic": "isotropic data", "degenerate": "degenerate start"}
    styles = _styles(tints)
    for panel, (arm, title) in zip(axes, titles.items(), strict=False):
        rows = spectrum[spectrum["arm"] == arm]
        lines = [(f"{loss}L = {depth}", rows[rows["depth"] == depth]) for depth in params.depths]
        _spectra(panel, lines, styles)
        absent = [f"{depth}" for depth in params.depths if depth not in set(rows["depth"])]
        if absent:
            panel.set_xlabel(f"index\n(not run: L = {', '.join(absent)})")
        panel.set(title=f"{title}, step {params.steps}", ylim=(1e-7, 3))
    _initial(axes[0], spectrum.query("arm == 'linear' and depth == @params.depths[0]"), f"{loss}at the start")
    axes[0].set_ylabel("singular value / largest")
    linear = spectrum[spectrum["arm"] == "linear"]
    lines = [(f"{loss}L = {depth}", linear[linear["depth"] == depth]) for depth in params.depths]
    _counts(axes[3], lines, styles, params)


@figure(
    "Figure 6b",
    reads=("spectrum",),
    caption="""Singular values of the embeddings' covariance with and without ReLU between the layers, divided
    by the largest, at the step used by claims, and the number of collapsed ones against the steps. Dotted:
    spectrum at initialisation with ReLU. Upright line: the step used by claims. Mean and 95 % interval over
    seeds, cut to the possible range. Lower rows: other losses, if the settings name any.""",
)
def fig06b(tables: Tables, params: Params) -> Figure:
    others = other_losses(tables, params)
    depths = [depth for depth in params.relu_depths if depth in params.depths]
    fig, axes = plt.subplots(
        1 + len(others), len(depths) + 1, figsize=(WIDTH, 2.6 * (1 + len(others))), squeeze=False
    )
    _with_relu(axes[0], setting(tables, BASE)["spectrum"], params, depths, colors(2))
    for row, loss in zip(axes[1:], others, strict=True):
        _with_relu(row, loss.tables["spectrum"], params, depths, loss.shades(2), f"{loss.label}, ")
    _legend(fig, axes, columns=4)
    return fig


def _with_relu(
    axes: np.ndarray,
    spectrum: pd.DataFrame,
    params: Params,
    depths: Sequence[int],
    tints: np.ndarray,
    loss: str = "",
) -> None:
    """Draws a row of panels: spectra with and without ReLU at each depth, and collapse counts of all."""
    styles = {
        depth: [{**style, "fillstyle": fill} for style in _styles(tints)]
        for depth, fill in zip(depths, FILLS, strict=False)
    }
    pairs = {
        depth: [(arm, spectrum[(spectrum["arm"] == name) & (spectrum["depth"] == depth)])
                for arm, name in (("linear", "linear"), ("ReLU", "relu"))]
        for depth in depths
    }  # fmt: skip
    for panel, (depth, lines) in zip(axes, pairs.items(), strict=False):
        _spectra(panel, [(f"{loss}{arm}, L = {depth}", rows) for arm, rows in lines], styles[depth])
        _initial(panel, lines[1][1], f"{loss}at the start")
        panel.set(title=f"L = {depth}, step {params.steps}", ylim=(1e-6, 3))
    axes[0].set_ylabel("singular value / largest")
    counts = [(f"{loss}{arm}, L = {depth}", rows) for depth in depths for arm, rows in pairs[depth]]
    _counts(axes[-1], counts, [style for depth in depths for style in styles[depth]], params)


def _legend(fig: Figure, axes: np.ndarray, *, columns: int) -> None:
    legend_below(fig, legend_entries(axes.flat), columns=columns, columnspacing=1.2)


def _styles(tints: np.ndarray) -> list[dict[str, Any]]:
    return [
        {"color": color, "marker": marker, "ls": line}
        for color, marker, line in zip(tints, MARKERS, LINES, strict=False)
    ]


def _spectra(axes: Axes, lines: Sequence[tuple[str, pd.DataFrame]], styles: Sequence[dict[str, Any]]) -> None:
    for (label, rows), style in zip(lines, styles, strict=False):
        if rows.empty:  # a control that did not run at this depth, whose colour stays reserved
            continue
        final = _relative(rows[rows["step"] == rows["read"]])
        band(axes, final, "index", "relative", log=True, within=SHARE, markersize=2.5, label=label, **style)
    axes.axhline(COLLAPSED, color="0.55", lw=0.8, label="collapsed below")
    axes.set(yscale="log", xlabel="index")


def _initial(axes: Axes, rows: pd.DataFrame, label: str) -> None:
    band(
        axes,
        _relative(rows[rows["step"] == 0]),
        "index",
        "relative",
        log=True,
        within=SHARE,
        color="black",
        ls=":",
        lw=0.9,
        label=label,
    )


def _relative(rows: pd.DataFrame) -> pd.DataFrame:
    largest = rows.groupby("seed")["singular_value"].transform("max")
    return rows.assign(relative=rows["singular_value"] / largest)


def _counts(
    axes: Axes,
    lines: Sequence[tuple[str, pd.DataFrame]],
    styles: Sequence[dict[str, Any]],
    params: Params,
) -> None:
    for (label, rows), style in zip(lines, styles, strict=False):
        later = rows[rows["step"] > 0]
        counts = (
            later.groupby(["step", "seed"])["singular_value"].agg(collapsed).rename("collapsed").reset_index()
        )
        band(axes, counts, "step", "collapsed", within=(0, params.dim), label=label, **style)
    axes.axvline(params.steps, color="0.55", lw=0.8, ls="-.", zorder=0, label="step of the claims")
    axes.set(
        xscale="log", xlabel="step", title=f"collapsed values of {params.dim}", ylim=(-0.5, params.dim + 0.5)
    )
    axes.set_yticks(np.arange(0, params.dim + 1, 4))
    ticks = [params.steps * factor for factor in (1 / 16, 1 / 4, 1)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.minorticks_off()
