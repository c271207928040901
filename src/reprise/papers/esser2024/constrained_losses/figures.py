"""Figure 1."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.errors import RepriseError
from reprise.evidence.verdicts import setting
from reprise.papers.esser2024.constrained_losses.claims import NEGLIGIBLE
from reprise.papers.esser2024.constrained_losses.params import Params
from reprise.plotting.style import LINES, WIDTH, colors, drawable, steps_axis
from reprise.study.experiment import BASE, Tables, figure

NAMES = {
    "unconstrained": r"$\mathcal{L}$, unconstrained",
    "orthogonal": r"$\mathcal{L}_{orth}$: spectral norms",
    "frobenius": "scaled by Frobenius norms",
    "one_layer": r"$\mathcal{L}$ of one layer, u = Θx",
}
PANELS = {
    "loss": ("loss, z = 1", 1, (-1e6, 1.0)),
    "output": ("outputs, z = 1", 1, (-1e4, 1e4)),
    "second_share": ("rank, z = 2", 2, (1e-4, 2.0)),
}
"""Column -> title, number of outputs, and the range beyond which numbers are drawn at its edge."""


@figure(
    "Figure 1",
    caption="""Gradient descent on the contrastive loss of half moons, unconstrained and scaled by norms of
    the weights, a line a start, all on the first seed's data. Left: the loss, z = 1; dotted, the smallest
    eigenvalue of C, which is the least value of both scaled losses. Middle: the output at one anchor, z = 1,
    of weights of norm 1 where the loss is scaled by it. Right: with z = 2, the second singular value of the
    outputs as a share of the first; under the dotted line (5 %) they count as collapsed to one dimension. A
    cross marks the step at which a run's numbers are no longer finite. What lies beyond an axis is drawn at
    its edge.""",
)
def fig01(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    drawn, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    for panel, (column, (title, outputs, limits)) in zip(axes, PANELS.items(), strict=True):
        shown = [name for name in NAMES if name != "one_layer" or column == "second_share"]
        for problem, color, line in zip(shown, colors(len(NAMES)), LINES, strict=False):
            trajectory, runs = (_first_seed(base[name], problem, outputs) for name in ("trajectory", "runs"))
            for start in range(params.starts):
                values = trajectory[trajectory["start"] == start].set_index("step")[column]
                last, diverged_at = _only(runs[runs["start"] == start], column, "diverged_at")
                what = f"'{column}' of '{problem}', start {start}"
                look = {"color": color, "ls": line, "label": NAMES[problem] if start == 0 else None}
                _run(panel, drawable(values, what), last, diverged_at, limits, **look)
        panel.set_title(title)
        steps_axis(panel)
    _scales(*axes, optimum=_first_seed(base["runs"], "orthogonal", 1)["optimum"].iloc[0])
    handles, labels = axes[-1].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return drawn


def _first_seed(table: pd.DataFrame, problem: str, outputs: int) -> pd.DataFrame:
    rows = (table["problem"] == problem) & (table["output_dim"] == outputs) & (table["seed"] == 0)
    return table[rows]


def _only(rows: pd.DataFrame, *columns: str) -> list[float]:
    """Of the one row there is.

    Raises:
        ValueError: when there is another number of rows.
    """
    return [float(rows[column].item()) for column in columns]


def _run(
    axes: Axes,
    values: pd.Series,
    last: float,
    diverged_at: float,
    limits: tuple[float, float],
    **look: Any,
) -> None:
    """A line; of a run that diverged up to its last finite number, with a cross a step later."""
    if not np.isfinite(last):
        raise RepriseError("nothing to draw: a run holds no last number")
    shown = values.dropna()
    if np.isfinite(diverged_at):
        shown = pd.concat([shown, pd.Series([last], [diverged_at - 1])])
    shown = shown.clip(*limits)
    axes.plot(shown.index, shown, lw=0.9, **look)
    if np.isfinite(diverged_at):
        axes.plot([diverged_at], [shown.iloc[-1]], marker="x", ms=4, color=look["color"], ls="none")


def _scales(loss: Axes, output: Axes, share: Axes, *, optimum: float) -> None:
    loss.set_yscale("symlog", linthresh=1)
    loss.set(ylabel="loss", ylim=(-2e6, 1))
    loss.set_yticks([-1e6, -1e4, -1e2, -1, 0])
    loss.axhline(optimum, ls=":", color="0.4", lw=0.8, zorder=0)
    output.set_yscale("symlog", linthresh=1)
    output.set(ylabel="output at one anchor", ylim=(-2e4, 2e4))
    output.set_yticks([-1e4, -1e2, -1, 0, 1, 1e2, 1e4])
    share.set(yscale="log", ylabel="second singular value / first", ylim=(7e-5, 2))
    share.axhline(NEGLIGIBLE, ls=":", color="0.4", lw=0.8, zorder=0)
