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
from reprise.plotting.other_losses import other_losses
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
    result could count as reproduced. Other losses, if the settings name any, have columns of their own.""",
)
def table1(tables: Tables, params: Params) -> pd.DataFrame:
    cells = table_cells(setting(tables, BASE))
    others = {loss.label: table_cells(loss.tables) for loss in other_losses(tables, params)}
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
    BatchNorm and without. Half of the tokens have length 1/zeta and half length zeta, with zeta = 2, 5, 10
    from top to bottom and P candidate tokens per field. Mean and 95 % interval over seeds; the scores with
    BatchNorm at zeta = 10 are those of Table 1. Other losses, if the settings name any, have colours of their
    own.""",
)
def fig11(tables: Tables, params: Params) -> Figure:
    series = [("", setting(tables, BASE)["matching"], colors(2))]
    series += [
        (f"{loss.label}, ", loss.tables["matching"], loss.shades(2)) for loss in other_losses(tables, params)
    ]
    fig, panels = score_panels(params, [("χ+", f"zeta = {zeta:g}") for zeta in params.nonuniformity])
    for prefix, matching, tints in series:
        rows = matching.query("mean_gradient and not variance_gradient and run != 'text'")
        for zeta, row in zip(params.nonuniformity, panels, strict=True):
            for candidates, panel in zip(params.candidates, row, strict=True):
                selection = rows[(rows["zeta"] == zeta) & (rows["candidates"] == candidates)]
                _with_and_without(panel, selection, tints, prefix)
    share_legend(fig, panels, len(series))
    return fig


def _with_and_without(panel: Axes, rows: pd.DataFrame, tints: np.ndarray, prefix: str) -> None:
    """Draws the scores with BatchNorm and without."""
    for flag, color, line in zip((True, False), tints, ("-", "--"), strict=True):
        band(
            panel,
            rows[rows["batch_norm"] == flag],
            "beta",
            "chi_plus",
            color=color,
            ls=line,
            marker="o" if flag else "s",
            label=f"{prefix}with BatchNorm" if flag else f"{prefix}without",
        )
