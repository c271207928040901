"""Tests of sentences, by quantifier, from tests in their cells.

Each function keeps the rate of a false `reproduced` and of a false `contradicted` at most what one test has,
for any number of cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Decision = Literal["reproduced", "contradicted", "tied", "inconclusive"]


@dataclass(frozen=True)
class Evidence:
    """P-values about one statement.

    Attributes:
        holds: of the hypothesis that it does not hold.
        fails: of the hypothesis that it holds.
        tied: of the hypothesis that the effect is as large as the smallest that is worth a name, or larger.
    """

    holds: float = 1.0
    fails: float = 1.0
    tied: float = 1.0

    def decision(self, alpha: float) -> Decision:
        """The verdict at a one-sided level."""
        if self.fails <= alpha:
            return "contradicted"
        if self.holds <= alpha:
            return "reproduced"
        return "tied" if self.tied <= alpha else "inconclusive"


def of_ordering(holds: float, fails: float, tied: float, *, prints_more: bool, alpha: float) -> Evidence:
    """The evidence on an ordering, of which a tie is neither way: nor does it contradict the paper, unless
    that prints a larger effect.

    Args:
        holds, fails: p-values by the sign of the effect alone.
        tied: p-value of the effect being as large as the smallest that is worth a name (Schuirmann).
        prints_more: whether the paper prints an effect of that size or more.
    """
    if tied > alpha:
        return Evidence(holds, fails, tied)
    return Evidence(1.0, tied if prints_more else 1.0, tied)


def universal(cells: Sequence[Evidence]) -> Evidence:
    """A statement about every cell.

    It holds if each cell does, each tested at the full level: an intersection-union test (Berger 1982). It
    fails if one cell fails, corrected for their number (Holm; Bonferroni of the smallest). It is tied if each
    cell holds or is tied, and one at least does not hold.
    """
    has_tie = any(each.tied < each.holds for each in cells)
    return Evidence(
        max(each.holds for each in cells),
        min(1.0, len(cells) * min(each.fails for each in cells)),
        max(min(each.holds, each.tied) for each in cells) if has_tie else 1.0,
    )


def existential(cells: Sequence[Evidence], *, is_complete: bool = False) -> Evidence:
    """A statement about some cell: it holds if one does, corrected for those tried.

    Args:
        is_complete: whether the cells are all that there are, so that it fails if each fails.
    """
    return Evidence(
        min(1.0, len(cells) * min(each.holds for each in cells)),
        max(each.fails for each in cells) if is_complete else 1.0,
    )
