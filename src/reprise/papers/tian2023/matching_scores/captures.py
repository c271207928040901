"""What the text says of the tokens that filters capture or do not (Figure 5, Section 5.1)."""

from collections.abc import Callable

from reprise.evidence.claims import Claim, count
from reprise.papers.tian2023.matching_scores.cells import (
    BOTH,
    EQ16,
    SHOWN,
    Cell,
    Score,
    in_cells,
    measured,
    scored,
)

CAPTURE = "ours: a filter captures the token along which more than half of its squared length lies"


def _none(name: str, activation: str, unit: str, score: Score = EQ16) -> Callable[[Cell], Claim]:
    """A cell's claim: a number is 0 in the median over seeds."""
    return lambda cell: count(
        "tian2023/cell",
        "",
        source="",
        measure=measured(name, activation, cell, score=score),
        at_most=0,
        unit=unit,
    )


CAPTURES = [
    in_cells(
        "fig5/no-noise-token",
        "At P = 3, beta = 5 no noise token is learned: ReLU filters capture none.",
        "Section 5.1, Figure 5",
        _none("noise", "relu", "noise tokens"),
        [SHOWN],
        reading=CAPTURE,
    ),
    in_cells(
        "fig9/no-noise-token",
        "No noise token is learned at any P and beta: ReLU filters capture none.",
        "Section 5.1, Appendix E.2, on Figures 9 and 10",
        _none("noise", "relu", "noise tokens"),
        reading=CAPTURE,
    ),
    in_cells(
        "fig5/relu-captures-candidates",
        "At P = 3, beta = 5 ReLU filters capture all candidate tokens of every field.",
        "Caption of Figure 5",
        _none("missed", "relu", "missed tokens"),
        [SHOWN],
        reading=CAPTURE,
    ),
    *(
        scored(
            in_cells(
                "fig5/linear-cannot",
                "At P = 3, beta = 5 linear filters in no field capture all candidate tokens.",
                "Caption of Figure 5, Abstract, Section 4.1",
                _none("complete", "linear", "fields", score),
                [SHOWN],
            ),
            score._replace(reading="; ".join(filter(None, (CAPTURE, score.reading)))),
        )
        for score in BOTH
    ),
]
