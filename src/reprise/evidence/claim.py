"""A claim: one sentence, and the comparisons that decide it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, Unpack

from reprise.contract.experiment import Tables
from reprise.evidence.comparison import Comparison, Kind, shown
from reprise.evidence.errata import ErratumKind

Form = Literal["printed", "restated", "ours"]
Quantifier = Literal["universal", "generic", "existential", "similar"]
"""Over what a sentence speaks, by its words:

- `universal`: each, any, all, regardless, never: it must hold in every cell;
- `generic`: A beats B, helps, gains, and no such word: it must hold on average over the paper's cells;
- `existential`: there is, some, can: it must hold in one cell or setting;
- `similar`: hardly, little, alike, competitive: a difference lies within a margin, in every cell.
"""

SIGNS: Mapping[Kind, str] = {"identity": "=", "inequality": "≤"}
ALONE = ""
"""The name of the cell of a claim that is not about cells."""


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
        erratum: of the two forms of an erratum, its kind; empty where there is none.
        quotes: the paper's sentence, or its deciding clause, as printed.
        broken_by: function from the experiment's tables to tables that refute the sentence.
    """

    id: str
    statement: str
    source: str
    cells: Mapping[str, Comparison]
    reading: str = ""
    looked: str = ""
    needs: str = ""
    quantifier: Quantifier = "universal"
    word: str = ""
    partial: bool = False
    exists: bool = False
    form: Form = "printed"
    erratum: ErratumKind | Literal[""] = ""
    quotes: str = ""
    broken_by: Callable[[Tables], Tables] | None = None

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
    def artifact(self) -> str:
        """`KEY/ARTIFACT`: the figure, table or section that states it."""
        return self.id.rpartition("/")[0]

    @property
    def has_cells(self) -> bool:
        """Whether the sentence is about cells, and not about one thing."""
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
    quotes: str
    broken_by: Callable[[Tables], Tables] | None


def single(id: str, statement: str, comparison: Comparison, *, source: str, **about: Unpack[About]) -> Claim:
    """A claim about one thing; a formula's sign is the word that decides its quantifier."""
    about.setdefault("word", SIGNS.get(comparison.kind, ""))
    return Claim(id, statement, source, {ALONE: comparison}, **about)


def restated(claim: Claim) -> Claim:
    """A statement of the paper in our words and formulas, because our text of it has lost its own."""
    return replace(claim, form="restated")


def ours(claim: Claim, reading: str = "") -> Claim:
    """Declares a statement that the paper does not make: a correction or a remark.

    Args:
        reading: why the paper does not, where it might be read so; stands before the claim's own reading.
    """
    return replace(claim, form="ours", reading="; ".join(filter(None, (reading, claim.reading))))


def both_forms(kind: ErratumKind, printed: Claim, corrected: Claim) -> list[Claim]:
    """The two forms of an erratum: the paper's, which should fail, and ours, which should hold."""
    return [replace(printed, erratum=kind), replace(ours(corrected), erratum=kind)]
