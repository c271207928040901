"""Claims of Figures 4, 5, 9 and 10, in every cell that the paper's sentences are about.

Linear filters are compared with tokens by |cos|, and others by cos, as in the authors' code, which made the
figures; Eq. 16 has cos for all (`eq16-code`).
"""

import math
from itertools import pairwise, product

import pandas as pd

from reprise.evidence.claim import CORRECTED, Cells, Claim, Quotation, claim, each
from reprise.evidence.comparison import (
    COSINE,
    UNBOUNDED,
    Comparison,
    Measure,
    above,
    at_most,
    below,
    near,
)
from reprise.evidence.edits import plus, put, swapped, times
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.measures import applied, beside, difference, rank_correlation
from reprise.papers.tian2023.matching_scores.cells import (
    ACTIVATIONS,
    BETAS,
    CANDIDATES,
    FIGURES,
    OVER,
    SEVERAL,
    SHOWN,
    UNIT,
    Cell,
    Score,
    measured,
    ordered,
)

LOSS = {"fig9": "With InfoNCE", "fig10": "With the quadratic loss"}
INFONCE, QUADRATIC = FIGURES.values()
CODE = "the authors' code: |cos| for linear filters, cos for others"
LOOKED = (
    "seeds of ReLU and linear nets: of 5, most sentences about every cell had been undecided; then fewer "
    "again with InfoNCE where, after ten, 4 fresh ones were likely to give the same verdict"
)
GRID = tuple(product(CANDIDATES, BETAS))
CAPTURE = "ours: a filter captures the token along which more than half of its squared length lies"
FIELDS = 10
"""Receptive fields of Figure 5."""
WELL = math.sqrt(0.5)
"""The score of a filter half of whose squared length lies along the token, where `CAPTURE` begins."""
LEVEL = f"ours: well is a score above {WELL:.2f}, of a filter half of whose squared length is the token's"

CAPTION = "Figure 4, Section 5"
LINEAR_WELL = Quotation("linear model works well regardless of the degree of over-parameterization", CAPTION)
RELU_NEEDS = Quotation("while ReLU requires large over-parameterization to perform well", CAPTION)
DIVERSE = Quotation(
    "ReLU models can capture diverse patterns better than linear ones in the over-parameterization region",
    CAPTION,
)
HOMOGENEOUS = Quotation("We found similar trend for other homogeneous activations such as LeakyReLU", CAPTION)
LESS_AFFECTED = Quotation("linear models are much less affected by over-parameterization", CAPTION)
LESS_EFFECTIVE = Quotation("quadratic loss is not as effective as InfoNCE in feature learning", CAPTION)
RECONSTRUCTION = Quotation(
    "ReLU (and other homogeneous) activations achieve better reconstruction of the input patterns, when each "
    "RF contains many patterns",
    "Figure 4, Section 5.1",
)
LINEAR_BETTER = Quotation("linear activation works better", "Figure 4, Section 5.1")
BENEFITS = Quotation("ReLU activation clearly benefits from over-parameterization", "Figure 4, Section 5.1")
THE_LARGER = Quotation(
    "ReLU activation clearly benefits from over-parameterization ... beta is, the better",
    "Figure 4, Section 5.1",
)
NOT_AFFECTED = Quotation(
    "for linear activation, over-parameterization does not quite affect the performance",
    "Figure 4, Section 5.1",
)
UNDERPERFORMS = Quotation("quadratic CL loss underperforms InfoNCE", "Figure 4, Section 5.1")
TRENDS = Quotation(
    "the trend of linear/ReLU and over-parameterization remains similar", "Figure 4, Section 5.1"
)
WORSE = Quotation("shows worse matching score than InfoNCE", "Figure 10, Appendix E.2")
LOWEST = Quotation(
    "Among all activations (homogeneous or non-homogeneous), ReLU shows its strength by achieving the lowest "
    "irrelevant-matching score",
    "Figure 9, Appendix E.2",
)
FOCUS = Quotation("the learned weights indeed focus on the token subset", "Figure 5, Section 5.1")
NO_NOISE = Quotation(
    "top-down support from the generators and no noise token is learned", "Figure 5, Section 5.1"
)
NOT_LEARNED = Quotation(
    "noisy patterns that are not part of the global patterns (i.e., the generators) are not learned. Fig. 9 "
    "shows that this indeed is the case",
    "Figure 9, Appendix E.2",
)
CAPTURED = Quotation(
    "With ReLU activation, learned weights clearly capture the 3 candidate tokens", "Figure 5, Section 5"
)
CANNOT = Quotation("while linear activation cannot", "Figure 5, Section 5")


def over_grid(name: str, activation: str) -> Measure:
    """A score with InfoNCE, the mean over P and beta."""

    def mean(*scores: pd.Series) -> pd.Series:
        return pd.concat(scores, axis=1, join="inner").mean(axis=1, skipna=False)

    return applied(mean, *(measured(name, activation, cell) for cell in GRID))


def named(cell: Cell) -> str:
    return "P = {}, beta = {}".format(*cell)


@each(FIGURES)
def linear_above_relu(figure: str) -> Claim:
    @claim(
        f"tian2023/{figure}/linear-above-relu-at-one-candidate",
        f"""{LOSS[figure]}, at P = 1, linear filters match the candidate token better than ReLU filters, on
        average over beta.""",
        quotes=(LINEAR_BETTER, LINEAR_WELL, RELU_NEEDS),
        quantifier="generic",
        word="works better",
        reading=f"{CODE}; on average, because by the caption ReLU filters match well too where beta is large",
        looked=LOOKED,
        broken_by=times(
            "matching",
            "absolute_chi_plus",
            0.1,
            objective=FIGURES[figure],
            activation="linear",
            candidates=1,
        ),
    )
    def cells() -> Cells:
        for cell in product((1,), BETAS):
            linear, relu = (measured("chi_plus", name, cell, figure) for name in ("linear", "relu"))
            yield named(cell), ordered(linear, above=relu)

    return cells


NAMES = {"relu": "ReLU", "leaky_relu": "LeakyReLU", "quadratic": "quadratic"}


@each(FIGURES, NAMES)
def above_linear(figure: str, activation: str) -> Claim:
    @claim(
        f"tian2023/{figure}/{activation.replace('_', '-')}-above-linear",
        f"""{LOSS[figure]}, at P > 1 and beta > 1, {NAMES[activation]} filters match the candidate tokens
        better than linear ones.""",
        quotes=(DIVERSE, RECONSTRUCTION) if activation == "relu" else (HOMOGENEOUS, RECONSTRUCTION),
        quantifier="generic",
        word="better",
        reading=CODE,
        looked=LOOKED,
        broken_by=times("matching", "chi_plus", 0.5, objective=FIGURES[figure], activation=activation),
    )
    def cells() -> Cells:
        for cell in product(SEVERAL, OVER):
            nonlinear, linear = (measured("chi_plus", name, cell, figure) for name in (activation, "linear"))
            yield named(cell), ordered(nonlinear, above=linear)

    return cells


@claim(
    "tian2023/fig9/alike-linear-above-relu-at-one-candidate",
    """With InfoNCE, at P = 1, linear filters match the candidate token better than ReLU filters where |cos|
    is taken for both, on average over beta.""",
    at="Figure 4, Section 5.1",
    form="ours",
    quantifier="generic",
    word="better",
    reading="ours: |cos| for all filters, where the authors' code takes it for linear filters alone",
    looked=LOOKED,
    broken_by=times(
        "matching", "absolute_chi_plus", 0.1, objective=INFONCE, activation="linear", candidates=1
    ),
)
def linear_above_relu_alike() -> Cells:
    for cell in product((1,), BETAS):
        linear, relu = (measured("chi_plus", name, cell, by="|cos|") for name in ("linear", "relu"))
        yield named(cell), ordered(linear, above=relu)


@claim(
    "tian2023/fig9/linear-well-at-one-candidate",
    """With InfoNCE, at P = 1, linear filters match the candidate token well at every beta.""",
    quotes=LINEAR_WELL,
    word="regardless of the degree",
    reading=f"{LEVEL}; {CODE}",
    looked=f"{LOOKED}; the level",
    broken_by=times(
        "matching", "absolute_chi_plus", 0.5, objective=INFONCE, activation="linear", candidates=1
    ),
)
def linear_well() -> Cells:
    for cell in product((1,), BETAS):
        yield named(cell), above(measured("chi_plus", "linear", cell), WELL, unit=UNIT, bounds=COSINE)


@claim(
    "tian2023/fig9/relu-well-only-with-large-beta",
    """With InfoNCE, at P = 1, ReLU filters do not match the candidate token well at beta = 1, and do at
    beta = 10.""",
    quotes=RELU_NEEDS,
    word="requires large over-parameterization",
    reading=LEVEL,
    looked=f"{LOOKED}; the level",
    broken_by=swapped("matching", "beta", 1, 10, objective=INFONCE, activation="relu", candidates=1),
)
def relu_needs_large_beta() -> Cells:
    least, most = ((1, beta) for beta in (BETAS[0], BETAS[-1]))
    yield named(least), below(measured("chi_plus", "relu", least), WELL, unit=UNIT, bounds=COSINE)
    yield named(most), above(measured("chi_plus", "relu", most), WELL, unit=UNIT, bounds=COSINE)


@each(FIGURES)
def relu_gains(figure: str) -> Claim:
    @claim(
        f"tian2023/{figure}/relu-gains-with-beta",
        f"{LOSS[figure]}, ReLU filters match the candidate tokens better at beta > 1 than at beta = 1.",
        quotes=BENEFITS,
        quantifier="generic",
        word="clearly benefits from",
        looked=LOOKED,
        broken_by=times("matching", "chi_plus", -1, objective=FIGURES[figure], activation="relu"),
    )
    def cells() -> Cells:
        for cell in product(CANDIDATES, OVER):
            here, there = (measured("chi_plus", "relu", each, figure) for each in (cell, (cell[0], 1)))
            yield named(cell), ordered(here, above=there)

    return cells


@each(FIGURES)
def the_larger_the_better(figure: str) -> Claim:
    @claim(
        f"tian2023/{figure}/relu-larger-beta-better",
        f"""{LOSS[figure]}, the larger beta is, the better ReLU filters match the candidate tokens, from one
        beta to the next.""",
        quotes=THE_LARGER,
        quantifier="generic",
        word="the better",
        looked=LOOKED,
        broken_by=times("matching", "chi_plus", -1, objective=FIGURES[figure], activation="relu"),
    )
    def cells() -> Cells:
        for candidates, (low, high) in product(CANDIDATES, pairwise(BETAS)):
            less, more = (measured("chi_plus", "relu", (candidates, beta), figure) for beta in (low, high))
            yield f"P = {candidates}, beta from {low} to {high}", ordered(more, above=less)

    return cells


def as_without_beta(cell: Cell, by: Score = "code") -> Comparison:
    """χ+ of linear filters is what it is at beta = 1."""
    here, there = (measured("chi_plus", "linear", each, by=by) for each in (cell, (cell[0], 1)))
    return near(here, there, quantity="score", unit=UNIT, range=COSINE)


@claim(
    "tian2023/fig9/linear-chi-plus-unaffected",
    """With InfoNCE, over-parameterisation hardly changes χ+ of linear filters: any beta > 1 gives what
    beta = 1 gives.""",
    quotes=NOT_AFFECTED,
    quantifier="similar",
    word="does not quite affect",
    reading=CODE,
    looked=LOOKED,
    broken_by=plus("matching", "absolute_chi_plus", 0.3, objective=INFONCE, activation="linear", beta=OVER),
)
def linear_unaffected() -> Cells:
    for cell in product(CANDIDATES, OVER):
        yield named(cell), as_without_beta(cell)


def change(activation: str, cell: Cell, figure: str) -> Measure:
    """Rise of χ+ by over-parameterisation."""
    return difference(*(measured("chi_plus", activation, each, figure) for each in (cell, (cell[0], 1))))


def size(measure: Measure) -> Measure:
    return lambda tables: measure(tables).abs()


@each(FIGURES)
def linear_affected_less(figure: str) -> Claim:
    @claim(
        f"tian2023/{figure}/linear-affected-less",
        f"""{LOSS[figure]}, over-parameterisation changes χ+ of linear filters less than it raises that of
        ReLU filters.""",
        quotes=LESS_AFFECTED,
        quantifier="generic",
        word="less affected",
        reading=CODE,
        looked=LOOKED,
        broken_by=times("matching", "chi_plus", -1, objective=FIGURES[figure], activation="relu"),
    )
    def cells() -> Cells:
        for cell in product(CANDIDATES, OVER):
            linear, relu = (change(name, cell, figure) for name in ("linear", "relu"))
            yield named(cell), ordered(size(linear), below=relu, range=UNBOUNDED)

    return cells


@claim(
    "tian2023/fig9/relu-lowest-chi-minus",
    """With InfoNCE, ReLU has the lowest irrelevant-matching score χ- of all activations, on average over P
    and beta.""",
    quotes=LOWEST,
    word="all activations",
    reading=CODE,
    looked=f"{LOOKED}; each of 64 cells was judged before, though the sentence names no P or beta",
    broken_by=plus("matching", "chi_minus", 0.5, objective=INFONCE, activation="relu"),
)
def lowest_chi_minus() -> Cells:
    relu = over_grid("chi_minus", "relu")
    for other in ACTIVATIONS:
        if other != "relu":
            yield other, ordered(relu, below=over_grid("chi_minus", other))


@claim(
    "tian2023/fig10/below-infonce",
    """Filters match the candidate tokens less well with the quadratic loss than with InfoNCE.""",
    quotes=(UNDERPERFORMS, LESS_EFFECTIVE, WORSE),
    quantifier="generic",
    word="underperforms",
    reading=CODE,
    looked=LOOKED,
    broken_by=plus("matching", ("chi_plus", "absolute_chi_plus"), 0.3, objective=QUADRATIC),
)
def below_infonce() -> Cells:
    for activation, cell in product(ACTIVATIONS, GRID):
        quadratic, infonce = (measured("chi_plus", activation, cell, figure) for figure in ("fig10", "fig9"))
        yield f"{activation}, {named(cell)}", ordered(quadratic, below=infonce)


@claim(
    "tian2023/fig10/trends-as-with-infonce",
    """The cells of linear and ReLU filters in which χ+ is high with InfoNCE are those in which it is high
    with the quadratic loss.""",
    quotes=TRENDS,
    quantifier="generic",
    word="remains similar",
    reading=f"ours: the rank correlation over 32 cells (2 activations, 4 beta, 4 P) is above 0; {CODE}",
    looked=f"{LOOKED}; the sentence was read after results had been seen",
    broken_by=times("matching", ("chi_plus", "absolute_chi_plus"), -1, objective=QUADRATIC),
)
def similar_trends() -> Comparison:
    cells = list(product(("linear", "relu"), GRID))
    infonce, quadratic = (
        beside(*(measured("chi_plus", activation, cell, figure) for activation, cell in cells))
        for figure in FIGURES
    )
    return above(applied(rank_correlation, infonce, quadratic), 0.0, unit="rank correlation", bounds=COSINE)


@claim(
    "tian2023/eq16-code",
    """With InfoNCE, at P = 1, linear filters score the same at any beta as at beta = 1, by Eq. 16 (cos).""",
    at="Eqs. 16 and 180, Section 5 and Appendix E.2",
    quotes=LINEAR_WELL,
    word="regardless of",
    looked=LOOKED,
    erratum="code",
    misprint=Misprint(
        "code",
        printed=Text(
            "max_m cos(w_km, u_a)",
            r"\max_m\frac{w_{km}^{\top}u_a}{\Vert w_{km}\Vert_2\,\Vert u_a\Vert_2}",
        ),
        corrected=Text(
            "max_m |cos| for the linear activation, as in the author's code",
            r"\max_m\frac{|w_{km}^{\top}u_a|}{\Vert w_{km}\Vert_2\,\Vert u_a\Vert_2}\quad"
            r"\text{for a linear activation}",
        ),
        note="the figures come out by the code: with a filter and its weights "
        "above turned round a linear net computes the same, so that the sign of cos is chance, and at "
        "beta = 1 the scores cancel",
        changes_result=True,
    ),
    broken_by=tuple(
        plus("matching", column, -0.3, objective=INFONCE, activation="linear", candidates=1, beta=OVER)
        for column in ("chi_plus", "absolute_chi_plus")
    ),
)
def linear_scores_by_cos() -> Cells:
    for cell in product((1,), OVER):
        yield f"as printed, by cos, {named(cell)}", as_without_beta(cell, "cos")
    for cell in product((1,), OVER):
        yield f"{CORRECTED}, by |cos|, {named(cell)}", as_without_beta(cell, "|cos|")


def candidates_above_noise(cell: Cell) -> Comparison:
    """ReLU filters have χ+ above χ-."""
    return ordered(measured("chi_plus", "relu", cell), above=measured("chi_minus", "relu", cell))


@claim(
    "tian2023/fig9/candidates-not-noise",
    """With InfoNCE, ReLU filters match the tokens that the generators use better than the others (χ+ above
    χ-).""",
    at="Figure 9, Section 5.1 and Appendix E.2",
    quotes=(FOCUS, NOT_LEARNED),
    quantifier="generic",
    word="indeed focus on",
    looked=LOOKED,
    broken_by=times("matching", "chi_plus", -1, objective=INFONCE, activation="relu"),
)
def candidates_not_noise() -> Cells:
    for cell in GRID:
        yield named(cell), candidates_above_noise(cell)


@claim(
    "tian2023/fig5/candidates-not-noise",
    """At P = 3, beta = 5, whose filters Figure 5 shows, ReLU filters match the tokens that the generators use
    better than the others (χ+ above χ-).""",
    quotes=FOCUS,
    word="indeed focus on",
    looked=LOOKED,
    broken_by=times("matching", "chi_plus", -1, objective=INFONCE, activation="relu"),
)
def shown_candidates_not_noise() -> Cells:
    yield named(SHOWN), candidates_above_noise(SHOWN)


@claim(
    "tian2023/fig5/no-noise-token",
    """At P = 3, beta = 5 ReLU filters capture no noise token.""",
    quotes=NO_NOISE,
    word="no noise token",
    reading=CAPTURE,
    looked=LOOKED,
    broken_by=put("matching", "noise", 1, objective=INFONCE, activation="relu"),
)
def no_shown_noise() -> Cells:
    yield named(SHOWN), at_most(measured("noise", "relu", SHOWN), 0, unit="noise tokens")


@claim(
    "tian2023/fig5/relu-captures-candidates",
    """At P = 3, beta = 5 ReLU filters capture all candidate tokens of every field.""",
    quotes=CAPTURED,
    word="the 3 candidate tokens",
    reading=CAPTURE,
    looked=LOOKED,
    broken_by=put("matching", "missed", 1, objective=INFONCE, activation="relu"),
)
def captures_candidates() -> Cells:
    yield named(SHOWN), at_most(measured("missed", "relu", SHOWN), 0, unit="missed tokens")


@claim(
    "tian2023/fig5/linear-cannot",
    f"""At P = 3, beta = 5 linear filters do not capture all candidate tokens at each field: in at least one
    of the {FIELDS} fields they miss one (captured: more than half of a filter's squared length lies along the
    token; that share is ours).""",
    quotes=CANNOT,
    word="cannot",
    reading=f"{CODE}; {CAPTURE}; the threshold of one half decides (docs/readings.md)",
    looked=LOOKED,
    broken_by=put("matching", "absolute_complete", FIELDS, objective=INFONCE, activation="linear"),
)
def linear_cannot() -> Cells:
    yield named(SHOWN), at_most(measured("complete", "linear", SHOWN), FIELDS - 1, unit="fields")
