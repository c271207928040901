"""A published statement as something to check: what is measured, what it is compared with, how closely."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.errors import unknown
from reprise.evidence.errata import ErratumKind

Kind = Literal[
    "value", "ordering", "trend", "limit", "count", "always", "given", "identity", "inequality", "printed"
]
"""The type of a statement, which decides how its observations are read:

- `value`, `ordering`, `trend`: about a mean over seeds, read by Student's t interval;
- `limit`: likewise, with the resolution of the measurement as its margin;
- `count`: about the median over seeds, read by an exact interval between order statistics;
- `always`: about every run; one run refutes it, and many are needed to show it (`TOLERATED`);
- `given`: about things that are all looked at, without chance: the dimensions of a grid, a figure's points;
- `identity`: an equation at random points; one point beyond rounding refutes it;
- `inequality`: likewise, but it may fail at few of the points, so that many are needed, as for `always`;
- `printed`: about the numbers that the paper prints.
"""
FORMULAS: tuple[Kind, ...] = ("identity", "inequality")
Relation = Literal["near", "above", "below", "at least", "at most"]
Form = Literal["printed", "restated", "ours"]
Quantity = Literal["score", "accuracy", "count", "singular value", "slope"]

Measure = Callable[[Tables], pd.Series]
"""From an experiment's tables (of one setting) to one observation a seed, indexed by seed."""

MARGINS: dict[Quantity, float] = {
    "score": 0.10,  # matching scores, alignments, relative errors: absolute
    "accuracy": 2.0,  # percentage points
    "count": 0.0,  # a count is exact
    "singular value": 0.10,  # relative to the reference
    "slope": 0.15,  # of a log-log fit
}
PERCENT = (0.0, 100.0)
SHARE = (0.0, 1.0)
COSINE = (-1.0, 1.0)
UNBOUNDED = (-math.inf, math.inf)
"""Bounds of an observation."""
RELATIVE: tuple[Quantity, ...] = ("singular value",)
IDENTITY_TOLERANCE = 1e-6
"""Largest relative error, in float64, at which a theorem or formula counts as holding."""
COLLAPSED = 1e-3
"""A singular value counts as collapsed when it is under this share of the largest."""
TOLERATED = 0.02
"""A statement about every run is taken to hold when at most this share of runs can fail it."""
MIN_RUNS = 149
"""Runs without a failure that show so: 0.98^149 is under 5 %."""
COARSEST = 0.01
"""A limit is measured when what limits its resolution is under this share of its size."""
LEARNED = 15.0
"""Percentage points by which an image net's linear probe, or what else a claim says, must beat random
initialisation to be evidence."""


class Premise(NamedTuple):
    """Something that a statement takes for granted.

    Attributes:
        words: such as `a collapse without a projector`.
        measure: 1 for each run in which it is there, 0 for another.
    """

    words: str
    measure: Measure


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
        cells: of a sentence about many cells, the claim in each, by the cell's name; it then has no measure.
        quantifier: whether the sentence holds if all of its cells do, or some of them.
        partial: that cells without observations are left out, unless all are without: a run chooses which of
            them it looks at, such as data sets.
        exists: that the sentence says that some choice of what the paper leaves unstated makes it true: the
            settings are then searched, and it fails only if it fails in all.
        resolution: of a limit, how precisely it is measured: a number a seed, in the observation's unit.
        bounds: the values that an observation can have at all.
        range: likewise of a score or share that is compared seed by seed with another one: its interval is
            that of the difference, placed at our value, and may leave the range. It is judged as it is and
            shown cut to the range. A change has none.
        reading: whose definition of what is measured: the paper's, unless it says otherwise.
        looked: what was set for this claim after results had been seen; empty if nothing was.
        learned: of every image net that the statement is about, how many percentage points its linear probe,
            or what else shows that it learned, is above that of its random initialisation, by any index
            (`learning.gain`); None where there is no such net.
        premise: what the statement takes for granted, such as the collapse that something prevents. Where a
            run lacks it, nothing is decided.
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
    cells: Mapping[str, "Claim"] = field(default_factory=dict)
    quantifier: Literal["all", "some"] = "all"
    partial: bool = False
    exists: bool = False
    resolution: Measure | None = None
    bounds: tuple[float, float] = UNBOUNDED
    range: tuple[float, float] = UNBOUNDED
    reading: str = ""
    looked: str = ""
    learned: Measure | None = None
    premise: Premise | None = None
    form: Form = "printed"
    erratum: ErratumKind | Literal[""] = ""

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def artifact(self) -> str:
        """`KEY/ARTIFACT`: the figure, table or section that states it."""
        return self.id.rpartition("/")[0]

    def shown(self, low: float | None, high: float | None) -> tuple[float | None, float | None]:
        """The ends of an interval as they are shown: cut to the values that the observation can have, or in
        a sentence about several cells, those of any cell. Judging does not read them."""
        claims = tuple(self.cells.values()) or (self,)
        least = min(max(claim.bounds[0], claim.range[0]) for claim in claims)
        most = max(min(claim.bounds[1], claim.range[1]) for claim in claims)
        return (
            None if low is None else min(max(low, least), most),
            None if high is None else min(max(high, least), most),
        )

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
    **rest: Any,
) -> Claim:
    """Our mean over seeds lies within the quantity's margin of a published number, or of another measure.

    Args:
        rest: other attributes of `Claim`, here and in the functions below.
    """
    number = published if isinstance(published, (int, float)) else None
    if quantity not in MARGINS:
        raise unknown(f"quantity of {id}:", quantity, MARGINS, f"there are: {', '.join(MARGINS)}")
    bounds = {"bounds": PERCENT} if quantity == "accuracy" else {}
    return Claim(
        id, "count" if quantity == "count" else kind, statement, source, unit, measure, "near", published,
        MARGINS[quantity], number, std, n,
        relative=quantity in RELATIVE, **bounds | rest,
    )  # fmt: skip


def trend(id: str, statement: str, **rest: Any) -> Claim:
    """A slope: compared like a value."""
    return value(id, statement, kind="trend", **rest)


def limit(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure,
    reaches: float | Measure,
    resolution: Measure,
    unit: str,
    **rest: Any,
) -> Claim:
    """The mean over seeds is a limit, as closely as it can be measured.

    Args:
        resolution: by how much a measured limit may be off, a number a seed: the error of the integrator, or
            what still moves over the last steps. The largest is the margin; above `COARSEST`, it decides
            nothing.
    """
    return Claim(
        id, "limit", statement, source, unit, measure, "near", reaches, resolution=resolution, **rest
    )


def ordering(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure | None,
    unit: str,
    above: float | Measure | None = None,
    below: float | Measure | None = None,
    **rest: Any,
) -> Claim:
    """In the mean over seeds, the measure lies strictly above, or below, another one, paired by seed."""
    relation, reference = _only(above=above, below=below)
    return Claim(id, "ordering", statement, source, unit, measure, relation, reference, **rest)


def count(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure | None,
    unit: str,
    at_least: float | None = None,
    at_most: float | None = None,
    exactly: float | None = None,
    **rest: Any,
) -> Claim:
    """A number of things is at least, at most or exactly so many, in the median over seeds."""
    relation, reference = _only(**{"at least": at_least, "at most": at_most, "near": exactly})
    return Claim(id, "count", statement, source, unit, measure, relation, reference, **rest)


def always(
    id: str,
    statement: str,
    *,
    source: str,
    measure: Measure,
    unit: str,
    at_least: float | None = None,
    at_most: float | None = None,
    exactly: float | None = None,
    **rest: Any,
) -> Claim:
    """Every run gives at least, at most or exactly so much.

    Args:
        measure: one number a run; a seed may have several runs.
    """
    relation, reference = _only(**{"at least": at_least, "at most": at_most, "near": exactly})
    return Claim(id, "always", statement, source, unit, measure, relation, reference, **rest)


def given(claim: Claim) -> Claim:
    """A claim whose observations are all that there is: each must satisfy it, and chance has no part."""
    return replace(claim, kind="given")


def identity(id: str, statement: str, *, source: str, measure: Measure) -> Claim:
    """A theorem or formula: `measure` gives its relative error at random points and sizes, in float64."""
    return Claim(id, "identity", statement, source, "relative error", measure, "at most", IDENTITY_TOLERANCE)


def inequality(id: str, statement: str, *, source: str, measure: Measure) -> Claim:
    """A bound or a sign: `measure` gives by how much it is violated at random points, 0 where it is not."""
    return replace(identity(id, statement, source=source, measure=measure), kind="inequality")


def printed(id: str, statement: str, *, source: str, unit: str, measure: Measure, above: float) -> Claim:
    """A sentence of the paper about its printed numbers: `measure` reads `published.csv`; nothing is run."""
    return Claim(id, "printed", statement, source, unit, measure, "above", above)


def for_all(id: str, statement: str, cells: Mapping[str, Claim], **rest: Any) -> Claim:
    """A sentence that holds if it holds in every cell, such as each number of candidates; or that joins
    several sentences, such as "it falls, and more slowly".

    Args:
        cells: the claim in each cell, by what the report calls the cell: `P = 3, beta = 2`. Their ids and
            statements are not read.

    Raises:
        ValueError: if there is no cell, or a cell has cells.
    """
    if not cells:
        raise ValueError(f"{id}: a sentence about no cell")
    if nested := [name for name, cell in cells.items() if cell.cells]:
        raise ValueError(f"{id}: cells have cells: {', '.join(nested)}")
    first = next(iter(cells.values()))
    names = ("measure", "published", "published_std", "published_n", "learned", "premise")
    whole: dict[str, Any] = dict.fromkeys(names)
    return replace(first, id=id, statement=statement, cells=dict(cells), **whole | rest)


def for_some(id: str, statement: str, cells: Mapping[str, Claim], **rest: Any) -> Claim:
    """A sentence that holds if it holds in one of its cells."""
    return for_all(id, statement, cells, quantifier="some", **rest)


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


def collapsed(values: pd.Series) -> float:
    """How many of the singular values are collapsed: all where all are 0, NaN where one is no finite
    number."""
    if not np.isfinite(values).all():
        return math.nan
    return float((values <= COLLAPSED * values.max()).sum())


def _only(**named: float | Measure | None) -> tuple[Any, Any]:
    ((relation, reference),) = [(name, given) for name, given in named.items() if given is not None]
    return relation, reference
