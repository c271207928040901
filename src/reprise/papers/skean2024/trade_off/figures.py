"""Section 3.1's grid search, which the paper does not plot."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.rates import chosen
from reprise.papers.skean2024.trade_off.params import Params
from reprise.plotting.style import LINES, MARKERS, PERCENT, WIDTH, band, colors, drawable
from reprise.study.experiment import BASE, Tables, figure


@figure(
    "Section 3.1",
    caption="""FroSSL's linear probe against the weight of its invariance term relative to the variance terms;
    the paper found equal weights, 1, best, and shows no numbers. Thin: each learning rate; thick: the best
    rate for each weight, by validation accuracy. Dotted: the probe of the random initialisation. Mean and 95
    % interval over seeds, cut to [0, 100 %].""",
)
def sec31_tradeoff(tables: Tables, params: Params) -> Figure:
    probes = setting(tables, BASE)["probes"]
    best_rates = probes.merge(chosen(probes), on=["data_set", "method", "learning_rate"])
    fig, axes = plt.subplots(figsize=(WIDTH / 2, 2.8))
    rates = params.learning_rates
    for rate, color, marker, line in zip(rates, colors(len(rates)), MARKERS, LINES, strict=False):
        rows = probes[probes["learning_rate"] == rate]
        drawable(rows["top1"], f"the probe at learning rate {rate:g}")
        style = {"color": color, "marker": marker, "ls": line, "lw": 0.8, "label": f"learning rate {rate:g}"}
        band(axes, rows, "weight", "top1", within=PERCENT, **style)
    for weight in params.weights:
        drawable(best_rates.loc[best_rates["weight"] == weight, "top1"], f"the probe at weight {weight:g}")
    best: dict[str, Any] = {"color": "0.4", "lw": 3, "alpha": 0.6, "zorder": 1, "label": "best rate of each"}
    band(axes, best_rates, "weight", "top1", within=PERCENT, **best)
    start = drawable(probes["start"], "the probe of the start").mean()
    axes.axhline(start, color="0.5", ls=":", lw=0.9, label="random initialisation")
    axes.set_xscale("log", base=2)
    axes.set_xticks(params.weights, [f"{weight:g}" for weight in params.weights])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="weight of the invariance", ylabel="top-1 of a linear probe, %")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.45 * (high - low))  # room for the legend
    axes.legend(loc="upper left")
    return fig
