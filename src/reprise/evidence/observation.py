"""Observations: measurements by a claim's comparison in the tables of one setting."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import COARSEST, FORMULAS, LEARNED, SHARE, Comparison
from reprise.evidence.effects import is_relative, smallest_effect
from reprise.evidence.estimates import MIN_RANKED, Estimate, Mean, Median, Share, Typical
from reprise.evidence.measures import once
from reprise.evidence.rest import rest
from reprise.evidence.rounds import FIRST
from reprise.evidence.statistics import Interval

Reason = Literal[
    "", "crosses", "few seeds", "few points", "few runs", "did not learn", "no premise", "too coarse",
    "undefined", "no observations", "not found", "not yet", "print too imprecise", "in some settings",
    "no experiment", "not run yet",
]  # fmt: skip
"""The reason why a claim is inconclusive or not run."""

EDGE = 1 + 1e-9
"""Factor of a margin within which rounding leaves an observation inside."""
ABOUT_EACH = ("always", "given", *FORMULAS, "printed")
"""The kinds of comparison that are about every observation; the others are about one number of them all."""


@dataclass(frozen=True)
class Observation:
    """A measurement in one cell and setting, or in `obstacle` the reason why it can decide nothing.

    Attributes:
        sample: an observation a seed; where the reference is measured too, moved so that each differs from
            the mean reference as it does from its own: where the margin or the smallest effect is relative,
            by as large a share.
        estimate: of the sample less the reference; of a share, of the sample.
        margin: in the unit of the observation.
        smallest: the smallest effect that is worth a name, likewise; 0 if there is none.
        seeds: number of observations.
        at: index of the sample.
        interval: of the level of the look; of a statement about every observation, their range.
        resting: of a limit, whether its course has come to rest.
        heading: of one that has not, how it goes on.
    """

    obstacle: str = ""
    reason: Reason = ""
    sample: np.ndarray = field(default_factory=lambda: np.zeros(0))
    estimate: Estimate | None = None
    reference: float = math.nan
    margin: float = math.nan
    smallest: float = 0.0
    seeds: int = 0
    at: tuple[object, ...] = ()
    interval: Interval = field(default=Interval(math.nan, math.nan, math.nan))
    resting: bool = True
    heading: str = ""

    @property
    def effects(self) -> pd.Series:
        """The observations less the reference, by seed."""
        return pd.Series(self.sample - self.reference, index=list(self.at))

    @property
    def units(self) -> tuple[object, ...]:
        """The independent unit of each observation: of an index with several levels, the first."""
        return tuple(each[0] if isinstance(each, tuple) else each for each in self.at)

    @property
    def origin(self) -> float:
        """The number to add to the estimate for the observation itself."""
        return 0.0 if isinstance(self.estimate, Share) else self.reference


def looked_at(claim: Claim, tables: Tables) -> Mapping[str, Comparison]:
    """The cells that decide: of a `partial` claim those with observations; where none has any, those that
    lack their premise, or all."""
    if not claim.partial:
        return claim.cells
    seen = {
        name: cell for name, cell in claim.cells.items() if cell.measure and len(once(cell.measure)(tables))
    }
    lacking = {name: cell for name, cell in claim.cells.items() if _lacks_premise(cell, tables)}
    return seen or lacking or claim.cells


def observe(
    claim: Claim, cell: str, tables: Tables, alpha: float = FIRST.alpha, level: float = FIRST.level
) -> Observation:
    """Measures one cell of a claim.

    Args:
        alpha: the one-sided level at which the claim is judged.
        level: of the interval.
    """
    comparison = claim.cells[cell]
    if comparison.measure is None:
        return Observation(claim.needs, "no experiment")
    sample = once(comparison.measure)(tables).astype(float)
    against = comparison.reference
    paired = None if isinstance(against, (int, float)) else once(against)(tables).astype(float)
    reference = float(paired.mean() if paired is not None else against)  # type: ignore[arg-type]
    margin = comparison.margin_at(reference)
    if comparison.kind not in ABOUT_EACH and not sample.index.get_level_values(0).is_unique:
        raise ValueError(f"{claim.id}: its measure gives more than one observation a seed")
    seen = Observation(
        reference=reference, margin=margin, smallest=smallest_effect(comparison, reference),
        seeds=len(sample), at=tuple(sample.index),
    )  # fmt: skip
    if not len(sample) or (paired is not None and not len(paired)):
        if _lacks_premise(comparison, tables):
            return _untestable(comparison, seen)
        return replace(seen, obstacle="no observations", reason="no observations")
    # An infinite observation is a run that diverged: an outcome, ordered last.
    is_outcome = comparison.kind not in ABOUT_EACH and paired is None
    known = ~sample.isna() if is_outcome else np.isfinite(sample)
    number = int((~known).sum()) + (0 if paired is None else int((~np.isfinite(paired)).sum()))
    if number or not math.isfinite(reference):
        obstacle = f"undefined in {number} of {len(sample)} observations: a run diverged or never came there"
        return replace(seen, obstacle=obstacle, reason="undefined")
    seen = replace(seen, sample=sample.to_numpy())
    seen = replace(seen, interval=Interval(float(sample.mean()), math.nan, math.nan))
    if comparison.learned is not None:
        gain = float(once(comparison.learned)(tables).min(skipna=False))
        if not gain >= LEARNED:
            obstacle = (
                f"did not learn: a network is {gain:+.2f} points from random initialisation or a baseline, "
                f"and {LEARNED:g} are needed"
            )
            return replace(seen, obstacle=obstacle, reason="did not learn")
    if _lacks_premise(comparison, tables):
        return _untestable(comparison, seen)
    if paired is not None and sorted(sample.index) != sorted(paired.index):
        raise KeyError(f"seeds differ: {sorted(sample.index)} and {sorted(paired.index)}")
    if paired is not None:
        paired = paired.reindex(sample.index)
        difference = sample - paired
        if is_relative(comparison) and (paired * reference > 0).all():
            difference *= reference / paired
        sample = difference + reference
        seen = replace(seen, sample=sample.to_numpy())
    if comparison.resolution is not None:
        margin = float(once(comparison.resolution)(tables).max(skipna=False))
        if not margin <= COARSEST * (abs(reference) or 1.0):
            obstacle = f"measured too coarsely: to {margin:.2g}"
            return replace(seen, obstacle=obstacle, reason="too coarse")
        seen = replace(seen, margin=margin)
    if comparison.course is not None:
        ending = rest(once(comparison.course)(tables), seen.margin)
        seen = replace(seen, resting=ending.rests, heading=ending.heading)
    return _estimated(comparison, seen, alpha / len(claim.cells), level)


def _lacks_premise(comparison: Comparison, tables: Tables) -> bool:
    """Tells if a run lacks what the statement takes for granted."""
    return comparison.premise is not None and not (once(comparison.premise.measure)(tables) == 1).all()


def _untestable(comparison: Comparison, seen: Observation) -> Observation:
    assert comparison.premise is not None
    obstacle = f"not testable here: there is no {comparison.premise.words}"
    return replace(seen, obstacle=obstacle, reason="no premise")


def _estimated(comparison: Comparison, seen: Observation, alpha: float, level: float) -> Observation:
    """Adds an estimate with its interval to an observation, or says that the observations are too few."""
    values = seen.sample
    if comparison.kind in ABOUT_EACH:
        worst = {"at most": values.max(), "at least": values.min()}.get(comparison.relation, values.mean())
        return replace(seen, interval=Interval(float(worst), float(values.min()), float(values.max())))
    if is_share(comparison, values):
        return with_interval(comparison, replace(seen, estimate=Share(values)), level)
    estimated = estimate(comparison, values - seen.reference, alpha)
    return with_interval(comparison, replace(seen, estimate=estimated), level)


def estimate(comparison: Comparison, effects: np.ndarray, alpha: float) -> Estimate:
    """The estimate that suits the kind of a comparison and the number of its observations.

    Args:
        effects: observations less the reference; an infinite one, of a run that diverges, is ordered last.
        alpha: the one-sided level at which one cell can contradict the claim. Signed ranks of n observations
            reach no smaller one than 2^-n, or beyond one of two edges 2^(1-n), and are tested where that
            suffices.
    """
    if comparison.kind == "count" or not np.isfinite(effects).all():
        return Median(effects)
    is_printed_mean = comparison.relation == "near" and not callable(comparison.reference)
    edges = 2 if comparison.relation == "near" else 1
    is_ranked = len(effects) >= MIN_RANKED and edges * 2.0 ** -len(effects) <= alpha
    if not is_ranked or is_printed_mean or comparison.jackknife:
        return Mean(effects, comparison.published_std, comparison.published_n)
    return Typical(effects)


def with_interval(comparison: Comparison, seen: Observation, level: float) -> Observation:
    """Adds the interval of an observation's estimate, or says that the observations are too few for one."""
    assert seen.estimate is not None
    fewest = seen.estimate.fewest((1 - level) / 2)
    if seen.seeds < fewest:
        return replace(seen, obstacle=f"fewer than {fewest} seeds", reason="few seeds")
    own, origin = seen.estimate.interval(level), seen.origin
    low, high = comparison.bounds
    interval = Interval(own.mean + origin, max(low, own.low + origin), min(high, own.high + origin))
    return replace(seen, interval=interval)


def is_share(comparison: Comparison, values: np.ndarray) -> bool:
    """Tells if the mean is a share of runs: each observation is 0 or 1, and the bounds are 0 and 1, or the
    mean is compared with a number between 0 and 1."""
    reference = comparison.reference
    if callable(reference) or comparison.kind == "count" or not np.isin(values, (0.0, 1.0)).all():
        return False
    return comparison.bounds == SHARE or (comparison.relation in ("above", "below") and 0 < reference < 1)
