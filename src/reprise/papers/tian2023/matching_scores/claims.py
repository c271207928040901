"""What the text says of Figures 4, 9 and 10, in every cell that its sentences are about."""

from collections.abc import Callable, Iterable
from itertools import pairwise, product
from typing import Any

from reprise.evidence.claims import Claim, Measure, for_all, ordering, value
from reprise.evidence.measures import column, difference

UNIT = "matching score"
ACTIVATIONS = ("linear", "relu", "leaky_relu", "quadratic", "sigmoid")
FIGURES = {"fig9": "infonce_cosine", "fig10": "quadratic_cosine"}
BETAS, CANDIDATES = (1, 2, 5, 10), (1, 3, 5, 10)
"""The axes of the figures."""
OVER = BETAS[1:]
"""Over-parameterised: beta > 1."""
SEVERAL = CANDIDATES[1:]
"""P > 1."""
Cell = tuple[int, int]
"""P and beta."""


def score(which: str, activation: str, cell: Cell, figure: str = "fig9") -> Measure:
    """χ+ or χ- of an activation in a cell."""
    candidates, beta = cell
    return column(
        "matching",
        f"chi_{which}",
        objective=FIGURES[figure],
        activation=activation,
        beta=beta,
        candidates=candidates,
    )


def among(measure: Measure, other: Measure) -> Measure:
    """A measure, of the seeds that another one has too: ReLU and linear nets have more."""
    return lambda tables: measure(tables).loc[lambda seeds: seeds.index.isin(other(tables).index)]


def _ordering(measure: Measure, *, above: Measure | None = None, below: Measure | None = None) -> Claim:
    """A cell's claim, whose id and statement are not read."""
    (other,) = (each for each in (above, below) if each)
    sides: dict[str, Any] = {"above" if above else "below": among(other, measure)}
    return ordering("tian2023/cell", "", source="", measure=among(measure, other), unit=UNIT, **sides)


LOOKED = "seeds of ReLU and linear nets: of 5, most sentences about every cell had been undecided"


def _in_cells(
    id: str,
    statement: str,
    source: str,
    claim: Callable[[Cell], Claim],
    cells: Iterable[Cell] = tuple(product(CANDIDATES, BETAS)),
) -> Claim:
    named = {f"P = {candidates}, beta = {beta}": claim((candidates, beta)) for candidates, beta in cells}
    return for_all(f"tian2023/{id}", statement, named, source=source, looked=LOOKED)


def _linear_at_one_candidate(figure: str) -> Claim:
    return _in_cells(
        f"{figure}/linear-above-relu-at-one-candidate",
        "At P = 1 linear filters match the candidate token better than ReLU filters.",
        "Section 5.1, Figure 4",
        lambda cell: _ordering(
            score("plus", "linear", cell, figure), above=score("plus", "relu", cell, figure)
        ),
        product((1,), BETAS),
    )


def _above_linear(figure: str, activation: str) -> Claim:
    return _in_cells(
        f"{figure}/{activation.replace('_', '-')}-above-linear",
        f"At P > 1 and beta > 1, {activation} filters match the candidate tokens better than linear ones.",
        "Section 5.1, Figure 4",
        lambda cell: _ordering(
            score("plus", activation, cell, figure), above=score("plus", "linear", cell, figure)
        ),
        product(SEVERAL, OVER),
    )


def _gains(figure: str) -> Claim:
    return _in_cells(
        f"{figure}/relu-gains-with-beta",
        "ReLU filters benefit from over-parameterisation: they match better at beta > 1 than at beta = 1.",
        "Section 5.1, Figure 4",
        lambda cell: _ordering(
            score("plus", "relu", cell, figure), above=score("plus", "relu", (cell[0], 1), figure)
        ),
        product(CANDIDATES, OVER),
    )


def _the_larger_the_better(figure: str) -> Claim:
    return for_all(
        f"tian2023/{figure}/relu-larger-beta-better",
        "The larger beta is, the better ReLU filters match: each step of beta raises χ+.",
        {
            f"P = {candidates}, beta from {low} to {high}": _ordering(
                score("plus", "relu", (candidates, high), figure),
                above=score("plus", "relu", (candidates, low), figure),
            )
            for candidates, (low, high) in product(CANDIDATES, pairwise(BETAS))
        },
        source="Section 5.1, Figure 4",
        looked=LOOKED,
    )


def _linear_gains_less(figure: str) -> Claim:
    def change(activation: str, cell: Cell) -> Measure:
        here, there = (score("plus", activation, each, figure) for each in (cell, (cell[0], 1)))
        return difference(here, there)

    def size(measure: Measure) -> Measure:
        return lambda tables: measure(tables).abs()

    return _in_cells(
        f"{figure}/linear-affected-less",
        "Over-parameterisation changes χ+ of linear filters less than it raises that of ReLU filters.",
        "Figures 4 and 9",
        lambda cell: _ordering(size(change("linear", cell)), below=change("relu", cell)),
        product(CANDIDATES, OVER),
    )


def _linear_without_beta(which: str) -> Claim:
    return _in_cells(
        f"fig9/linear-chi-{which}-unaffected",
        f"Over-parameterisation hardly changes χ{'+' if which == 'plus' else '-'} of linear filters: any "
        "beta > 1 gives what beta = 1 gives.",
        "Section 5.1, Figure 9",
        lambda cell: value(
            "tian2023/cell", "", source="", quantity="score", measure=score(which, "linear", cell),
            published=score(which, "linear", (cell[0], 1)), unit=UNIT,
        ),
        product(CANDIDATES, OVER),
    )  # fmt: skip


CLAIMS = [
    *(_linear_at_one_candidate(figure) for figure in FIGURES),
    *(
        _above_linear(figure, activation)
        for figure in FIGURES
        for activation in ("relu", "leaky_relu", "quadratic")
    ),
    *(_gains(figure) for figure in FIGURES),
    *(_the_larger_the_better(figure) for figure in FIGURES),
    *(_linear_without_beta(which) for which in ("plus", "minus")),
    *(_linear_gains_less(figure) for figure in FIGURES),
    for_all(
        "tian2023/fig9/relu-lowest-chi-minus",
        "Among all activations ReLU has the lowest χ-.",
        {
            f"{other}, P = {cell[0]}, beta = {cell[1]}": _ordering(
                score("minus", "relu", cell), below=score("minus", other, cell)
            )
            for other in ACTIVATIONS
            if other != "relu"
            for cell in product(CANDIDATES, BETAS)
        },
        source="Figure 9",
        looked=LOOKED,
    ),
    for_all(
        "tian2023/fig10/below-infonce",
        "Filters match less well with the quadratic loss than with InfoNCE.",
        {
            f"{activation}, P = {cell[0]}, beta = {cell[1]}": _ordering(
                score("plus", activation, cell, "fig10"), below=score("plus", activation, cell)
            )
            for activation in ACTIVATIONS
            for cell in product(CANDIDATES, BETAS)
        },
        source="Figures 4 and 10, Section 5.1, Appendix E.2",
        looked=LOOKED,
    ),
    _in_cells(
        "fig9/candidates-not-noise",
        "ReLU filters match the tokens that the generators use better than the others: χ+ above χ-.",
        "Figure 9, Section 5.1, Appendix E.2",
        lambda cell: _ordering(score("plus", "relu", cell), above=score("minus", "relu", cell)),
    ),
    _in_cells(
        "fig5/candidates-not-noise",
        "So they do at P = 3, beta = 5, whose filters Figure 5 shows.",
        "Figure 5, Section 5.1",
        lambda cell: _ordering(score("plus", "relu", cell), above=score("minus", "relu", cell)),
        [(3, 5)],
    ),
]
