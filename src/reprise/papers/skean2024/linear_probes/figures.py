"""Tables 2 and 3, and the learning-rate grid behind them."""

from itertools import zip_longest
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.measures import mean, rows
from reprise.papers.skean2024.linear_probes.params import Params
from reprise.papers.skean2024.lineup import EPOCHS, METHODS, Method, method
from reprise.papers.skean2024.published import DATA_SETS, accuracies, numbers
from reprise.papers.skean2024.rates import at_own_rate, chosen
from reprise.plotting.other_losses import with_other_losses
from reprise.plotting.style import MARKERS, PERCENT, WIDTH, bounds, colors, drawable, legend_entries
from reprise.study.experiment import Tables, figure, table

RULE = """Each method uses its own learning rate from a shared grid: the one with the best mean accuracy, over
    seeds, on a held-out fifth of the training images; test images play no part in the choice. All methods
    have the same steps, batches, views and seeds."""


@table(
    "Table 2",
    caption=f"""Top-1 accuracy of a linear probe, in %: ours, mean and standard deviation over seeds, on the
    data sets named in the columns, and as published, on {DATA_SETS[0]}, {DATA_SETS[1]} and {DATA_SETS[2]}
    after 1000, 1000 and 500 epochs, where the baselines on CIFAR come from other papers. The two measure the
    same quantity only in a run without departures; in a reduced run on other images, only the order of the
    methods can be compared. `start` is the probe of the random initialisation. {RULE} Rows with a comma are
    our own variants of what the paper leaves open: another variance weight, λ or scale.""",
)
def table2(tables: Tables, params: Params) -> pd.DataFrame:
    probes = with_other_losses(tables, params)["probes"]
    own_rates = at_own_rate(probes, probes)
    lines = []
    for name in _methods(own_rates, params):
        ends, row = rows(own_rates, method=name), method(name)
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
    starts = {f"{name}: ours": _mean_and_spread(_starts(own_rates, name)) for name in params.data_sets}
    return pd.DataFrame([*lines, {"family": "", "method": "start", **starts}]).fillna("")


@table(
    "Table 3",
    caption=f"""Top-1 accuracy of a linear probe trained along with the network, in %, at Table 3's epochs:
    ours, mean and standard deviation over seeds, and as published, on STL-10. A reduced run replaces these
    epochs by the steps named in the columns, and may use other images; then only the order of the methods can
    be compared. {RULE}""",
)
def table3(tables: Tables, params: Params) -> pd.DataFrame:
    methods = with_other_losses(tables, params)
    own_rates = at_own_rate(methods["online"], methods["probes"])
    lines = []
    for name in _methods(own_rates, params):
        row = method(name)
        line: dict[str, object] = {"family": row.family, "method": row.name}
        for epoch, step in zip(EPOCHS, params.looks, strict=True):
            top1 = rows(own_rates, method=name, epoch=epoch)["top1"]
            line[f"epoch {epoch} (step {step} on {params.online}): ours"] = _mean_and_spread(top1)
            line[f"epoch {epoch} (STL-10): published"] = _published("Table 3", row, f"epoch {epoch}")
        lines.append(line)
    return pd.DataFrame(lines)


def _published(artifact: str, row: Method, column: str) -> str:
    """The number printed in the paper; empty if there is none."""
    number = accuracies(numbers(), artifact)[column].get(row.name, np.nan)
    return "" if np.isnan(number) else f"{number:.1f}"


def _methods(table: pd.DataFrame, params: Params) -> list[str]:
    """The methods in the order of Table 2, followed by other losses."""
    return [name for name in dict.fromkeys((*METHODS, *params.objective)) if (table["method"] == name).any()]


def _starts(table: pd.DataFrame, name: str) -> pd.Series:
    return rows(table, data_set=name).groupby("seed")["start"].first()


def _mean_and_spread(values: pd.Series) -> str:
    if values.isna().any():
        return "diverged"
    return f"{values.mean():.1f} ± {values.std():.1f}" if len(values) > 1 else f"{values.mean():.1f}"


CHOSEN: dict[str, Any] = {"marker": "o", "ms": 7, "mfc": "none", "ls": "", "color": "black", "mew": 0.7}


@figure(
    "Table 2, learning rates",
    caption="""The grid behind Table 2: accuracy of each method's linear probe at each learning rate of the
    shared grid, mean and 95 % interval over seeds, cut to [0, 100 %]. A ring marks the chosen rate, a
    vertical line the probe of the random initialisation. A cross at the left marks a rate at which a seed
    diverged.""",
)
def learning_rates(tables: Tables, params: Params) -> Figure:
    probes = with_other_losses(tables, params)["probes"]
    methods = _methods(probes, params)
    height = 0.22 * len(methods) + 1.1
    fig, panels = plt.subplots(1, len(params.data_sets), figsize=(WIDTH, height), sharey=True, squeeze=False)
    for axes, name in zip(panels[0], params.data_sets, strict=True):
        _rates(axes, rows(probes, data_set=name), methods, name)
    panels[0, 0].set_yticks(range(len(methods)), [method(name).name for name in methods])
    panels[0, 0].invert_yaxis()
    panels[0, 0].set_ylabel("method")
    entries = legend_entries(panels[0])
    fig.legend(entries.values(), entries, loc="outside lower center", ncols=3)
    return fig


def _rates(axes: Axes, probes: pd.DataFrame, methods: list[str], name: str) -> None:
    drawable(probes["top1"], f"the probes on {name}")
    rates = sorted(probes["learning_rate"].unique())
    chosen_rates = chosen(probes).set_index("method")["learning_rate"]
    left_edge = min(probes["top1"].min(), probes["start"].min()) - 3
    for position, (rate, color, marker) in enumerate(zip(rates, colors(len(rates)), MARKERS, strict=False)):
        shift = 0.22 * (position - (len(rates) - 1) / 2)
        style = {"color": color, "marker": marker, "ls": ""}
        axes.plot([], [], label=f"learning rate {rate:g}", **style)
        for y, key in enumerate(methods):
            top1 = probes.loc[(probes["method"] == key) & (probes["learning_rate"] == rate), "top1"]
            if top1.isna().any():
                axes.plot(left_edge, y + shift, marker="x", ls="", color=color, label="a seed diverged")
                continue
            mean, low, high = bounds(top1, PERCENT)
            axes.plot([low, high], [y + shift] * 2, color=color, lw=0.8)
            axes.plot(mean, y + shift, **style)
            if chosen_rates.get(key) == rate:
                axes.plot(mean, y + shift, label="chosen", **CHOSEN)
    axes.axvline(probes["start"].mean(), color="0.6", lw=0.8, ls="--", label="random initialisation")
    axes.set(xlabel="top-1 of a linear probe, %", title=name)
    axes.set_xlim(left_edge - 1, min(np.nanmax(probes["top1"]) + 6, 100))
    axes.grid(axis="y", lw=0.3, color="0.9")
