"""Tables 2 and 3, and the grid of learning rates behind them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.statistics import mean_interval
from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.linear_probes.params import Params
from reprise.papers.skean2024.lineup import EPOCHS, METHODS
from reprise.papers.skean2024.rates import at_own_rate, chosen
from reprise.plotting.style import MARKERS, WIDTH, colors, drawable
from reprise.study.experiment import BASE, Tables, figure, table

RULE = """Each method at its own learning rate of a grid that all share: that of the best mean accuracy, over
    the seeds, on a fifth of the training images, which its probe did not learn from; test images have no part
    in the choice. All have the same steps, batches, views and seeds."""


@table(
    "Table 2",
    caption=f"""Top-1 accuracy of a linear probe, in %, mean and standard deviation over the seeds; `start` is
    the probe of the random initialisation. {RULE} The rows with a comma are ours: another variance weight, λ
    or scale of what the paper leaves open.""",
)
def table2(tables: Tables, params: Params) -> pd.DataFrame:
    probes = setting(tables, BASE)["probes"]
    own = at_own_rate(probes, probes)
    rows = []
    for method in _methods(own):
        of = own[own["method"] == method]
        row: dict[str, object] = {"family": METHODS[method].family, "method": METHODS[method].name}
        for name in params.data_sets:
            on = of[of["data_set"] == name]
            row[f"{name}, learning rate"] = f"{on['learning_rate'].iloc[0]:g}"
            row[name] = _mean_and_spread(on["top1"])
        row["average"] = _mean_and_spread(of.groupby("seed")["top1"].agg(lambda v: v.mean(skipna=False)))
        rows.append(row)
    starts = {name: _mean_and_spread(_starts(own, name)) for name in params.data_sets}
    return pd.DataFrame([*rows, {"family": "", "method": "start", **starts}]).fillna("")


@table(
    "Table 3",
    caption=f"""Top-1 accuracy of a linear probe trained along with the network, in %, mean and standard
    deviation over the seeds, at Table 3's epochs: the steps at which a reduced run takes them are named.
    {RULE}""",
)
def table3(tables: Tables, params: Params) -> pd.DataFrame:
    base = setting(tables, BASE)
    own = at_own_rate(base["online"], base["probes"])
    rows = []
    for method in _methods(own):
        of = own[own["method"] == method]
        row: dict[str, object] = {"family": METHODS[method].family, "method": METHODS[method].name}
        for epoch, step in zip(EPOCHS, params.looks, strict=True):
            row[f"epoch {epoch} (step {step})"] = _mean_and_spread(of.loc[of["epoch"] == epoch, "top1"])
        rows.append(row)
    return pd.DataFrame(rows)


def _methods(rows: pd.DataFrame) -> list[str]:
    """In the order of Table 2."""
    return [method for method in METHODS if (rows["method"] == method).any()]


def _starts(own: pd.DataFrame, name: str) -> pd.Series:
    return own[own["data_set"] == name].groupby("seed")["start"].first()


def _mean_and_spread(values: pd.Series) -> str:
    if values.isna().any():
        return "diverged"
    return f"{values.mean():.1f} ± {values.std():.1f}" if len(values) > 1 else f"{values.mean():.1f}"


@figure(
    "Table 2, learning rates",
    caption="""The grid behind Table 2: accuracy of each method's linear probe at each learning rate that all
    were offered, mean and 90 % interval over the seeds; a ring marks the chosen rate, a vertical line the
    probe of the random initialisation. A rate at which a seed diverged has a cross at the left.""",
)
def learning_rates(tables: Tables, params: Params) -> Figure:
    probes = setting(tables, BASE)["probes"]
    methods = [method for method in METHODS if method in params.methods]
    height = 0.22 * len(methods) + 1.1
    drawn, panels = plt.subplots(
        1, len(params.data_sets), figsize=(WIDTH, height), sharey=True, squeeze=False
    )
    for axes, name in zip(panels[0], params.data_sets, strict=True):
        _rates(axes, probes[probes["data_set"] == name], methods, name)
    panels[0, 0].set_yticks(range(len(methods)), [METHODS[method].name for method in methods])
    panels[0, 0].invert_yaxis()
    panels[0, 0].set_ylabel("method")
    handles, names = panels[0, 0].get_legend_handles_labels()
    drawn.legend(handles, names, loc="outside lower center", ncols=len(names), title="learning rate")
    return drawn


def _rates(axes: Axes, rows: pd.DataFrame, methods: list[str], name: str) -> None:
    drawable(rows["top1"], f"the probes on {name}")
    rates = sorted(rows["learning_rate"].unique())
    own = chosen(rows).set_index("method")["learning_rate"]
    axes.axvline(rows["start"].mean(), color="0.6", lw=0.8, ls="--")
    left = min(rows["top1"].min(), rows["start"].min()) - 3
    for place, (rate, color, marker) in enumerate(zip(rates, colors(len(rates)), MARKERS, strict=False)):
        shift = 0.22 * (place - (len(rates) - 1) / 2)
        look = {"color": color, "marker": marker, "ls": ""}
        axes.plot([], [], label=f"{rate:g}", **look)
        for y, method in enumerate(methods):
            top1 = rows.loc[(rows["method"] == method) & (rows["learning_rate"] == rate), "top1"]
            if top1.isna().any():
                axes.plot(left, y + shift, marker="x", color=color)
                continue
            interval = mean_interval(top1) if len(top1) > 1 else None
            if interval:
                axes.plot([interval.low, interval.high], [y + shift] * 2, color=color, lw=0.8)
            axes.plot(top1.mean(), y + shift, **look)
            if own.get(method) == rate:
                axes.plot(top1.mean(), y + shift, marker="o", ms=7, mfc="none", color="black", mew=0.7)
    axes.set(xlabel="top-1 of a linear probe, %", title=name)
    axes.set_xlim(left - 1, min(np.nanmax(rows["top1"]) + 6, 100))
    axes.grid(axis="y", lw=0.3, color="0.9")
