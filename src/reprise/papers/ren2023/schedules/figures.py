"""Figure of the schedules at which Theorem 4.3 (b) holds; the paper has no such figure."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure
from reprise.evidence.verdicts import setting
from reprise.papers.ren2023.schedules.claims import BALANCED
from reprise.papers.ren2023.schedules.experiment import Params
from reprise.papers.ren2023.words import ASSUMED
from reprise.plotting.style import WIDTH, drawable


@figure(
    "Theorem 4.3 (b)",
    reads=("region",),
    caption=f"""The schedules with which Algorithm 3.1 ends balanced, at infinite width: the stable rank as a
    share of r, the smallest over four spectra of A, with noise and without. A panel for each τ² and length of
    Stage 1; in it, τ² and length of Stage 2. Numbers in bold are at least 0.9. All learners are aligned.
    {ASSUMED}""",
)
def thm43_schedules(tables: Tables, params: Params) -> Figure:
    region = setting(tables, BASE)["region"]
    worst = region.groupby(["stage1_tau2", "stage1_steps", "stage2_tau2", "stage2_steps"])["balance"].min()
    drawable(worst, "balance score")
    rows, columns = params.stage1_steps, params.stage1_tau2
    fig, axes = plt.subplots(
        len(rows), len(columns), figsize=(WIDTH, 1.7 * len(rows)), sharex=True, sharey=True, squeeze=False
    )
    for panels, steps in zip(axes, rows, strict=True):
        for panel, tau2 in zip(panels, columns, strict=True):
            shares = worst.loc[tau2, steps].unstack("stage2_tau2")
            panel.imshow(shares, vmin=0, vmax=1, cmap="Greys", aspect="auto", origin="lower")
            for (row, column), share in zip(
                [(i, j) for i in range(shares.shape[0]) for j in range(shares.shape[1])],
                shares.to_numpy().ravel(),
                strict=True,
            ):
                panel.text(
                    column, row, f"{share:.2f}", ha="center", va="center", fontsize="x-small",
                    color="white" if share > 0.6 else "black",
                    fontweight="bold" if share >= BALANCED else "normal",
                )  # fmt: skip
            panel.set_xticks(range(shares.shape[1]), [f"{value:g}" for value in shares.columns])
            panel.set_yticks(range(shares.shape[0]), [f"{value:g}" for value in shares.index])
            panel.set_title(f"τ² = {tau2:g} for {steps} steps", loc="left")
    for panel in axes[-1]:
        panel.set_xlabel("τ² of Stage 2")
    for panel in axes[:, 0]:
        panel.set_ylabel("steps of Stage 2")
    return fig
