"""A figure for Section 6.1's propositions, which have none in the paper."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.projector_alignment.experiment import Params
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import LINES, SHARE, WIDTH, band, colors, steps_axis


@figure(
    "Section 6.1, alignment",
    reads=("trajectory",),
    caption="""How W1 aligns with a constrained projector W2. Left: off-diagonal mass 1 - mean A_kk² of A =
    V2ᵀ U1 for a frozen and for a trainable diagonal projector, and for one that trains freely; 0 is
    alignment, the dotted line is the level of random bases. Right: share of W1's leading left singular
    vectors outside the subspace read by a fixed low-rank projector. Mean and 95 % interval over seeds, cut
    to [0, 1]. Other losses, if the settings name any, have colours of their own.""",
)
def sec61_projector(tables: Tables, params: Params) -> Figure:
    fig, axes = plt.subplots(1, 2, figsize=(0.75 * WIDTH, 2.2), sharey=True)
    panels = dict.fromkeys(("frozen", "diagonal", "free"), (axes[0], "off_diagonal_mass"))
    panels["low-rank"] = (axes[1], "mass_outside_subspace")
    curves = [("", setting(tables, BASE)["trajectory"], colors(len(panels)))]
    curves += [
        (f"{loss.label}, ", loss.tables["trajectory"], loss.shades(len(panels)))
        for loss in other_losses(tables, params)
    ]
    for loss, rows, tints in curves:
        for (arm, (panel, column)), color, line in zip(panels.items(), tints, LINES, strict=False):
            style = {"color": color, "ls": line, "label": f"{loss}{arm}"}
            band(panel, rows[rows["arm"] == arm], "step", column, within=SHARE, **style)
    for panel, random in zip(axes, (1 - 1 / params.dim, 1 - params.low_rank / params.dim), strict=True):
        panel.axhline(random, color="0.55", lw=0.8, ls=":", label="random bases")
        steps_axis(panel)
        panel.legend(loc="best")
    axes[0].set(title="off-diagonal mass of A", ylabel="share of the squared mass", ylim=(-0.03, 1.03))
    axes[1].set(title=f"outside the subspace of rank {params.low_rank}")
    return fig
