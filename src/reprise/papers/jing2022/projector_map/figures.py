"""The map: two drawings of the same nets. The paper has none."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.errors import RepriseError
from reprise.evidence.claims import COLLAPSED, LEARNED
from reprise.evidence.statistics import mean_interval
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.projector_map.grid import DIRECTCLR, FACTORS, START, WITH, WITHOUT
from reprise.papers.jing2022.projector_map.params import Params
from reprise.papers.jing2022.spectra import collapsed_values, effective_rank, relative
from reprise.plotting.style import WIDTH, colors, drawable
from reprise.study.experiment import BASE, Tables, figure

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
    spectra = spectra[spectra["net"] != START]
    rows = _rows(spectra, probes)
    at = {row: -place for place, row in enumerate(rows)}
    sets = list(dict.fromkeys(probes["labels"]))
    poor = _poor(probes[probes["labels"] == sets[0]])
    of_nets = spectra.groupby([*POINT, "net", "seed"])["log_value"]
    shown = {
        "collapsed values (%)": 100 * of_nets.agg(collapsed_values) / of_nets.size(),
        "effective rank (%)": 100 * of_nets.agg(effective_rank) / of_nets.size(),
    }
    of_sets = {name: probes[probes["labels"] == name].set_index([*POINT, "net", "seed"]) for name in sets}
    shown |= {f"{name} probe (%)": of["accuracy"] for name, of in of_sets.items()}
    fig, axes = plt.subplots(
        1, len(shown), sharey=True, figsize=(WIDTH, 0.9 + 0.135 * len(rows)), squeeze=False
    )
    panels = axes[0]
    for panel, (name, numbers) in zip(panels, shown.items(), strict=True):
        _dots(panel, numbers, at, poor)
        panel.set_xlabel(name)
    for panel, of in zip(panels[2:], of_sets.values(), strict=True):
        start = of["initial"].groupby(POINT).mean()
        panel.plot(start, [at[point] for point in start.index], ls="", marker="|", ms=5, color="0.5")
    first = panels[0]
    first.set_yticks(list(at.values()), [f"{factor}: {value}" for factor, value in at])
    base = probes.groupby(POINT)["base"].any()
    for label, point in zip(first.get_yticklabels(), at, strict=True):
        label.set(fontweight="bold" if base[point] else "normal", fontsize=6)
    first.set(ylabel="what is changed: to what", ylim=(-len(rows) + 0.3, 0.7))
    handles, labels = first.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return fig


@figure(
    "Section 6.1",
    caption="""The spectra behind the map: ln of the singular values of the representation's covariance
    (unit vectors, test images, evaluation mode), divided by the largest, against the index as a share of
    the dimensions. Solid: with a projector (last panel: DirectCLR). Dashed: without. Dotted: before
    training, at the base point. Grey: where a value counts as collapsed. Means over seeds.""",
)
def sec61_map_spectra(tables: Tables, params: Params) -> Figure:
    spectra = setting(tables, BASE)["spectra"]
    factors = [factor for factor in FACTORS if factor in set(spectra["factor"])]
    lines = -(-len(factors) // PER_ROW)
    fig, panels = plt.subplots(
        lines, PER_ROW, sharex=True, sharey=True, figsize=(WIDTH, 0.4 + 1.75 * lines), squeeze=False
    )
    for panel, factor in zip(panels.flat, factors, strict=False):
        of_factor = spectra[spectra["factor"] == factor]
        values = list(dict.fromkeys(of_factor["value_of_factor"]))
        if len(values) == 1:
            raise RepriseError(f"nothing to draw: {factor} has one value, {values[0]}")
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
    return fig


def _lines(of_value: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """How each net of a point is drawn; the start at the base point alone."""
    trained = WITH if WITH in set(of_value["net"]) else DIRECTCLR
    lines = {WITHOUT: {"ls": "--"}, trained: {"ls": "-", "label": value}}
    start = {START: {"ls": ":", "color": "black"}} if of_value["base"].any() else {}
    return {**lines, **start}


def _rows(spectra: pd.DataFrame, probes: pd.DataFrame) -> list[tuple[str, str]]:
    """The points, factor by factor; both tables must have the same nets."""
    one, other = (table[[*POINT, "net"]].drop_duplicates() for table in (spectra, probes))
    if len(one) == 0 or len(one.merge(other)) != max(len(one), len(other)):
        raise RepriseError("nothing to draw: the tables of the map hold different nets, or none")
    order = {factor: place for place, factor in enumerate(FACTORS)}
    points = dict.fromkeys(probes[POINT].itertuples(index=False, name=None))
    return sorted(points, key=lambda point: order[point[0]])


def _poor(probes: pd.DataFrame) -> set[Any]:
    """The (factor, value, net) of which a seed did not learn."""
    gains = (probes["accuracy"] - probes["initial"]).groupby([probes[key] for key in (*POINT, "net")]).min()
    return set(gains[~(gains >= LEARNED)].index)


def _dots(axes: Axes, numbers: pd.Series, at: dict[Any, int], poor: set[Any]) -> None:
    """One panel.

    Args:
        numbers: by point, net and seed.
    """
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="0.93", lw=0.5)
    for net, style in STYLES.items():
        of_net = numbers[numbers.index.get_level_values("net") == net]
        found = {point: drawable(values, f"{net} at {point}") for point, values in of_net.groupby(POINT)}
        means = {point: values.mean() for point, values in found.items()}
        axes.plot(list(means.values()), [at[point] for point in means], ls="", ms=3.5, **style)
        for point, values in found.items():
            if len(values) > 1:
                interval, height = mean_interval(values), at[point]
                axes.plot([interval.low, interval.high], [height, height], color=style["color"], lw=0.8)
        crossed = [point for point in means if (*point, net) in poor]
        axes.plot(
            [means[point] for point in crossed],
            [at[point] for point in crossed],
            ls="",
            marker="x",
            ms=5,
            color="crimson",
        )


def _spectrum(axes: Axes, rows: pd.DataFrame, what: str, **style: Any) -> None:
    drawable(rows["log_value"], what)
    mean = relative(rows["log_value"], rows["seed"]).groupby(rows["index"]).mean()
    axes.plot(mean.index / len(mean), mean, **style)
