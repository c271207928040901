"""Numbers of seeds that would decide inconclusive claims."""

import math

import numpy as np

from reprise.evidence.claim import Claim
from reprise.evidence.comparison import Comparison
from reprise.evidence.estimates import Share
from reprise.evidence.judgement import Judgement
from reprise.evidence.observation import Observation
from reprise.evidence.statistics import quantile

POWER = 0.9
"""Share of draws in which that number of seeds decides, if mean and spread are as they were seen."""
MOST_SEEDS = 10_000
"""More seeds than this are called never."""
NEVER = math.inf


def seeds_to_decide(claim: Claim, judgement: Judgement, alpha: float) -> float:
    """The number of seeds that would decide a claim 9 times in 10, if mean and spread stay; infinite if over
    `MOST_SEEDS` would not, NaN where seeds are not what is missing.

    Args:
        alpha: the one-sided level at which they would be judged.
    """
    if judgement.verdict != "inconclusive" or judgement.code not in ("crosses", "few seeds"):
        return math.nan
    if claim.quantifier == "generic" or not judgement.cells:
        name = judgement.deciding or next(iter(claim.cells))
        return seeds_of(claim.cells[name], judgement.observation, alpha)
    cells = judgement.cells
    undecided = {name for name, cell in cells.items() if cell.code in ("crosses", "few seeds")}
    # One cell can decide a search for the sentence, and any other sentence against it, corrected for all.
    is_search = claim.quantifier == "existential"
    alone = {name for name in undecided if cells[name].favours == is_search}
    share = (1 - POWER) / max(len(undecided), 1)
    corrected, power = (alpha / len(cells), POWER) if alone else (alpha, 1 - share)
    needed = [
        seeds_of(claim.cells[name], cells[name].observation, corrected, power) for name in alone or undecided
    ]
    if not needed or any(map(math.isnan, needed)) or (is_search and not alone):
        return math.nan
    return min(needed) if alone else max(needed)


def seeds_of(comparison: Comparison, seen: Observation, alpha: float, power: float = POWER) -> float:
    """The number of seeds that would decide one comparison, by the normal approximation to the power of
    Student's t test.

    Args:
        alpha: the one-sided level.
    """
    number = seen.estimate
    if number is None or seen.seeds < 2 or not np.isfinite(number.values).all():
        return math.nan
    spread = float(number.values.std(ddof=1))
    if isinstance(number, Share):
        spread = math.sqrt(max(number.point * (1 - number.point), 1 / seen.seeds**2))
    distance = to_decide(comparison, seen)
    if distance == 0:
        return NEVER
    if spread == 0:
        return float(number.fewest(alpha))
    size = max(number.fewest(alpha), 2)
    while size <= MOST_SEEDS:
        reached = distance * math.sqrt(size) / spread
        needed = float(quantile(size - 1, 1 - 2 * alpha) + quantile(size - 1, 2 * power - 1))
        if reached >= needed:
            return float(size)
        size += max(1, size // 50)
    return NEVER


def to_decide(comparison: Comparison, seen: Observation) -> float:
    """The largest half-width of an interval around the estimate that still decides."""
    assert seen.estimate is not None
    effect = abs(seen.estimate.point - (seen.reference - seen.origin))
    if comparison.relation == "near":
        return abs(effect - seen.margin)
    # An ordering is decided by an interval on one side of 0, and as tied by one within the smallest effect.
    return max(effect, seen.smallest - effect)
