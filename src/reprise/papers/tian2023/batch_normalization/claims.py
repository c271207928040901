"""What Table 1, Figure 11 and their text say of BatchNorm."""

from collections.abc import Callable

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim, both_forms, ours
from reprise.evidence.claims import count, for_all, given, ordering, value
from reprise.evidence.comparison import COSINE, MARGINS, Comparison, Measure, above, below, near
from reprise.evidence.measures import Wide, applied, difference, interned, rows
from reprise.papers.tian2023.batch_normalization.agreement import (
    CHANCE,
    FAR,
    by_chance,
    compared,
    differences,
    outliers,
    slopes,
    unexplained,
)
from reprise.papers.tian2023.published import CELL, REPETITIONS, table1

UNIT = "matching score"
OVER_PARAMETERISED = [(beta, candidates) for beta in (2, 5, 10) for candidates in (3, 5, 10)]
"""beta > 1 and P > 1."""


@interned
def cells_of(run: str) -> Wide:
    """The scores of a run: a row a seed, a column a cell (beta, P, mean and variance backpropagated)."""
    columns = ["beta", "candidates", "mean_gradient", "variance_gradient"]

    def cells(tables: Tables) -> pd.DataFrame:
        scores = rows(tables["matching"], run=run).pivot(index="seed", columns=columns, values="chi_plus")
        return scores.rename_axis(columns=CELL)

    return cells


table_cells = cells_of("table")
"""Table 1's."""


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
        at_text = cells_of("text")(tables)
        cells = at_text if text_rate else table_cells(tables)[at_text.columns]
        return _off(cells).abs().mean(axis=1, skipna=False)

    return measure


def over_cells(chosen: Callable[[bool, bool], bool]) -> Measure:
    """χ+, mean over the cells of Table 1 that are chosen by whether the mean's and the variance's gradients
    flow."""

    def measure(tables: Tables) -> pd.Series:
        cells = [cell for cell in table1() if chosen(*cell[2:])]
        return table_cells(tables)[cells].mean(axis=1, skipna=False)

    return measure


with_variance = over_cells(lambda mean, variance: variance)
without_variance = over_cells(lambda mean, variance: not variance)


@interned
def shown(zeta: float, beta: int, candidates: int, *, batch_norm: bool) -> Measure:
    """χ+ with or without (mean-backprop) BatchNorm in one cell of Figure 11."""

    def measure(tables: Tables) -> pd.Series:
        table = tables["matching"].query("mean_gradient and not variance_gradient and run != 'text'")
        cell = rows(table, zeta=zeta, beta=beta, candidates=candidates).set_index("seed")
        # Table 1 has more seeds than the runs without BatchNorm.
        paired = cell[cell.index.isin(cell.index[~cell["batch_norm"]])]
        return paired.loc[paired["batch_norm"] == batch_norm, "chi_plus"]

    return measure


def help_at(zeta: float, beta: int, candidates: int) -> Measure:
    """By how much BatchNorm raises χ+ there."""
    with_it, without = (shown(zeta, beta, candidates, batch_norm=flag) for flag in (True, False))
    return difference(with_it, without)


OF_THE_MEAN = 0.03
"""Largest difference of the mean over 64 cells, of which each may differ by `MARGINS["score"]`."""


def most_by_chance(tables: Tables) -> pd.Series:
    """So many of Table 1's cells lie far off by chance."""
    return pd.Series([by_chance(table_cells(tables))["outliers"].quantile(CHANCE)])


def cell_claim(beta: int, candidates: int, mean: bool, variance: bool) -> Claim:
    """That a cell of Table 1 has its printed score."""
    published = table1()[beta, candidates, mean, variance]
    flows = " and ".join(name for name, flag in (("mean", mean), ("variance", variance)) if flag)
    return value(
        f"tian2023/table1/beta{beta}-P{candidates}-mean{mean:d}-var{variance:d}",
        f"At beta = {beta}, P = {candidates}, zeta = 10, χ+ is {published.mean:z.2f} with "
        f"{f'the gradient through the {flows}' if flows else 'no gradient through the statistics'}.",
        word=f"{published.mean:.2f}",
        source="Table 1",
        quantity="score",
        measure=cell_score(beta, candidates, mean, variance),
        published=published.mean,
        std=published.std,
        n=REPETITIONS,
        bounds=COSINE,
        unit=UNIT,
    )


def _in_figure_11(
    id: str, statement: str, source: str, word: str, compared: Callable[[int, int], Comparison]
) -> Claim:
    cells = {f"beta = {beta}, P = {candidates}": compared(beta, candidates)
             for beta, candidates in OVER_PARAMETERISED}  # fmt: skip
    return for_all(f"tian2023/fig11/{id}", statement, cells, source=source, quantifier="generic", word=word)


def _helps(zeta: float) -> Claim:
    return _in_figure_11(
        f"batch-norm-helps-zeta{zeta:g}",
        f"At zeta = {zeta:g}, beta > 1 and P > 1, BatchNorm raises the matching score.",
        "Figure 11, Appendix E.2",
        "yields better",
        lambda *cell: above(
            shown(zeta, *cell, batch_norm=True),
            shown(zeta, *cell, batch_norm=False),
            unit=UNIT,
            range=COSINE,
        ),
    )


CLAIMS = [
    *(cell_claim(*cell) for cell in table1()),
    for_all(
        "tian2023/table1/whole-table",
        "Table 1 as a whole is ours: over its 64 cells our scores are as high on average, rise with the "
        "printed ones one for one, and differ from them by little more than repetitions do.",
        {
            "mean difference": near(
                applied(differences, table_cells), 0.0, quantity="score", margin=OF_THE_MEAN, unit=UNIT
            ),
            "slope of ours on print": near(
                applied(slopes, table_cells), 1.0, quantity="slope", unit="slope", kind="trend"
            ),
            "mean square beyond repetitions": below(
                applied(unexplained, table_cells),
                MARGINS["score"] ** 2,
                unit="square of a difference",
                jackknife=True,
            ),
        },
        word="Table 1",
        source="Table 1",
    ),
    ours(
        given(
            count(
                "tian2023/table1/outliers",
                f"No more cells lie beyond {FAR:g} standard errors from print than in {100 * CHANCE:g} % of "
                "all ways to take three of our own seeds for the printed ones.",
                word="No more cells",
                source="Table 1",
                measure=lambda tables: pd.Series([outliers(compared(table_cells(tables))["errors"])]),
                at_most=most_by_chance,
                unit="cells",
            )
        )
    ),
    *both_forms(
        "typo",
        *(
            value(
                f"tian2023/table1-learning-rate/{form}",
                f"At learning rate {rate}, the row beta = 5 of Table 1 is within 0.10 of the published "
                "scores in the mean of the distances.",
                word=word,
                source=source,
                quantity="score",
                measure=mean_distance(text_rate=form == "printed"),
                published=0.0,
                unit=f"{UNIT}, distance",
            )
            for form, rate, source, word in (
                ("printed", "2e-3", "Section 5, Table 1", "is trained with"),
                ("corrected", "2e-2", "the authors' code, Table 1", "is within 0.10"),
            )
        ),
    ),
    ordering(
        "tian2023/table1/variance-detached-better",
        "In Table 1, without the gradient through BatchNorm's variance the matching score is better than "
        "with it, on average over the table.",
        quantifier="generic",
        word="is actually better",
        source="Appendix E.2, on Table 1",
        measure=without_variance,
        above=with_variance,
        range=COSINE,
        unit=UNIT,
    ),
    ours(
        for_all(
            "tian2023/table1/variance-detached-better-in-each-cell",
            "In each cell of Table 1 the matching score is better without the gradient through BatchNorm's "
            "variance than with it.",
            {
                f"beta = {beta}, P = {candidates}, mean {'with' if mean else 'without'} gradient": above(
                    cell_score(beta, candidates, mean, False),
                    cell_score(beta, candidates, mean, True),
                    unit=UNIT,
                    range=COSINE,
                )
                for beta, candidates, mean, variance in table1()
                if not variance
            },
            word="In each cell",
            source="Table 1",
        ),
        "ours: the paper speaks of the table as a whole",
    ),
    ours(
        ordering(
            "tian2023/table1/variance-detached-worse-beta10-P10",
            "In Table 1, at beta = 10, P = 10, the matching score is worse without the gradient through "
            "BatchNorm's variance than with it.",
            word="is worse",
            source="Table 1, against its text",
            measure=cell_score(10, 10, True, False),
            below=cell_score(10, 10, True, True),
            range=COSINE,
            unit=UNIT,
        )
    ),
    ours(
        value(
            "tian2023/table1/mean-matters-little",
            "Once the gradient through BatchNorm's variance is left out, that through its mean changes "
            "the matching score little, on average over Table 1.",
            quantifier="similar",
            word="little",
            source="Table 1",
            quantity="score",
            measure=over_cells(lambda mean, variance: mean and not variance),
            published=over_cells(lambda mean, variance: not mean and not variance),
            range=COSINE,
            unit=UNIT,
        )
    ),
    *(_helps(zeta) for zeta in (5.0, 10.0)),
    _in_figure_11(
        "batch-norm-little-at-zeta2",
        "At zeta = 2, beta > 1 and P > 1, BatchNorm does not help much: by less than the margin of scores.",
        "Figure 11",
        "help much",
        lambda *cell: below(help_at(2.0, *cell), MARGINS["score"], unit=f"{UNIT}, against the margin"),
    ),
    _in_figure_11(
        "help-grows-with-zeta",
        "BatchNorm helps more at zeta = 10 than at zeta = 2, at beta > 1 and P > 1.",
        "Figure 11, Appendix E.2",
        "yields better",
        lambda *cell: above(help_at(10.0, *cell), help_at(2.0, *cell), unit=UNIT),
    ),
]
