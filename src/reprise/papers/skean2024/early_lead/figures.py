"""Figure 4."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reprise.contract.experiment import BASE, Tables, figure
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
FINAL: dict[str, Any] = {"marker": "D", "ms": 5, "mfc": "none", "ls": "", "clip_on": False}


@figure(
    "Figure 4",
    reads=("online", "probes"),
    caption=f"""Top-1 and top-5 accuracy of a linear probe trained along with the network, FroSSL against
    Barlow Twins in the same setup; what the paper calls an epoch is a hundredth of the steps here. Grey: the
    first 30 epochs, the range of the paper's figure. Right of the curves, in the colour of the method: stars
    are our linear probe after training, diamonds the final accuracies that Section 6.2 prints, on ImageNet.
    {CAPTION} Mean and 95 % interval over seeds, cut to [0, 100 %]; other losses, if the settings name any,
    are in red.""",
)
def fig04(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    online, probes = base["online"], base["probes"]
    fig, panels = plt.subplots(1, 2, figsize=(WIDTH, 2.6))
    for axes, column, k in zip(panels, ("top1", "top5"), ("top-1", "top-5"), strict=True):
        axes.axvspan(0, SHOWN, color="0.95", lw=0, label="the paper's figure")
        for place, (method, color, marker, line) in enumerate(
            zip(PAIR, colors(2), MARKERS, LINES, strict=False)
        ):
            style = {"color": color, "marker": marker, "ls": line, "label": METHODS[method].name}
            band(axes, online[online["method"] == method], "epoch", column, within=PERCENT, **style)
            ends = drawable(probes.loc[probes["method"] == method, column], f"{method}'s linear probe")
            axes.plot(103 + 3 * place, ends.mean(), color=color, **PROBED)
            printed = accuracies(numbers(), SECTION).loc[METHODS[method].name, f"ImageNet {k} final"]
            axes.plot(109 + 3 * place, printed, color=color, **FINAL)
        if column == "top1":
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
        axes.set(
            xlabel="hundredth of the steps (the paper's epoch)", ylabel=f"{k} accuracy, %", xlim=(0, 114)
        )
        axes.set_ylim(bottom=0)
    entries = legend_entries(panels)
    for name, style in (("final linear probe", PROBED), ("printed, ImageNet", FINAL)):
        entries[name] = Line2D([], [], color="0.3", **style)
    legend_below(fig, entries, columns=5)
    return fig
