"""Figures 4 and 5."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.layer_alignment.experiment import Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import LINES, NOT_NEGATIVE, SHARE, WIDTH, band, colors, drawable, steps_axis

STARTS = ("independent", "balanced")
ARMS = (*STARTS, "degenerate")


@figure(
    "Figure 4",
    reads=("alignment", "trajectory"),
    caption="""Magnitude of the alignment matrix A = V2ᵀ U1 after training, mean over seeds. Independent:
    layers start with distinct singular values and random singular vectors, as in the authors' public code.
    Balanced: the same values with W1 W1ᵀ = W2ᵀ W2, so that A is an identity from the start, which training
    conserves. Degenerate (control): multiples of orthogonal matrices, excluded in Section 5.3; they align at
    the first step, as soon as their values differ. Right: A's off-diagonal mass 1 - mean A_kk² over the
    steps, and the imbalance |W1 W1ᵀ - W2ᵀ W2|_F. Mean and 95 % interval over seeds, the mass's cut to [0, 1].
    Other losses, if the settings name any, have a row of matrices and lines in their own colour.""",
)
def fig04(tables: Tables, params: Params) -> Figure:
    base, others = setting(tables, BASE), other_losses(tables, params)
    fig, axes = plt.subplots(
        1 + len(others),
        len(ARMS) + 2,
        figsize=(WIDTH, 2 * (1 + len(others))),
        width_ratios=[1] * len(ARMS) + [1.2, 1.2],
        squeeze=False,
    )
    _matrices(axes[0], base["alignment"], params)
    _trajectories(axes[0], base["trajectory"], colors(len(ARMS)))
    for row, loss in zip(axes[1:], others, strict=True):
        _matrices(row, loss.tables["alignment"], params, f", {loss.label}")
        _trajectories(axes[0], loss.tables["trajectory"], loss.shades(len(ARMS)), f"{loss.label}, ")
        for unused in row[len(ARMS) :]:
            unused.remove()
    image = axes[0, 0].images[0]
    label = "|A|, mean over seeds"
    fig.colorbar(image, ax=axes[:, : len(ARMS)], location="bottom", shrink=0.6, aspect=30, label=label)
    for panel in axes[0, -2:]:
        steps_axis(panel)
    axes[0, -2].set(title="off-diagonal mass", ylim=(-0.03, 1.03))
    axes[0, -1].set(title="imbalance")
    axes[0, -1].legend(loc="center right")
    return fig


def _matrices(axes: np.ndarray, alignment: pd.DataFrame, params: Params, loss: str = "") -> None:
    """Draws |A| from each initialisation in the first panels."""
    ticks = [0, params.dim // 2 - 1, params.dim - 1]
    for panel, arm in zip(axes, ARMS, strict=False):
        mean = alignment[alignment["arm"] == arm].groupby(["row", "column"])["magnitude"].mean().unstack()
        panel.imshow(drawable(mean, "the alignment matrix"), vmin=0, vmax=1, cmap="viridis")
        panel.set_xticks(ticks, [str(tick + 1) for tick in ticks])
        panel.set_yticks(ticks, [str(tick + 1) for tick in ticks])
        panel.set(title=f"|A|, {arm}{loss}", xlabel="left vector of W1")
    axes[0].set_ylabel("right vector of W2")


def _trajectories(axes: np.ndarray, trajectory: pd.DataFrame, tints: np.ndarray, loss: str = "") -> None:
    """Draws off-diagonal mass and imbalance over the steps in the last two panels."""
    for arm, color, line in zip(ARMS, tints, LINES, strict=False):
        rows = trajectory[trajectory["arm"] == arm]
        style = {"color": color, "ls": line, "label": f"{loss}{arm}"}
        band(axes[-2], rows, "step", "off_diagonal_mass", within=SHARE, **style)
        band(axes[-1], rows, "step", "imbalance", within=NOT_NEGATIVE, **style)


@figure(
    "Figure 5",
    reads=("singular_values", "theorem3"),
    caption="""Singular values of (a) W1, (b) W2 and (c) the embeddings' covariance over the steps, from
    independent layers (first row) and from balanced ones (second row); dark lines are the largest, bands
    95 % intervals over seeds. Dashed in (a) and (b) of the second row: Theorem 3's ODE with the measured
    X, from the step at which these layers are aligned; it does not hold for layers that are not. Lower
    rows: other losses, if the settings name any, from independent layers, without the ODE, which holds
    for InfoNCE only.""",
)
def fig05(tables: Tables, params: Params) -> Figure:
    base, others = setting(tables, BASE), other_losses(tables, params)
    count = len(STARTS) + len(others)
    fig, axes = plt.subplots(count, 3, figsize=(WIDTH, 2.3 * count), squeeze=False)
    for row, arm in zip(axes, STARTS, strict=False):
        values = base["singular_values"].query("arm == @arm")
        _growth(row, values, colors(params.dim), params, f"{arm} layers")
        for panel in row[:2]:
            panel.set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
            panel.yaxis.minorticks_off()
    for panel, layer in zip(axes[1], ("W1", "W2"), strict=False):
        for index in range(1, params.dim + 1):
            rows = base["theorem3"][base["theorem3"]["index"] == index]
            ode = rows.groupby("step")[f"{layer.lower()}_ode"]
            mean = np.exp(ode.agg(lambda values: np.log(values).mean()))
            panel.plot(mean.index, drawable(mean, "Theorem 3's ODE"), color="black", ls=(0, (2, 2)), lw=0.7)
    axes[1, 0].plot([], [], color="black", ls=(0, (2, 2)), lw=0.7, label="Theorem 3")
    for row, loss in zip(axes[len(STARTS) :], others, strict=True):
        values = loss.tables["singular_values"].query("arm == 'independent'")
        _growth(row, values, loss.shades(params.dim), params, loss.label)
    for panel in axes[:, 0]:
        panel.legend(loc="upper left")
    return fig


def _growth(axes: np.ndarray, values: pd.DataFrame, tints: np.ndarray, params: Params, name: str) -> None:
    """Draws a row of panels: singular values of both layers and of the embeddings' covariance.

    Args:
        name: the start's or the loss's, beside the row.
    """
    titles = {"W1": "(a) W1", "W2": "(b) W2", "embedding": "(c) embedding covariance"}
    for panel, (layer, title) in zip(axes, titles.items(), strict=True):
        for index, color in zip(range(1, params.dim + 1), tints, strict=True):
            rows = values[(values["layer"] == layer) & (values["index"] == index)]
            band(panel, rows, "step", "singular_value", log=True, color=color)
        panel.set(title=title, yscale="log")
        steps_axis(panel)
    axes[0].set_ylabel(f"{name}\nsingular value")
    axes[0].plot([], [], color=tints[0], label="largest")
    axes[0].plot([], [], color=tints[-1], label=f"{params.dim}th")
