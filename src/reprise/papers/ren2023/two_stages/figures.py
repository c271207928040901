"""Figure 1."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.ren2023.two_stages.experiment import Params
from reprise.papers.ren2023.words import ASSUMED
from reprise.plotting.style import AT_LEAST_1, SHARE, UNBOUNDED, WIDTH, band, colors, drawable, steps_axis

ROWS = (
    (("condition", "condition number"), ("stable_rank", "balance score:\nstable rank of $C$")),
    (("alignment", "alignment score"), ("distance", "distance of\n$K_A$ and $K_B$")),
    (
        ("noise_to_signal", "noise-to-signal ratio"),
        ("intrinsic_dimension", "stable rank of $C^{1/2}$\ntr C / ‖C‖$_2$"),
    ),
    (("loss_value", "contrastive loss"), ("loss_value", "non-contrastive loss")),
)
"""Two quantities a row, the first row larger; each has a panel for each spectrum."""
SPECTRA = ("linear", "spiked")
SERIES = (
    ("contrastive", True, "contrastive"),
    ("contrastive", False, "contrastive, no noise"),
    ("non-contrastive", True, "non-contrastive"),
    ("non-contrastive", False, "non-contrastive, no noise"),
)
STYLES = ("-", (0, (5, 1)), "-", (0, (5, 1)))
MARKS = ("o", "s", "^", "D")
LOG = {"condition", "distance", "noise_to_signal"}
WITHIN = {
    "alignment": SHARE,
    "condition": AT_LEAST_1,
    "stable_rank": AT_LEAST_1,
    "intrinsic_dimension": AT_LEAST_1,
}
LIMIT: dict[str, Any] = {"ms": 3, "mfc": "white", "mew": 0.8}
"""The style of the markers of infinite width."""
STAGES: dict[str, Any] = {"color": "0.4", "lw": 0.8, "ls": ":"}
SMALLEST_DISTANCE = 1e-3
"""Cuts off the distance of infinite width, which tends to 0; that of SGD does not."""


@figure(
    "Figure 1",
    reads=("trajectory", "limit"),
    caption=f"""Whether learners of two modalities end balanced, under the contrastive and the non-contrastive
    loss, on two spectra of A (first row: a condition number of 1, a balance score of r), and what else
    happens on the way (below). Trained by SGD at width m (lines; mean and 95 % interval over seeds, cut to
    the possible range) and in the limit of infinite width (markers, Eq. 8), with noise and without. The
    dotted vertical line separates Stage 1 (small τ²) from Stage 2 (large τ²), which only the contrastive loss
    has. The alignment score, on fresh pairs, rises within the first
    steps; its axis is linear up to step 10 and logarithmic beyond. The balance score of Definition 4.2 is a
    stable rank, and the text allows that of the output's covariance C and that of its root C^1/2: both count
    directions, from 1 for a collapsed output to r for a balanced one, and the first weighs the strong ones
    more. C is exact, not estimated from samples. Grey lines: the alignment score's ceiling 1 - 2^-r without
    noise, because a negative may share all signals; a condition number of 1; stable ranks of r. Condition
    number and noise-to-signal ratio are the larger ones of K_A and K_B; the latter rises before it falls.
    Distances of infinite width below 0.001 are omitted. {ASSUMED}""",
)
def fig01(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, axes = plt.subplots(len(ROWS), 2 * len(SPECTRA), figsize=(WIDTH, 7.6), height_ratios=(1.7, 1, 1, 1))
    for upper, lowest in zip(axes[-2], axes[-1], strict=True):
        upper.sharex(lowest)
        upper.tick_params(labelbottom=False)
    for row, quantities in zip(axes, ROWS, strict=True):
        for panels, (column, label) in zip(np.split(row, 2), quantities, strict=True):
            panels[1].sharey(panels[0])
            for panel, spectrum in zip(panels, SPECTRA, strict=True):
                trajectory, limit = (
                    base[name][base[name]["spectrum"] == spectrum] for name in ("trajectory", "limit")
                )
                _panel(panel, trajectory, limit, column, label)
                _references(panel, column, params)
                if column == "alignment":
                    steps_axis(panel)
            panels[0].set_ylabel(label)
            panels[1].tick_params(labelleft=False)
    for panel in axes[[0, 1, 3]].flat:
        panel.set_xlabel("step")
    for panel, spectrum in zip(axes[0], SPECTRA * 2, strict=True):
        panel.set_title(f"{spectrum} spectrum")
    fig.legend(handles=_key(), loc="outside lower center", ncols=3, handlelength=3.2,
               title=f"lines: SGD at width m = {params.width}; markers: infinite width")  # fmt: skip
    return fig


def _colors() -> np.ndarray[Any, Any]:
    """A colour for each loss, with noise and without."""
    return np.repeat(colors(2), 2, axis=0)


def _key() -> list[Line2D]:
    return [
        *(
            Line2D([], [], color=color, ls=line, marker=mark, label=name, **LIMIT)
            for (*_, name), color, line, mark in zip(SERIES, _colors(), STYLES, MARKS, strict=True)
        ),
        Line2D([], [], **STAGES, label="end of Stage 1"),
        Line2D([], [], color="0.55", lw=0.8, label="bound or goal"),
    ]


def _panel(axes: Axes, trajectory: pd.DataFrame, limit: pd.DataFrame, column: str, label: str) -> None:
    for (loss, noise, name), color, line, mark in zip(SERIES, _colors(), STYLES, MARKS, strict=True):
        if column == "noise_to_signal" and not noise:
            continue
        if column == "loss_value" and label != f"{loss} loss":
            continue
        selection = "loss == @loss and noise == @noise"
        log = column in LOG
        style = {"color": color, "ls": line, "label": name, "within": WITHIN.get(column, UNBOUNDED)}
        band(axes, trajectory.query(selection), "step", column, log=log, **style)
        if column in limit:
            _marks(axes, limit.query(selection), column, color, mark, name)
    if column in LOG:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter("")
    if column == "condition":
        axes.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    if column == "noise_to_signal":
        axes.set_yticks([0.1, 0.2, 0.5], ["0.1", "0.2", "0.5"])
        axes.set_ylim(0.1, 0.7)
    if column == "distance":
        axes.set_ylim(SMALLEST_DISTANCE, 3)


def _marks(axes: Axes, limit: pd.DataFrame, column: str, color: Any, mark: str, name: str) -> None:
    points = limit.sort_values("step")
    drawable(points[column], f"{column} of infinite width, {name}")
    if column == "distance":
        points = points[points[column] > SMALLEST_DISTANCE]
    style: dict[str, Any] = {"ls": "", "marker": mark, "color": color, "label": f"_{name}", **LIMIT}
    axes.plot(points["step"], points[column], markevery=0.08, **style)


def _references(axes: Axes, column: str, params: Params) -> None:
    axes.axvline(params.stage1_steps, zorder=0, **STAGES)
    levels = {
        "alignment": 1 - 2.0**-params.signals,
        "stable_rank": params.signals,
        "intrinsic_dimension": params.signals,
        "condition": 1.0,
    }
    if column in levels:
        axes.axhline(levels[column], color="0.55", lw=0.8, zorder=0)
