"""The smallest effect that is worth a name, by unit: a smaller one is `tied`, whichever side of 0 it is on.

The table is set from units alone, after results had first been seen and before any verdict was judged by it.
"""

import math
import re
from typing import NamedTuple

from reprise.evidence.comparison import Comparison


class Smallest(NamedTuple):
    """The smallest effect of one scale.

    Attributes:
        scale: its name.
        effect: in the unit, or as a share of the reference if `relative`.
        units: regular expression that the units of the scale match.
    """

    scale: str
    effect: float
    units: str
    relative: bool = False


SMALLEST = (
    Smallest("accuracy, in percentage points", 1.0, r"^%|^percentage points"),
    Smallest("share, probability", 0.05, r"\bshare\b|probability"),
    Smallest("score, cosine, correlation", 0.05, r"score|\bcos(ine)?\b|correlation|A_kk"),
    Smallest("entropy, in nats", 0.05, r"\bnats\b"),
    Smallest("log-log slope", 0.075, r"slope|^power of"),
    Smallest("eigenvalue, condition number: natural logarithm", 0.05, r"^log condition number"),
    Smallest("eigenvalue, condition number: decimal logarithm", 0.05 / math.log(10), r"^log10 of λ"),
    Smallest("saturation: decimal logarithm", 0.05 / math.log(10), r"^log10 of steps"),
    Smallest("condition number", 0.05, r"^condition number|eigenvalue$", relative=True),
    Smallest("stable or effective rank", 0.05, r"\brank\b", relative=True),
    Smallest("count", 1.0, r"collapsed|local optima|^steps|tokens$|^fields$|^cells$"),
)
NO_EFFECT = re.compile(r"margin|rounding|beyond what")
"""Units of a distance from an edge: a margin stands in them already."""


def is_relative(comparison: Comparison) -> bool:
    """Tells if a comparison's margin, or its smallest effect, is a share of the reference."""
    scale = _scale(comparison)
    return comparison.relative or (scale is not None and scale.relative)


def _scale(comparison: Comparison) -> Smallest | None:
    """The scale of an ordering's unit, if it has one."""
    if comparison.relation not in ("above", "below") or NO_EFFECT.search(comparison.unit):
        return None
    return next((each for each in SMALLEST if re.search(each.units, comparison.unit)), None)


def smallest_effect(comparison: Comparison, reference: float) -> float:
    """The smallest effect of an ordering in the unit of its observations; 0 where its unit has none, or where
    the bounds leave no larger effect than that on the side that the statement is about."""
    found = _scale(comparison)
    if found is None:
        return 0.0
    smallest = found.effect * abs(reference) if found.relative else found.effect
    low, high = comparison.bounds
    largest = high - reference if comparison.relation == "above" else reference - low
    return smallest if largest > smallest else 0.0
