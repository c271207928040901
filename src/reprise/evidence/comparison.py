"""A comparison: what is measured in one cell, what it is compared with, and how closely."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypedDict, Unpack

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.errors import unknown

Kind = Literal[
    "value", "ordering", "trend", "limit", "count", "always", "given", "identity", "inequality", "printed"
]
"""The type of a comparison, which decides how its observations are read:

- `value`, `trend`: about a mean over seeds;
- `ordering`: about a difference over seeds, which may be too small to name (`evidence.effects`);
- `limit`: about where a course over time ends: it fails only where the course rests (`evidence.rest`);
- `count`: about the median over seeds;
- `always`: about every run: the share that fails is at most `TOLERATED`;
- `given`: about things that are all looked at, without chance: the dimensions of a grid, a figure's points;
- `identity`: an equation at random points; one point beyond rounding refutes it;
- `inequality`: likewise of a bound or a sign;
- `printed`: about the numbers that the paper prints.
"""
FORMULAS: tuple[Kind, ...] = ("identity", "inequality")
Relation = Literal["near", "above", "below", "at least", "at most"]
Quantity = Literal["score", "accuracy", "count", "singular value", "slope"]

Measure = Callable[[Tables], pd.Series]
"""Function from an experiment's tables (of one setting) to one observation a seed, indexed by seed."""
Course = Callable[[Tables], pd.DataFrame]
"""Function from an experiment's tables to a distance from a limit over time: a row a step, a column a
seed."""

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
"""A statement about every run holds when at most this share of runs fails it."""
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
class Comparison:
    """One measurement and what it must satisfy: all that is judged by itself.

    Attributes:
        measure: None while no experiment can make it.
        relation: how the mean over seeds must lie to the reference.
        reference: a number, or another measure that is compared seed by seed.
        margin: how far off still counts (`near` only), in the unit of the observation, or as a share of the
            reference if `relative`.
        published: the number that the paper prints, if it prints one.
        effect: of an ordering, the difference that the paper prints, in the unit of the observation.
        resolution: how precisely the observation is measured: a number a seed, in the observation's unit.
        course: of a limit, the distance from it over time.
        bounds: the values that an observation can have at all.
        range: likewise of a score or share that is compared seed by seed with another one: its interval is
            that of the difference, placed at our value, and may leave the range. It is judged as it is and
            shown cut to the range. A change has none.
        jackknife: that observations are jackknife values of an estimate from all seeds together, of which
            only the mean has a meaning.
        learned: of every network that must have learned, how many percentage points its linear probe, or
            what else shows that it learned, is above that of its random initialisation, by any index
            (`learning.gain`); None where there is no such network.
        premise: what is taken for granted, such as the collapse that something prevents. Where a run lacks
            it, nothing is decided.
    """

    kind: Kind
    measure: Measure | None
    relation: Relation
    reference: float | Measure
    unit: str
    margin: float = 0.0
    relative: bool = False
    published: float | None = None
    published_std: float | None = None
    published_n: int | None = None
    effect: float | None = None
    resolution: Measure | None = None
    course: Course | None = None
    bounds: tuple[float, float] = UNBOUNDED
    range: tuple[float, float] = UNBOUNDED
    jackknife: bool = False
    learned: Measure | None = None
    premise: Premise | None = None

    @property
    def part(self) -> tuple[object, ...]:
        """The key by which cells form one part of a sentence, such as "falls" or "and more slowly"."""
        return self.relation, self.kind, self.unit, callable(self.reference)

    def margin_at(self, reference: float) -> float:
        """The margin in the unit of the observation."""
        return self.margin * abs(reference) if self.relative else self.margin


def shown(
    comparisons: Collection[Comparison], low: float | None, high: float | None
) -> tuple[float | None, float | None]:
    """The ends of an interval, cut to the values that an observation of one of the comparisons can have."""
    least = min(max(each.bounds[0], each.range[0]) for each in comparisons)
    most = max(min(each.bounds[1], each.range[1]) for each in comparisons)
    return (
        None if low is None else min(max(low, least), most),
        None if high is None else min(max(high, least), most),
    )


class Conditions(TypedDict, total=False):
    """Attributes of a `Comparison` that any may have."""

    bounds: tuple[float, float]
    range: tuple[float, float]
    effect: float | None
    jackknife: bool
    learned: Measure | None
    premise: Premise | None


def above(
    measure: Measure | None, reference: float | Measure, *, unit: str, **conditions: Unpack[Conditions]
) -> Comparison:
    """The mean over seeds lies strictly above a number, or above another measure, paired by seed."""
    return Comparison("ordering", measure, "above", reference, unit, **conditions)


def below(
    measure: Measure | None, reference: float | Measure, *, unit: str, **conditions: Unpack[Conditions]
) -> Comparison:
    """The mean over seeds lies strictly below a number, or below another measure, paired by seed."""
    return Comparison("ordering", measure, "below", reference, unit, **conditions)


def near(
    measure: Measure | None,
    reference: float | Measure,
    *,
    quantity: Quantity,
    unit: str,
    margin: float | None = None,
    kind: Literal["value", "trend"] = "value",
    std: float | None = None,
    n: int | None = None,
    **conditions: Unpack[Conditions],
) -> Comparison:
    """The mean over seeds lies within a margin of a published number, or of another measure.

    Args:
        margin: by default, the quantity's.
        std, n: the published standard deviation and number of repetitions.
    """
    number = reference if isinstance(reference, (int, float)) else None
    if quantity not in MARGINS:
        raise unknown("quantity", quantity, MARGINS, f"there are: {', '.join(MARGINS)}")
    if quantity == "accuracy":
        conditions = {"bounds": PERCENT, **conditions}
    margin = MARGINS[quantity] if margin is None else margin
    return Comparison(
        kind, measure, "near", reference, unit, margin, quantity in RELATIVE, number, std, n, **conditions
    )


def agrees(
    measure: Measure,
    reference: float | Measure,
    *,
    resolution: Measure,
    unit: str,
    **conditions: Unpack[Conditions],
) -> Comparison:
    """The mean over seeds is a number that theory gives, as closely as it can be measured.

    Args:
        resolution: by how much a measurement may be off, a number a seed, such as the error of the
            integrator. The largest is the margin; above `COARSEST`, it decides nothing.
    """
    return Comparison("value", measure, "near", reference, unit, resolution=resolution, **conditions)


def tends_to(
    measure: Measure,
    limit: float | Measure,
    *,
    resolution: Measure,
    course: Course,
    unit: str,
    **conditions: Unpack[Conditions],
) -> Comparison:
    """A course over time has a limit, of which the last value is as close as can be measured.

    Args:
        measure: the last value.
        resolution: what still moves over the last steps, or rounding, a number a seed.
        course: the distance from the limit over time: without rest the limit is only not reached yet.
    """
    return Comparison(
        "limit", measure, "near", limit, unit, resolution=resolution, course=course, **conditions
    )


def at_least(
    measure: Measure | None, number: float | Measure, *, unit: str, **conditions: Unpack[Conditions]
) -> Comparison:
    """A count is at least a number, in the median over seeds."""
    return Comparison("count", measure, "at least", number, unit, **conditions)


def at_most(
    measure: Measure | None, number: float | Measure, *, unit: str, **conditions: Unpack[Conditions]
) -> Comparison:
    """A count is at most a number, in the median over seeds."""
    return Comparison("count", measure, "at most", number, unit, **conditions)


def exactly(
    measure: Measure | None, number: float | Measure, *, unit: str, **conditions: Unpack[Conditions]
) -> Comparison:
    """A count equals a number, in the median over seeds."""
    return Comparison("count", measure, "near", number, unit, **conditions)


def in_every_run(comparison: Comparison) -> Comparison:
    """Every run satisfies a comparison; a seed may have several runs."""
    return replace(comparison, kind="always")


def in_every_case(comparison: Comparison) -> Comparison:
    """Each observation satisfies a comparison; the observations are all cases, and chance has no part."""
    return replace(comparison, kind="given")


def identity(error: Measure) -> Comparison:
    """A theorem or formula holds: `error` is its relative error at random points and sizes, in float64."""
    return Comparison("identity", error, "at most", IDENTITY_TOLERANCE, "relative error")


def inequality(violation: Measure) -> Comparison:
    """A bound or a sign holds: `violation` is by how much it fails at random points, 0 where it does not."""
    return replace(identity(violation), kind="inequality")


def collapsed(values: pd.Series) -> float:
    """Number of singular values that are collapsed: all if all are 0, NaN if one is not finite."""
    if not np.isfinite(values).all():
        return math.nan
    return float((values <= COLLAPSED * values.max()).sum())
