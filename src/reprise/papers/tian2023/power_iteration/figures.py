"""Figure 1 (right): convergence of power iteration."""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.tian2023.power_iteration.experiment import Params
from reprise.plotting.style import LINES, SHARE, WIDTH, band, colors, drawable, legend_entries

FLOOR = 1e-17
"""Shorter steps, including those of length 0, are drawn at this length."""
ITERATIONS_DRAWN = 60


@figure(
    "Figure 1",
    reads=("steps", "ends"),
    caption="""Power iteration w ← A(w) w / ‖A(w) w‖₂ in the latent summation model x = U y, from w(0) = u_1,
    for several distances of U from an orthogonal matrix (the paper gives neither these nor M and q). Left and
    middle: length of each step, one line per random U; steps below 1e-17 are drawn at 1e-17. Left: as
    published, with the exact expectation over the discrete y; A(w) is piecewise constant, and the iteration
    may end in a cycle between its pieces. Middle: with Gaussian noise on x, which makes A(w) smooth. Right:
    share of the runs from all u_m that came to rest and, for discrete y, that ended in a cycle; mean and 95 %
    interval over U, cut to [0, 1].""",
)
def fig01(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.8), width_ratios=(1.15, 1.15, 1))
    titles = {"discrete": "as published", "smoothed": f"with noise of std {params.noise_std:g}"}
    for panel, (model, title) in zip(axes, titles.items(), strict=False):
        _steps(panel, base["steps"][base["steps"]["model"] == model], model, params)
        panel.set_title(title)
    axes[0].set_ylabel(r"step $\Vert w(t+1) - w(t)\Vert_2$")
    entries = legend_entries(axes[:1])
    title = "left and middle: ‖UᵀU - I‖₂"
    legend = fig.legend(
        entries.values(), entries, loc="outside lower center", ncols=len(entries), title=title
    )
    for handle in legend.get_lines():
        handle.set(linewidth=1.5, alpha=1)
    _shares(axes[2], base["ends"])
    return fig


def _steps(axes: Axes, table: pd.DataFrame, model: str, params: Params) -> None:
    early_steps = table[table["iteration"] <= ITERATIONS_DRAWN]
    for distance, color in zip(params.gram_distances, colors(len(params.gram_distances)), strict=True):
        rows = early_steps[early_steps["gram_distance"] == distance]
        runs = rows.pivot(index="iteration", columns="seed", values="step")
        drawable(runs, f"the steps of the {model} model at {distance:g}")
        lines = axes.plot(runs.index, runs.clip(lower=FLOOR), color=color, lw=0.6, alpha=0.8)
        lines[0].set_label(f"{distance:g}")
    axes.set(
        xlabel="iteration t",
        yscale="log",
        ylim=(FLOOR / 3, 10),
        xlim=(-1, early_steps["iteration"].max() + 1),
    )
    axes.set_yticks([1e-16, 1e-12, 1e-8, 1e-4, 1])


def _shares(axes: Axes, ends: pd.DataFrame) -> None:
    ends = ends[ends["period"].notna()]
    curves = {
        "smoothed: at rest": (ends["model"] == "smoothed", ends["period"] == 1, "s"),
        "discrete: at rest": (ends["model"] == "discrete", ends["period"] == 1, "o"),
        "discrete: in a cycle": (ends["model"] == "discrete", ends["period"] > 1, "^"),
    }
    for (label, (selection, condition, marker)), color, line in zip(
        curves.items(), ("black", "0.3", "0.55"), LINES, strict=False
    ):
        shares = ends[selection].assign(share=condition[selection].astype(float))
        by_seed = shares.groupby(["gram_distance", "seed"], as_index=False)[["share"]].mean()
        style: dict[str, Any] = {"color": color, "marker": marker, "ls": line, "label": label}
        band(axes, by_seed, "gram_distance", "share", within=SHARE, **style)
    axes.set(xlabel="‖UᵀU - I‖₂", ylabel="share of runs", title="how runs end", ylim=(-0.03, 1.5))
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.legend(loc="upper left")
