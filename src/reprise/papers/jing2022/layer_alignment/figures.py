"""Figures 4 and 5."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from reprise.evidence.verdicts import setting
from reprise.papers.jing2022.layer_alignment.params import Params
from reprise.plotting.style import LINES, WIDTH, band, colors, drawable, steps_axis
from reprise.study.experiment import BASE, Tables, figure


@figure(
    "Figure 4",
    caption="""Magnitude of the alignment matrix A = V2ᵀ U1 after training, mean over seeds: from a balanced
    initialisation (left) and from the unbalanced one of the authors' public code (second). Right: its
    off-diagonal mass 1 - mean A_kk² over the steps, and the imbalance |W1 W1ᵀ - W2ᵀ W2|_F, which training
    conserves. Balanced layers of equal singular values must align as soon as these differ, at the first
    step: only the public initialisation tests Theorem 2. Mean and 90 % interval over seeds.""",
)
def fig04(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    arms = ("balanced", "public")
    drawn, axes = plt.subplots(1, 4, figsize=(WIDTH, 2.2), width_ratios=[1, 1, 1.1, 1.1])
    ticks = [0, params.dim // 2 - 1, params.dim - 1]
    for panel, arm in zip(axes, arms, strict=False):
        rows = base["alignment"][base["alignment"]["arm"] == arm]
        mean = rows.groupby(["row", "column"])["magnitude"].mean().unstack()
        image = panel.imshow(drawable(mean, "the alignment matrix"), vmin=0, vmax=1, cmap="viridis")
        panel.set_xticks(ticks, [str(tick + 1) for tick in ticks])
        panel.set_yticks(ticks, [str(tick + 1) for tick in ticks])
        panel.set(title=f"|A|, {arm} init", xlabel="left vector of W1")
    axes[0].set_ylabel("right vector of W2")
    drawn.colorbar(image, ax=axes[:2], location="bottom", shrink=0.6, aspect=30, label="|A|, mean over seeds")
    for arm, color, line in zip(arms, colors(2), LINES, strict=False):
        rows = base["trajectory"][base["trajectory"]["arm"] == arm]
        band(axes[2], rows, "step", "off_diagonal_mass", color=color, ls=line, label=arm)
        band(axes[3], rows, "step", "imbalance", color=color, ls=line, label=arm)
    for panel in axes[2:]:
        steps_axis(panel)
    axes[2].set(title="off-diagonal mass of A", ylim=(-0.03, 1.03))
    axes[3].set(title="imbalance of W1 and W2", ylim=(-0.1, None))
    axes[3].legend(loc="center right")
    return drawn


@figure(
    "Figure 5",
    caption="""Singular values of (a) W1, (b) W2 and (c) the embeddings' covariance over the steps, from the
    balanced initialisation; dark lines are the largest, bands 90 % intervals over seeds. Dashed in (a) and
    (b): Theorem 3's ODE with the measured X, from the step at which the layers are aligned.""",
)
def fig05(tables: Tables, params: Params) -> Figure:
    base = setting(tables, BASE)
    values = base["singular_values"].query("arm == 'balanced'")
    drawn, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.5))
    titles = {"W1": "(a) W1", "W2": "(b) W2", "embedding": "(c) embedding covariance"}
    for panel, (layer, title) in zip(axes, titles.items(), strict=True):
        for index, color in zip(range(1, params.dim + 1), colors(params.dim), strict=True):
            rows = values[(values["layer"] == layer) & (values["index"] == index)]
            band(panel, rows, "step", "singular_value", log=True, color=color)
            if layer != "embedding":
                ode = base["theorem3"].query("index == @index").groupby("step")[f"{layer.lower()}_ode"]
                mean = np.exp(ode.agg(lambda values: np.log(values).mean()))
                panel.plot(
                    mean.index, drawable(mean, "Theorem 3's ODE"), color="black", ls=(0, (2, 2)), lw=0.7
                )
        panel.set(title=title, yscale="log")
        steps_axis(panel)
    for panel in axes[:2]:
        panel.set_yticks([0.2, 0.5, 1, 2], ["0.2", "0.5", "1", "2"])
        panel.yaxis.minorticks_off()
    axes[0].set_ylabel("singular value")
    axes[0].plot([], [], color=colors(2)[0], label="largest")
    axes[0].plot([], [], color=colors(2)[1], label=f"{params.dim}th")
    axes[0].plot([], [], color="black", ls=(0, (2, 2)), lw=0.7, label="Theorem 3")
    axes[0].legend(loc="upper left")
    return drawn
