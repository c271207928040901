"""Heat maps of all objectives by all diagnostics, and tables of their intervals and ranks."""

from collections.abc import Callable, Sequence
from itertools import combinations
from textwrap import wrap
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from reprise.annex.ours.objectives_by_diagnostics.experiment import Params
from reprise.annex.ours.objectives_by_diagnostics.lineup import (
    FIRST,
    OTHER,
    TOYS,
    UNTRAINED,
    method,
)
from reprise.annex.ours.objectives_by_diagnostics.ranking import Standing, has_learned, standing
from reprise.contract.experiment import Tables, figure, table
from reprise.evidence.comparison import LEARNED
from reprise.evidence.separability import holm, paired_p_values
from reprise.evidence.statistics import LEVEL
from reprise.plotting.other_losses import with_other_losses
from reprise.plotting.style import WIDTH

ROW, SIZE = 0.19, 6
"""Height of a row in inches, and points of the numbers."""
LISTED = 95
"""Characters in a line of the names that have no row."""
HALF = 0.5
"""Share of the others from which an objective must be separable to have a colour."""
RANKS, CHANGES = "viridis", "vlag"
GREY, PALE = "0.88", "0.5"
LAYERS = ("representation", "embedding")

RULE = f"""Pairs are compared seed by seed, with Holm's correction for their number in each column; a cell
    has a colour if its objective is separable from at least half of the others. Objectives that did not learn
    in so few steps, whose linear probe of images without augmentation gains less than {LEARNED:g} points over
    the untrained network, mean over seeds, are not ranked; Table 2 of the comparison has their numbers. Grey:
    the untrained network. The column `linear probe` is of augmented views, where gains are smaller."""


@figure(
    "Figure 1",
    reads=("diagnostics", "probes"),
    caption=f"""Diagnostics of representations, 64 dimensions, of every objective at its published
    temperature or weight: the mean over seeds, coloured by its rank in the column. {RULE}""",
)
def representations(tables: Tables, params: Params) -> Figure:
    shown = with_other_losses(tables, params)
    return _ranked(shown, params.data_sets, "representation", "estimate", _named(params))


@figure(
    "Figure 2",
    reads=("diagnostics", "probes"),
    caption=f"""Diagnostics of embeddings, as in Figure 1. Objectives have embeddings of different
    dimensions: ranks are shares of the highest that is possible, entropies of its logarithm. {RULE}""",
)
def embeddings(tables: Tables, params: Params) -> Figure:
    shown = with_other_losses(tables, params)
    return _ranked(shown, params.data_sets, "embedding", "share", _named(params))


@figure(
    "Figure 3",
    reads=("diagnostics", "probes"),
    caption="""What another temperature or weight changes in representations: the mean difference from the
    setting of Figure 1. Coloured where the difference, seed by seed, is separable from 0 (Holm's
    correction for the rows of a column): the deeper, the larger it is beside the spread of all objectives
    in Figure 1. Only where both learned; Table 2 of the comparison has the others' numbers.""",
)
def other_settings(tables: Tables, params: Params) -> Figure:
    shown = with_other_losses(tables, params)
    names = [name for name in params.methods if method(name).other]
    maps = [_changes(shown, task, params, names) for task in params.data_sets]
    ends = [("higher", 1.0), ("lower", 0.0)]
    return _page(maps, ends, CHANGES, "not separable from 0", "one of the two did not learn")


@figure(
    "Figure 4",
    reads=("diagnostics",),
    caption=f"""Diagnostics of the embeddings of two-layer networks on vectors with a class, trained by
    every objective that is a loss of two views' embeddings, and by Esser's two with orthonormal layers;
    16 dimensions. {RULE.partition(" Objectives")[0]} Those that diverged with a seed are not ranked. Grey:
    the untrained network.""",
)
def toy_models(tables: Tables, params: Params) -> Figure:
    names = [name for name in _named(params) if method(name).is_stateless]
    shown = with_other_losses(tables, params)
    return _ranked(shown, params.toys, "embedding", "estimate", [*names, *TOYS], lost="diverged")


@table(
    "Table 1",
    reads=("diagnostics", "probes"),
    caption="""How well each diagnostic tells objectives apart, and whether their order carries over from
    one data set to another: % of the pairs of objectives that learned which are separable on each;
    Spearman's rank correlation between the means on both, of objectives that learned on both; and how
    many pairs are separable on both, in opposite orders.""",
)
def separable_pairs(tables: Tables, params: Params) -> pd.DataFrame:
    shown, lines = with_other_losses(tables, params), []
    for layer in LAYERS:
        standings = {
            task: standing(shown, task, layer, _named(params), column="share") for task in params.data_sets
        }
        for name in next(iter(standings.values())).diagnostics:
            line: dict[str, Any] = {"layer": layer, "diagnostic": name}
            line |= {f"{task}, separable (%)": _separable(each, name) for task, each in standings.items()}
            for one, another in combinations(standings, 2):
                line |= _agreement(standings[one], standings[another], name)
            lines.append(line)
    return pd.DataFrame(lines)


@table(
    "Table 2",
    reads=("diagnostics", "probes"),
    caption=f"""The numbers behind Figures 1, 2 and 4 and those of the other settings: mean over seeds and
    its {LEVEL:.0%} interval; of one seed, or of equal values, the interval has no width. Shares of the
    highest rank that is possible, as in Figure 2, for embeddings.""",
)
def intervals(tables: Tables, params: Params) -> pd.DataFrame:
    def cell(each: Standing, objective: str, name: str) -> str:
        if not np.isfinite(each.mean(objective, name)):
            return _number(each.mean(objective, name))
        interval = each.interval(objective, name)
        return f"{_number(interval.mean)} [{_number(interval.low)}, {_number(interval.high)}]"

    return _listed(tables, params, cell)


@table(
    "Table 3",
    reads=("diagnostics", "probes"),
    caption="""The ranks, from the largest value, that the objectives which learned can have: with a
    probability of 95 %, all intervals of a column hold at once, on a task and layer and among objectives
    in the same place, the published setting or the other one.""",
)
def ranks(tables: Tables, params: Params) -> pd.DataFrame:
    def cell(each: Standing, objective: str, name: str) -> str:
        if objective not in each.learned or np.isnan(each.mean(objective, name)):
            return "-"
        low, high = each.ranks(name).loc[objective]
        return f"{low}" if low == high else f"{low} to {high}"

    return _listed(tables, params, cell)


def _named(params: Params) -> list[str]:
    """The objectives, and the losses beside them."""
    return [*params.methods, *params.objective]


class HeatMap(NamedTuple):
    """The heat map of a task: a row an objective, a column a diagnostic.

    Attributes:
        colours: from 0 to 1.
        coloured: which cells have their colour; the others are white, or grey in the last rows.
        texts: the numbers.
        labels: one a row.
        families: one a row; a line is drawn where they change.
        grey: the last rows that are grey.
        unranked: the labels of what has no row, and why.
    """

    task: str
    colours: pd.DataFrame
    coloured: pd.DataFrame
    texts: pd.DataFrame
    labels: Sequence[str]
    families: Sequence[str]
    grey: int
    unranked: tuple[Sequence[str], str]


def _ranked(
    tables: Tables,
    tasks: Sequence[str],
    layer: str,
    column: str,
    names: Sequence[str],
    lost: str = "did not learn",
) -> Figure:
    """A heat map a task, of the ranks of the objectives that learned. `lost` says why others have none."""
    maps = []
    for task in tasks:
        every = standing(tables, task, layer, [*names, UNTRAINED], column=column)
        ranked = Standing(every.values, [name for name in every.learned if name != UNTRAINED])
        rows = [*ranked.learned, UNTRAINED]
        colours = ranked.positions.reindex(rows)
        heat_map = HeatMap(
            task,
            colours,
            colours.notna() & (ranked.decided.reindex(rows) >= HALF),
            ranked.means.loc[rows].map(_number),
            [*(method(name).label(FIRST) for name in ranked.learned), UNTRAINED],
            [*(method(name).family for name in ranked.learned), UNTRAINED],
            1,
            ([method(name).label(FIRST) for name in names if name not in ranked.learned], lost),
        )
        maps.append(heat_map)
    ends = [("largest", 0.0), ("smallest", 1.0)]
    return _page(maps, ends, RANKS, "not separable from half of the others", "untrained")


def _changes(tables: Tables, task: str, params: Params, names: list[str]) -> HeatMap:
    """Heat map of the change from the first setting to the other on a task, a row an objective that learned
    in both; all objectives, in grey, if none did."""
    first = standing(tables, task, "representation", list(params.methods), column="estimate")
    other = standing(tables, task, "representation", names, place=OTHER, column="estimate")
    learned = [name for name in names if name in first.learned and has_learned(tables, task, name, OTHER)]
    rows = learned or names
    both = [Standing(each.values, learned) for each in (first, other)]
    differences = {name: both[1].by_seed(name) - both[0].by_seed(name) for name in other.diagnostics}
    spread = {name: first.by_seed(name).mean().std() for name in other.diagnostics}
    colours = pd.DataFrame(np.nan, rows, other.diagnostics)
    coloured = pd.DataFrame(False, rows, other.diagnostics)
    for name, by_seed in differences.items() if learned else ():
        colours[name] = (by_seed.mean() / spread[name] / 2 + 0.5).clip(0, 1)
        coloured[name] = holm(paired_p_values(by_seed.to_numpy())) <= 1 - LEVEL
    labels = {
        name: f"{method(name).label(FIRST)} → {next(iter(method(name).other.values())):g}" for name in names
    }
    return HeatMap(
        task,
        colours,
        colours.notna() & coloured,
        (other.means - first.means.loc[names]).loc[rows].map(lambda value: _number(value, "+")),
        [labels[name] for name in rows],
        [method(name).family for name in rows],
        0 if learned else len(rows),
        ([label for name, label in labels.items() if name not in learned], "one of the two did not learn"),
    )


def _page(
    maps: Sequence[HeatMap], ends: Sequence[tuple[str, float]], palette: str, white: str, grey: str
) -> Figure:
    """Draws the heat maps one below the other, and names the colours and the diagnostics.

    Args:
        ends: the meaning of the palette's ends.
        white, grey: the meanings of these colours.
    """
    titles = [_title(heat_map) for heat_map in maps]
    rows = [len(each.labels) for each in maps]
    height = 1.5 + ROW * sum(rows) + sum(0.3 + 0.12 * title.count("\n") for title in titles)
    fig, panels = plt.subplots(
        len(maps), sharex=True, figsize=(WIDTH, height), squeeze=False, height_ratios=rows
    )
    for axes, heat_map, title in zip(panels.flat, maps, titles, strict=True):
        _heat(axes, heat_map, palette)
        axes.set_title(title, fontsize=7)
    panels[-1, 0].tick_params(axis="x", rotation=90)
    panels[-1, 0].set_xlabel("diagnostic", fontsize=7)
    colours = plt.get_cmap(palette)
    handles = [Patch(color=colours(value), label=label) for label, value in ends]
    handles.append(Patch(facecolor="white", edgecolor="0.6", lw=0.5, label=white))
    if any(heat_map.grey for heat_map in maps):
        handles.append(Patch(color=GREY, label=grey))
    fig.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=7)
    return fig


def _heat(axes: Axes, heat_map: HeatMap, palette: str) -> None:
    """Draws a cell a number."""
    import seaborn as sns  # here, because it is of the extra `workflow`, and registers the palette

    rows, columns = heat_map.colours.shape
    sns.heatmap(
        heat_map.colours.astype(float).fillna(HALF), mask=~heat_map.coloured, vmin=0, vmax=1, cmap=palette,
        cbar=False, annot=heat_map.texts, fmt="", annot_kws={"size": SIZE}, yticklabels=heat_map.labels,
        linewidths=0.4, ax=axes,
    )  # fmt: skip
    first_grey = rows - heat_map.grey
    for y, x in np.argwhere(~heat_map.coloured.to_numpy()):
        axes.text(
            x + 0.5, y + 0.5, heat_map.texts.iloc[y, x], ha="center", va="center", size=SIZE,
            color=PALE if y >= first_grey else "black",
        )  # fmt: skip
    axes.add_patch(Rectangle((0, first_grey), columns, heat_map.grey, color=GREY, lw=0, zorder=0))
    for y in range(1, rows):
        if heat_map.families[y] != heat_map.families[y - 1]:
            axes.axhline(y, color="black", lw=0.6)
    axes.tick_params(length=0, labelsize=6.5)
    axes.tick_params(axis="y", rotation=0)
    axes.set_xlabel("")
    axes.set_ylabel("objective", fontsize=7)


def _title(heat_map: HeatMap) -> str:
    """Title of a heat map: the task, and the objectives without a row."""
    task = {"linear": "two linear layers", "relu": "two layers with ReLU"}.get(heat_map.task, heat_map.task)
    names, why = heat_map.unranked
    return "\n".join([task, *wrap(f"{why}: {'; '.join(names)}" if names else "", LISTED)])


def _number(value: float, sign: str = "") -> str:
    """A number in at most five characters; `-` for NaN."""
    if np.isnan(value):
        return "-"
    if np.isinf(value):
        return "∞"
    if abs(value) >= 1000:
        mantissa, exponent = f"{value:{sign}.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    text = f"{value:{sign}.{digits}f}"
    if float(text) == 0:
        return ".00"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def _separable(each: Standing, diagnostic: str) -> float:
    """Separable pairs among the objectives that learned, in %."""
    signs = each.signs[diagnostic].to_numpy()
    pairs = signs[np.triu_indices(len(signs), 1)]
    return round(float(100 * np.abs(pairs).mean()), 1) if len(pairs) else np.nan


def _agreement(one: Standing, another: Standing, diagnostic: str) -> dict[str, float]:
    """Agreement of two data sets on the order of the objectives by a diagnostic."""
    shared = [name for name in one.learned if name in another.learned]
    means = [each.by_seed(diagnostic).mean()[shared].rank() for each in (one, another)]
    signs = [each.signs[diagnostic].loc[shared, shared].to_numpy() for each in (one, another)]
    return {
        "rank correlation": round(float(means[0].corr(means[1])), 2) if len(shared) > 2 else np.nan,
        "in opposite orders": int((signs[0] * signs[1] < 0).sum() // 2),
    }


def _listed(tables: Tables, params: Params, cell: Callable[[Standing, str, str], str]) -> pd.DataFrame:
    """A row a task, layer, objective and setting, a column a diagnostic."""
    shown, lines = with_other_losses(tables, params), []
    toys = [name for name in _named(params) if method(name).is_stateless] + list(TOYS)
    named = [(task, _named(params)) for task in params.data_sets] + [(task, toys) for task in params.toys]
    for task, names in named:
        for place in (FIRST, OTHER):
            here = [name for name in names if place in method(name).places]
            for layer in LAYERS if here else ():
                column = "estimate" if layer == "representation" or task in params.toys else "share"
                each = standing(shown, task, layer, here, place=place, column=column)
                for name in here:
                    line = {"task": task, "layer": layer, "objective": method(name).label(place)}
                    lines.append(line | {other: cell(each, name, other) for other in each.diagnostics})
    return pd.DataFrame(lines)
