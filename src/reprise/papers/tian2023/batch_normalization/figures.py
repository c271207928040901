"""Table 1 and Figure 11."""

from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reprise.contract.experiment import BASE, Tables, figure, table
from reprise.evidence.comparison import MARGINS
from reprise.evidence.statistics import mean_interval
from reprise.evidence.verdicts import judge_all, setting
from reprise.papers.tian2023 import published
from reprise.papers.tian2023.batch_normalization.agreement import (
    FAR,
    by_chance,
    chi_square,
    compared,
    outliers,
    p_value,
    slopes,
    unexplained,
)
from reprise.papers.tian2023.batch_normalization.claims import cell_claim, table_cells
from reprise.papers.tian2023.batch_normalization.experiment import Params
from reprise.papers.tian2023.panels import ROW, score_panels, share_legend
from reprise.plotting.other_losses import other_losses
from reprise.plotting.style import COSINE, MARKS, WIDTH, band, colors, drawable, key_of_marks

PRINTED: dict[str, Any] = {
    "marker": "x", "ls": "", "color": "black", "capsize": 2, "elinewidth": 0.8, "mew": 1.0,
}  # fmt: skip
FLOWS = {(False, False): "none", (False, True): "σ²", (True, False): "μ", (True, True): "μ and σ²"}


@table(
    "Table 1",
    reads=("matching",),
    caption="""Matching score χ+ at zeta = 10, mean ± standard deviation over pools, ours and as published (3
    repetitions). Columns tell through which of BatchNorm's statistics the gradient flows: none, the variance
    σ², the mean μ (mean-backprop BatchNorm), or both. Cells of a seed share pools, data and initial weights,
    so the 64 comparisons are not independent; the claim on the whole table uses one number per seed. Other
    losses, if the settings name any, have columns of their own.""",
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


@table(
    "Table 1, as a whole",
    reads=("matching",),
    caption="""Our Table 1 against the printed one; in print stands what equal tables would give, and of a
    cell its score. A printed deviation is read as one with n - 1 = 2 in its denominator; standard errors are
    Welch's, with rounding to two digits. The slope's 95 % interval allows for the error of the printed means,
    whose cells are taken to depend on each other as ours do. What chance would give: the median and the
    middle 95 % over all ways to take three of our own seeds for the printed table against the others, which
    have the same dependence between cells; a dash with too few seeds. The chi-square is the sum of squared
    normal scores of the cells; its p-value takes them for independent. Below, the cells beyond two standard
    errors.""",
)
def table1_whole(tables: Tables, params: Params) -> pd.DataFrame:
    cells = table_cells(setting(tables, BASE))
    for cell in cells:
        drawable(cells[cell], "Table 1")
    against = compared(cells)
    difference = against["ours"] - against["printed"]
    slope, chance = mean_interval(slopes(cells)), by_chance(cells)
    beyond = np.sqrt(max(0.0, unexplained(cells).mean()))
    total = chi_square(against["score"])
    p = p_value(total, len(against))
    rows = [
        ("cells", f"{len(against)}", "", "", ""),
        ("correlation of ours with print", f"{against['ours'].corr(against['printed']):.3f}", "", "", ""),
        ("slope of ours on print", f"{slope.mean:.2f} [{slope.low:.2f}, {slope.high:.2f}]", "1", "", ""),
        ("mean difference, ours less print", f"{difference.mean():+.3f}", "0", "", ""),
        ("mean absolute difference", f"{difference.abs().mean():.3f}", "", "", ""),
        ("root mean square beyond what repetitions explain", f"{beyond:.3f}", "0", "", ""),
        (f"cells beyond {FAR:g} standard errors", f"{outliers(against['errors']):.0f}", "",
         _range(chance, "outliers"), ""),
        ("chi-square of the cells", f"{total:.1f}", "", _range(chance, "chi_square"), ""),
        ("p-value of the chi-square", f"{p:.2g}", "", "", ""),
    ]  # fmt: skip
    far = against[against["errors"].abs() > FAR]
    for cell, row in zip(far.index.to_list(), far.to_dict("records"), strict=True):
        beta, candidates, mean, variance = cell
        name = f"beta {beta}, P {candidates}, gradient through {FLOWS[mean, variance]}"
        printed = str(published.table1()[cell])
        rows.append((name, f"{row['ours']:.3f}", printed, "", f"{row['errors']:+.1f}"))
    return pd.DataFrame(rows, columns=["quantity", "ours", "in print", "by chance", "standard errors"])


def _range(chance: pd.DataFrame, column: str) -> str:
    """The median and the middle 95 %; a dash with too few seeds."""
    if chance.empty:
        return "-"
    low, middle, high = chance[column].quantile([0.025, 0.5, 0.975])
    return f"{middle:.0f} [{low:.0f}, {high:.0f}]"


@figure(
    "Table 1, differences",
    reads=("matching",),
    caption=f"""Table 1 against its reproduction: in each cell the matching score χ+ at zeta = 10 of the
    reproduction less the printed one, which the colour shows too, the verdict on the printed mean (within
    {MARGINS["score"]:.2f} of it, by the interval of the difference), and below both means ± standard
    deviations, ours over pools and the printed one over 3 repetitions. A column tells through which of
    BatchNorm's statistics the gradient flows; beta is the over-parameterisation and P the number of candidate
    tokens of a field.""",
)
def table1_differences(tables: Tables, params: Params) -> Figure:
    import seaborn as sns  # here, so that a plan does not wait for its import

    rows = list(product(params.over_parameterisation, params.candidates))
    shape = (len(rows), len(FLOWS))
    places = [(*row, *flags) for row, flags in product(rows, FLOWS)]
    cells = table_cells(setting(tables, BASE)).reindex(columns=pd.MultiIndex.from_tuples(places))
    for place in places:
        drawable(cells[place], "Table 1")
    verdicts = judge_all([cell_claim(*place) for place in places], [tables], params)["verdict"]
    gaps = np.array([cells[place].mean() - published.table1()[place].mean for place in places])
    texts = [
        f"{gap:+.2f} {MARKS[verdict]}\n{_score(cells[place])}  |  {published.table1()[place]}"
        for place, gap, verdict in zip(places, gaps, verdicts, strict=True)
    ]
    limit = max(np.abs(gaps).max(), MARGINS["score"])
    fig, axes = plt.subplots(figsize=(WIDTH, 1.3 + 0.36 * len(rows)))
    sns.heatmap(
        gaps.reshape(shape),
        annot=np.array(texts).reshape(shape),
        fmt="",
        cmap=sns.diverging_palette(250, 20, s=80, l=65, as_cmap=True),  # light enough for black numbers
        center=0.0,
        vmin=-limit,
        vmax=limit,
        linewidths=0.5,
        annot_kws={"fontsize": 6.5, "linespacing": 1.3, "color": "black"},
        cbar_kws={"label": "χ+ of ours less the printed one", "aspect": 40, "pad": 0.02},
        xticklabels=list(FLOWS.values()),
        yticklabels=[f"{beta}, {candidates}" for beta, candidates in rows],
        ax=axes,
    )
    axes.hlines(range(0, len(rows), len(params.candidates)), 0, len(FLOWS), color="black", lw=0.6)
    axes.tick_params(length=0, labelrotation=0)
    axes.set(ylabel="beta, P")
    axes.set_title("In each cell: the difference and its verdict; below, ours  |  printed")
    axes.set_xlabel(f"gradient flows through\n\n{key_of_marks(verdicts)}")
    return fig


@figure(
    "Figure 11",
    reads=("matching",),
    caption="""Matching score χ+ of ReLU filters against over-parameterisation beta, with (mean-backprop)
    BatchNorm and without. Half of the tokens have length 1/zeta and half length zeta, with zeta = 2, 5, 10
    from top to bottom and P candidate tokens per field. Mean and 95 % interval over seeds, cut to [-1, 1];
    the scores with BatchNorm at zeta = 10 are those of Table 1, whose printed numbers, mean ± standard
    deviation of 3 repetitions, are the crosses. Other losses, if the settings name any, have
    colours of their own.""",
)
def fig11(tables: Tables, params: Params) -> Figure:
    series = [("", setting(tables, BASE)["matching"], colors(2))]
    series += [
        (f"{loss.label}, ", loss.tables["matching"], loss.shades(2)) for loss in other_losses(tables, params)
    ]
    fig = plt.figure(figsize=(WIDTH, 0.7 + ROW * len(params.nonuniformity)))
    panels = score_panels(fig, params, [("χ+", f"zeta = {zeta:g}") for zeta in params.nonuniformity])
    for prefix, matching, tints in series:
        rows = matching.query("mean_gradient and not variance_gradient and run != 'text'")
        for zeta, row in zip(params.nonuniformity, panels, strict=True):
            for candidates, panel in zip(params.candidates, row, strict=True):
                selection = rows[(rows["zeta"] == zeta) & (rows["candidates"] == candidates)]
                _with_and_without(panel, selection, tints, prefix)
    for row, zeta in zip(panels, params.nonuniformity, strict=True):
        if zeta == params.table_nonuniformity:
            for candidates, panel in zip(params.candidates, row, strict=True):
                _printed_scores(panel, params.over_parameterisation, candidates)
    share_legend(fig, panels, len(series))
    return fig


def _printed_scores(panel: Axes, betas: tuple[int, ...], candidates: int) -> None:
    """Marks Table 1's printed scores with (mean-backprop) BatchNorm."""
    scores = [published.table1()[beta, candidates, True, False] for beta in betas]
    low, mean, high = np.clip([(s.mean - s.std, s.mean, s.mean + s.std) for s in scores], *COSINE).T
    panel.errorbar(betas, mean, [mean - low, high - mean], label="printed in Table 1", **PRINTED)


def _with_and_without(panel: Axes, rows: pd.DataFrame, tints: np.ndarray, prefix: str) -> None:
    """Draws the scores with BatchNorm and without."""
    for flag, color, line in zip((True, False), tints, ("-", "--"), strict=True):
        band(
            panel,
            rows[rows["batch_norm"] == flag],
            "beta",
            "chi_plus",
            within=COSINE,
            color=color,
            ls=line,
            marker="o" if flag else "s",
            label=f"{prefix}with BatchNorm" if flag else f"{prefix}without",
        )
