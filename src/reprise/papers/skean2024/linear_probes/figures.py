"""Tables 2 and 3, and the learning-rate grid behind them."""

from itertools import cycle, zip_longest
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reprise.contract.experiment import Tables, figure, table
from reprise.evidence.measures import first, mean, rows
from reprise.papers.skean2024.learned import gains
from reprise.papers.skean2024.linear_probes.agreement import FEWEST, rank_agreement
from reprise.papers.skean2024.linear_probes.experiment import Params
from reprise.papers.skean2024.lineup import EPOCHS, METHODS, Method, method
from reprise.papers.skean2024.published import DATA_SETS, accuracies, numbers
from reprise.papers.skean2024.references import references
from reprise.plotting.beside_print import HOW, Row, beside
from reprise.plotting.other_losses import with_other_losses
from reprise.plotting.style import MARKERS, WIDTH, colors, drawable, legend_entries

RULE = """Each method uses its own learning rate: of a grid that all methods share, the one whose pilots,
    runs of other seeds, have the best linear probes on a held-out fifth of the training images; test images
    play no part in the choice. All methods have the same steps, batches, views and seeds."""


@table(
    "Table 2",
    reads=("probes",),
    caption=f"""Top-1 accuracy of a linear probe, in %: ours, mean and standard deviation over seeds, on the
    data sets named in the columns, and as published, on {DATA_SETS[0]}, {DATA_SETS[1]} and {DATA_SETS[2]}
    after 1000, 1000 and 500 epochs, where the baselines on CIFAR come from other papers. The two measure the
    same quantity only in a run without departures; in a reduced run on other images, only the order of the
    methods can be compared. {RULE} Methods with a comma are our own variants of what the paper leaves open:
    another variance weight, λ or scale. The last rows are what a probe is compared with: chance, nearest
    neighbours and a linear probe of raw pixels, a probe of the random initialisation (`start`), and the test
    accuracy of a supervised network of the same size, steps, batches and views.""",
)
def table2(tables: Tables, params: Params) -> pd.DataFrame:
    probes = with_other_losses(tables, params)["probes"]
    lines = []
    for name in _methods(probes, params):
        ends, row = rows(probes, method=name), method(name)
        line: dict[str, object] = {"family": row.family, "method": row.name}
        for data_set, printed in zip_longest(params.data_sets, DATA_SETS):
            if data_set:
                results = rows(ends, data_set=data_set)
                line[f"{data_set}, learning rate"] = f"{results['learning_rate'].iloc[0]:g}"
                line[f"{data_set}: ours"] = _mean_and_spread(results["top1"])
            if printed:
                line[f"{printed}: published"] = _published("Table 2", row, printed)
        line["average: ours"] = _mean_and_spread(ends.groupby("seed")["top1"].agg(mean))
        line["average: published"] = _published("Table 2", row, "Average")
        lines.append(line)
    compared = {name: references(probes, name) for name in params.data_sets}
    for reference in compared[params.data_sets[0]]:
        ours = {f"{name}: ours": _mean_and_spread(compared[name][reference]) for name in params.data_sets}
        lines.append({"family": "for comparison", "method": reference, **ours})
    return pd.DataFrame(lines).fillna("")


@table(
    "Table 3",
    reads=("probes", "online"),
    caption=f"""Top-1 accuracy of a linear probe trained along with the network, in %, at Table 3's epochs:
    ours, mean and standard deviation over seeds, and as published, on STL-10. A reduced run replaces these
    epochs by the steps named in the columns, and may use other images; then only the order of the methods can
    be compared. {RULE} The last rows, for comparison, are Table 2's.""",
)
def table3(tables: Tables, params: Params) -> pd.DataFrame:
    base = with_other_losses(tables, params)
    online = base["online"]
    lines = []
    for name in _methods(online, params):
        row = method(name)
        line: dict[str, object] = {"family": row.family, "method": row.name}
        for epoch, step in zip(EPOCHS, params.looks, strict=True):
            top1 = rows(online, method=name, epoch=epoch)["top1"]
            line[f"epoch {epoch} (step {step} on {params.online}): ours"] = _mean_and_spread(top1)
            line[f"epoch {epoch} (STL-10): published"] = _published("Table 3", row, f"epoch {epoch}")
        lines.append(line)
    last = f"epoch {EPOCHS[-1]} (step {params.looks[-1]} on {params.online}): ours"
    for reference, ours in references(base["probes"], params.online).items():
        lines.append({"family": "for comparison", "method": reference, last: _mean_and_spread(ours)})
    return pd.DataFrame(lines).fillna("")


def _published(artifact: str, row: Method, column: str) -> str:
    """The number printed in the paper; empty if there is none."""
    number = _printed(artifact, row.name, column)
    return "" if np.isnan(number) else f"{number:.1f}"


def _printed(artifact: str, name: str, column: str) -> float:
    """The number that the paper prints for a method; NaN if there is none."""
    return float(accuracies(numbers(), artifact)[column].get(name, np.nan))


def _methods(table: pd.DataFrame, params: Params) -> list[str]:
    """The methods in the order of Table 2, followed by other losses."""
    return [name for name in dict.fromkeys((*METHODS, *params.objective)) if (table["method"] == name).any()]


def _mean_and_spread(values: pd.Series) -> str:
    if values.isna().any():
        return "diverged"
    return f"{values.mean():.1f} ± {values.std():.1f}" if len(values) > 1 else f"{values.mean():.1f}"


BESIDE = f"""{HOW} Above ours, Kendall's tau between the two orders of the n ranked rows (1: the same, -1: the
    reverse), with its 95 % interval, in which a pair that our seeds do not separate can have either order."""
ORDER = {"Table 2": "Average", "Table 3": f"epoch {EPOCHS[-1]}"}
"""The columns by which methods are ordered, from the best down."""
PER_LINE = 3
"""Columns of a table that stand side by side, at most."""


@figure(
    "Table 2, beside print",
    reads=("probes",),
    caption=f"""Top-1 accuracy of a linear probe after training: Table 2 as printed, from its best average
    down, and its reproduction, named by the data set that the paper has and the one that this run has in its
    place. {BESIDE} The average is over the data sets of either. {RULE}""",
)
def table2_beside_print(tables: Tables, params: Params) -> Figure:
    probes = with_other_losses(tables, params)["probes"]
    drawable(probes["top1"], "the linear probes")
    columns = []
    for data_set, column in zip_longest(params.data_sets, DATA_SETS):
        ends = rows(probes, data_set=data_set)
        columns.append(_column("Table 2", column, data_set, ends, ends, params))
    averages = probes.groupby(["method", "seed"])[["top1", "start"]].agg(mean).reset_index()
    columns.append(_column("Table 2", "Average", "average", averages, probes, params))
    return _beside_print(columns)


@figure(
    "Table 3, beside print",
    reads=("online", "probes"),
    caption=f"""Top-1 accuracy of a linear probe that is trained along with the network: Table 3, which is on
    STL-10, as printed, from the best of its last epoch down, and its reproduction on the data set and at the
    steps that the titles name. {BESIDE} Whether a network learned is judged by its linear probe after
    training. {RULE}""",
)
def table3_beside_print(tables: Tables, params: Params) -> Figure:
    base = with_other_losses(tables, params)
    online, ends = base["online"], rows(base["probes"], data_set=params.online)
    drawable(online["top1"], "the online probes")
    starts = ends[["method", "seed", "start"]]
    columns = []
    for epoch, step in zip(EPOCHS, params.looks, strict=True):
        then = rows(online, epoch=epoch)[["method", "seed", "top1"]].merge(starts, on=["method", "seed"])
        ours = f"{params.online},\nstep {step}"
        columns.append(_column("Table 3", f"epoch {epoch}", ours, then, ends, params))
    return _beside_print(columns)


COMPARED = ("chance", "raw pixels, nearest neighbours", "raw pixels, linear probe")
"""Names of the `references` beside a column."""


class Column(NamedTuple):
    """A column of a table, printed and ours.

    Attributes:
        printed: its name in the paper; None where it has none.
        ours: the name of what stands in its place; None where nothing does.
        references: accuracies with which all are compared, by name.
    """

    printed: str | None
    ours: str | None
    rows: list[Row]
    references: dict[str, float]


def _column(
    artifact: str,
    column: str | None,
    ours: str | None,
    found: pd.DataFrame,
    ends: pd.DataFrame,
    params: Params,
) -> Column:
    """
    Args:
        column, ours: as of `Column`.
        found: `top1` and `start` of every method and seed, in %.
        ends: the linear probes by which is judged whether the networks learned.
    """
    listed = []
    trained = (*params.methods, *params.objective)
    names = {key: method(key).name for key in dict.fromkeys((*METHODS, *params.objective))}
    in_order = {key: -np.nan_to_num(_printed(artifact, name, ORDER[artifact])) for key, name in names.items()}
    for key in sorted(names, key=in_order.__getitem__):
        name = names[key]
        printed = np.nan if column is None else _printed(artifact, name, column)
        if key in trained and ours:
            own = rows(found, method=key).set_index("seed")
            before = drawable(own["start"], f"{name} in {artifact}")
            gain = gains(rows(ends, method=key)).min(skipna=False)
            listed.append(Row(name, printed, own["top1"], before, gain))
        elif key in trained or name in accuracies(numbers(), artifact).index:
            listed.append(Row(name, printed))
    sets = [references(ends, name) for name in ends["data_set"].unique()]
    lines = {name: float(np.mean([each[name].mean() for each in sets])) for name in COMPARED if sets}
    return Column(column, ours, listed, lines)


def _agreement(listed: list[Row]) -> str:
    """Kendall's tau, for a title."""
    both = {row.name: row for row in listed if row.has_both}
    if len(both) < FEWEST:
        return f"n = {len(both)}:\ntoo few for τ"
    printed = pd.Series({name: row.printed for name, row in both.items()})
    tau = rank_agreement(printed, pd.DataFrame({name: row.ours for name, row in both.items()}))
    return f"n = {len(both)}, τ = {tau.mean:.2f}\n[{tau.low:.2f}, {tau.high:.2f}]"


def _beside_print(columns: list[Column]) -> Figure:
    """Two panels a column, as printed and ours, if there are both."""
    lines = -(-len(columns) // PER_LINE)
    across = -(-len(columns) // lines)
    height = 0.5 + lines * (0.9 + 0.16 * max(len(column.rows) for column in columns))
    fig, panels = plt.subplots(lines, 2 * across, figsize=(WIDTH, height), sharey=True, squeeze=False)
    pairs = panels.reshape(-1, 2)
    for (printed, ours), column in zip(pairs, columns, strict=False):
        beside(printed, ours, column.rows, column.references)
        printed.set_title(f"{column.printed}\nprinted", fontsize=7)
        ours.set_title(f"{column.ours}\nours\n{_agreement(column.rows)}", fontsize=7)
        for axes in (printed, ours):
            axes.set_xlabel("top-1, %")
            axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 5, 10]))
    entries = legend_entries(panels.flat)
    for (printed, ours), column in zip_longest(pairs, columns):
        if column is None or column.printed is None:
            printed.remove()
        if column is None or column.ours is None:
            ours.remove()
            place = {"transform": printed.transAxes, "va": "center", "in_layout": False}
            printed.text(1.1, 0.5, "not run here", fontsize=7, **place)
    for axes in panels[:, 0]:
        axes.set_ylabel("method")
    fig.legend(entries.values(), entries, loc="outside lower center", ncols=4)
    return fig


CHOSEN: dict[str, Any] = {"marker": "o", "ms": 7, "mfc": "none", "ls": "", "color": "black", "mew": 0.7}


@figure(
    "Table 2, learning rates",
    reads=("pilots", "probes"),
    caption="""The pilots behind Table 2: mean accuracy of linear probes on a held-out fifth of the training
    images after pilots of each method, runs of other seeds, at each learning rate of the shared grid. A
    ring marks the chosen rate, a dotted line the probe of the random initialisation on the test images. A
    cross at the left marks a rate at which a pilot diverged.""",
)
def learning_rates(tables: Tables, params: Params) -> Figure:
    methods = with_other_losses(tables, params)
    pilots, probes = methods["pilots"], methods["probes"]
    if len(params.learning_rates) > 1:
        drawable(pilots["held_out"], "the pilots")
    names = _methods(pilots, params)
    sets = pilots["images"].unique()
    height = 0.22 * len(names) + 1.1
    fig, panels = plt.subplots(1, len(sets), figsize=(WIDTH, height), sharey=True, squeeze=False)
    for axes, images in zip(panels[0], sets, strict=True):
        starts = rows(probes, images=images, place=first)["start"]
        start = drawable(starts, f"the start on {images}").mean()
        _rates(axes, rows(pilots, images=images), names, start)
        axes.set_title(images)
    panels[0, 0].set_yticks(range(len(names)), [method(name).name for name in names])
    panels[0, 0].invert_yaxis()
    panels[0, 0].set_ylabel("method")
    entries = legend_entries(panels[0])
    fig.legend(entries.values(), entries, loc="outside lower center", ncols=4)
    return fig


def _rates(axes: Axes, pilots: pd.DataFrame, methods: list[str], start: float) -> None:
    rates = sorted(pilots["learning_rate"].unique())
    left_edge = np.nanmin([*pilots["held_out"], start]) - 3
    if len(rates) == 1:
        words = f"one learning rate, {rates[0]:g}:\nno pilots"
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", fontsize=8)
    styles = list(zip(rates, colors(len(rates)), cycle(MARKERS), strict=False))
    for rate, color, marker in styles:
        axes.plot([], [], color=color, marker=marker, ls="", label=f"learning rate {rate:g}")
    if len(rates) > 1 and pilots["held_out"].isna().any():
        axes.plot([], [], color="0.3", marker="x", ls="", label="diverged")
    for position, (rate, color, marker) in enumerate(styles):
        shift = 0.45 * (position / max(len(rates) - 1, 1) - 0.5)
        style = {"color": color, "marker": marker, "ls": ""}
        for y, key in enumerate(methods):
            pilot = rows(pilots, method=key, learning_rate=rate)
            if pilot["held_out"].notna().all():
                axes.plot(pilot["held_out"], [y + shift] * len(pilot), **style)
                ring = rows(pilot, chosen=True)
                axes.plot(ring["held_out"], [y + shift] * len(ring), label="chosen", **CHOSEN)
            elif len(rates) > 1:
                axes.plot(left_edge, y + shift, marker="x", ls="", color=color)
    axes.axvline(start, color="0.5", lw=0.9, ls=":", label="random initialisation")
    axes.set(xlabel="top-1 of a linear probe on held-out images, %")
    axes.set_xlim(left_edge - 1, min(np.nanmax([*pilots["held_out"], start]) + 6, 100))
    axes.grid(axis="y", lw=0.3, color="0.9")
