"""A figure of what other papers say, which none of them has."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.other_papers.experiment import Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import AT_LEAST_1, COSINE, LINES, SHARE, WIDTH, Range, band, colors, steps_axis

Curve = tuple[str, str]
"""An arm and a column."""


@figure(
    "Carried over",
    reads=("trajectory",),
    caption="""Ours, in none of the papers: statements of three of them on the two-layer model of Section 5.
    Upper left: collapsed dimensions of the representation without a projector, behind a fixed one of low rank
    or of decaying singular values, and behind one that trains from the latter (control); Remark 3 of
    esser2024. Upper right and lower left: alignment score of the two views and stable rank of the embeddings,
    with and without negatives; dotted: balanced; Definitions 4.1 and 4.2 of ren2023. Lower right: chi of W1's
    rows on the axes of the data, and of random rotations of the rows, which have no axis of their own;
    tian2023. Mean and 95 % interval over seeds, cut to the possible range. Other losses, if the settings name
    any, have colours of their own.""",
)
def carried_over(tables: Tables, params: Params) -> Figure:
    fig, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.6))
    collapse, alignment, balance, filters = axes.flat
    losses = other_losses(tables, params)
    arms = {"none": "none", "low-rank": "low rank", "decaying": "decaying"}
    arms |= {arm: arm for arm in params.controls}
    negatives = {"none": "with negatives", "non-contrastive": "without"}
    chi = {
        ("none", "chi"): "linear", ("none", "chi_rotated"): "linear, rotated",
        ("relu", "chi"): "ReLU", ("relu", "chi_rotated"): "ReLU, rotated",
    }  # fmt: skip
    for panel, curves, within in (
        (collapse, {(arm, "collapsed"): label for arm, label in arms.items()}, (0, params.dim)),
        (alignment, {(arm, "alignment"): label for arm, label in negatives.items()}, SHARE),
        (balance, {(arm, "stable_rank"): label for arm, label in negatives.items()}, AT_LEAST_1),
        (filters, chi, COSINE),
    ):
        _curves(panel, setting(tables, BASE)["trajectory"], curves, within, colors(len(curves)))
        with_negatives = {curve: label for curve, label in curves.items() if curve[0] != "non-contrastive"}
        for loss in losses:
            shades = loss.shades(len(with_negatives))
            _curves(panel, loss.tables["trajectory"], with_negatives, within, shades, f"{loss.label}, ")
        steps_axis(panel)
    balance.axhline(params.dim, color="0.55", lw=0.8, ls=":", label="balanced")
    collapse.set(title="behind a projector", ylabel=f"collapsed values of {params.dim}")
    alignment.set(title="alignment of two views", ylabel="alignment score")
    balance.set(title="balance", ylabel="stable rank", ylim=(0, 1.06 * params.dim))
    filters.set(title="filters of W1 on the data's axes", ylabel="matching score χ")
    for panel in axes.flat:
        panel.legend(loc="best")
    return fig


def _curves(
    axes: Axes,
    trajectory: pd.DataFrame,
    curves: Mapping[Curve, str],
    within: Range,
    tints: np.ndarray,
    loss: str = "",
) -> None:
    for ((arm, column), label), color, line in zip(curves.items(), tints, LINES, strict=False):
        rows = trajectory[trajectory["arm"] == arm]
        band(axes, rows, "step", column, within=within, color=color, ls=line, label=f"{loss}{label}")
