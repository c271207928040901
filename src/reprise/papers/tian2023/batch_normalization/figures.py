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
    caption="""Matching score χ+ at zeta = 10, mean ± standard deviation over pools, ours and the published
    one (3 repetitions), by which of BatchNorm's statistics the gradient flows through: none, the variance σ²,
    the mean μ (mean-backprop BatchNorm), or both. The cells of a seed share pools, data and initial weights,
    so the 64 comparisons are not independent: the claim on all cells takes one number a seed. Where the
    published deviation is .07 or more, 3 repetitions leave an interval wider than the margin: such a cell
    cannot be called reproduced, whatever we find.""",
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
    BatchNorm and without, where half of the tokens are 1/zeta long and half zeta: zeta = 2, 5, 10 from above,
    P candidate tokens a field. Mean and 90 % interval over seeds; with BatchNorm at zeta = 10 they are
    Table 1's.""",
)
def fig11(tables: Tables, params: Params) -> Figure:
    rows = setting(tables, BASE)["matching"].query("mean_gradient and not variance_gradient")
    rows = rows[rows["run"] != "text"]
    drawn, panels = score_panels(params, [("χ+", f"zeta = {zeta:g}") for zeta in params.nonuniformity])
    for zeta, row in zip(params.nonuniformity, panels, strict=True):
        for candidates, panel in zip(params.candidates, row, strict=True):
            chosen = rows[(rows["zeta"] == zeta) & (rows["candidates"] == candidates)]
            for flag, color, line in zip((True, False), colors(2), ("-", "--"), strict=True):
                label = "with BatchNorm" if flag else "without"
                part = chosen[chosen["batch_norm"] == flag]
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
    share_legend(drawn, panels)
    return drawn
