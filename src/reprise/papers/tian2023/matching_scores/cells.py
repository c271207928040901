"""The cells of Figures 4, 9 and 10, and the scores in them."""

from typing import Literal

from reprise.evidence import comparison
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
Score = Literal["code", "cos", "|cos|"]
"""Comparison of a filter with a token: `code` is |cos| for linear filters and cos for others."""


def measured(name: str, activation: str, cell: Cell, figure: str = "fig9", *, by: Score = "code") -> Measure:
    """A column of `matching` for an activation in a cell."""
    candidates, beta = cell
    is_absolute = activation == "linear" if by == "code" else by == "|cos|"
    return column(
        "matching",
        f"absolute_{name}" if is_absolute else name,
        objective=FIGURES[figure],
        activation=activation,
        beta=beta,
        candidates=candidates,
    )


@interned
def among(measure: Measure, other: Measure) -> Measure:
    """A measure in the seeds that another one has too: some cells have more."""
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
