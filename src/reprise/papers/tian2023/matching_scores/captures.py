"""What the text says of the tokens that filters capture or do not (Figure 5, Section 5.1)."""

from collections.abc import Callable

from reprise.evidence.comparison import Comparison, at_most
from reprise.papers.tian2023.matching_scores.cells import (
    BOTH,
    CODE,
    EQ16,
    SHOWN,
    Cell,
    Score,
    in_cells,
    measured,
    scored,
)

CAPTURE = "ours: a filter captures the token along which more than half of its squared length lies"
FIELDS = 10
"""Receptive fields of Figure 5."""


def _at_most(
    name: str, activation: str, unit: str, most: int, score: Score = EQ16
) -> Callable[[Cell], Comparison]:
    return lambda cell: at_most(measured(name, activation, cell, score=score), most, unit=unit)


CAPTURES = [
    in_cells(
        "fig5/no-noise-token",
        "At P = 3, beta = 5 no noise token is learned: ReLU filters capture none.",
        "Section 5.1, Figure 5",
        _at_most("noise", "relu", "noise tokens", 0),
        [SHOWN],
        word="no noise token",
        reading=CAPTURE,
    ),
    in_cells(
        "fig9/no-noise-token",
        "No noise token is learned at any P and beta: ReLU filters capture none.",
        "Section 5.1, Appendix E.2, on Figures 9 and 10",
        _at_most("noise", "relu", "noise tokens", 0),
        word="no noise token",
        reading=CAPTURE,
    ),
    in_cells(
        "fig5/relu-captures-candidates",
        "At P = 3, beta = 5 ReLU filters capture all candidate tokens of every field.",
        "Caption of Figure 5",
        _at_most("missed", "relu", "missed tokens", 0),
        [SHOWN],
        word="at each RF",
        reading=CAPTURE,
    ),
    *(
        scored(
            in_cells(
                "fig5/linear-cannot",
                "At P = 3, beta = 5 linear filters do not capture all candidate tokens at each field: in at "
                f"least one of the {FIELDS} some are missed.",
                "Caption of Figure 5",
                _at_most("complete", "linear", "fields", FIELDS - 1, score),
                [SHOWN],
                word="cannot" if score == CODE else "do not capture all",
                reading=CAPTURE,
            ),
            score,
        )
        for score in BOTH
    ),
]
