"""Collapse of wide networks, and their distance from the tangent kernel."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.comparison import COLLAPSED
from reprise.evidence.verdicts import setting
from reprise.papers.esser2024.wide_networks.claims import NAMES
from reprise.papers.esser2024.wide_networks.experiment import ACTIVATIONS, ARMS, LOSSES, Params
from reprise.plotting.style import LINES, MARKERS, SHARE, WIDTH, band, colors

LABELS = {
    "supervised": "squared loss",
    "unconstrained": "loss (1)",
    "constrained": "loss (1), orthonormal weights",
}


@figure(
    "Section 2",
    reads=("collapse", "distances"),
    caption="""Left: the second singular value of a wide network's outputs over the first, while it is trained
    without constraints by the contrastive loss (1) and the non-contrastive loss (2); each step moves all
    weights by the same share of their length, since the outputs grow without bound. Below the grey line they
    count as collapsed. Right: distance of a network's outputs from those of its neural tangent kernel at the
    start, after equally many steps at the same rate, over the length of the longer one, against the width:
    for a supervised squared loss, for the contrastive loss (1), and for the latter with weights that are kept
    orthonormal. Mean (geometric) and 95 % interval over seeds, on the left cut at a ratio of 1.""",
)
def sec2_wide(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    fig, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.8))
    series = [(activation, loss) for activation in ACTIVATIONS for loss in LOSSES]
    for (activation, loss), color, line in zip(series, colors(4), LINES, strict=False):
        rows = base["collapse"].query("activation == @activation and loss == @loss")
        style = {"color": color, "ls": line, "label": f"{NAMES[activation]}, {loss}"}
        band(left, rows, "step", "ratio", log=True, within=SHARE, **style)
    left.axhline(COLLAPSED, color="0.55", lw=0.8, zorder=0, label="collapsed below")
    left.set(yscale="log", xlabel="step", ylabel="2nd over 1st singular value", title="collapse")
    for arm, color, marker, line in zip(ARMS, colors(3), MARKERS, LINES, strict=False):
        rows = base["distances"][base["distances"]["arm"] == arm]
        band(
            right, rows, "width", "distance", log=True, color=color, marker=marker, ls=line, label=LABELS[arm]
        )
    right.set(
        xscale="log", yscale="log", xlabel="width h", ylabel="distance, relative", title="tangent kernel"
    )
    for axes in (left, right):
        axes.legend()
    return fig
