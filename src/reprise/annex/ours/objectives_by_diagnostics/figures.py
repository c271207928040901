"""Heat maps of all objectives by all diagnostics, and tables of their intervals and ranks."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
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

ROW, SIZE = 0.155, 4.6
"""Height of a row in inches, and points of the numbers."""
HALF = 0.5
"""Share of the others from which an objective must be separable to have a colour."""
RANKS, CHANGES = "viridis", "vlag"
GREY, PALE = "0.88", "0.5"
LAYERS = ("representation", "embedding")

RULE = f"""Pairs are compared seed by seed, with Holm's correction for their number in each column; a cell
    has a colour if its objective is separable from at least half of the others. Grey: objectives that did
    not learn in so few steps, whose linear probe of images without augmentation gains less than
    {LEARNED:g} points over the untrained network, mean over seeds; they are not ranked. The column `linear
    probe` is of augmented views, where gains are smaller."""


@figure(
    "Figure 1",
    reads=("diagnostics", "probes"),
    caption=f"""Diagnostics of representations, 64 dimensions, of every objective at its published
    temperature or weight: the mean over seeds, coloured by its rank in the column. {RULE}""",
)
def representations(tables: Tables, params: Params) -> Figure:
    shown = with_other_losses(tables, params)
    return _page(shown, params, params.data_sets, "representation", "estimate", _named(params))


@figure(
    "Figure 2",
    reads=("diagnostics", "probes"),
    caption=f"""Diagnostics of embeddings, as in Figure 1. Objectives have embeddings of different
    dimensions: ranks are shares of the highest that is possible, entropies of its logarithm. {RULE}""",
)
def embeddings(tables: Tables, params: Params) -> Figure:
    shown = with_other_losses(tables, params)
    return _page(shown, params, params.data_sets, "embedding", "share", _named(params))


@figure(
    "Figure 3",
    reads=("diagnostics", "probes"),
    caption="""What another temperature or weight changes in representations: the mean difference from the
    setting of Figure 1. Coloured where the difference, seed by seed, is separable from 0 (Holm's
    correction for the rows of a column): the deeper, the larger it is beside the spread of all objectives
    in Figure 1. Grey: one of the two did not learn.""",
)
def other_settings(tables: Tables, params: Params) -> Figure:
    shown = with_other_losses(tables, params)
    names = [name for name in params.methods if method(name).other]
    fig, panels = _panels(params.data_sets, len(names))
    for axes, task in zip(panels, params.data_sets, strict=True):
        first = standing(shown, task, "representation", list(params.methods), column="estimate")
        other = standing(shown, task, "representation", names, place=OTHER, column="estimate")
        _changes(axes, shown, task, first, other)
    _finish(
        fig, panels, [("higher", 1.0), ("lower", 0.0)], CHANGES, "not separable from 0", "one did not learn"
    )
    return fig


@figure(
    "Figure 4",
    reads=("diagnostics",),
    caption=f"""Diagnostics of the embeddings of two-layer networks on vectors with a class, trained by
    every objective that is a loss of two views' embeddings, and by Esser's two with orthonormal layers;
    16 dimensions. {RULE.partition(" Grey:")[0]} Grey: untrained, or diverged with a seed; not ranked.""",
)
def toy_models(tables: Tables, params: Params) -> Figure:
    names = [name for name in _named(params) if method(name).is_stateless]
    return _page(
        with_other_losses(tables, params), params, params.toys, "embedding", "estimate", [*names, *TOYS],
        grey="untrained or diverged",
    )  # fmt: skip


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


def _page(
    tables: Tables,
    params: Params,
    tasks: Sequence[str],
    layer: str,
    column: str,
    names: Sequence[str],
    grey: str = "did not learn",
) -> Figure:
    """A heat map a task: ranks. `grey` says which objectives are not ranked."""
    shown = [*names, UNTRAINED]
    fig, panels = _panels(tasks, len(shown))
    for axes, task in zip(panels, tasks, strict=True):
        each = standing(tables, task, layer, shown, column=column)
        ranked = Standing(each.values, [name for name in each.learned if name != UNTRAINED])
        colours = ranked.positions.reindex(shown)
        coloured = colours.notna() & (ranked.decided.reindex(shown) >= HALF)
        texts = ranked.means.map(_number)
        labels = [name if name == UNTRAINED else method(name).label(FIRST) for name in shown]
        unranked = [name not in ranked.learned for name in shown]
        _heat(axes, colours, coloured, texts, labels, unranked, RANKS)
        _separate(axes, [UNTRAINED if name == UNTRAINED else method(name).family for name in shown])
        axes.set_title(_title(task))
    _finish(
        fig, panels, [("largest", 0.0), ("smallest", 1.0)], RANKS,
        "not separable from half of the others", grey,
    )  # fmt: skip
    return fig


def _changes(axes: Axes, tables: Tables, task: str, first: Standing, other: Standing) -> None:
    names = other.objectives
    learned = [name for name in names if name in first.learned and has_learned(tables, task, name, OTHER)]
    both = [Standing(each.values, learned) for each in (first, other)]
    differences = {name: both[1].by_seed(name) - both[0].by_seed(name) for name in other.diagnostics}
    spread = {name: first.by_seed(name).mean().std() for name in other.diagnostics}
    colours = pd.DataFrame(np.nan, names, other.diagnostics)
    coloured = pd.DataFrame(False, names, other.diagnostics)
    for name, by_seed in differences.items() if learned else ():
        colours.loc[learned, name] = (by_seed.mean() / spread[name] / 2 + 0.5).clip(0, 1)
        coloured.loc[learned, name] = holm(paired_p_values(by_seed.to_numpy())) <= 1 - LEVEL
    texts = (other.means - first.means.loc[names]).map(lambda value: _number(value, "+"))
    labels = [f"{method(name).label(FIRST)} → {next(iter(method(name).other.values())):g}" for name in names]
    _heat(
        axes, colours, colours.notna() & coloured, texts, labels,
        [name not in learned for name in names], CHANGES,
    )  # fmt: skip
    _separate(axes, [method(name).family for name in names])
    axes.set_title(_title(task))


def _panels(tasks: Sequence[str], rows: int) -> tuple[Figure, np.ndarray]:
    height = len(tasks) * (rows * ROW + 0.25) + 1.35
    fig, panels = plt.subplots(len(tasks), sharex=True, figsize=(WIDTH, height), squeeze=False)
    return fig, panels[:, 0]


def _heat(
    axes: Axes,
    colours: pd.DataFrame,
    coloured: pd.DataFrame,
    texts: pd.DataFrame,
    labels: Sequence[str],
    grey: Sequence[bool],
    palette: str,
) -> None:
    """Draws a cell a number.

    Args:
        colours: from 0 to 1.
        coloured: which cells have their colour; the others are white, or grey in the rows that are.
        texts: the numbers.
    """
    sns.heatmap(
        colours.astype(float).fillna(HALF), mask=~coloured, vmin=0, vmax=1, cmap=palette, cbar=False,
        annot=texts, fmt="", annot_kws={"size": SIZE}, yticklabels=labels, linewidths=0.4, ax=axes,
    )  # fmt: skip
    for y, x in np.argwhere(~coloured.to_numpy()):
        axes.text(
            x + 0.5, y + 0.5, texts.iloc[y, x], ha="center", va="center", size=SIZE,
            color=PALE if grey[y] else "black",
        )  # fmt: skip
    for y in np.flatnonzero(grey):
        axes.add_patch(Rectangle((0, int(y)), len(colours.columns), 1, color=GREY, lw=0, zorder=0))
    axes.tick_params(length=0, labelsize=5.5)
    axes.tick_params(axis="y", rotation=0)
    axes.set_xlabel("")
    axes.set_ylabel("objective", fontsize=7)


def _separate(axes: Axes, families: Sequence[str]) -> None:
    """Draws a line between families."""
    for y in range(1, len(families)):
        if families[y] != families[y - 1]:
            axes.axhline(y, color="black", lw=0.6)


def _finish(
    fig: Figure, panels: np.ndarray, ends: Sequence[tuple[str, float]], palette: str, white: str, grey: str
) -> None:
    """Names the diagnostics below, and the colours."""
    panels[-1].tick_params(axis="x", rotation=90)
    panels[-1].set_xlabel("diagnostic", fontsize=7)
    colours = plt.get_cmap(palette)
    handles = [Patch(color=colours(value), label=label) for label, value in ends]
    handles += [
        Patch(facecolor="white", edgecolor="0.6", lw=0.5, label=white), Patch(color=GREY, label=grey)
    ]  # fmt: skip
    fig.legend(handles=handles, loc="outside upper center", ncols=len(handles), fontsize=6)


def _title(task: str) -> str:
    return {"linear": "two linear layers", "relu": "two layers with ReLU"}.get(task, task)


def _number(value: float, sign: str = "") -> str:
    """At most five characters; `-` for what is not a number."""
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
    """% of the pairs of objectives that learned."""
    signs = each.signs[diagnostic].to_numpy()
    pairs = signs[np.triu_indices(len(signs), 1)]
    return round(float(100 * np.abs(pairs).mean()), 1) if len(pairs) else np.nan


def _agreement(one: Standing, another: Standing, diagnostic: str) -> dict[str, float]:
    """Whether the order on one data set is that on another."""
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
