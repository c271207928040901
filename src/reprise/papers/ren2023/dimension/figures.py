"""Theorem 4.3 as a figure; the paper has none."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.ren2023.dimension.experiment import Params
from reprise.papers.ren2023.words import ASSUMED
from reprise.plotting.style import LINES, MARKERS, WIDTH, colors, drawable

MOMENTS = ("without negatives", "stage 1", "stage 2", "start")
LABELS = ("no negatives, at rest", "end of Stage 1", "end of Stage 2", "start")


@figure(
    "Theorem 4.3",
    reads=("ends", "closed_form"),
    caption=f"""Noiseless learners of infinite width (Eq. 8) as d grows: r = d/2 signals, one with σ² = max(ln
    d, 1), the others with σ² = 1. Left: the condition number of K_A. Without negatives its final value grows
    as a power of d times logarithms. The dashed line is the closed form that follows from the conserved norm
    of W; its power is ln 2 / 2 = 0.35 for large d, and its slope over the d shown is 0.44. Stage 1 of the
    contrastive dynamics, which ends here when every 1 - h/k is below 0.01, comes close to it; Stage 2 reduces
    the condition number to 1. Right: the balance score (Definition 4.2), ||C||_F² / ||C||_2², as a share of
    its maximum r. {ASSUMED}""",
)
def thm43_dimension(tables: Tables, params: Params) -> Figure:
    table = setting(tables, BASE)["ends"]
    formula = setting(tables, BASE)["closed_form"]
    fig, (condition_axes, balance_axes) = plt.subplots(1, 2, figsize=(WIDTH, 2.7))
    for moment, label, color, marker, line in zip(MOMENTS, LABELS, colors(4), MARKERS, LINES, strict=False):
        rows = table[table["moment"] == moment]
        style = {"color": color, "marker": marker}
        condition_axes.plot(
            rows["dim"], drawable(rows["condition"], f"condition, {moment}"), ls=line, label=label, **style
        )
        share = drawable(rows["stable_rank"], f"stable rank, {moment}") / rows["signals"]
        balance_axes.plot(rows["dim"], share, ls=line, label=label, **style)
    condition_axes.plot(
        formula["dim"], drawable(formula["condition"], "closed form"), color="0.55", lw=0.8, ls=(0, (4, 3)),
        label="closed form", zorder=3,
    )  # fmt: skip
    smallest_share = (table["stable_rank"] / table["signals"]).min()
    condition_axes.set_ylabel("condition number of $K_A$")
    balance_axes.set_ylabel("balance score / r")
    ticks = [1, 2, 5, 10, 20, 50]
    condition_axes.set(yscale="log", ylim=(0.8, 1.3 * table["condition"].max()))
    condition_axes.set_yticks([tick for tick in ticks if tick < 1.3 * table["condition"].max()])
    condition_axes.yaxis.set_major_formatter("{x:g}")
    condition_axes.minorticks_off()
    balance_axes.set(yscale="log", ylim=(0.7 * smallest_share, 1.5))
    for panel in (condition_axes, balance_axes):
        panel.set(xscale="log", xlabel="d")
    condition_axes.set_xlim(0.8 * np.min(table["dim"]), 1.25 * np.max(table["dim"]))
    condition_axes.legend(loc="upper left")
    return fig
