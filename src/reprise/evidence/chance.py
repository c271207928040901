"""The chance that a verdict comes out the same on fresh seeds, or that further seeds decide an undecided one.

Both are predictions. What is known of the truth is its posterior, given the seeds seen; the chance is the
mean, over that posterior, of the probability that the fresh seeds come to the verdict:

- a mean, or a typical value: observations are normal, and their effect, in standard deviations of one
  observation, has a Cauchy prior of scale 2;
- a share: each is as likely beforehand;
- a median, by signs, and a statement about every run: likewise, but with probability 1/2 all runs do alike;
- a formula, a printed number, and what has no spread: chance has no part.

A sentence that needs all of several tests comes out as its least certain one does, and one that needs any of
them as its most certain one: as if they stood or fell together, which cells mostly do.
"""

import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from reprise.evidence.claim import ALONE, CORRECTED, Claim
from reprise.evidence.comparison import FORMULAS, TOLERATED, Comparison
from reprise.evidence.estimates import Estimate, Mean, Share, Typical
from reprise.evidence.judgement import UP, Judgement, failing_units
from reprise.evidence.observation import EDGE, Observation
from reprise.evidence.region import each_alpha
from reprise.evidence.statistics import LEVEL, at_most, quantile, welch_error

PRIOR_SCALE = 2.0
"""The scale of the Cauchy prior of an effect, in standard deviations of one observation."""
ALIKE = 0.5
"""The prior probability that all runs do the same."""
DRAWS = 2048
"""Draws from a posterior and of fresh seeds: points that fill the unit cube evenly, the same each time."""
PLASTIC = 1.1673039782614187
"""The root of x^5 = x + 1, whose powers make evenly spread points in four dimensions."""

Draws = Float[np.ndarray, " draw"]
Test = Callable[..., Bool[np.ndarray, " draw"]]
"""Function of an edge, a one-sided level and whether the edge counts: the draws in which a test finds the
truth on a certain side of the edge."""


class Fresh(NamedTuple):
    """Seeds that have not run.

    Attributes:
        seeds: how many; None for as many as each test had.
        joined: whether they are judged together with those seen, or alone.
        rounds: where `seeds` is None, of how many rounds those seen are; the fresh ones are one.
    """

    seeds: int | None
    joined: bool
    rounds: int = 1

    def number(self, seen: int) -> int:
        """The number of fresh seeds for a test of `seen` seeds."""
        return seen // self.rounds if self.seeds is None else self.seeds


class Chances(NamedTuple):
    """The probabilities that fresh seeds reproduce, contradict or tie a statement."""

    holds: float
    fails: float
    tied: float


NONE = Chances(0.0, 0.0, 0.0)


def of_verdict(
    claim: Claim, judgement: Judgement, others: Mapping[str, Judgement], alpha: float, rounds: int = 1
) -> float:
    """The chance that a verdict comes out the same on as many fresh seeds, or on those of one round of
    several; NaN of one that is undecided or was not run.

    Settings count only in verdicts that rest on them: that a sentence depends on what the paper leaves open,
    or that there is a setting in which it holds. Whether another would come to depend on them is left out.

    Args:
        judgement: over all settings.
        others: in the settings besides the published one.
        alpha: one-sided, at which the fresh seeds are judged.
        rounds: of how many rounds the seeds seen are, if the fresh ones are one round.
    """
    verdict = judgement.verdict
    if verdict in ("inconclusive", "not run"):
        return math.nan
    fresh = Fresh(None, joined=False, rounds=rounds)
    if verdict == "depends" or (claim.exists and others):
        corrected = each_alpha(len(others) + 1, alpha)
        each = [chances(claim, one, corrected, fresh) for one in (judgement, *others.values())]
        holds, fails = (max(one[side] for one in each) for side in (0, 1))
        return min(holds, fails) if verdict == "depends" else holds
    found = chances(claim, judgement, alpha, fresh)
    return {"reproduced": found.holds, "contradicted": found.fails, "tied": found.tied}[verdict]


def with_more(claim: Claim, judgement: Judgement, seeds: int, alpha: float) -> float:
    """The chance that so many further seeds, judged with those seen, decide an undecided claim in the
    published setting; 0 where seeds are not what is missing.

    Args:
        alpha: one-sided, of the next look.
    """
    if judgement.verdict != "inconclusive" or judgement.code in ("not yet", "print too imprecise"):
        return 0.0
    return min(1.0, sum(chances(claim, judgement, alpha, Fresh(seeds, joined=True))))


def chances(claim: Claim, judgement: Judgement, alpha: float, fresh: Fresh) -> Chances:
    """The chances of each verdict on a claim in one setting, on fresh seeds at a one-sided level."""
    if claim.misprint:
        printed = {name: each for name, each in judgement.tests.items() if not name.startswith(CORRECTED)}
        mended = {name: each for name, each in judgement.tests.items() if name not in printed}
        found = _in_every(claim, printed, alpha, alpha, fresh)
        return found._replace(fails=min(found.fails, _in_every(claim, mended, alpha, alpha, fresh).holds))
    if claim.quantifier == "existential" and judgement.tests:
        each = [
            _of_test(claim, name, one, alpha / len(judgement.tests), alpha, fresh)
            for name, one in judgement.tests.items()
        ]
        is_complete = {claim.cells[name].kind for name in judgement.tests} == {"printed"}
        fails = min(one.fails for one in each) if is_complete else 0.0
        return Chances(max(one.holds for one in each), fails, 0.0)
    return _of_test(claim, judgement.deciding or ALONE, judgement, alpha, alpha, fresh)


def _in_every(
    claim: Claim, tests: Mapping[str, Judgement], alpha: float, alpha_fails: float, fresh: Fresh
) -> Chances:
    """A statement about every cell, of which one that fails is corrected for their number."""
    each = [_of_test(claim, name, one, alpha, alpha_fails / len(tests), fresh) for name, one in tests.items()]
    hold = min(one.holds for one in each)
    hold_or_tie = min(one.holds + one.tied for one in each)
    return Chances(hold, max(one.fails for one in each), hold_or_tie - hold)


def _of_test(
    claim: Claim, name: str, judgement: Judgement, alpha: float, alpha_fails: float, fresh: Fresh
) -> Chances:
    """The chances of one test, or of several that must all hold.

    Args:
        alpha, alpha_fails: one-sided levels at which it holds or is tied, and at which it fails.
    """
    if judgement.tests:
        return _in_every(claim, judgement.tests, alpha, alpha_fails, fresh)
    comparison, seen = claim.cells[name], judgement.observation
    evidence = judgement.evidence
    if comparison.kind in ("given", "printed", *FORMULAS) or _is_known(seen):
        return Chances(
            float(evidence.holds <= alpha), float(evidence.fails <= alpha_fails),
            float(evidence.tied <= alpha < evidence.holds),
        )  # fmt: skip
    if comparison.kind == "always" and not seen.obstacle:
        return _of_runs(comparison, seen, alpha, alpha_fails, fresh)
    if seen.obstacle and not (seen.reason == "few seeds" and fresh.joined and seen.seeds > 1):
        return NONE
    assert seen.estimate is not None
    seeds = fresh.number(seen.seeds)
    if isinstance(seen.estimate, Mean | Typical):
        weights, above, below = _of_mean(seen.estimate, seeds, fresh.joined)
    else:
        weights, above, below = _of_counts(seen.estimate, seeds, fresh.joined)
    return _outcome(comparison, seen, weights, above, below, alpha, alpha_fails)


def _is_known(seen: Observation) -> bool:
    """Tells if a mean or a typical value has no spread."""
    return isinstance(seen.estimate, Mean | Typical) and not np.ptp(seen.estimate.values)


def _outcome(
    comparison: Comparison, seen: Observation, weights: Draws, above: Test, below: Test, alpha: float,
    alpha_fails: float,
) -> Chances:  # fmt: skip
    """The outcomes of a comparison (`judgement.p_values`), on average over draws."""
    edge, margin = seen.reference - seen.origin, seen.margin * EDGE
    none = np.zeros(len(weights), dtype=bool)
    tied = none
    if comparison.relation == "near":
        low, high = comparison.bounds
        has_low, has_high = seen.reference - margin > low, seen.reference + margin < high
        holds = above(edge - margin, alpha, inclusive=True) if has_low else ~none
        holds = holds & below(edge + margin, alpha, inclusive=True) if has_high else holds
        fails = below(edge - margin, alpha_fails) if has_low and seen.resting else none
        fails = fails | above(edge + margin, alpha_fails) if has_high and seen.resting else fails
    else:
        is_strict = comparison.relation in ("above", "below")
        right, wrong = (above, below) if comparison.relation in UP else (below, above)
        holds = right(edge, alpha, inclusive=not is_strict)
        fails = wrong(edge, alpha_fails, inclusive=is_strict)
        if is_strict and seen.smallest:
            tied = above(edge - seen.smallest, alpha) & below(edge + seen.smallest, alpha)
            prints_more = comparison.effect is not None and abs(comparison.effect) >= seen.smallest
            holds, fails = holds & ~tied, (fails & ~tied) | (tied & prints_more)
            tied = tied & ~fails
    return Chances(*(float(weights @ each) for each in (holds & ~fails, fails, tied)))


@cache
def _even() -> Float[np.ndarray, "axis=4 draw"]:
    """Points that fill the unit cube evenly."""
    steps = PLASTIC ** -np.arange(1.0, 5.0)
    return (0.5 + np.outer(steps, np.arange(DRAWS))) % 1


@cache
def _standard(axis: int) -> Draws:
    """Standard normal draws."""
    from scipy import special

    return special.ndtri(_even()[axis])


@cache
def _spread(axis: int, seeds: int) -> Draws:
    """The standard deviation of so many standard normal observations; 0 of one."""
    from scipy import special

    freedom = seeds - 1
    return (
        np.sqrt(2 * special.gammaincinv(freedom / 2, _even()[axis]) / freedom) if freedom else np.zeros(DRAWS)
    )


def _of_mean(estimate: Mean | Typical, seeds: int, joined: bool) -> tuple[Draws, Test, Test]:
    """Student's t test, or Welch's, of fresh seeds.

    Returns:
        The weights of the draws, and the tests of an edge from above and from below.
    """
    number, mean, spread = len(estimate.values), estimate.point, _spread_of(estimate)
    true_spread = spread / _spread(0, number)
    true_mean = mean + true_spread * _standard(1) / math.sqrt(number)
    weights = true_spread[0] / true_spread / (1 + (true_mean / true_spread / PRIOR_SCALE) ** 2)
    means = true_mean + true_spread * _standard(2) / math.sqrt(seeds)
    squares = (seeds - 1) * (true_spread * _spread(3, seeds)) ** 2
    size = seeds
    if joined:
        size = number + seeds
        squares = squares + (number - 1) * spread**2 + number * seeds / size * (mean - means) ** 2
        means = (number * mean + seeds * means) / size
    variances = squares / (size - 1)
    if isinstance(estimate, Mean) and estimate.published_std is not None and estimate.published_n is not None:
        errors, freedom = welch_error(variances, size, estimate.published_std, estimate.published_n)
    else:
        errors, freedom = np.sqrt(variances / size), np.asarray(size - 1.0)

    def above(
        edge: float, alpha: float, *, inclusive: bool = False, sign: int = 1
    ) -> Bool[np.ndarray, " draw"]:
        return sign * (means - edge) >= quantile(freedom, 1 - 2 * alpha) * errors

    return weights / weights.sum(), above, partial(above, sign=-1)


def _spread_of(estimate: Mean | Typical) -> float:
    """The standard deviation of one observation; of a typical value, that of normal ones with an interval as
    wide."""
    number = len(estimate.values)
    if isinstance(estimate, Typical):
        interval = estimate.interval()
        if interval.high > interval.low:
            half = (interval.high - interval.low) / 2
            return half * math.sqrt(number) / float(quantile(number - 1, LEVEL))
    return float(estimate.values.std(ddof=1))


def _of_counts(estimate: Estimate, seeds: int, joined: bool) -> tuple[Draws, Test, Test]:
    """The signs, or the share, of fresh seeds: as `_of_mean`."""
    number = len(estimate.values)
    size = number + seeds if joined else seeds
    of_share = isinstance(estimate, Share)

    def over(edge: float, inclusive: bool) -> Int[np.ndarray, " draw"]:
        """The number of fresh observations above an edge, in each draw."""
        is_over = estimate.values >= edge if inclusive else estimate.values > edge
        return _count(int(is_over.sum()), number, seeds, joined, 0.0 if of_share else ALIKE)

    def above(edge: float, alpha: float, *, inclusive: bool = False) -> Bool[np.ndarray, " draw"]:
        if of_share:
            return _at_least(over(0.5, False), size, edge) <= alpha
        return _at_least(over(edge, inclusive), size, 0.5) <= alpha

    def below(edge: float, alpha: float, *, inclusive: bool = False) -> Bool[np.ndarray, " draw"]:
        if of_share:
            return at_most(over(0.5, False), size, min(max(edge, 0.0), 1.0)) <= alpha
        return _at_least(size - over(edge, not inclusive), size, 0.5) <= alpha

    return np.full(DRAWS, 1 / DRAWS), above, below


def _of_runs(
    comparison: Comparison, seen: Observation, alpha: float, alpha_fails: float, fresh: Fresh
) -> Chances:
    """A statement about every run, by the number of units that fail."""
    failing, number = failing_units(comparison, seen)
    seeds = fresh.number(number)
    counts = _count(failing, number, seeds, fresh.joined, ALIKE)
    size = number + seeds if fresh.joined else seeds
    holds = at_most(counts, size, TOLERATED) <= alpha
    fails = _at_least(counts, size, TOLERATED) <= alpha_fails
    return Chances(float(holds.mean()), float(fails.mean()), 0.0)


@cache
def _count(successes: int, number: int, seeds: int, joined: bool, alike: float) -> Int[np.ndarray, " draw"]:
    """The number of successes in `seeds` fresh observations, if `successes` of `number` have succeeded:
    beta-binomial draws, to which the past successes are added if `joined`.

    Args:
        alike: the prior probability that all succeed, or none.
    """
    from scipy import special

    wins = np.arange(seeds + 1)
    lost = number - successes
    log = special.betaln(successes + 1 + wins, lost + 1 + seeds - wins) - special.betaln(
        wins + 1, seeds - wins + 1
    )
    density = np.exp(log - log.max())
    density /= density.sum()
    if not (successes and lost):  # all have done the same, and may have to
        by_chance = math.exp(special.betaln(successes + 1, lost + 1))
        have_to = alike / 2 / (alike / 2 + (1 - alike) * by_chance)
        density *= 1 - have_to
        density[0 if lost else -1] += have_to
    drawn = np.searchsorted(np.cumsum(density), (np.arange(DRAWS) + 0.5) / DRAWS)
    return np.minimum(drawn, seeds) + (successes if joined else 0)


def _at_least(counts: Int[np.ndarray, " draw"], size: int, share: float) -> Draws:
    """The probability of at least so many successes, where each has this share."""
    from scipy import special

    return np.where(counts > 0, special.bdtrc(counts - 1, size, min(max(share, 0.0), 1.0)), 1.0)
