"""Errors found in a paper's text."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

ErratumKind = Literal["typo", "condition", "code", "substantive"]
"""A slip of the pen (a sign, an index, a factor, a wrong word), so that the statement that was meant is plain
and holds; a condition that a statement leaves out, with which it holds; a text that differs from the authors'
code; or a statement that is false as it stands: a theorem, proposition, remark or sentence."""


class Text(NamedTuple):
    """One form of a misprint.

    Attributes:
        words: the formula in plain text, or the paper's words.
        latex: the formula; empty where the paper has words or code.
    """

    words: str
    latex: str = ""


@dataclass(frozen=True)
class Misprint:
    """An error of a sentence: what is printed, and what is correct.

    Attributes:
        note: what else there is to say, such as where else the error stands.
        changes_result: as of `Erratum`; a false statement always does.
    """

    kind: ErratumKind
    printed: Text
    corrected: Text
    note: str = ""
    changes_result: bool = False


@dataclass(frozen=True)
class Erratum:
    """One error: as printed, as corrected, and how it was shown.

    Attributes:
        changes_result: False for an error that misleads nobody who reads on; True for a false statement, and
            for an error with which later lines, or a reader who computes as printed, come to another result.
        shown_by: the id of the claim in which, on the same numbers, the printed form fails and the corrected
            one holds; empty for an erratum by reading.
        printed_formula, corrected_formula: both in LaTeX; empty where the paper has words or code.
    """

    id: str
    kind: ErratumKind
    where: str
    printed: str
    corrected: str
    changes_result: bool
    shown_by: str = ""
    printed_formula: str = ""
    corrected_formula: str = ""

    @classmethod
    def shown(cls, id: str, where: str, misprint: Misprint) -> "Erratum":
        """The error that a claim shows, with the claim's id and place."""
        return cls(
            id=id,
            kind=misprint.kind,
            where=where,
            printed=misprint.printed.words,
            corrected="; ".join(filter(None, (misprint.corrected.words, misprint.note))),
            changes_result=misprint.changes_result or misprint.kind == "substantive",
            shown_by=id,
            printed_formula=misprint.printed.latex,
            corrected_formula=misprint.corrected.latex,
        )


def read(
    paper: str,
    name: str,
    kind: ErratumKind,
    where: str,
    printed: str,
    corrected: str,
    *,
    formulas: tuple[str, str] = ("", ""),
    changes_result: bool = False,
) -> Erratum:
    """An error that shows itself.

    Args:
        formulas: as printed and as corrected, in LaTeX.
        changes_result: whether another error than a false statement does, which always does.
    """
    return Erratum(
        id=f"{paper}/{name}",
        kind=kind,
        where=where,
        printed=printed,
        corrected=corrected,
        changes_result=changes_result or kind == "substantive",
        printed_formula=formulas[0],
        corrected_formula=formulas[1],
    )
