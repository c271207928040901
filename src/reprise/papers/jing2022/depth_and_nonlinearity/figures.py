"""Figures 6a and 6b."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.claims import COLLAPSED, collapsed
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.depth_and_nonlinearity.params import Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import LINES, MARKERS, WIDTH, band, colors
from reprise.study.experiment import BASE, Tables, figure


@figure(
    "Figure 6a",
    caption="""Singular values of the embeddings' covariance for 1 to 4 linear layers, divided by the
    largest, at the step used by claims: on data with a spread covariance (dotted: the spectrum of the
    shallowest net at initialisation), on isotropic data, and on these from a degenerate start, which Section
    5.3 excludes (control). Values below the grey line count as collapsed. Right: their number against the
    steps; it falls again as small values grow slowly. Mean and 95 % interval over seeds. Lower rows: other
    losses named in the settings.""",
)
def fig06a(tables: Tables, params: Params) -> Figure:
    others = other_losses(tables, params)
    fig, axes = plt.subplots(1 + len(others), 4, figsize=(WIDTH, 2.3 * (1 + len(others))), squeeze=False)
    tints = colors(len(params.depths))
    _depths(axes[0], setting(tables, BASE)["spectrum"], params, tints)
    for row, loss in zip(axes[1:], others, strict=True):
        shades = loss.shades(len(params.depths))
        _depths(row, loss.tables["spectrum"], params, shades, f"{loss.label}, ")
    return fig


def _depths(
    axes: np.ndarray, spectrum: pd.DataFrame, params: Params, tints: np.ndarray, loss: str = ""
) -> None:
    """Draws a row of panels: spectra of linear networks and controls, and collapse counts of the former."""
    titles = {"linear": "linear", "isotropic": "isotropic data", "degenerate": "degenerate start"}
    for panel, (arm, title) in zip(axes, titles.items(), strict=False):
        rows = spectrum[spectrum["arm"] == arm]
        lines = [(f"{loss}L = {depth}", rows[rows["depth"] == depth]) for depth in params.depths]
        _spectra(panel, lines, tints)
        panel.set(title=f"{title}, step {params.steps}", ylim=(1e-7, 3))
    _initial(axes[0], spectrum.query("arm == 'linear' and depth == @params.depths[0]"), f"{loss}init")
    axes[0].set_ylabel("singular value / largest")
    # A degenerate start leaves the panel's lower half empty, whatever the number of steps.
    axes[2].legend(*axes[0].get_legend_handles_labels(), loc="lower left", handlelength=1.8)
    linear = spectrum[spectrum["arm"] == "linear"]
    lines = [(f"{loss}L = {depth}", linear[linear["depth"] == depth]) for depth in params.depths]
    _counts(axes[3], lines, tints, params)


@figure(
    "Figure 6b",
    caption="""Singular values of the embeddings' covariance with and without ReLU between the layers,
    divided by the largest, at the step used by claims, and the number of collapsed ones against the steps.
    Dotted: spectrum at initialisation with ReLU. Mean and 95 % interval over seeds. Lower rows: other losses
    named in the settings.""",
)
def fig06b(tables: Tables, params: Params) -> Figure:
    others = other_losses(tables, params)
    depths = [depth for depth in params.relu_depths if depth in params.depths]
    fig, axes = plt.subplots(
        1 + len(others), len(depths) + 1, figsize=(WIDTH, 2.3 * (1 + len(others))), squeeze=False
    )
    tints = colors(2), colors(2 * len(depths))
    _with_relu(axes[0], setting(tables, BASE)["spectrum"], params, depths, *tints)
    for row, loss in zip(axes[1:], others, strict=True):
        tints = loss.shades(2), loss.shades(2 * len(depths))
        _with_relu(row, loss.tables["spectrum"], params, depths, *tints, f"{loss.label}, ")
    return fig


def _with_relu(
    axes: np.ndarray,
    spectrum: pd.DataFrame,
    params: Params,
    depths: Sequence[int],
    pair_tints: np.ndarray,
    all_tints: np.ndarray,
    loss: str = "",
) -> None:
    """Draws a row of panels: spectra with and without ReLU at each depth, and collapse counts of all."""
    pairs = {
        depth: [(arm, spectrum[(spectrum["arm"] == name) & (spectrum["depth"] == depth)])
                for arm, name in (("linear", "linear"), ("ReLU", "relu"))]
        for depth in depths
    }  # fmt: skip
    for panel, (depth, lines) in zip(axes, pairs.items(), strict=False):
        _spectra(panel, [(f"{loss}{arm}", rows) for arm, rows in lines], pair_tints)
        _initial(panel, lines[1][1], f"{loss}init")
        panel.set(title=f"L = {depth}, step {params.steps}", ylim=(1e-6, 3))
    axes[0].set_ylabel("singular value / largest")
    axes[0].legend(loc="lower left")
    counts = [(f"{loss}{arm}, L = {depth}", rows) for depth in depths for arm, rows in pairs[depth]]
    _counts(axes[-1], counts, all_tints, params)
    axes[-1].legend(loc="upper right")


def _spectra(axes: Axes, lines: Sequence[tuple[str, pd.DataFrame]], tints: np.ndarray) -> None:
    for (label, rows), color, marker, line in zip(lines, tints, MARKERS, LINES, strict=False):
        if rows.empty:  # a control that did not run at this depth, whose colour stays reserved
            continue
        final = _relative(rows[rows["step"] == rows["read"]])
        band(
            axes,
            final,
            "index",
            "relative",
            log=True,
            color=color,
            marker=marker,
            markersize=2.5,
            ls=line,
            label=label,
        )
    axes.axhline(COLLAPSED, color="0.6", lw=0.8)
    axes.set(yscale="log", xlabel="index")


def _initial(axes: Axes, rows: pd.DataFrame, label: str) -> None:
    band(
        axes,
        _relative(rows[rows["step"] == 0]),
        "index",
        "relative",
        log=True,
        color="black",
        ls=":",
        lw=0.9,
        label=label,
    )


def _relative(rows: pd.DataFrame) -> pd.DataFrame:
    largest = rows.groupby("seed")["singular_value"].transform("max")
    return rows.assign(relative=rows["singular_value"] / largest)


def _counts(axes: Axes, lines: Sequence[tuple[str, pd.DataFrame]], tints: np.ndarray, params: Params) -> None:
    for (label, rows), color, marker, line in zip(lines, tints, MARKERS, LINES, strict=False):
        later = rows[rows["step"] > 0]
        counts = (
            later.groupby(["step", "seed"])["singular_value"].agg(collapsed).rename("collapsed").reset_index()
        )
        band(axes, counts, "step", "collapsed", color=color, marker=marker, ls=line, label=label)
    axes.axvline(params.steps, ymax=0.65, color="0.6", lw=0.8)
    axes.set(
        xscale="log", xlabel="step", title=f"collapsed values of {params.dim}", ylim=(-0.5, 1.2 * params.dim)
    )
    axes.set_yticks(np.arange(0, params.dim + 1, 4))
    ticks = [params.steps * factor for factor in (1 / 16, 1 / 4, 1)]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.minorticks_off()
