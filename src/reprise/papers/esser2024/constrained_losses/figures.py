"""Figure 1."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.errors import RepriseError
from reprise.evidence.comparison import COLLAPSED
from reprise.evidence.verdicts import setting
from reprise.papers.esser2024.constrained_losses.experiment import Params
from reprise.plotting.style import LINES, WIDTH, colors, drawable, legend_below, legend_entries, steps_axis

NAMES = {
    "unconstrained": r"$L$, unconstrained",
    "orthogonal": r"$L_{orth}$: spectral norms",
    "frobenius": "scaled by Frobenius norms",
    "one_layer": r"$L$ of one layer, u = Θx",
}
PANELS = {
    "loss": ("loss, z = 1", 1, (-1e6, 1.0)),
    "output": ("outputs, z = 1", 1, (-1e4, 1e4)),
    "second_share": ("rank, z = 2", 2, (1e-6, 2.0)),
}
"""Maps a column to its title, number of outputs, and drawing range; values outside are drawn at the edge."""


@figure(
    "Figure 1",
    reads=("trajectory", "runs"),
    caption="""Gradient descent on the contrastive loss of half moons, by a linear net of two layers,
    unconstrained and scaled by norms of the weights, and on the right by one of one layer, unconstrained; one
    line per start, all on the first seed's data. Left: the loss for z = 1. The dotted line is the smallest
    eigenvalue of C, the symmetric part of the mean of x (x⁻ - x⁺)ᵀ over anchors x, positives x⁺ and negatives
    x⁻: the minimum of both scaled losses. Middle: the output at one anchor for z = 1; if the loss is scaled
    by a norm, the weights are scaled to norm 1. Right: for z = 2, the second singular value of the outputs as
    a share of the first; below the grey line (0.1 %) they count as collapsed to one dimension. A cross marks
    the step at which a run stops being finite. Values outside an axis are drawn at its edge.""",
)
def fig01(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    for panel, (column, (title, outputs, limits)) in zip(axes, PANELS.items(), strict=True):
        problems = [name for name in NAMES if name != "one_layer" or column == "second_share"]
        for problem, color, line in zip(problems, colors(len(NAMES)), LINES, strict=False):
            trajectory, runs = (_first_seed(base[name], problem, outputs) for name in ("trajectory", "runs"))
            for start in range(params.starts):
                values = trajectory[trajectory["start"] == start].set_index("step")[column]
                last_finite, diverged_at = _only(runs[runs["start"] == start], column, "diverged_at")
                description = f"'{column}' of '{problem}', start {start}"
                style = {"color": color, "ls": line, "label": NAMES[problem] if start == 0 else None}
                _run(panel, drawable(values, description), last_finite, diverged_at, limits, **style)
        panel.set_title(title)
        steps_axis(panel)
    _scales(*axes, optimum=_first_seed(base["runs"], "orthogonal", 1)["optimum"].iloc[0])
    entries = legend_entries(axes[::-1])
    legend_below(fig, entries, columns=4)
    return fig


def _first_seed(table: pd.DataFrame, problem: str, outputs: int) -> pd.DataFrame:
    rows = (
        (table["problem"] == problem)
        & (table["output_dim"] == outputs)
        & (table["seed"] == table["seed"].min())
    )
    return table[rows]


def _only(rows: pd.DataFrame, *columns: str) -> list[float]:
    """The columns' values in the only row.

    Raises:
        ValueError: if there is not exactly one row.
    """
    return [float(rows[column].item()) for column in columns]


def _run(
    axes: Axes,
    values: pd.Series,
    last_finite: float,
    diverged_at: float,
    limits: tuple[float, float],
    **style: Any,
) -> None:
    """Draws a run; one that diverged ends at its last finite value, with a cross one step later."""
    if not np.isfinite(last_finite):
        raise RepriseError("nothing to draw: a run holds no last finite number")
    curve = values.dropna()
    if np.isfinite(diverged_at):
        curve = pd.concat([curve, pd.Series([last_finite], [diverged_at - 1])])
    curve = curve.clip(*limits)
    axes.plot(curve.index, curve, lw=0.9, **style)
    if np.isfinite(diverged_at):
        end: dict[str, Any] = {"marker": "x", "ms": 4, "ls": "none", "label": "no longer finite"}
        axes.plot([diverged_at], [curve.iloc[-1]], color=style["color"], **end)


def _scales(loss: Axes, output: Axes, share: Axes, *, optimum: float) -> None:
    loss.set_yscale("symlog", linthresh=1)
    loss.set(ylabel="loss", ylim=(-2e6, 1))
    loss.set_yticks([-1e6, -1e4, -1e2, -1, 0])
    loss.axhline(optimum, ls=":", color="0.4", lw=0.8, zorder=0, label="smallest eigenvalue of C")
    output.set_yscale("symlog", linthresh=1)
    output.set(ylabel="output at one anchor", ylim=(-2e4, 2e4))
    output.set_yticks([-1e4, -1e2, -1, 0, 1, 1e2, 1e4])
    share.set(yscale="log", ylabel="second singular value / first", ylim=(7e-7, 2))
    share.axhline(COLLAPSED, color="0.55", lw=0.8, zorder=0, label="collapsed below")
