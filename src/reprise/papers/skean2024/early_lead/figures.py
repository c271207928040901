"""Figure 4."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reprise.contract.experiment import BASE, Tables, figure
from reprise.datasets.catalogue import DATA_SETS
from reprise.evidence.verdicts import setting
from reprise.papers.skean2024.early_lead.experiment import PAIR, SHOWN, Params
from reprise.papers.skean2024.lineup import METHODS
from reprise.papers.skean2024.published import accuracies, numbers
from reprise.papers.skean2024.references import CAPTION, reference_lines
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import (
    LINES,
    MARKERS,
    PERCENT,
    WIDTH,
    band,
    colors,
    drawable,
    legend_below,
    legend_entries,
)

SECTION = "Section 6.2 text"
PROBED: dict[str, Any] = {"marker": "*", "ms": 8, "ls": "", "clip_on": False}


@figure(
    "Figure 4",
    reads=("online", "probes"),
    caption=f"""Top-1 and top-5 accuracy of a linear probe trained along with the network, FroSSL against
    Barlow Twins in the same setup; what the paper calls an epoch is a hundredth of the steps here. Grey: the
    first 30 epochs, the range of the paper's figure. Stars, right of the curves: a linear probe after
    training. Titles have the final accuracies that Section 6.2 prints, on ImageNet, which a reduced run does
    not measure. Dash-dotted: chance. {CAPTION} Mean and 95 % interval over seeds, cut to [0, 100 %]; other
    losses, if the settings name any, are in red.""",
)
def fig04(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    online, probes = base["online"], base["probes"]
    classes = DATA_SETS[params.data_set].classes
    fig, panels = plt.subplots(1, 2, figsize=(WIDTH, 2.8))
    for axes, k in zip(panels, (1, 5), strict=True):
        column = f"top{k}"
        axes.axvspan(0, SHOWN, color="0.95", lw=0, label="the paper's figure")
        for place, (method, color, marker, line) in enumerate(
            zip(PAIR, colors(2), MARKERS, LINES, strict=False)
        ):
            style = {"color": color, "marker": marker, "ls": line, "label": METHODS[method].name}
            band(axes, online[online["method"] == method], "epoch", column, within=PERCENT, **style)
            ends = drawable(probes.loc[probes["method"] == method, column], f"{method}'s linear probe")
            axes.plot(103 + 3 * place, ends.mean(), color=color, **PROBED)
        axes.axhline(100 * min(k / classes, 1), color="0.5", ls="-.", lw=0.9, label="chance")
        if k == 1:
            reference_lines(axes, probes)
        for loss in other_losses(tables, params):
            band(
                axes,
                loss.tables["online"],
                "epoch",
                column,
                within=PERCENT,
                color=loss.color,
                label=loss.label,
            )
        printed = accuracies(numbers(), SECTION)[f"ImageNet top-{k} final"]
        finals = ", ".join(f"{name} {printed[name]:g}" for name in (METHODS[each].name for each in PAIR))
        ours = f"{params.data_set}, top-{k} of {classes:,} classes"
        axes.set_title(f"{ours}\nprinted, ImageNet: {finals}")
        axes.set(xlabel="hundredth of the steps (the paper's epoch)", ylabel=f"top-{k} accuracy, %")
        axes.set_xlim(0, 109)
    entries = legend_entries(panels)
    entries["final linear probe"] = Line2D([], [], color="0.3", **PROBED)
    legend_below(fig, entries, columns=4)
    return fig
