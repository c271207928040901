"""Figure of other papers' statements on the two-layer model."""

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
from reprise.plotting.style import AT_LEAST_1, COSINE, LINES, WIDTH, Range, band, colors, steps_axis

Curve = tuple[str, str]
"""An arm and a column."""


@figure(
    "Carried over",
    reads=("trajectory",),
    caption="""Statements of three other papers on the two-layer model of Section 5. Left: dimensions of the
    embeddings that have not collapsed, without a projector and behind a fixed one of low rank or of decaying
    singular values; Remark 3 of esser2024. Middle: stable rank of the embeddings,
    with and without negatives; dotted: balanced; Definition 4.2 of ren2023. Right: chi of W1's rows on the
    axes of the data, and of random rotations of the rows, which have no axis of their own; tian2023. Mean and
    95 % interval over seeds, cut to the possible range. Other losses, if the settings name any, have colours
    of their own.""",
)
def carried_over(tables: Tables, params: Params) -> Figure:
    fig, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.4))
    standing, balance, filters = axes
    losses = other_losses(tables, params)
    arms = {"none": "none", "low-rank": "low rank", "decaying": "decaying"}
    negatives = {"none": "with negatives", "non-contrastive": "without"}
    chi = {
        ("none", "chi"): "linear", ("none", "chi_rotated"): "linear, rotated",
        ("relu", "chi"): "ReLU", ("relu", "chi_rotated"): "ReLU, rotated",
    }  # fmt: skip
    for panel, curves, within in (
        (standing, {(arm, "standing"): label for arm, label in arms.items()}, (0, params.dim)),
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
    standing.set(title="behind a projector", ylabel=f"standing values of {params.dim}")
    balance.set(title="balance", ylabel="stable rank", ylim=(0, 1.06 * params.dim))
    filters.set(title="filters of W1 on the data's axes", ylabel="matching score χ")
    for panel in axes:
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
