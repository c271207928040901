"""Errors found in a paper's text."""

from dataclasses import dataclass
from typing import Literal

ErratumKind = Literal["typo", "substantive"]
"""A slip of the pen (a sign, an index, a factor, a wrong word), so that the statement that was meant is plain
and holds; or a statement that is false as it stands: a theorem, proposition, remark or sentence."""


@dataclass(frozen=True)
class Erratum:
    """One error: as printed, as corrected, and how it was shown.

    Attributes:
        shown_by: the ids of the claims in which, on the same numbers, the printed form fails and the
            corrected one holds; empty for an erratum by reading.
    """

    id: str
    kind: ErratumKind
    where: str
    printed: str
    corrected: str
    shown_by: tuple[str, ...] = ()


def shown(paper: str, name: str, kind: ErratumKind, where: str, printed: str, corrected: str) -> Erratum:
    """An error of which both forms are claims."""
    forms = tuple(f"{paper}/{name}/{form}" for form in ("printed", "corrected"))
    return Erratum(f"{paper}/{name}", kind, where, printed, corrected, forms)


def read(paper: str, name: str, kind: ErratumKind, where: str, printed: str, corrected: str) -> Erratum:
    """An error that shows itself."""
    return Erratum(f"{paper}/{name}", kind, where, printed, corrected)
