"""Table 1 and Figure 11."""

from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.evidence.verdicts import setting
from reprise.papers.tian2023 import published
from reprise.papers.tian2023.batch_normalization.claims import table_cells
from reprise.papers.tian2023.batch_normalization.params import Params
from reprise.papers.tian2023.panels import score_panels, share_legend
from reprise.plotting.beside import beside
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
    cannot be called reproduced, whatever we find. Another loss, where the settings name one, has columns of
    its own.""",
)
def table1(tables: Tables, params: Params) -> pd.DataFrame:
    cells = table_cells(setting(tables, BASE))
    others = {loss.label: table_cells(loss.tables) for loss in beside(tables, params)}
    rows = []
    for beta, candidates in product(params.over_parameterisation, params.candidates):
        row: dict[str, object] = {"beta": beta, "P": candidates}
        for flags, name in FLOWS.items():
            cell = beta, candidates, *flags
            row[f"{name}: ours"] = _score(drawable(cells[cell], "Table 1"))
            row[f"{name}: published"] = str(published.table1()[cell])
            for label, of_loss in others.items():
                row[f"{name}: {label}"] = _score(drawable(of_loss[cell], f"{label} in Table 1"))
        rows.append(row)
    return pd.DataFrame(rows)


def _score(scores: pd.Series) -> str:
    return str(published.Score(scores.mean(skipna=False), scores.std(skipna=False)))


@figure(
    "Figure 11",
    caption="""Matching score χ+ of ReLU filters against over-parameterisation beta, with (mean-backprop)
    BatchNorm and without, where half of the tokens are 1/zeta long and half zeta: zeta = 2, 5, 10 from above,
    P candidate tokens a field. Mean and 90 % interval over seeds; with BatchNorm at zeta = 10 they are
    Table 1's. Other losses, where the settings name any, are in colours of their own.""",
)
def fig11(tables: Tables, params: Params) -> Figure:
    shown = [("", setting(tables, BASE)["matching"], colors(2))]
    shown += [(f"{loss.label}, ", loss.tables["matching"], loss.shades(2)) for loss in beside(tables, params)]
    drawn, panels = score_panels(params, [("χ+", f"zeta = {zeta:g}") for zeta in params.nonuniformity])
    for loss, matching, tints in shown:
        rows = matching.query("mean_gradient and not variance_gradient and run != 'text'")
        for zeta, row in zip(params.nonuniformity, panels, strict=True):
            for candidates, panel in zip(params.candidates, row, strict=True):
                chosen = rows[(rows["zeta"] == zeta) & (rows["candidates"] == candidates)]
                _with_and_without(panel, chosen, tints, loss)
    share_legend(drawn, panels, len(shown))
    return drawn


def _with_and_without(panel: Axes, rows: pd.DataFrame, tints: np.ndarray, loss: str) -> None:
    for flag, color, line in zip((True, False), tints, ("-", "--"), strict=True):
        band(
            panel,
            rows[rows["batch_norm"] == flag],
            "beta",
            "chi_plus",
            color=color,
            ls=line,
            marker="o" if flag else "s",
            label=f"{loss}with BatchNorm" if flag else f"{loss}without",
        )
