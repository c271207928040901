"""A claim: one sentence, and the comparisons that decide it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple, TypedDict, TypeVar, Unpack

from reprise.contract.experiment import CodePlace, Tables
from reprise.errors import RepriseError
from reprise.evidence.comparison import Comparison, Kind, shown
from reprise.evidence.errata import Erratum, ErratumKind, Misprint

Form = Literal["printed", "restated", "ours"]
Quantifier = Literal["universal", "generic", "existential", "similar"]
"""Quantifier of a sentence, by its words:

- `universal`: each, any, all, regardless, never: it must hold in every cell;
- `generic`: A beats B, helps, gains, and no such word: it must hold on average over the paper's cells;
- `existential`: there is, some, can: it must hold in one cell or setting;
- `similar`: hardly, little, alike, competitive: a difference lies within a margin, in every cell.
"""

SIGNS: Mapping[Kind, str] = {"identity": "=", "inequality": "≤"}
ALONE = ""
"""The name of the cell of a claim that is not about cells."""
CORRECTED = "as corrected"
"""The beginning of the names of cells that judge the corrected form of a misprint."""

Change = Callable[[Tables], Tables]
"""Function from an experiment's tables to tables that refute a claim (`evidence.edits`)."""
Cells = Iterator[tuple[str, Comparison]]
"""The cells of a claim, each with its name."""
T = TypeVar("T")


class Quotation(NamedTuple):
    """The paper's words.

    Attributes:
        text: a sentence or its deciding clause, as printed; ` ... ` stands for what is left out.
        at: where it stands, with the section: `Figure 4, Section 5.1`.
        hedge: those of the words that make it a conjecture, such as "presumably"; empty if none do.
    """

    text: str
    at: str
    hedge: str = ""


@dataclass(frozen=True)
class Claim:
    """One published statement.

    Attributes:
        id: `KEY/ARTIFACT/NAME`, stable.
        statement: in our words, so that `reproduced` means that it is true.
        source: where the paper says it.
        cells: what is compared in each cell, by the cell's name; one that is named `ALONE` if the sentence
            is about one thing.
        needs: what is missing while no experiment can decide it; with a measure, that only a run which
            alters nothing of the paper's decides it, and how to make one. It must then read single rows,
            because a run may leave others out.
        quantifier: over what the sentence speaks.
        word: the word or words of the paper's sentence that decide the quantifier, as printed.
        partial: that cells without observations are left out, unless all are without: a run chooses which of
            them it looks at, such as data sets.
        exists: that the sentence says that some choice of what the paper leaves unstated makes it true: the
            settings are then searched, and it fails only if it fails in all.
        reading: whose definition of what is measured: the paper's, unless it says otherwise.
        looked: what was set for this claim after results had been seen; empty if nothing was.
        form: whether the statement is the paper's as printed, the paper's as we restated it where our text
            has lost its formulas, or our own: a correction or a remark.
        erratum: the kind of the error that the sentence has, or of which it is a form; empty where there is
            none.
        misprint: the error itself. The cells whose names begin with `CORRECTED` then judge the corrected
            form, and the sentence is contradicted only where that form holds.
        quotes: the paper's words, as printed.
        broken_by: the changes to the experiment's tables that refute the sentence, each of which may break
            some of its cells.
        code: where the claim is written.
    """

    id: str
    statement: str
    source: str
    cells: Mapping[str, Comparison]
    code: CodePlace
    reading: str = ""
    looked: str = ""
    needs: str = ""
    quantifier: Quantifier = "universal"
    word: str = ""
    partial: bool = False
    exists: bool = False
    form: Form = "printed"
    erratum: ErratumKind | Literal[""] = ""
    misprint: Misprint | None = None
    quotes: tuple[Quotation, ...] = ()
    broken_by: tuple[Change, ...] = ()

    def __post_init__(self) -> None:
        if not self.cells:
            raise ValueError(f"{self.id}: a sentence about no cell")
        for name, cell in self.cells.items():
            if not isinstance(cell, Comparison):
                raise TypeError(f"{self.id}: {name or 'what is compared'} is no comparison: {cell!r}")

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def own_erratum(self) -> Erratum | None:
        """The error as the list of errata shows it."""
        return Erratum.shown(self.id, self.source, self.misprint) if self.misprint else None

    @property
    def artifact(self) -> str:
        """`KEY/ARTIFACT`: the figure, table, section or theorem that states it."""
        parts = self.id.split("/")
        return "/".join(parts[: max(2, len(parts) - 1)])

    @property
    def has_cells(self) -> bool:
        """Tells if the sentence is about cells, and not about one thing."""
        return ALONE not in self.cells

    @property
    def first(self) -> Comparison:
        """The comparison that stands for the sentence where cells do not matter."""
        return next(iter(self.cells.values()))

    @property
    def kind(self) -> Kind:
        return self.first.kind

    @property
    def published(self) -> float | None:
        """The number that the paper prints; none for a sentence about cells."""
        return None if self.has_cells else self.first.published

    @property
    def published_std(self) -> float | None:
        return None if self.has_cells else self.first.published_std

    @property
    def published_n(self) -> int | None:
        return None if self.has_cells else self.first.published_n

    def shown(self, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        """The ends of an interval as they are shown: cut to the values that the observation can have, or in
        a sentence about every cell, those of any cell. Judging does not read them. A mean effect over cells
        is a difference, which has no such limits."""
        if self.quantifier == "generic" and len(self.cells) > 1:
            return low, high
        return shown(self.cells.values(), low, high)


class About(TypedDict, total=False):
    """Attributes of a `Claim` that any may have."""

    reading: str
    looked: str
    needs: str
    quantifier: Quantifier
    word: str
    partial: bool
    exists: bool
    form: Form
    erratum: ErratumKind | Literal[""]
    misprint: Misprint | None


def claim(
    id: str,
    statement: str,
    *,
    at: str = "",
    quotes: Quotation | tuple[Quotation, ...] = (),
    broken_by: Change | tuple[Change, ...] = (),
    **about: Unpack[About],
) -> Callable[[Callable[[], Comparison | Cells]], Claim]:
    """Declares a claim, on the function that returns its comparison or yields its cells.

    Args:
        statement: in our words; line breaks and indents are collapsed.
        at: where the paper says it; by default, where its first quotation stands.
        about: other attributes of `Claim`.

    Raises:
        ValueError: if neither `at` nor a quotation says where.
    """
    quoted = (quotes,) if isinstance(quotes, Quotation) else quotes
    if not (at or quoted):
        raise ValueError(f"{id}: neither `at` nor a quotation says where the paper states it")

    def declared(make: Callable[[], Comparison | Cells]) -> Claim:
        try:
            made = make()
            cells = {ALONE: made} if isinstance(made, Comparison) else _distinct(id, made)
        except RepriseError as error:
            raise RepriseError(f"{id}: {error}") from None
        return Claim(
            id,
            " ".join(statement.split()),
            at or quoted[0].at,
            cells,
            place_of(make),
            quotes=quoted,
            broken_by=broken_by if isinstance(broken_by, tuple) else (broken_by,),
            **about,
        )

    return declared


def _distinct(id: str, cells: Cells) -> dict[str, Comparison]:
    """The cells by name.

    Raises:
        ValueError: if two have the same.
    """
    named: dict[str, Comparison] = {}
    for name, cell in cells:
        if name in named:
            raise ValueError(f"{id}: two cells have the name '{name}'")
        named[name] = cell
    return named


def place_of(function: Callable) -> CodePlace:
    """The place of a function in the code, from its decorators on."""
    code = function.__code__
    return CodePlace(code.co_filename, code.co_firstlineno, code.co_name)


def each(*axes: Iterable[Any]) -> Callable[[Callable[..., T]], tuple[T, ...]]:
    """Makes a family: calls a function that declares a claim for every combination of the axes' values."""
    return lambda make: tuple(make(*values) for values in product(*axes))
