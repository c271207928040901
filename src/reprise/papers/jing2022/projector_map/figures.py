"""The map: two figures of the same networks, which the paper does not have."""

from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reprise.contract.experiment import BASE, Tables, figure
from reprise.errors import RepriseError
from reprise.evidence.comparison import COLLAPSED, LEARNED
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.projector_map.experiment import Params
from reprise.papers.jing2022.projector_map.grid import DIRECTCLR, FACTORS, START, WITH, WITHOUT
from reprise.papers.jing2022.spectra import collapsed_values, rank_of_covariance, relative
from reprise.plotting.style import PERCENT, WIDTH, bounds, colors, drawable, legend_below, legend_entries

STYLES: dict[str, dict[str, Any]] = {
    WITH: {"label": "SimCLR with projector", "marker": "o", "color": colors(4)[1]},
    WITHOUT: {"label": "SimCLR without", "marker": "s", "color": colors(4)[0], "mfc": "none"},
    DIRECTCLR: {"label": "DirectCLR", "marker": "^", "color": colors(4)[3]},
}
BESIDE = {WITH: 0.16, WITHOUT: -0.16, DIRECTCLR: 0.16}
"""Height of a network above its row, in rows."""
GREY = "0.6"
POINT = ["factor", "value_of_factor"]
PER_ROW = 3


@figure(
    "Section 6.1, factors",
    reads=("spectra", "probes"),
    caption="""What decides whether a projector prevents collapse: one factor at a time around the
    base point (bold), with the networks with and without a projector trained alike. Where only the projector,
    or DirectCLR's d0, changes, the network without is that of the base point. Left: collapsed singular values
    of the representation's covariance (below a thousandth of the largest) and its effective rank, in % of the
    dimensions. Right: top-1 accuracy of linear probes, by the labels that they predict. Grey ticks: before
    training. In grey: networks that gain less than 15 points in the first probe, which are no evidence. Bars:
    95 % intervals, cut to [0, 100 %], where there is more than one seed.""",
)
def sec61_map(tables: Tables, params: Params) -> Figure:
    spectra, probes = (setting(tables, BASE)[name] for name in ("spectra", "probes"))
    spectra = spectra[spectra["net"] != START]
    rows = _rows(spectra, probes)
    gaps = np.cumsum([0.0, *(0.5 * (a != b) for (a, _), (b, _) in pairwise(rows))])
    heights = {row: -position - gap for position, (row, gap) in enumerate(zip(rows, gaps, strict=True))}
    sets = list(dict.fromkeys(probes["labels"]))
    poor = _poor(probes[probes["labels"] == sets[0]])
    spectra_by_net = spectra.groupby([*POINT, "net", "seed"])["log_value"]
    columns = {
        "collapsed values (%)": 100 * spectra_by_net.agg(collapsed_values) / spectra_by_net.size(),
        "effective rank (%)": 100 * spectra_by_net.agg(rank_of_covariance) / spectra_by_net.size(),
    }
    probes_by_labels = {
        name: probes[probes["labels"] == name].set_index([*POINT, "net", "seed"]) for name in sets
    }
    columns |= {f"{name} probe (%)": table["accuracy"] for name, table in probes_by_labels.items()}
    fig, axes = plt.subplots(
        1, len(columns), sharey=True, figsize=(WIDTH, 0.9 + 0.17 * (len(rows) + gaps[-1])), squeeze=False
    )
    panels = axes[0]
    for panel, (name, numbers) in zip(panels, columns.items(), strict=True):
        _dots(panel, numbers, heights, poor)
        panel.set_xlabel(name)
    for panel, table in zip(panels[2:], probes_by_labels.values(), strict=True):
        start = table["initial"].groupby(POINT).mean()
        panel.plot(start, [heights[point] for point in start.index], ls="", marker="|", ms=5, color="0.5",
                   label="before training")  # fmt: skip
    first = panels[0]
    first.set_yticks(list(heights.values()), [f"{factor}: {value}" for factor, value in heights])
    base = probes.groupby(POINT)["base"].any()
    for label, point in zip(first.get_yticklabels(), heights, strict=True):
        label.set(fontweight="bold" if base[point] else "normal", fontsize=6)
    first.set(ylabel="factor: value", ylim=(min(heights.values()) - 0.7, 0.7))
    legend_below(fig, legend_entries(panels), columns=3)
    return fig


@figure(
    "Section 6.1, spectra",
    reads=("spectra",),
    caption="""What decides whether a projector prevents collapse, one factor at a time: ln of the singular
    values of the representation's covariance (unit vectors, test images, evaluation mode), divided by the
    largest, against the index as a share of the dimensions. Solid: with a projector, or DirectCLR where the
    factor is its d0. Dashed: without. Dotted: before training, at the base point. Grey: the threshold of
    collapse. Means over seeds.""",
)
def sec61_map_spectra(tables: Tables, params: Params) -> Figure:
    spectra = setting(tables, BASE)["spectra"]
    drawable(spectra["log_value"], "the spectra of the map")
    factors = [factor for factor in FACTORS if factor in set(spectra["factor"])]
    per_row = min(len(factors), PER_ROW)
    lines = -(-len(factors) // per_row)
    fig, panels = plt.subplots(
        lines, per_row, sharex=True, sharey=True, figsize=(WIDTH, 0.4 + 1.75 * lines), squeeze=False
    )
    for panel, factor in zip(panels.flat, factors, strict=False):
        factor_rows = spectra[spectra["factor"] == factor]
        values = list(dict.fromkeys(factor_rows["value_of_factor"]))
        if len(values) == 1:
            raise RepriseError(f"nothing to draw: {factor} has one value, {values[0]}")
        for value, color in zip(values, colors(len(values)), strict=True):
            value_rows = factor_rows[factor_rows["value_of_factor"] == value]
            for net, line in _lines(value_rows, value).items():
                rows = value_rows[value_rows["net"] == net]
                _spectrum(panel, rows, f"{factor}: {value}, {net}", **{"color": color, "lw": 0.9, **line})
        panel.axhline(np.log(COLLAPSED), color="0.55", lw=0.8)
        panel.set_title(factor)
        panel.legend(loc="lower left", fontsize=6, handlelength=1.2, labelspacing=0.2)
    for panel in panels.flat[len(factors) :]:
        panel.remove()
    for panel in panels[:, 0]:
        panel.set_ylabel("ln(value / largest)")
    for panel in panels[-1]:
        panel.set_xlabel("index / dimensions")
    key = [
        Line2D([], [], color="0.3", ls="-", label="with a projector, or DirectCLR"),
        Line2D([], [], color="0.3", ls="--", label="without"),
        Line2D([], [], color="black", ls=":", label="before training"),
        Line2D([], [], color="0.55", lw=0.8, label="collapsed below"),
    ]
    fig.legend(handles=key, loc="outside lower center", ncols=len(key))
    return fig


def _lines(rows: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """Line styles of the networks at a point; the start is drawn at the base point only."""
    trained = WITH if WITH in set(rows["net"]) else DIRECTCLR
    lines = {WITHOUT: {"ls": "--"}, trained: {"ls": "-", "label": value}}
    start = {START: {"ls": ":", "color": "black"}} if rows["base"].any() else {}
    return {**lines, **start}


def _rows(spectra: pd.DataFrame, probes: pd.DataFrame) -> list[tuple[str, str]]:
    """The points, factor by factor; both tables must hold the same networks."""
    spectrum_nets, probe_nets = (table[[*POINT, "net"]].drop_duplicates() for table in (spectra, probes))
    if len(spectrum_nets) == 0 or len(spectrum_nets.merge(probe_nets)) != max(
        len(spectrum_nets), len(probe_nets)
    ):
        raise RepriseError("nothing to draw: the tables of the map hold different nets, or none")
    order = {factor: position for position, factor in enumerate(FACTORS)}
    points = dict.fromkeys(probes[POINT].itertuples(index=False, name=None))
    return sorted(points, key=lambda point: order[point[0]])


def _poor(probes: pd.DataFrame) -> set[Any]:
    """The (factor, value, net) for which some seed did not learn."""
    gains = (probes["accuracy"] - probes["initial"]).groupby([probes[key] for key in (*POINT, "net")]).min()
    return set(gains[~(gains >= LEARNED)].index)


def _dots(axes: Axes, numbers: pd.Series, heights: dict[Any, float], poor: set[Any]) -> None:
    """Draws one panel, the networks of a point side by side.

    Args:
        numbers: indexed by point, network and seed.
        poor: the networks that did not learn, each with its point.
    """
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="0.93", lw=0.5)
    for net, style in STYLES.items():
        own = numbers[numbers.index.get_level_values("net") == net]
        groups = {point: drawable(values, f"{net} at {point}") for point, values in own.groupby(POINT)}
        for learned in (True, False):
            points = [point for point in groups if ((*point, net) not in poor) == learned]
            if not points:
                continue
            mean, low, high = np.array([bounds(groups[point], PERCENT) for point in points]).T
            places = np.array([heights[point] + BESIDE[net] for point in points])
            grey = (
                {} if learned else {"color": GREY, "label": f"{style['label']}, did not learn", "zorder": 1}
            )
            (dots,) = axes.plot(mean, places, ls="", ms=3.5, **style | grey)
            axes.hlines(places, low, high, color=dots.get_color(), lw=0.8)


def _spectrum(axes: Axes, rows: pd.DataFrame, what: str, **style: Any) -> None:
    drawable(rows["log_value"], what)
    mean = relative(rows["log_value"], rows["seed"]).groupby(rows["index"]).mean()
    axes.plot(mean.index / len(mean), mean, **style)
