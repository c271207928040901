"""Section 3.1's grid search, which the paper does not plot."""

from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.measures import rows
from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.references import CAPTION, reference_lines
from reprise.papers.skean2024.trade_off.experiment import Params
from reprise.plotting.style import LINES, MARKERS, PERCENT, WIDTH, band, colors, drawable


@figure(
    "Section 3.1",
    reads=("probes", "pilots"),
    caption=f"""FroSSL's linear probe against the weight of its invariance term relative to the variance
    terms; the paper found equal weights, 1, best, and shows no numbers. Thick: each weight at its own
    learning rate, mean and 95 % interval over seeds, cut to [0, 100 %]. Thin: the pilots that chose the
    rates, runs of other seeds, on held-out training images, on average over them. {CAPTION}""",
)
def sec31_tradeoff(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    probes, pilots = base["probes"], base["pilots"].dropna(subset="held_out")
    fig, axes = plt.subplots(figsize=(WIDTH / 2, 3.2))
    if len(params.learning_rates) > 1:
        drawable(pilots["held_out"], "the pilots")
    rates = sorted(pilots["learning_rate"].unique())
    styles = zip(rates, colors(len(rates)), cycle(MARKERS), cycle(LINES), strict=False)
    for rate, color, marker, line in styles:
        pilot = rows(pilots, learning_rate=rate).sort_values("weight")
        style = {"color": color, "marker": marker, "ls": line, "lw": 0.8, "label": f"pilot at rate {rate:g}"}
        axes.plot(pilot["weight"], pilot["held_out"], **style)
    for weight in params.weights:
        drawable(rows(probes, weight=weight)["top1"], f"the probe at weight {weight:g}")
    own: dict[str, Any] = {"color": "0.4", "lw": 3, "alpha": 0.6, "zorder": 1, "label": "own rate"}
    band(axes, probes, "weight", "top1", within=PERCENT, **own)
    reference_lines(axes, probes)
    axes.set_xscale("log", base=2)
    axes.set_xticks(params.weights, [f"{weight:g}" for weight in params.weights])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="weight of the invariance", ylabel="top-1 of a linear probe, %")
    fig.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return fig
