"""Claims of Table 1, Figure 11 and their text about BatchNorm."""

from collections.abc import Callable
from itertools import product

import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import CORRECTED, Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import COSINE, MARGINS, Comparison, Measure, above, below, near
from reprise.evidence.edits import plus, put, swapped, times
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.measures import Wide, applied, difference, interned, rows
from reprise.papers.tian2023.batch_normalization.agreement import differences, slopes, unexplained
from reprise.papers.tian2023.published import CELL, REPETITIONS, table1

UNIT = "matching score"
OVER_PARAMETERISED = tuple(product((2, 5, 10), (3, 5, 10)))
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
"""The scores of the run of Table 1."""


def cell_score(beta: int, candidates: int, mean: bool, variance: bool) -> Measure:
    """χ+ of one cell."""
    return lambda tables: table_cells(tables)[beta, candidates, mean, variance]


def _off(cells: pd.DataFrame) -> pd.DataFrame:
    """Difference of each cell from the published one."""
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
    """Rise of χ+ by BatchNorm in one cell of Figure 11."""
    with_it, without = (shown(zeta, beta, candidates, batch_norm=flag) for flag in (True, False))
    return difference(with_it, without)


OF_THE_MEAN = 0.03
"""Largest difference of the mean over 64 cells, of which each may differ by `MARGINS["score"]`."""
SWAPPED = swapped("matching", "variance_gradient", True, False, run="table")

TABLE = "Table 1, Appendix E.2"
STATISTICS = Quotation("The effect of backpropagating different BN statistics under nonuniformity", TABLE)
OVERALL = Quotation(
    "Backpropagating the gradient through the sample mean ... but not the sample variance ... gives overall "
    "good matching score",
    TABLE,
)
DETACHED = Quotation(
    "is not backpropagated, then the matching score ... is actually better. This justifies our BN variant",
    TABLE,
)
RATE = Quotation("The network is trained with InfoNCE loss and SGD with learning rate", "Setup, Section 5")
LITTLE = Quotation("For small non-uniformity, BN doesn't help much", "Figure 11, Appendix E.2")
LARGER = Quotation(
    "For larger nonuniformity, BN yields better matching score ... in the over-parameterization region",
    "Figure 11, Appendix E.2",
)
HANDLES = Quotation(
    "BN with ReLU activations handles large non-uniformity ... very well, compared to the case without BN",
    "Figure 11, Appendix E.2",
)


def cell_claim(beta: int, candidates: int, mean: bool, variance: bool) -> Claim:
    """The claim that a cell of Table 1 has its printed score."""
    published = table1()[beta, candidates, mean, variance]
    flows = " and ".join(name for name, flag in (("mean", mean), ("variance", variance)) if flag)

    @claim(
        f"tian2023/{published.key}",
        f"""At beta = {beta}, P = {candidates}, zeta = 10, χ+ is {published.mean:z.2f} with
        {f"the gradient through the {flows}" if flows else "no gradient through the statistics"}.""",
        at=TABLE,
        word=f"{published.mean:.2f}",
        broken_by=put(
            "matching", "chi_plus", -1.0,
            run="table", beta=beta, candidates=candidates, mean_gradient=mean, variance_gradient=variance,
        ),
    )  # fmt: skip
    def cell() -> Comparison:
        return near(
            cell_score(beta, candidates, mean, variance),
            published.mean,
            quantity="score",
            std=published.std,
            n=REPETITIONS,
            bounds=COSINE,
            unit=UNIT,
        )

    return cell


TABLE_1 = tuple(cell_claim(*cell) for cell in table1())


@claim(
    "tian2023/table1/whole-table",
    """Our Table 1 agrees with the printed one: over its 64 cells our scores are as high on average, rise with
    the printed ones one for one, and differ from them by little more than repetitions do.""",
    quotes=STATISTICS,
    word="different BN statistics",
    broken_by=times("matching", "chi_plus", 0.3, run="table"),
)
def whole_table() -> Cells:
    yield (
        "mean difference",
        near(applied(differences, table_cells), 0.0, quantity="score", margin=OF_THE_MEAN, unit=UNIT),
    )
    yield (
        "slope of ours on print",
        near(applied(slopes, table_cells), 1.0, quantity="slope", unit="slope", kind="trend"),
    )
    yield (
        "mean square beyond repetitions",
        below(
            applied(unexplained, table_cells),
            MARGINS["score"] ** 2,
            unit="square of a difference",
            jackknife=True,
        ),
    )


@claim(
    "tian2023/table1-learning-rate",
    """At learning rate 2e-3, the row beta = 5 of Table 1 is within 0.10 of the published scores in the mean
    of the distances.""",
    at="Section 5, Setup",
    quotes=RATE,
    word="is trained with",
    erratum="code",
    misprint=Misprint(
        "code",
        printed=Text("learning rate 2e-3", r"\eta=2\times10^{-3}"),
        corrected=Text(
            "2e-2, as in the author's code: of the two, only that gives Table 1", r"\eta=2\times10^{-2}"
        ),
        changes_result=True,
    ),
    broken_by=(
        plus("matching", "chi_plus", 0.4, run="text"),
        plus("matching", "chi_plus", 0.4, run="table", beta=5),
    ),
)
def learning_rate() -> Cells:
    for name, text_rate in (("as printed, 2e-3", True), (f"{CORRECTED}, 2e-2", False)):
        distance = mean_distance(text_rate=text_rate)
        yield name, near(distance, 0.0, quantity="score", unit=f"{UNIT}, distance")


@claim(
    "tian2023/table1/variance-detached-better",
    """In Table 1, without the gradient through BatchNorm's variance the matching score is better than with
    it, on average over the table.""",
    quotes=DETACHED,
    quantifier="generic",
    word="is actually better",
    broken_by=SWAPPED,
)
def variance_detached_better() -> Comparison:
    return above(without_variance, with_variance, unit=UNIT, range=COSINE)


@claim(
    "tian2023/table1/mean-backprop-overall-good",
    """In Table 1, the matching score with the gradient through BatchNorm's mean alone is better than with
    that through its variance alone and than with both, on average over the table.""",
    quotes=OVERALL,
    quantifier="generic",
    word="overall good",
    reading="good is better than with the variance's gradient; without any gradient it is as good "
    "(`table1/mean-matters-little`)",
    looked="the sentence was read after results had been seen",
    broken_by=SWAPPED,
)
def mean_backprop_good() -> Cells:
    ours = over_cells(lambda mean, variance: mean and not variance)
    both = over_cells(lambda mean, variance: mean and variance)
    alone = over_cells(lambda mean, variance: variance and not mean)
    yield "than through mean and variance", above(ours, both, unit=UNIT, range=COSINE)
    yield "than through the variance alone", above(ours, alone, unit=UNIT, range=COSINE)


@claim(
    "tian2023/table1/variance-detached-worse-beta10-P10",
    """In Table 1, at beta = 10, P = 10, the matching score is worse without the gradient through BatchNorm's
    variance than with it.""",
    at=TABLE,
    form="ours",
    word="is worse",
    reading="ours: the paper speaks of the table as a whole, and prints .89 and .97 there",
    broken_by=SWAPPED,
)
def worse_in_the_largest() -> Comparison:
    without, with_it = (cell_score(10, 10, True, variance) for variance in (False, True))
    return below(without, with_it, unit=UNIT, range=COSINE)


@claim(
    "tian2023/table1/mean-matters-little",
    """Once the gradient through BatchNorm's variance is left out, that through its mean changes the matching
    score little, on average over Table 1.""",
    at=TABLE,
    form="ours",
    quantifier="similar",
    word="little",
    reading="ours: the paper recommends the gradient through the mean, and does not compare it with none",
    broken_by=plus("matching", "chi_plus", 0.3, run="table", mean_gradient=True, variance_gradient=False),
)
def mean_matters_little() -> Comparison:
    through_mean = over_cells(lambda mean, variance: mean and not variance)
    none = over_cells(lambda mean, variance: not (mean or variance))
    return near(through_mean, none, quantity="score", unit=UNIT, range=COSINE)


def named(beta: int, candidates: int) -> str:
    return f"beta = {beta}, P = {candidates}"


@each((5.0, 10.0))
def batch_norm_helps(zeta: float) -> Claim:
    @claim(
        f"tian2023/fig11/batch-norm-helps-zeta{zeta:g}",
        f"At zeta = {zeta:g}, beta > 1 and P > 1, BatchNorm raises the matching score.",
        quotes=(LARGER, HANDLES),
        quantifier="generic",
        word="yields better",
        broken_by=plus("matching", "chi_plus", 0.9, zeta=zeta, batch_norm=False),
    )
    def cells() -> Cells:
        for cell in OVER_PARAMETERISED:
            with_it, without = (shown(zeta, *cell, batch_norm=flag) for flag in (True, False))
            yield named(*cell), above(with_it, without, unit=UNIT, range=COSINE)

    return cells


@claim(
    "tian2023/fig11/batch-norm-little-at-zeta2",
    """At zeta = 2, beta > 1 and P > 1, BatchNorm raises the matching score by less than the margin of
    scores.""",
    quotes=LITTLE,
    quantifier="generic",
    word="doesn't help much",
    broken_by=plus("matching", "chi_plus", -0.3, zeta=2.0, batch_norm=False),
)
def batch_norm_helps_little() -> Cells:
    for cell in OVER_PARAMETERISED:
        less = below(help_at(2.0, *cell), MARGINS["score"], unit=f"{UNIT}, against the margin")
        yield named(*cell), less


@claim(
    "tian2023/fig11/help-grows-with-zeta",
    """BatchNorm helps more at zeta = 10 than at zeta = 2, at beta > 1 and P > 1.""",
    quotes=(LARGER, LITTLE),
    quantifier="generic",
    word="yields better",
    broken_by=plus("matching", "chi_plus", 0.9, zeta=10.0, batch_norm=False),
)
def help_grows() -> Cells:
    for cell in OVER_PARAMETERISED:
        yield named(*cell), above(help_at(10.0, *cell), help_at(2.0, *cell), unit=UNIT)
