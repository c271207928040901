"""Figures 4, 5, 9 and 10."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.tian2023.matching_scores.experiment import Params
from reprise.papers.tian2023.panels import ROW, score_panels, share_legend
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import COSINE, MARKERS, SHARE, WIDTH, colors, drawable, whiskers

NAMES = {
    "linear": "linear",
    "relu": "ReLU",
    "leaky_relu": "LeakyReLU(0.05)",
    "quadratic": "quadratic",
    "sigmoid": "sigmoid",
}
SCORES = {
    "chi_plus": "χ+",
    "chi_minus": "χ-",
    "absolute_chi_plus": "χ+ by |cos|",
    "absolute_chi_minus": "χ- by |cos|",
}
BY_COS = ("chi_plus", "chi_minus")
PLUS = ("chi_plus", "absolute_chi_plus")
LOSSES = {"infonce_cosine": "InfoNCE", "quadratic_cosine": "quadratic loss"}
AXES = """against over-parameterisation beta (P candidate tokens per field); mean and 95 % interval over
seeds, cut to the values that are possible. Above, scores are those of the published figure and of the
authors' code: |cos| for linear filters, cos for the others; the grey line has linear filters by cos, as Eq.
16 prints it. Below are |cos| for all filters and other losses, if the settings name any. Blue: homogeneous
activations; green: the others."""
LINES = {"linear": "-", "relu": "-", "leaky_relu": "--", "quadratic": "-", "sigmoid": "--"}
APART = 1.07
"""Ratio of the places of neighbouring activations at one beta, where their intervals would coincide."""
AS_PRINTED: dict[str, Any] = {"ls": "-", "marker": "o", "mfc": "white"}
"""The line of linear filters by cos."""
PUBLISHED, OURS = "as in the paper", "not in the paper"
RELEVANT: dict[str, Any] = {"ls": "", "marker": "v", "color": "black", "ms": 2.5}
"""The marks above the tokens that the generators use."""


@figure(
    "Figure 4",
    reads=("matching",),
    caption=f"Matching score χ+ with InfoNCE and with the quadratic loss {AXES}",
)
def fig04(tables: Tables, params: Params) -> Figure:
    return _grid(tables, params, [(loss, score) for score in PLUS for loss in LOSSES])


@figure(
    "Figure 9",
    reads=("matching",),
    caption=f"InfoNCE: matching score χ+ and irrelevant-matching score χ- {AXES}",
)
def fig09(tables: Tables, params: Params) -> Figure:
    return _grid(tables, params, [("infonce_cosine", score) for score in SCORES])


@figure(
    "Figure 10",
    reads=("matching",),
    caption=f"Quadratic loss: matching score χ+ and irrelevant-matching score χ- {AXES}",
)
def fig10(tables: Tables, params: Params) -> Figure:
    return _grid(tables, params, [("quadratic_cosine", score) for score in SCORES])


def _grid(tables: Tables, params: Params, rows: Sequence[tuple[str, str]]) -> Figure:
    """Draws a row of panels for each (loss, score), and for each score with each other loss; the published
    ones apart."""
    matching, others = setting(tables, BASE)["matching"], other_losses(tables, params)
    several = others or len({loss for loss, _ in rows}) > 1
    names = [(SCORES[score], LOSSES[loss] if several else "") for loss, score in rows]
    series = [(score, matching[matching["objective"] == loss], "", _colors(params)) for loss, score in rows]
    for loss in others:
        for score in dict.fromkeys(score for _, score in rows):
            names.append((SCORES[score], loss.label))
            tints = list(loss.shades(len(params.activations) + 1))
            series.append((score, loss.tables["matching"], f"{loss.label}, ", tints))
    published = sum(score in BY_COS for _, score in rows)
    sizes = (published, len(series) - published)
    fig = plt.figure(figsize=(WIDTH, 1.5 + ROW * len(series)))
    parts = fig.subfigures(2, height_ratios=sizes)
    panels = np.concatenate(
        [
            score_panels(part, params, chosen)
            for part, chosen in zip(parts, (names[:published], names[published:]), strict=True)
        ]
    )
    for part, title in zip(parts, (PUBLISHED, OURS), strict=True):
        part.suptitle(title, fontsize=9, fontweight="bold")
    for (score, scores, prefix, tints), row in zip(series, panels, strict=True):
        for candidates, panel in zip(params.candidates, row, strict=True):
            _lines(panel, scores[scores["candidates"] == candidates], score, params, prefix, tints)
    share_legend(fig, panels, 1 + len(others))
    return fig


def _colors(params: Params) -> list[Any]:
    """Colours of the activations, and of linear filters by cos."""
    _, homogeneous, other = colors(3)
    tints = {"linear": "black", "relu": homogeneous, "leaky_relu": homogeneous}
    return [*(tints.get(activation, other) for activation in params.activations), "0.5"]


def _lines(
    panel: Axes, scores: pd.DataFrame, score: str, params: Params, prefix: str, tints: Sequence[Any]
) -> None:
    """Draws the score of each activation against beta.

    Args:
        prefix: of its name.
        tints: a colour an activation, and one of linear filters by cos.
    """
    by_cos = score in BY_COS
    middle = (len(params.activations) - 1) / 2
    for place, (activation, color, marker) in enumerate(
        zip(params.activations, tints, MARKERS, strict=False)
    ):
        rows = scores[scores["activation"] == activation]
        style = {"color": color, "ls": LINES[activation], "marker": marker, "lw": 0.9, "ms": 3}
        style |= {"label": f"{prefix}{NAMES[activation]}", "factor": APART ** (place - middle)}
        if by_cos and activation == "linear":
            whiskers(panel, rows, "beta", f"absolute_{score}", within=SHARE, **style)
            style |= {**AS_PRINTED, "color": tints[-1], "label": f"{prefix}linear by cos"}
            style["factor"] /= APART
        whiskers(panel, rows, "beta", score, within=COSINE if by_cos else SHARE, **style)


@figure(
    "Figure 5",
    reads=("filters",),
    caption="""Filters of the first seed at P = 3, beta = 5 after training with InfoNCE: in each receptive
    field, R0 to R9, those of ReLU (left) and of the linear activation (right), one row per filter and one
    column per token, as shares of the field's largest weight. Triangles mark the candidate tokens that the
    generators use. The paper's caption has 8 tokens, its text 20. Other losses, if the settings name any, are
    below.""",
)
def fig05(tables: Tables, params: Params) -> Figure:
    series = [("", setting(tables, BASE)["filters"])]
    series += [(f"{loss.label}, ", loss.tables["filters"]) for loss in other_losses(tables, params)]
    columns = 5
    rows = -(-params.fields // columns)
    shape, size = (rows * len(series), 2 * columns), (WIDTH, 1.7 * rows * len(series) + 0.6)
    fig, panels = plt.subplots(*shape, figsize=size, sharex=True, sharey=True, squeeze=False)
    for (prefix, filters), part in zip(series, np.split(panels, len(series)), strict=True):
        _filters(part, filters, params)
        for panel in part[:, 0]:
            panel.set_ylabel(f"{prefix}filter")
    for panel in panels[-1]:
        panel.set_xlabel("token")
    fig.colorbar(
        panels[0, 0].images[0],
        ax=fig.axes,
        location="bottom",
        shrink=0.4,
        aspect=40,
        ticks=[-1, -0.5, 0, 0.5, 1],
        label="weight / largest of the field",
    )
    fig.legend(handles=[Line2D([], [], **RELEVANT, label="candidate token")], loc="outside upper center")
    return fig


def _filters(panels: np.ndarray, filters: pd.DataFrame, params: Params) -> None:
    """Draws two panels side by side per field, ReLU and linear."""
    for unused_panel in panels.flat[2 * params.fields :]:
        unused_panel.remove()
    for field in range(params.fields):
        row, column = divmod(field, panels.shape[1] // 2)
        for side, activation in enumerate(("relu", "linear")):
            panel = panels[row, 2 * column + side]
            part = filters[(filters["field"] == field) & (filters["activation"] == activation)]
            weights = drawable(part.pivot(index="unit", columns="token", values="weight"), "the filters")
            panel.imshow(weights / weights.abs().max().max(), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
            tokens = part.loc[part["relevant"], "token"].unique()
            panel.plot(tokens, [-1.3] * len(tokens), clip_on=False, **RELEVANT)
            panel.set(xticks=[], yticks=[])
            panel.set_title(f"R{field}, {NAMES[activation]}", fontsize=6, pad=7)
