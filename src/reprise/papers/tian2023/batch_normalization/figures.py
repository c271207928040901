"""Table 1 and Figure 11."""

from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from reprise.evidence.verdicts import setting
from reprise.papers.tian2023 import published
from reprise.papers.tian2023.batch_normalization.claims import table_cells
from reprise.papers.tian2023.batch_normalization.params import Params
from reprise.papers.tian2023.panels import score_panels, share_legend
from reprise.plotting.style import band, colors, drawable
from reprise.study.experiment import BASE, Tables, figure, table

FLOWS = {(False, False): "none", (False, True): "σ²", (True, False): "μ", (True, True): "μ and σ²"}


@table(
    "Table 1",
    caption="""Matching score χ+ at zeta = 10, mean ± standard deviation over pools, ours and as published (3
    repetitions). Columns tell through which of BatchNorm's statistics the gradient flows: none, the variance
    σ², the mean μ (mean-backprop BatchNorm), or both. Cells of a seed share pools, data and initial weights,
    so the 64 comparisons are not independent; the claim on all cells uses one number per seed. Where the
    published deviation is .07 or more, 3 repetitions leave an interval wider than the margin, so that no
    result could count as reproduced.""",
)
def table1(tables: Tables, params: Params) -> pd.DataFrame:
    cells = table_cells(setting(tables, BASE))
    rows = []
    for beta, candidates in product(params.over_parameterisation, params.candidates):
        row: dict[str, object] = {"beta": beta, "P": candidates}
        for flags, name in FLOWS.items():
            scores = drawable(cells[beta, candidates, *flags], "Table 1")
            ours = published.Score(scores.mean(skipna=False), scores.std(skipna=False))
            row[f"{name}: ours"] = str(ours)
            row[f"{name}: published"] = str(published.table1()[beta, candidates, *flags])
        rows.append(row)
    return pd.DataFrame(rows)


@figure(
    "Figure 11",
    caption="""Matching score χ+ of ReLU filters against over-parameterisation beta, with (mean-backprop)
    BatchNorm and without. Half of the tokens have length 1/zeta and half length zeta, with zeta = 2, 5, 10
    from top to bottom and P candidate tokens per field. Mean and 90 % interval over seeds; the scores with
    BatchNorm at zeta = 10 are those of Table 1.""",
)
def fig11(tables: Tables, params: Params) -> Figure:
    rows = setting(tables, BASE)["matching"].query("mean_gradient and not variance_gradient")
    rows = rows[rows["run"] != "text"]
    fig, panels = score_panels(params, [("χ+", f"zeta = {zeta:g}") for zeta in params.nonuniformity])
    for zeta, row in zip(params.nonuniformity, panels, strict=True):
        for candidates, panel in zip(params.candidates, row, strict=True):
            selection = rows[(rows["zeta"] == zeta) & (rows["candidates"] == candidates)]
            for flag, color, line in zip((True, False), colors(2), ("-", "--"), strict=True):
                label = "with BatchNorm" if flag else "without"
                part = selection[selection["batch_norm"] == flag]
                band(
                    panel,
                    part,
                    "beta",
                    "chi_plus",
                    color=color,
                    ls=line,
                    marker="o" if flag else "s",
                    label=label,
                )
    share_legend(fig, panels)
    return fig
