"""A published statement as something to check: what is measured, what it is compared with, how closely."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from reprise.evidence.errata import ErratumKind
from reprise.study.experiment import Tables

Kind = Literal["value", "ordering", "trend", "count", "identity", "printed"]
Relation = Literal["near", "above", "below", "at least", "at most"]
Form = Literal["printed", "restated", "ours"]
Quantity = Literal["score", "accuracy", "count", "singular value", "slope"]

Measure = Callable[[Tables], pd.Series]
"""From an experiment's tables (of one setting) to one observation a seed, indexed by seed."""

MARGINS: dict[Quantity, float] = {
    "score": 0.10,  # matching scores, alignments, relative errors: absolute
    "accuracy": 2.0,  # percentage points
    "count": 1.0,
    "singular value": 0.10,  # relative to the reference
    "slope": 0.15,  # of a log-log fit
}
RELATIVE: tuple[Quantity, ...] = ("singular value",)
IDENTITY_TOLERANCE = 1e-6
"""Largest relative error, in float64, at which a theorem or formula counts as holding."""
COLLAPSED = 1e-3
"""A singular value counts as collapsed when it is under this share of the largest."""
LEARNED = 15.0
"""Percentage points by which an image net's linear probe, or what else a claim says, must beat random
initialisation to be evidence."""


@dataclass(frozen=True)
class Claim:
    """One published statement.

    Attributes:
        id: `KEY/ARTIFACT/NAME`, stable.
        statement: in our words, so that `reproduced` means that it is true.
        source: where the paper says it.
        measure: None while no experiment can decide it; then `needs` says what is missing.
        needs: with a measure, that only a run which alters nothing of the paper's decides it, and how to make
            one. It must then read single rows, because a run may leave others out.
        relation: how the mean over seeds must lie to the reference.
        reference: a number, or another measure that is compared seed by seed.
        margin: how far off still counts (`near` only), in the unit of the observation, or as a share of the
            reference if `relative`.
        published: the number that the paper prints, if it prints one.
        learned: of every image net that the statement is about, how many percentage points its linear probe,
            or what else shows that it learned, is above that of its random initialisation, by any index; None
            where there is no such net.
        form: whether the statement is the paper's as printed, the paper's as we restated it where our text
            has lost its formulas, or our own: a correction or a remark.
        erratum: of the two forms of an erratum, its kind; empty where there is none.
    """

    id: str
    kind: Kind
    statement: str
    source: str
    unit: str
    measure: Measure | None
    relation: Relation
    reference: float | Measure
    margin: float = 0.0
    published: float | None = None
    published_std: float | None = None
    published_n: int | None = None
    needs: str = ""
    relative: bool = False
    learned: Measure | None = None
    form: Form = "printed"
    erratum: ErratumKind | Literal[""] = ""

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def artifact(self) -> str:
        """`KEY/ARTIFACT`: the figure, table or section that states it."""
        return self.id.rpartition("/")[0]

    def margin_at(self, reference: float) -> float:
        """The margin in the unit of the observation."""
        return self.margin * abs(reference) if self.relative else self.margin


def value(
    id: str,
    statement: str,
    *,
    source: str,
    quantity: Quantity,
    measure: Measure | None,
    published: float | Measure,
    unit: str,
    std: float | None = None,
    n: int | None = None,
    kind: Literal["value", "trend"] = "value",
    needs: str = "",
    learned: Measure | None = None,
) -> Claim:
    """Our mean over seeds lies within the quantity's margin of a published number, or of another measure."""
    number = published if isinstance(published, (int, float)) else None
    margin, relative = MARGINS[quantity], quantity in RELATIVE
    return Claim(
        id, kind, statement, source, unit, measure, "near", published, margin, number, std, n,
        needs, relative, learned,
    )  # fmt: skip


def trend(id: str, statement: str, **rest: object) -> Claim:
    """A limit or a slope: compared like a value."""
    return value(id, statement, kind="trend", **rest)  # type: ignore[arg-type]


def ordering(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure | None,
    unit: str,
    above: float | Measure | None = None,
    below: float | Measure | None = None,
    needs: str = "",
    learned: Measure | None = None,
) -> Claim:
    """The measure lies strictly above, or strictly below, another one, paired by seed."""
    relation, reference = _only(above=above, below=below)
    return Claim(
        id, "ordering", statement, source, unit, measure, relation, reference,  # type: ignore[arg-type]
        needs=needs, learned=learned,
    )  # fmt: skip


def count(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure | None,
    unit: str,
    at_least: float | None = None,
    at_most: float | None = None,
    needs: str = "",
    learned: Measure | None = None,
) -> Claim:
    """A number of things is at least, or at most, so many."""
    relation, reference = _only(**{"at least": at_least, "at most": at_most})
    return Claim(
        id, "count", statement, source, unit, measure, relation, reference,  # type: ignore[arg-type]
        needs=needs, learned=learned,
    )  # fmt: skip


def identity(id: str, statement: str, *, source: str, measure: Measure) -> Claim:
    """A theorem or formula: `measure` gives its relative error at random points and sizes, in float64."""
    return Claim(
        id, "identity", statement, source, "relative error", measure, "at most", IDENTITY_TOLERANCE
    )  # fmt: skip


def printed(id: str, statement: str, *, source: str, unit: str, measure: Measure, above: float) -> Claim:
    """A sentence of the paper about its printed numbers: `measure` reads `published.csv`; nothing is run."""
    return Claim(id, "printed", statement, source, unit, measure, "above", above)


def restated(claim: Claim) -> Claim:
    """A statement of the paper in our words and formulas, because our text of it has lost its own."""
    return replace(claim, form="restated")


def ours(claim: Claim) -> Claim:
    """A statement that the paper does not make: a correction or a remark."""
    return replace(claim, form="ours")


def both_forms(kind: ErratumKind, printed: Claim, corrected: Claim) -> list[Claim]:
    """The two forms of an erratum: the paper's, which should fail, and ours, which should hold."""
    return [replace(printed, erratum=kind), replace(ours(corrected), erratum=kind)]


def collapsed(values: pd.Series) -> float:
    """How many of the singular values are collapsed: all where all are 0, NaN where one is no finite
    number."""
    if not np.isfinite(values).all():
        return math.nan
    return float((values <= COLLAPSED * values.max()).sum())


def _only(**named: float | Measure | None) -> tuple[str, float | Measure]:
    ((relation, reference),) = [(name, given) for name, given in named.items() if given is not None]
    return relation, reference
