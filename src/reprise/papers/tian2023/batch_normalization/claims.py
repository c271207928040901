"""What Table 1, Figure 11 and their text say of BatchNorm."""

import pandas as pd

from reprise.evidence.claims import MARGINS, Claim, Measure, both_forms, ordering, value
from reprise.evidence.measures import difference, rows
from reprise.papers.tian2023.published import CELL, table1
from reprise.study.experiment import Tables

UNIT = "matching score"
REPETITIONS = 3
"""Of every published number."""


def table_cells(tables: Tables, run: str = "table") -> pd.DataFrame:
    """Table 1's scores: a row a seed, a column a cell (beta, P, mean and variance backpropagated)."""
    columns = ["beta", "candidates", "mean_gradient", "variance_gradient"]
    scores = rows(tables["matching"], run=run).pivot(index="seed", columns=columns, values="chi_plus")
    return scores.rename_axis(columns=CELL)


def cell_score(beta: int, candidates: int, mean: bool, variance: bool) -> Measure:
    """χ+ of one cell."""
    return lambda tables: table_cells(tables)[beta, candidates, mean, variance]


def _off(cells: pd.DataFrame) -> pd.DataFrame:
    """By how much each cell is above the published one."""
    published = pd.Series({cell: score.mean for cell, score in table1().items()})
    return cells - published.loc[cells.columns]


def mean_distance(*, text_rate: bool) -> Measure:
    """|χ+ - published|, mean over the cells of the rows that were trained at the text's learning rate too."""

    def measure(tables: Tables) -> pd.Series:
        at_text = table_cells(tables, "text")
        cells = at_text if text_rate else table_cells(tables)[at_text.columns]
        return _off(cells).abs().mean(axis=1, skipna=False)

    return measure


def mean_difference(tables: Tables) -> pd.Series:
    """χ+ - published, mean over all cells: one number a seed, whose pools all cells share."""
    return _off(table_cells(tables)).mean(axis=1, skipna=False)


def by_variance(flows: bool) -> Measure:
    """χ+, mean over all cells in which the gradient flows through the variance, or does not."""
    return lambda tables: _mean_over(table_cells(tables), {"backprop_variance": flows})


def by_mean(flows: bool) -> Measure:
    """χ+ without the variance's gradient, mean over all cells with the mean's, or without."""
    return lambda tables: _mean_over(
        table_cells(tables), {"backprop_mean": flows, "backprop_variance": False}
    )


def _mean_over(cells: pd.DataFrame, flags: dict[str, bool]) -> pd.Series:
    """Mean over the cells with these flags."""
    columns = cells.columns.to_frame()
    return cells.loc[:, (columns[list(flags)] == pd.Series(flags)).all(axis=1)].mean(axis=1, skipna=False)


def over_parameterised(zeta: float, *, batch_norm: bool) -> Measure:
    """χ+ with or without (mean-backprop) BatchNorm, mean over the cells of beta > 1 and P > 1."""

    def measure(tables: Tables) -> pd.Series:
        table = tables["matching"]
        cells = table.query("beta > 1 and candidates > 1 and mean_gradient and not variance_gradient")
        cells = rows(cells, zeta=zeta, run=lambda run: run != "text")
        # Table 1 has more seeds than the runs without BatchNorm.
        paired = cells[cells["seed"].isin(cells.loc[~cells["batch_norm"], "seed"])]
        return paired[paired["batch_norm"] == batch_norm].groupby("seed")["chi_plus"].mean(skipna=False)

    return measure


def help_at(zeta: float) -> Measure:
    """By how much BatchNorm raises that mean."""
    return difference(over_parameterised(zeta, batch_norm=True), over_parameterised(zeta, batch_norm=False))


def _cell(beta: int, candidates: int, mean: bool, variance: bool) -> Claim:
    published = table1()[beta, candidates, mean, variance]
    flows = " and ".join(name for name, flag in (("mean", mean), ("variance", variance)) if flag)
    return value(
        f"tian2023/table1/beta{beta}-P{candidates}-mean{mean:d}-var{variance:d}",
        f"At beta = {beta}, P = {candidates}, zeta = 10, χ+ is {published.mean:.2f} with "
        f"{f'the gradient through the {flows}' if flows else 'no gradient through the statistics'}.",
        source="Table 1",
        quantity="score",
        measure=cell_score(beta, candidates, mean, variance),
        published=published.mean,
        std=published.std,
        n=REPETITIONS,
        unit=UNIT,
    )


CLAIMS = [
    *(_cell(*cell) for cell in table1()),
    value(
        "tian2023/table1/all-cells",
        "Over all 64 cells, which share their pools and so are not independent, our scores are the published "
        "ones on average.",
        source="Table 1",
        quantity="score",
        measure=mean_difference,
        published=0.0,
        unit=f"{UNIT}, ours less published",
    ),
    *both_forms(
        "typo",
        *(
            value(
                f"tian2023/table1-learning-rate/{form}",
                f"At learning rate {rate}, the row beta = 5 of Table 1 is within 0.10 of the published "
                "scores in the mean of the distances.",
                source=source,
                quantity="score",
                measure=mean_distance(text_rate=form == "printed"),
                published=0.0,
                unit=f"{UNIT}, distance",
            )
            for form, rate, source in (
                ("printed", "2e-3", "Section 5, Table 1"),
                ("corrected", "2e-2", "the authors' code, Table 1"),
            )
        ),
    ),
    ordering(
        "tian2023/table1/variance-detached-better",
        "Without the gradient through the variance the matching score is better.",
        source="Appendix E.2, on Table 1",
        measure=by_variance(False),
        above=by_variance(True),
        unit=UNIT,
    ),
    ordering(
        "tian2023/table1/variance-detached-worse-beta10-P10",
        "At beta = 10, P = 10 it is the other way round.",
        source="Table 1, against its text",
        measure=cell_score(10, 10, True, False),
        below=cell_score(10, 10, True, True),
        unit=UNIT,
    ),
    value(
        "tian2023/table1/mean-matters-little",
        "Once the variance is detached, the gradient through the mean changes the score little.",
        source="Table 1",
        quantity="score",
        measure=by_mean(True),
        published=by_mean(False),
        unit=UNIT,
    ),
    *(
        ordering(
            f"tian2023/fig11/batch-norm-helps-zeta{zeta:g}",
            f"At zeta = {zeta:g}, beta > 1 and P > 1, BatchNorm raises the matching score.",
            source="Figure 11, Appendix E.2",
            measure=over_parameterised(zeta, batch_norm=True),
            above=over_parameterised(zeta, batch_norm=False),
            unit=UNIT,
        )
        for zeta in (5.0, 10.0)
    ),
    ordering(
        "tian2023/fig11/batch-norm-little-at-zeta2",
        "At zeta = 2, beta > 1 and P > 1, BatchNorm does not help much: by less than the margin of scores.",
        source="Figure 11",
        measure=help_at(2.0),
        below=MARGINS["score"],
        unit=f"{UNIT}, gained",
    ),
    ordering(
        "tian2023/fig11/help-grows-with-zeta",
        "BatchNorm helps more at zeta = 10 than at zeta = 2.",
        source="Figure 11, Appendix E.2",
        measure=help_at(10.0),
        above=help_at(2.0),
        unit=UNIT,
    ),
]
