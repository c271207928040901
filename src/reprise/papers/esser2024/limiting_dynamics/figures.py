"""Figure 3."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.esser2024.limiting_dynamics.experiment import DIMS, WIDTHS, Params
from reprise.plotting.style import WIDTH, band, colors, drawable, steps_axis

METHODS = {"descent": "descent (11)", "printed_euler": "ODE (12)", "corrected_euler": "Euclidean ODE"}
STYLES: tuple[dict[str, Any], ...] = (
    {"ls": "-", "lw": 3, "alpha": 0.35},
    {"ls": "--", "lw": 1.3},
    {"ls": "-.", "lw": 0.8},
)
"""Lines of the methods: descent lies wide and pale below the ODEs, which nearly coincide with it."""
ODES = {"printed": "o", "corrected": "x"}
"""Markers of solve_ivp's solutions."""


@figure(
    "Figure 3",
    reads=("trajectory", "outputs"),
    caption="""Projected gradient descent (11) and the ODE (12), as printed and in the Euclidean metric (see
    Theorem 2), from the same start, descent wide and pale below the ODEs, which nearly coincide; top row z =
    1, bottom row z = 2 (not in the paper). Left: loss, mean over seeds; markers show solve_ivp at the same
    times. Middle: first output on the eigenvector v_1 of the smallest eigenvalue, for the first seed that
    ends above 0 and the first that ends below; dotted: the limits ±e_1 of Theorem 3. Right: distance of the
    ODEs' outputs from those of descent, geometric mean and 95 % interval over seeds.""",
)
def fig03(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, rows = plt.subplots(len(DIMS), 3, figsize=(WIDTH, 4.6), sharex=True)
    for z, (losses, outputs, distances) in zip(DIMS, rows, strict=True):
        trajectory = base["trajectory"].query("z == @z")
        _losses(losses, trajectory)
        _outputs(outputs, base["outputs"].query("z == @z and eigenvector == 1 and unit == 1"))
        _distances(distances, trajectory)
        losses.set_ylabel(f"loss, z = {z}")
    for limit in (-1, 1):
        rows[0, 1].axhline(limit, color="0.5", lw=0.8, ls=":", zorder=0)
    for axes in rows.flat:
        steps_axis(axes)
        axes.set_xlabel("iteration" if axes in rows[-1] else "")
    fig.legend(handles=_key(), loc="outside lower center", ncols=5)
    return fig


def _losses(axes: Axes, table: pd.DataFrame) -> None:
    for width, color in zip(WIDTHS, colors(len(WIDTHS)), strict=True):
        rows = table[table["width"] == width]
        for method, style in zip(METHODS, STYLES, strict=True):
            mean = rows[rows["method"] == method].groupby("iteration")["loss"].mean()
            axes.plot(drawable(mean, f"the loss of {method}, h = {width}"), color=color, **style)
        for ode, marker in ODES.items():
            mean = rows[rows["method"] == f"{ode}_flow"].groupby("iteration")["loss"].mean()
            drawable(mean, f"the loss of {ode}_flow, h = {width}")
            samples = mean.iloc[_spread(len(mean))]
            axes.plot(samples, ls="none", marker=marker, ms=3.5, color=color, mfc="none", mew=0.7)


def _spread(rows: int) -> list[int]:
    """Indices of some rows, increasingly far apart."""
    return sorted({min(rows - 1, round(1.6**power)) for power in range(11)})


def _outputs(axes: Axes, table: pd.DataFrame) -> None:
    for width, color in zip(WIDTHS, colors(len(WIDTHS)), strict=True):
        rows = table[table["width"] == width]
        ends = (
            rows.query("method == 'descent' and iteration == iteration.max()")
            .set_index("seed")["output"]
            .sort_index()
        )
        drawable(ends, f"the outputs of descent, h = {width}")
        seeds = [outputs.index[0] for outputs in (ends[ends > 0], ends[ends < 0]) if len(outputs)]
        for method, style in zip(METHODS, STYLES, strict=True):
            for seed in seeds:
                run = rows[(rows["method"] == method) & (rows["seed"] == seed)]
                output = drawable(
                    run.set_index("iteration")["output"], f"the outputs of {method}, h = {width}"
                )
                axes.plot(output, color=color, **style)
    axes.set(ylabel="output $u_1(v_1)$", ylim=(-1.15, 1.15))


def _distances(axes: Axes, table: pd.DataFrame) -> None:
    for width, color in zip(WIDTHS, colors(len(WIDTHS)), strict=True):
        for method, style in list(zip(METHODS, STYLES, strict=True))[1:]:
            rows = table[(table["width"] == width) & (table["method"] == method) & (table["iteration"] > 0)]
            band(axes, rows, "iteration", "distance", log=True, color=color, **style)
    axes.set(yscale="log", ylabel="distance from descent", ylim=(1e-6, 0.5))


def _key() -> list[Any]:
    """Legend entries: colours for widths, lines for methods, markers for solve_ivp."""
    widths = [
        Line2D([], [], color=color, lw=3, label=f"h = {width}")
        for width, color in zip(WIDTHS, colors(len(WIDTHS)), strict=True)
    ]
    methods = [
        Line2D([], [], color="0.25", **style, label=name)
        for name, style in zip(METHODS.values(), STYLES, strict=True)
    ]
    solutions = [
        Line2D([], [], color="0.25", ls="none", marker=marker, mfc="none", label=f"{name}, solve_ivp")
        for (ode, marker), name in zip(ODES.items(), list(METHODS.values())[1:], strict=True)
    ]
    limit = Line2D([], [], color="0.5", lw=0.8, ls=":", label="±e₁")
    return [*widths, *methods, *solutions, limit]
