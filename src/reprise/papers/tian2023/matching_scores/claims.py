"""What the text says of Figures 4, 5, 9 and 10, in every cell that its sentences are about.

Sentences about linear filters are read twice: by the score of the authors' code, which made the figures and
takes |cos| for the linear activation alone, and by Eq. 16, which takes cos for all.
"""

from itertools import pairwise, product

from reprise.evidence.claim import Claim, both_forms, ours
from reprise.evidence.claims import for_all
from reprise.evidence.comparison import COSINE, UNBOUNDED, Comparison, Measure, near
from reprise.evidence.measures import difference
from reprise.papers.tian2023.matching_scores.captures import CAPTURES
from reprise.papers.tian2023.matching_scores.cells import (
    ACTIVATIONS,
    ALIKE,
    BETAS,
    BOTH,
    CANDIDATES,
    CODE,
    EQ16,
    FIGURES,
    LOOKED,
    OVER,
    SEVERAL,
    SHOWN,
    UNIT,
    Cell,
    Score,
    in_cells,
    measured,
    ordered,
    scored,
)

LOSS = {"fig9": "With InfoNCE", "fig10": "With the quadratic loss"}


def _linear_at_one_candidate(figure: str, score: Score) -> Claim:
    sentence = in_cells(
        f"{figure}/linear-above-relu-at-one-candidate",
        f"{LOSS[figure]}, at P = 1, linear filters match the candidate token better than ReLU filters.",
        "Section 5.1, Figure 4",
        lambda cell: ordered(
            measured("chi_plus", "linear", cell, figure, score),
            above=measured("chi_plus", "relu", cell, figure, score),
        ),
        product((1,), BETAS),
        quantifier="generic",
        word="better",
    )
    return scored(sentence, score)


def _above_linear(figure: str, activation: str, score: Score) -> Claim:
    sentence = in_cells(
        f"{figure}/{activation.replace('_', '-')}-above-linear",
        f"{LOSS[figure]}, at P > 1 and beta > 1, {activation} filters match the candidate tokens better "
        "than linear ones.",
        "Section 5.1, Figure 4",
        lambda cell: ordered(
            measured("chi_plus", activation, cell, figure, score),
            above=measured("chi_plus", "linear", cell, figure, score),
        ),
        product(SEVERAL, OVER),
        quantifier="generic",
        word="better",
    )
    return scored(sentence, score)


def _gains(figure: str) -> Claim:
    return in_cells(
        f"{figure}/relu-gains-with-beta",
        f"{LOSS[figure]}, ReLU filters benefit from over-parameterisation: they match better at beta > 1 "
        "than at beta = 1.",
        "Section 5.1, Figure 4",
        lambda cell: ordered(
            measured("chi_plus", "relu", cell, figure),
            above=measured("chi_plus", "relu", (cell[0], 1), figure),
        ),
        product(CANDIDATES, OVER),
        quantifier="generic",
        word="clearly benefits from",
    )


def _the_larger_the_better(figure: str) -> Claim:
    return for_all(
        f"tian2023/{figure}/relu-larger-beta-better",
        f"{LOSS[figure]}, the larger beta is, the better ReLU filters match: each step of beta raises χ+.",
        {
            f"P = {candidates}, beta from {low} to {high}": ordered(
                measured("chi_plus", "relu", (candidates, high), figure),
                above=measured("chi_plus", "relu", (candidates, low), figure),
            )
            for candidates, (low, high) in product(CANDIDATES, pairwise(BETAS))
        },
        source="Section 5.1, Figure 4",
        quantifier="generic",
        word="the better",
        looked=LOOKED,
    )


def _linear_gains_less(figure: str, score: Score) -> Claim:
    def change(activation: str, cell: Cell) -> Measure:
        here, there = (measured("chi_plus", activation, each, figure, score) for each in (cell, (cell[0], 1)))
        return difference(here, there)

    def size(measure: Measure) -> Measure:
        return lambda tables: measure(tables).abs()

    sentence = in_cells(
        f"{figure}/linear-affected-less",
        f"{LOSS[figure]}, over-parameterisation changes χ+ of linear filters less than it raises that of "
        "ReLU filters.",
        "Figures 4 and 9",
        lambda cell: ordered(size(change("linear", cell)), below=change("relu", cell), range=UNBOUNDED),
        product(CANDIDATES, OVER),
        quantifier="generic",
        word="less",
    )
    return scored(sentence, score)


def _as_without_beta(name: str, cell: Cell, score: Score) -> Comparison:
    """A score of linear filters is what it is at beta = 1."""
    here, there = (measured(name, "linear", each, score=score) for each in (cell, (cell[0], 1)))
    return near(here, there, quantity="score", unit=UNIT, range=COSINE)


def _linear_without_beta(sign: str, name: str, score: Score) -> Claim:
    sentence = in_cells(
        f"fig9/linear-{name.replace('_', '-')}-unaffected",
        f"{LOSS['fig9']}, over-parameterisation hardly changes {sign} of linear filters: any beta > 1 gives "
        "what beta = 1 gives.",
        "Section 5.1, Figure 9",
        lambda cell: _as_without_beta(name, cell, score),
        product(CANDIDATES, OVER),
        quantifier="similar",
        word="hardly changes",
    )
    return ours(
        scored(sentence, score), "ours: the paper says that linear filters are much less affected than ReLU's"
    )


def _lowest_chi_minus(score: Score) -> Claim:
    sentence = for_all(
        "tian2023/fig9/relu-lowest-chi-minus",
        f"{LOSS['fig9']}, ReLU has the lowest irrelevant-matching score χ- of all activations.",
        {
            f"{other}, P = {cell[0]}, beta = {cell[1]}": ordered(
                measured("chi_minus", "relu", cell, score=score),
                below=measured("chi_minus", other, cell, score=score),
            )
            for other in ACTIVATIONS
            if other != "relu"
            for cell in product(CANDIDATES, BETAS)
        },
        source="Figure 9",
        word="all activations",
        looked=LOOKED,
    )
    return scored(sentence, score)


def _below_infonce(score: Score) -> Claim:
    sentence = for_all(
        "tian2023/fig10/below-infonce",
        "Filters match less well with the quadratic loss than with InfoNCE.",
        {
            f"{activation}, P = {cell[0]}, beta = {cell[1]}": ordered(
                measured("chi_plus", activation, cell, "fig10", score),
                below=measured("chi_plus", activation, cell, score=score),
            )
            for activation in ACTIVATIONS
            for cell in product(CANDIDATES, BETAS)
        },
        source="Figures 4 and 10, Section 5.1, Appendix E.2",
        quantifier="generic",
        word="underperforms" if score == CODE else "less well",
        looked=LOOKED,
    )
    return scored(sentence, score)


def _eq16(form: str, score: Score) -> Claim:
    """A linear net is the same function with a filter and its weights above turned round, so that the sign of
    its cos is chance; only |cos| says what it learned."""
    return in_cells(
        f"eq16-code/{form}",
        f"{LOSS['fig9']}, at P = 1, linear filters score at any beta what they score at beta = 1 "
        f"({score.words}).",
        "Eq. 16, on Figure 4 and its caption",
        lambda cell: _as_without_beta("chi_plus", cell, score),
        product((1,), OVER),
        word="regardless of" if form == "printed" else "at any beta",
    )


CLAIMS = [
    *(_linear_at_one_candidate(figure, score) for figure, score in product(FIGURES, BOTH)),
    *(
        _above_linear(figure, activation, score)
        for figure, activation, score in product(FIGURES, ("relu", "leaky_relu", "quadratic"), BOTH)
    ),
    _linear_at_one_candidate("fig9", ALIKE),
    _above_linear("fig9", "relu", ALIKE),
    *(_gains(figure) for figure in FIGURES),
    *(_the_larger_the_better(figure) for figure in FIGURES),
    *(
        _linear_without_beta(sign, name, score)
        for (sign, name), score in product({"χ+": "chi_plus", "χ-": "chi_minus"}.items(), BOTH)
    ),
    *(_linear_gains_less(figure, score) for figure, score in product(FIGURES, BOTH)),
    *(_lowest_chi_minus(score) for score in BOTH),
    *(_below_infonce(score) for score in BOTH),
    *both_forms("typo", _eq16("printed", EQ16), _eq16("corrected", CODE)),
    in_cells(
        "fig9/candidates-not-noise",
        f"{LOSS['fig9']}, at every P and beta, ReLU filters match the tokens that the generators use better "
        "than the others: χ+ above χ-.",
        "Figure 9, Section 5.1, Appendix E.2",
        lambda cell: ordered(measured("chi_plus", "relu", cell), above=measured("chi_minus", "relu", cell)),
        quantifier="generic",
        word="indeed focus on",
    ),
    in_cells(
        "fig5/candidates-not-noise",
        "At P = 3, beta = 5, whose filters Figure 5 shows, ReLU filters match the tokens that the "
        "generators use better than the others: χ+ above χ-.",
        "Figure 5, Section 5.1",
        lambda cell: ordered(measured("chi_plus", "relu", cell), above=measured("chi_minus", "relu", cell)),
        [SHOWN],
        word="indeed focus on",
    ),
    *CAPTURES,
]
