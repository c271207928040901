"""Tables 2 and 3, and the learning-rate grid behind them."""

from itertools import cycle, zip_longest
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.measures import first, mean, rows
from reprise.papers.skean2024.linear_probes.params import Params
from reprise.papers.skean2024.lineup import EPOCHS, METHODS, Method, method
from reprise.papers.skean2024.published import DATA_SETS, accuracies, numbers
from reprise.papers.skean2024.references import references
from reprise.plotting.other_losses import with_other_losses
from reprise.plotting.style import MARKERS, WIDTH, colors, drawable, legend_entries
from reprise.study.experiment import Tables, figure, table

RULE = """Each method uses its own learning rate: of a grid that all methods share, the one whose pilot, a
    run of another seed, has the best linear probe on a held-out fifth of the training images; test images
    play no part in the choice. All methods have the same steps, batches, views and seeds."""


@table(
    "Table 2",
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
    number = accuracies(numbers(), artifact)[column].get(row.name, np.nan)
    return "" if np.isnan(number) else f"{number:.1f}"


def _methods(table: pd.DataFrame, params: Params) -> list[str]:
    """The methods in the order of Table 2, followed by other losses."""
    return [name for name in dict.fromkeys((*METHODS, *params.objective)) if (table["method"] == name).any()]


def _mean_and_spread(values: pd.Series) -> str:
    if values.isna().any():
        return "diverged"
    return f"{values.mean():.1f} ± {values.std():.1f}" if len(values) > 1 else f"{values.mean():.1f}"


CHOSEN: dict[str, Any] = {"marker": "o", "ms": 7, "mfc": "none", "ls": "", "color": "black", "mew": 0.7}


@figure(
    "Table 2, learning rates",
    caption="""The pilots behind Table 2: accuracy of a linear probe on a held-out fifth of the training
    images after a pilot of each method, a run of another seed, at each learning rate of the shared grid. A
    ring marks the chosen rate, a dotted line the probe of the random initialisation on the test images. A
    cross at the left marks a rate at which the pilot diverged.""",
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
    for position, (rate, color, marker) in enumerate(styles):
        shift = 0.6 * (position / max(len(rates) - 1, 1) - 0.5)
        style = {"color": color, "marker": marker, "ls": ""}
        for y, key in enumerate(methods):
            pilot = rows(pilots, method=key, learning_rate=rate)
            if pilot["held_out"].notna().all():
                axes.plot(pilot["held_out"], [y + shift] * len(pilot), **style)
                ring = rows(pilot, chosen=True)
                axes.plot(ring["held_out"], [y + shift] * len(ring), label="chosen", **CHOSEN)
            elif len(rates) > 1:
                axes.plot(left_edge, y + shift, marker="x", ls="", color=color, label="diverged")
    axes.axvline(start, color="0.5", lw=0.9, ls=":", label="random initialisation")
    axes.set(xlabel="top-1 of a linear probe on held-out images, %")
    axes.set_xlim(left_edge - 1, min(np.nanmax([*pilots["held_out"], start]) + 6, 100))
    axes.grid(axis="y", lw=0.3, color="0.9")
