"""The cells of Figures 4, 9 and 10, and the scores by which sentences about them are read."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from reprise.evidence import comparison
from reprise.evidence.claim import Claim, ours
from reprise.evidence.claims import for_all
from reprise.evidence.comparison import COSINE, Comparison, Measure
from reprise.evidence.measures import column, interned

UNIT = "matching score"
ACTIVATIONS = ("linear", "relu", "leaky_relu", "quadratic", "sigmoid")
FIGURES = {"fig9": "infonce_cosine", "fig10": "quadratic_cosine"}
BETAS, CANDIDATES = (1, 2, 5, 10), (1, 3, 5, 10)
"""The axes of the figures."""
OVER = BETAS[1:]
"""Over-parameterised: beta > 1."""
SEVERAL = CANDIDATES[1:]
"""P > 1."""
SHOWN = (3, 5)
"""P and beta of Figure 5."""
Cell = tuple[int, int]
"""P and beta."""


class Score(NamedTuple):
    """How a filter is compared with a token.

    Attributes:
        prefix: of the names of claims.
        words: at the end of their statements.
        reading: whose it is, if not the paper's.
        absolute: the activations whose filters are compared by |cos|; the others are by cos.
    """

    prefix: str
    words: str
    reading: str
    absolute: tuple[str, ...]


CODE = Score(
    "", "linear filters by |cos|", "the authors' code: |cos| for linear filters, cos for others", ("linear",)
)
EQ16 = Score(
    "eq16-",
    "all filters by cos",
    "ours: Eq. 16 to the letter, on figures that were made with |cos| for linear filters (`eq16-code`)",
    (),
)
ALIKE = Score("alike-", "all filters by |cos|", "ours: |cos| for all filters", ACTIVATIONS)
BOTH = (CODE, EQ16)


def measured(name: str, activation: str, cell: Cell, figure: str = "fig9", score: Score = EQ16) -> Measure:
    """A column of `matching` for an activation in a cell."""
    candidates, beta = cell
    return column(
        "matching",
        f"absolute_{name}" if activation in score.absolute else name,
        objective=FIGURES[figure],
        activation=activation,
        beta=beta,
        candidates=candidates,
    )


@interned
def among(measure: Measure, other: Measure) -> Measure:
    """A measure, of the seeds that another one has too: ReLU and linear nets have more."""
    return lambda tables: measure(tables).loc[lambda seeds: seeds.index.isin(other(tables).index)]


def ordered(
    measure: Measure,
    *,
    above: Measure | None = None,
    below: Measure | None = None,
    range: tuple[float, float] = COSINE,
) -> Comparison:
    """A score is above or below another one."""
    (other,) = (each for each in (above, below) if each)
    side = comparison.above if above else comparison.below
    return side(among(measure, other), among(other, measure), unit=UNIT, range=range)


LOOKED = "seeds of ReLU and linear nets: of 5, most sentences about every cell had been undecided"


def in_cells(
    id: str,
    statement: str,
    source: str,
    compared: Callable[[Cell], Comparison],
    cells: Iterable[Cell] = tuple(product(CANDIDATES, BETAS)),
    **rest: Any,
) -> Claim:
    named = {f"P = {candidates}, beta = {beta}": compared((candidates, beta)) for candidates, beta in cells}
    return for_all(f"tian2023/{id}", statement, named, source=source, looked=LOOKED, **rest)


def scored(claim: Claim, score: Score) -> Claim:
    """Names the score by which a claim is read: read by that of the figures it is the paper's, else ours."""
    figure, name = claim.id.rsplit("/", 1)
    statement = f"{claim.statement.removesuffix('.')} ({score.words})."
    read = replace(claim, id=f"{figure}/{score.prefix}{name}", statement=statement)
    if score == CODE:
        return replace(read, reading="; ".join(filter(None, (score.reading, claim.reading))))
    return ours(read, score.reading)
