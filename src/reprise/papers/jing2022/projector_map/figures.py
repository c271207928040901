"""The map: two drawings of the same nets. The paper has none."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.claims import COLLAPSED, LEARNED
from reprise.evidence.statistics import mean_interval
from reprise.evidence.verdicts import setting
from reprise.experiment import BASE, Tables, figure
from reprise.papers.jing2022.projector_map.grid import DIRECTCLR, FACTORS, START, WITH, WITHOUT
from reprise.papers.jing2022.projector_map.params import Params
from reprise.papers.jing2022.spectra import collapsed_values, effective_rank, relative
from reprise.report.style import WIDTH, band, colors, drawable

STYLES: dict[str, dict[str, Any]] = {
    WITH: {"label": "SimCLR with projector", "marker": "o", "color": colors(4)[1]},
    WITHOUT: {"label": "SimCLR without", "marker": "s", "color": colors(4)[0], "mfc": "none"},
    DIRECTCLR: {"label": "DirectCLR", "marker": "^", "color": colors(4)[3]},
}
POINT = ["factor", "value_of_factor"]
PER_ROW = 3


@figure(
    "Section 6.1",
    caption="""What decides whether a projector prevents collapse: one factor at a time about the base
    point (bold), the net with a projector and the net without trained alike. Where only the projector,
    or DirectCLR's d0, is changed, the net without is the base point's. Left: collapsed singular values
    of the representation's covariance (under a thousandth of the largest) and its effective rank, in %
    of the dimensions. Right: top-1 accuracy of linear probes by the labels that they predict; grey
    ticks: before training; crosses: nets that gain under 15 points of the first probe, which are no
    evidence. Bars: 90 % intervals, where there is more than a seed.""",
)
def sec61_map(tables: Tables, params: Params) -> Figure:
    spectra, probes = (setting(tables, BASE)[name] for name in ("spectra", "probes"))
    rows = _rows(probes)
    at = {row: -place for place, row in enumerate(rows.itertuples(index=False, name=None))}
    of_nets = spectra.groupby([*POINT, "net", "seed"])["log_value"]
    shares = pd.DataFrame(
        {
            "collapsed values (%)": of_nets.agg(collapsed_values) / of_nets.size() * 100,
            "effective rank (%)": of_nets.agg(effective_rank) / of_nets.size() * 100,
        }
    ).reset_index()
    sets = list(dict.fromkeys(probes["labels"]))
    drawn, panels = plt.subplots(
        1, 2 + len(sets), sharey=True, figsize=(WIDTH, 0.9 + 0.135 * len(rows)), squeeze=False
    )
    poor = _poor(probes[probes["labels"] == sets[0]])
    for panel, column in zip(panels[0], shares.columns[-2:], strict=False):
        _dots(panel, shares, column, at, poor)
        panel.set_xlabel(column)
    for panel, name in zip(panels[0, 2:], sets, strict=True):
        of_set = probes[probes["labels"] == name]
        _dots(panel, of_set, "accuracy", at, poor)
        start = of_set.groupby(POINT)["initial"].mean()
        panel.plot(start, [at[point] for point in start.index], ls="", marker="|", ms=5, color="0.5")
        panel.set_xlabel(f"probe of {name} (%)")
    first = panels[0, 0]
    first.set_yticks(list(at.values()), [f"{factor}: {value}" for factor, value in at])
    for label, base in zip(first.get_yticklabels(), _bases(probes, at), strict=True):
        label.set(fontweight="bold" if base else "normal", fontsize=6)
    first.set_ylim(-len(rows) + 0.3, 0.7)
    handles, labels = first.get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return drawn


@figure(
    "Section 6.1",
    caption="""The spectra behind the map: ln of the singular values of the representation's covariance
    (unit vectors, test images, evaluation mode), divided by the largest, against the index as a share of
    the dimensions. Solid: with a projector (last panel: DirectCLR). Dashed: without. Dotted: before
    training, at the base point. Grey: where a value counts as collapsed. Mean over seeds, and 90 %
    intervals where there are several.""",
)
def sec61_map_spectra(tables: Tables, params: Params) -> Figure:
    spectra = setting(tables, BASE)["spectra"]
    factors = [factor for factor in FACTORS if factor in set(spectra["factor"])]
    lines = -(-len(factors) // PER_ROW)
    drawn, panels = plt.subplots(
        lines, PER_ROW, sharex=True, sharey=True, figsize=(WIDTH, 0.4 + 1.75 * lines), squeeze=False
    )
    for panel, factor in zip(panels.flat, factors, strict=False):
        of_factor = spectra[spectra["factor"] == factor]
        values = list(dict.fromkeys(of_factor["value_of_factor"]))
        for value, color in zip(values, colors(len(values)), strict=True):
            of_value = of_factor[of_factor["value_of_factor"] == value]
            for net, line in _lines(of_value, value).items():
                rows = of_value[of_value["net"] == net]
                _spectrum(panel, rows, f"{factor}: {value}, {net}", **{"color": color, "lw": 0.9, **line})
        panel.axhline(np.log(COLLAPSED), color="0.6", lw=0.8)
        panel.set_title(factor)
        panel.legend(loc="lower left", fontsize=5.5, handlelength=1.2, labelspacing=0.2)
    for panel in panels.flat[len(factors) :]:
        panel.remove()
    for panel in panels[:, 0]:
        panel.set_ylabel("ln(value / largest)")
    for panel in panels[-1]:
        panel.set_xlabel("index / dimensions")
    return drawn


def _lines(of_value: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """How each net of a point is drawn; the start at the base point alone."""
    trained = WITH if WITH in set(of_value["net"]) else DIRECTCLR
    lines = {WITHOUT: {"ls": "--"}, trained: {"ls": "-", "label": value}}
    start = {START: {"ls": ":", "color": "black"}} if of_value["base"].any() else {}
    return {**lines, **start}


def _rows(probes: pd.DataFrame) -> pd.DataFrame:
    """The points, factor by factor."""
    order = probes["factor"].map(FACTORS.index)
    return probes.assign(order=order).sort_values("order", kind="stable")[POINT].drop_duplicates()


def _bases(probes: pd.DataFrame, at: dict[tuple[str, str], int]) -> list[bool]:
    base = probes.groupby(POINT)["base"].any()
    return [bool(base[point]) for point in at]


def _poor(probes: pd.DataFrame) -> pd.Series:
    """Whether a net did not learn, by point and net."""
    gain = (probes["accuracy"] - probes["initial"]).groupby([probes[key] for key in (*POINT, "net")])
    return ~(gain.min() >= LEARNED)


def _dots(
    axes: Axes, table: pd.DataFrame, column: str, at: dict[tuple[str, str], int], poor: pd.Series
) -> None:
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="0.93", lw=0.5)
    for net, style in STYLES.items():
        of_net = table[table["net"] == net]
        if of_net.empty:  # DirectCLR, of a map without its d0
            continue
        drawable(of_net[column], f"{column}, {net}")
        means = of_net.groupby(POINT)[column].mean()
        axes.plot(means, [at[point] for point in means.index], ls="", ms=3.5, **style)
        for point in means.index:
            factor, value = point
            there = (of_net["factor"] == factor) & (of_net["value_of_factor"] == value)
            values = of_net.loc[there, column]
            if len(values) > 1:
                interval = mean_interval(values)
                axes.plot([interval.low, interval.high], [at[point]] * 2, color=style["color"], lw=0.8)
        crossed = means[[poor[(*point, net)] for point in means.index]]
        axes.plot(crossed, [at[point] for point in crossed.index], ls="", marker="x", ms=5, color="crimson")


def _spectrum(axes: Axes, rows: pd.DataFrame, what: str, **style: Any) -> None:
    drawable(rows["log_value"], what)
    shares = rows["index"] / rows["index"].max()
    shown = rows.assign(share=shares, relative=relative(rows["log_value"], rows["seed"]))
    band(axes, shown, "share", "relative", **style)
