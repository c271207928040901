"""A formula of the paper beside the function that tries it: its claim and its erratum follow from it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, get_args

from reprise.contract.experiment import CodePlace
from reprise.errors import RepriseError, one_of
from reprise.evidence.claim import ALONE, CORRECTED, SIGNS, Claim, Form, Quotation, place_of
from reprise.evidence.comparison import IDENTITY_TOLERANCE, Comparison, identity, inequality
from reprise.evidence.edits import put
from reprise.evidence.errata import ErratumKind, Misprint
from reprise.evidence.identities import Check, Checked, Random, error_of

AS_PRINTED = "as printed"
"""The name of a misprint's other cell."""


class Point(Protocol):
    """Random numbers at which formulas are tried.

    Attributes:
        sizes: as of `Checked`.
    """

    @property
    def sizes(self) -> Mapping[str, int]: ...


P = TypeVar("P", bound=Point)


class Errors(NamedTuple):
    """Errors of a formula at a point.

    Attributes:
        printed: as the paper prints it.
        corrected: of a misprint, as it should be.
        decoy: of a formula that the text has right, with a mistake of ours, such as a factor left out, which
            shows that the check could fail. No table has it.
    """

    printed: float
    corrected: float = math.nan
    decoy: float = math.nan


@dataclass(frozen=True)
class Formula(Generic[P]):
    """An equation or a bound, and how it is tried.

    Attributes:
        name: of its claim, without the paper's key.
        error: at a point: of each form that it has.
        tried_at: draws a point, from a stream of random numbers of its own and the largest size.
        is_bound: that it may fail at few of the points (an inequality).
        misprint: the error of a formula that is wrong as printed.
        unit: of its errors, where they are not relative.
    """

    name: str
    statement: str
    at: str
    error: Callable[[P], Errors | float]
    tried_at: Callable[[Random, int], P]
    code: CodePlace
    is_bound: bool = False
    misprint: Misprint | None = None
    quotes: tuple[Quotation, ...] = ()
    form: Form = "printed"
    reading: str = ""
    word: str = ""
    unit: str = ""

    def all_errors(self, point: P) -> Errors:
        """The error of each form at a point."""
        found = self.error(point)
        return found if isinstance(found, Errors) else Errors(found)

    def errors(self, point: P) -> dict[str, float]:
        """The errors that the tables have, by form: as printed, and of a misprint as corrected."""
        found = self.all_errors(point)
        forms = {"printed": found.printed}
        return forms | {"corrected": found.corrected} if self.misprint else forms

    def claim(self, paper: str) -> Claim:
        """The paper's statement; of a misprint, with the corrected form as a second cell."""
        make = inequality if self.is_bound else identity
        forms = {ALONE: "printed"}
        if self.misprint:
            forms = {AS_PRINTED: "printed", CORRECTED: "corrected"}
        cells: dict[str, Comparison] = {name: make(error_of(self.name, form)) for name, form in forms.items()}
        if self.unit:
            cells = {name: replace(cell, unit=self.unit) for name, cell in cells.items()}
        return Claim(
            f"{paper}/{self.name}",
            self.statement,
            self.at,
            cells,
            self.code,
            word=self.word or SIGNS[next(iter(cells.values())).kind],
            form=self.form,
            reading=self.reading,
            erratum=self.misprint.kind if self.misprint else "",
            misprint=self.misprint,
            quotes=self.quotes,
            broken_by=tuple(
                put("identities", "relative_error", 1e3 * IDENTITY_TOLERANCE, identity=self.name, form=form)
                for form in forms.values()
            ),
        )


def formula(
    name: str,
    statement: str,
    *,
    at: str,
    tried_at: Callable[[Random, int], P],
    is_bound: bool = False,
    wrong: Misprint | None = None,
    quotes: Quotation | tuple[Quotation, ...] = (),
    form: Form = "printed",
    reading: str = "",
    word: str = "",
    unit: str = "",
) -> Callable[[Callable[[P], Errors | float]], Formula[P]]:
    """Declares a formula, on the function from a point to its error there.

    Args:
        statement: in our words; of a misprint, with `{}` where the printed form stands. Line breaks and
            indents are collapsed.
        at: the place in the paper, with the section.
        wrong: the error of one that is wrong as printed.
        word: the words that decide its quantifier; by default, its sign.
        unit: of its errors, where they are not relative.

    Raises:
        RepriseError: for an unknown kind of erratum.
    """
    if wrong and wrong.kind not in (kinds := get_args(ErratumKind)):
        raise RepriseError(f"{name}: unknown kind of erratum '{wrong.kind}'; {one_of(wrong.kind, kinds)}")
    says = " ".join(statement.split())
    says = says.replace("{}", wrong.printed.words) if wrong else says
    quoted = (quotes,) if isinstance(quotes, Quotation) else quotes

    def declared(error: Callable[[P], Errors | float]) -> Formula[P]:
        place = place_of(error)
        return Formula(
            name, says, at, error, tried_at, place, is_bound, wrong, quoted, form, reading, word, unit
        )

    return declared


def claims(paper: str, *formulas: Formula) -> list[Claim]:
    """The claims of formulas, in this order."""
    return [each.claim(paper) for each in formulas]


def checks(formulas: Iterable[Formula]) -> list[Check]:
    """A check for each way to draw points, of the formulas that are tried at them; named after it."""
    by_points: dict[Callable[[Random, int], Any], list[Formula]] = {}
    for each in formulas:
        by_points.setdefault(each.tried_at, []).append(each)
    return [_check(points, together) for points, together in by_points.items()]


def _check(points: Callable[[Random, int], Any], formulas: list[Formula]) -> Check:
    def check(rng: Random, largest: int) -> Checked:
        point = points(rng, largest)
        return Checked(point.sizes, {each.name: each.errors(point) for each in formulas})

    check.__name__ = points.__name__
    return check


def without_errors(claims: Iterable[Claim], points: Sequence[int]) -> Any:
    """The table `identities` in which every formula holds: what an `ideal` returns for them.

    Args:
        points: numbers of the random points, their seeds.
    """
    import pandas as pd

    names = [
        (each.id.partition("/")[2], form)
        for each in claims
        if each.kind in SIGNS
        for form in (("printed", "corrected") if each.misprint else ("printed",))
    ]
    rows = [(name, form, seed, 0.0) for name, form in names for seed in points]
    return pd.DataFrame(rows, columns=["identity", "form", "seed", "relative_error"])
