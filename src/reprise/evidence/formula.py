"""A formula of the paper beside the function that tries it: its claims and its erratum follow from it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, get_args

from reprise.errors import RepriseError, one_of
from reprise.evidence import errata, identities
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import identity, inequality
from reprise.evidence.errata import Erratum, ErratumKind
from reprise.evidence.identities import Check, Checked, Random


class Point(Protocol):
    """Random numbers at which formulas are tried.

    Attributes:
        sizes: as of `Checked`.
    """

    @property
    def sizes(self) -> Mapping[str, int]: ...


P = TypeVar("P", bound=Point)


class Form(NamedTuple):
    """One form of a formula that is misprinted.

    Attributes:
        says: the claim's statement.
        words: the erratum's, the formula in plain text or in words.
        latex: the formula; empty where the paper has words.
    """

    says: str
    words: str
    latex: str = ""


class Errors(NamedTuple):
    """By how much each form is off at a point."""

    printed: float
    corrected: float


@dataclass(frozen=True)
class Misprint:
    """Attributes:
    where: in the list of errata.
    """

    kind: ErratumKind
    printed: Form
    corrected: Form
    where: str


@dataclass(frozen=True)
class Formula(Generic[P]):
    """An equation or a bound, and how it is tried.

    Attributes:
        name: of its claim, without the paper's key; of a misprint, of the erratum.
        error: at a point; of a misprint, both `Errors`.
        tried_at: draws a point, from a stream of random numbers of its own and the largest size.
        is_bound: that it may fail at few of the points (an inequality).
    """

    name: str
    statement: str
    at: str
    error: Callable[[P], float | Errors]
    tried_at: Callable[[Random, int], P]
    is_bound: bool = False
    misprint: Misprint | None = None

    def errors(self, point: P) -> dict[str, float]:
        """By form; of a formula that the text has right, as printed."""
        error = self.error(point)
        return error._asdict() if isinstance(error, Errors) else identities.as_printed(error)

    def claims(self, paper: str) -> list[Claim]:
        """The claim, or those of both forms."""
        if self.misprint is None:
            make = identities.bound if self.is_bound else identities.holds
            return [make(paper, self.name, self.statement, self.at)]
        both = identities.misprint if self.misprint.kind == "typo" else identities.falsehood
        forms = self.misprint.printed.says, self.misprint.corrected.says
        return both(paper, self.name, *forms, self.at, inequality if self.is_bound else identity)

    def erratum(self, paper: str) -> Erratum:
        """The error of a misprint."""
        wrong = self.misprint
        if wrong is None:
            raise ValueError(f"{paper}/{self.name}: no misprint")
        return errata.shown(
            paper,
            self.name,
            wrong.kind,
            wrong.where,
            wrong.printed.words,
            wrong.corrected.words,
            formulas=(wrong.printed.latex, wrong.corrected.latex),
        )


def formula(
    name: str, statement: str, *, at: str, tried_at: Callable[[Random, int], P], is_bound: bool = False
) -> Callable[[Callable[[P], float]], Formula[P]]:
    """Declares a formula that the text has right, on the function from a point to its error there.

    Args:
        at: the place in the paper, here and below.
    """
    return lambda error: Formula(name, statement, at, error, tried_at, is_bound)


def misprinted(
    name: str,
    *,
    kind: ErratumKind,
    at: str,
    printed: Form,
    corrected: Form,
    tried_at: Callable[[Random, int], P],
    is_bound: bool = False,
    where: str = "",
) -> Callable[[Callable[[P], Errors]], Formula[P]]:
    """Declares a formula that is wrong as printed, on the function from a point to the errors of both forms.

    Args:
        where: the place in the list of errata, if it says more than `at`.

    Raises:
        RepriseError: for an unknown kind.
    """
    if kind not in (kinds := get_args(ErratumKind)):
        raise RepriseError(f"{name}: unknown kind of erratum '{kind}'; {one_of(kind, kinds)}")
    wrong = Misprint(kind, printed, corrected, where or at)
    return lambda error: Formula(name, printed.says, at, error, tried_at, is_bound, wrong)


def claims(paper: str, *formulas: Formula) -> list[Claim]:
    """The claims of formulas, in this order."""
    return [claim for each in formulas for claim in each.claims(paper)]


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
