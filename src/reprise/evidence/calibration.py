"""How often the rules of `evidence.judgement` are wrong, measured for each claim at its own number of seeds
and with their distribution.

A world in which a claim is false by a known amount is made from the claim's own observations: they are moved
until their mean lies just outside what the statement allows, or for an ordering, until the effect is gone.
Samples of the same size are drawn there (a smoothed bootstrap; of counts, a plain one), and the share that
comes out `reproduced` is the claim's rate of false reproductions. Exact rules have theirs by formula. Where
the rate is above 5 %, the interval is widened until it is not.
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from reprise.contract.experiment import Tables
from reprise.evidence.claim import ALONE, Claim
from reprise.evidence.comparison import MIN_RUNS, TOLERATED, Comparison
from reprise.evidence.judgement import (
    ABOUT_EACH,
    CROSSES,
    Judgement,
    Observation,
    Verdict,
    compare,
    decide,
    is_share,
    joint_verdict,
    judge,
)
from reprise.evidence.statistics import (
    LEVEL,
    Interval,
    at_least,
    at_most,
    left_out,
    median_interval,
    quantile,
    share_interval,
    welch_error,
)

FALSE = 0.05
"""Largest rate of false verdicts at which a claim is decided."""
LEVELS = (LEVEL, 0.98, 0.99, 0.995, 0.999)
"""Of the intervals that are tried until that rate is met."""
DRAWS = 4000
ROUNDING = 1e-6
"""Relative change of the reference within which two processors may differ."""
MOST_SEEDS = 10_000
AVERAGED = ("value", "ordering", "trend", "limit")
"""The kinds of comparison that are about a mean."""


@dataclass(frozen=True)
class Rates:
    """Of one claim.

    Attributes:
        false_reproduced: share of `reproduced` where the statement only just fails.
        false_contradicted: share of `contradicted` where it only just holds.
        power_half: share of `reproduced` at half the margin, or of an ordering with half the observed effect.
        power_twice: share of `contradicted` at twice the margin, or of `reproduced` with twice the effect.
        p_value: of the firmer of the two verdicts that were possible, at the edge of the statement.
    """

    false_reproduced: float = math.nan
    false_contradicted: float = math.nan
    power_half: float = math.nan
    power_twice: float = math.nan
    p_value: float = math.nan


def calibrated(claim: Claim, tables: Tables) -> tuple[Judgement, Rates, float]:
    """A claim's judgement by the first of `LEVELS` at which such a verdict is wrong rarely enough, its rates,
    and that level, of all cells together; inconclusive if there is none."""
    for level in LEVELS:
        judgement = judge(claim, tables, level=level)
        measured = rates(claim, judgement)
        wrong = {"reproduced": measured.false_reproduced, "contradicted": measured.false_contradicted}
        rate = wrong.get(judgement.verdict, 0.0)
        if not rate > FALSE:
            return judgement, measured, level
    reason = f"such observations give a wrong '{judgement.verdict}' in {100 * rate:.0f} % of draws"
    return replace(judgement, verdict="inconclusive", reason=reason), measured, level


def rates(claim: Claim, judgement: Judgement) -> Rates:
    """The error rates of a claim; a sentence about cells is taken to fail in the one where that is hardest to
    catch."""
    leaves = _leaves(claim, judgement)
    every = [
        _rates(leaf.comparison, leaf.judgement.observation, claim.stream(leaf.cell))
        for leaf in leaves
        if leaf.judgement.observation.seeds and not leaf.judgement.observation.obstacle
    ]
    if not every:
        return Rates()
    if not judgement.cells:
        return replace(every[0][0], p_value=min(every[0][1:]))
    measured = [each for each, _, _ in every]
    undecided = [1.0] * (len(leaves) - len(every))
    holding = [p for _, p, _ in every] + undecided
    failing = [p for _, _, p in every] + undecided
    one, all_of = (failing, holding) if claim.quantifier == "all" else (holding, failing)
    false = [each.false_reproduced for each in measured], [each.false_contradicted for each in measured]
    highest, summed = (max(false[0]), sum(false[1])), (sum(false[0]), max(false[1]))
    reproduced, contradicted = highest if claim.quantifier == "all" else summed
    return Rates(
        reproduced,
        min(contradicted, 1.0),
        min(each.power_half for each in measured),
        min(each.power_twice for each in measured),
        min(max(all_of), min(1.0, len(one) * min(one))),
    )


class _Leaf(NamedTuple):
    """What is judged by itself."""

    cell: str
    comparison: Comparison
    judgement: Judgement


def _leaves(claim: Claim, judgement: Judgement) -> list[_Leaf]:
    judged = judgement.cells if claim.has_cells else {ALONE: judgement}
    return [_Leaf(name, claim.cells[name], each) for name, each in judged.items()]


def _rates(comparison: Comparison, seen: Observation, stream: str) -> tuple[Rates, float, float]:
    """The rates, and the p-values of `reproduced` and `contradicted`."""
    if comparison.kind in ("always", "inequality"):
        enough = seen.seeds >= MIN_RUNS
        missed, half, twice = ((1 - scale * TOLERATED) ** seen.seeds for scale in (1, 0.5, 2))
        fails = seen.seeds and "contradicted" in {
            compare(comparison.relation, value, value, seen.reference, seen.margin)
            for value in seen.values.tolist()
        }
        measured = Rates(missed if enough else 0.0, 0.0, half if enough else 0.0, 1 - twice)
        return measured, 1.0 if fails else missed, 0.0 if fails else 1.0
    if comparison.kind == "count":
        verdicts = [compare(comparison.relation, x, x, seen.reference, seen.margin) for x in seen.values]
        error = float(at_most(left_out(seen.seeds, seen.level), seen.seeds, 0.5))
        holding, failing = verdicts.count("reproduced"), verdicts.count("contradicted")
        if comparison.relation == "near":  # a median outside has half of the observations on one side
            above = int(np.sum(seen.values > seen.reference + seen.margin))
            failing = max(above, failing - above)
        sides = [at_least(number, seen.seeds, 0.5) for number in (holding, failing)]
        return Rates(error, error), sides[0], sides[1]
    if comparison.kind not in AVERAGED:
        return Rates(0.0, 0.0), 0.0, 0.0
    if is_share(comparison, seen.values):
        return _of_share(comparison, seen)
    return _of_mean(comparison, seen, stream)


def _of_share(comparison: Comparison, seen: Observation) -> tuple[Rates, float, float]:
    """By the binomial distribution of the number of runs in which it happens."""
    numbers = range(seen.seeds + 1)
    intervals = [share_interval(number, seen.seeds, seen.level) for number in numbers]
    verdicts = np.array(
        [compare(comparison.relation, ends.low, ends.high, seen.reference, seen.margin) for ends in intervals]
    )
    shares = [edge for edge in {seen.reference - seen.margin, seen.reference + seen.margin} if 0 < edge < 1]
    chances = [np.diff(at_most(np.array(numbers), seen.seeds, share), prepend=0.0) for share in shares]
    rates = Rates(
        *(
            max((float(chance[verdicts == verdict].sum()) for chance in chances), default=0.0)
            for verdict in ("reproduced", "contradicted")
        )
    )
    number = int(seen.values.sum())
    so_many = {share: at_least(number, seen.seeds, share) for share in shares}
    so_few = {share: float(at_most(number, seen.seeds, share)) for share in shares}
    if comparison.relation == "near":
        low, high = seen.reference - seen.margin, seen.reference + seen.margin
        inside = max(so_many.get(low, 0.0), so_few.get(high, 0.0))
        return rates, inside, min(so_few.get(low, 1.0), so_many.get(high, 1.0))
    more, fewer = so_many.get(seen.reference, 0.0), so_few.get(seen.reference, 0.0)
    return (rates, more, fewer) if comparison.relation == "above" else (rates, fewer, more)


def _of_mean(comparison: Comparison, seen: Observation, stream: str) -> tuple[Rates, float, float]:
    samples = _sampled(comparison, seen, stream)
    effect = float(seen.values.mean()) - seen.reference
    edges = _edges(comparison, seen)
    if comparison.relation == "near":
        outside, inside = [edge * (1 + ROUNDING) for edge in edges], [edge * (1 - ROUNDING) for edge in edges]
        half = max((_shares(comparison, seen, samples, edge / 2)[0] for edge in edges), default=math.nan)
        twice = max((_shares(comparison, seen, samples, 2 * edge)[1] for edge in edges), default=math.nan)
    else:
        least = max(ROUNDING * abs(effect), math.ulp(0.0))
        outside, inside = [0.0], [least if comparison.relation == "above" else -least]
        half, twice = (_shares(comparison, seen, samples, scale * effect)[0] for scale in (0.5, 2.0))
    reproduced = max((_shares(comparison, seen, samples, shift)[0] for shift in outside), default=0.0)
    contradicted = max((_shares(comparison, seen, samples, shift)[1] for shift in inside), default=0.0)
    return Rates(reproduced, contradicted, half, twice), *_p_values(comparison, seen, effect, edges)


def _edges(comparison: Comparison, seen: Observation) -> list[float]:
    """The ends of the margin, from the reference, beyond which a mean may lie. Where the bounds leave no
    value outside the margin, the statement cannot be false, nor a verdict wrong."""
    low, high = comparison.bounds
    rounding = ROUNDING * seen.margin
    lower = [-seen.margin] if seen.reference - seen.margin > low + rounding else []
    upper = [seen.margin] if seen.reference + seen.margin < high - rounding else []
    return lower + upper


def _draws(stream: str, values: np.ndarray) -> np.ndarray:
    """Samples like this one from a population like it, whose mean is 0: a row a sample."""
    if values.min() == values.max():  # exactly, where the mean is rounded
        return np.zeros((DRAWS, len(values)))
    generator = np.random.default_rng(zlib.crc32(stream.encode()))
    deviations = values - values.mean()
    picked = deviations[generator.integers(len(values), size=(DRAWS, len(values)))]
    if (values == np.round(values)).all():  # counts, which take few values
        return picked
    bandwidth = 1.06 * len(values) ** -0.2  # of a kernel estimate of a density, in standard deviations
    noise = bandwidth * values.std() * generator.standard_normal(picked.shape)
    return (picked + noise) / math.hypot(1, bandwidth)


def _sampled(comparison: Comparison, seen: Observation, stream: str) -> tuple[np.ndarray, Any, np.ndarray]:
    """Of each of `_draws`: its mean, the error of the published mean, and half the width of its interval."""
    centred = _draws(stream, seen.values)
    error, freedom = _error(comparison, centred.var(1, ddof=1), seen.seeds)
    published: Any = 0.0
    if comparison.published_std is not None and comparison.published_n is not None:
        generator = np.random.default_rng(zlib.crc32(f"{stream} published".encode()))
        spread = comparison.published_std / math.sqrt(comparison.published_n)
        published = spread * generator.standard_normal(DRAWS)
    return centred.mean(1), published, quantile(freedom, seen.level) * error


def _shares(
    comparison: Comparison, seen: Observation, samples: tuple[np.ndarray, Any, np.ndarray], shift: float
) -> tuple[float, float]:
    """The shares of samples that are reproduced, and contradicted, where the true mean is the reference and
    `shift`."""
    mean, published, half = samples
    mean = mean + shift + published
    low = np.maximum(mean - half, comparison.bounds[0] - seen.reference)
    high = np.minimum(mean + half, comparison.bounds[1] - seen.reference)
    margin = seen.margin
    inside, outside = {
        "near": ((low >= -margin) & (high <= margin), (low > margin) | (high < -margin)),
        "above": (low > 0, high <= 0),
        "below": (high < 0, low >= 0),
    }[comparison.relation]
    return float(inside.mean()), float(outside.mean())


def _error(comparison: Comparison, variance: Any, size: int) -> tuple[Any, Any]:
    """The standard error of a mean, or of its difference from a published one, and the degrees of freedom."""
    if comparison.published_std is None or comparison.published_n is None or callable(comparison.reference):
        return np.sqrt(variance / size), size - 1.0
    return welch_error(variance + 1e-300, size, comparison.published_std, comparison.published_n)


def _p_values(
    comparison: Comparison, seen: Observation, effect: float, edges: list[float]
) -> tuple[float, float]:
    from scipy import special

    error, freedom = _error(comparison, seen.values.var(ddof=1), seen.seeds)
    inside = {"above": effect, "below": -effect}.get(comparison.relation, math.inf)
    if comparison.relation == "near":
        inside = min((seen.margin - math.copysign(1, edge) * effect for edge in edges), default=math.inf)
    if error == 0 or inside == math.inf:
        return (0.0, 1.0) if inside > 0 else (1.0, 0.0)
    p = float(special.stdtr(freedom, -inside / error))
    return p, 1 - p


def fragility(claim: Claim, judgement: Judgement) -> str:
    """Why the verdict in one setting may differ on another machine; empty if it should not.

    There, the last bits differ, and in a chaotic training another seed may end where one of ours did.
    """
    if not judgement.observation.seeds:
        return ""
    leaves = _leaves(claim, judgement)
    # By the intervals alone, which may say more than a calibrated judgement.
    here = joint_verdict(
        claim, [decide(leaf.comparison, leaf.judgement.observation).verdict for leaf in leaves]
    )
    for name, comparison, leaf in leaves:
        if leaf.observation.obstacle:
            continue
        others = [cell.verdict for other, cell in judgement.cells.items() if other != name]
        for verdict, why in _nearby(comparison, leaf):
            if joint_verdict(claim, [verdict, *others]) != here:
                return f"{name}: {why}" if name else why
    return ""


def _nearby(comparison: Comparison, leaf: Judgement) -> Iterator[tuple[Verdict, str]]:
    """The verdicts within reach of rounding or of one seed, and why."""
    seen = leaf.observation
    if comparison.kind in ABOUT_EACH:
        return
    if comparison.kind != "count":
        low, high = seen.interval.low, seen.interval.high
        nudge = ROUNDING * max(abs(seen.reference), abs(low), abs(high))
        for shift in (-nudge, nudge):
            yield _compared(comparison, seen, low + shift, high + shift), "within rounding of an edge"
    for values in _one_changed(seen.values):
        if comparison.kind == "count":
            ends = median_interval(values, seen.level)
        elif is_share(comparison, values):
            ends = share_interval(int(values.sum()), len(values), seen.level)
        else:
            error, freedom = _error(comparison, values.var(ddof=1), len(values))
            half, mean = float(quantile(freedom, seen.level) * error), float(values.mean())
            low, high = comparison.bounds
            ends = Interval(mean, max(low, mean - half), min(high, mean + half))
        yield (
            _compared(comparison, seen, ends.low, ends.high),
            "one seed that ended as another did would change it",
        )


def _compared(comparison: Comparison, seen: Observation, low: float, high: float) -> Verdict:
    return compare(comparison.relation, low, high, seen.reference, seen.margin)


def _one_changed(values: np.ndarray) -> np.ndarray:
    """The sample with one observation replaced by the smallest or the largest: a row a change."""
    size = len(values)
    changed = np.repeat(values[None], 2 * size, axis=0)
    changed[np.arange(2 * size), np.arange(2 * size) % size] = np.repeat([values.min(), values.max()], size)
    return changed


def what_would_decide(claim: Claim, judgement: Judgement) -> str:
    """For an inconclusive claim about a mean: how many seeds would decide it, if mean and spread stay."""
    if judgement.reason != CROSSES:
        return ""
    seen, comparison = judgement.observation, _leaves(claim, judgement)[0].comparison
    if comparison.kind not in AVERAGED:
        return ""
    if is_share(comparison, seen.values):
        return _runs_that_decide(comparison, seen)
    effect = abs(float(seen.values.mean()) - seen.reference)
    distance = abs(effect - seen.margin) if comparison.relation == "near" else effect
    size, variance = seen.seeds, seen.values.var(ddof=1)
    while size <= MOST_SEEDS:
        error, freedom = _error(comparison, variance, size)
        if quantile(freedom, seen.level) * error < distance:
            return f"; about {size} seeds would decide it, if mean and spread stay"
        size += max(1, size // 20)
    if comparison.published_std:
        return "; no number of seeds would decide it: the published repetitions differ too much"
    return f"; over {MOST_SEEDS} seeds would be needed to decide it"


def _runs_that_decide(comparison: Comparison, seen: Observation) -> str:
    share, runs = seen.values.mean(), seen.seeds
    while runs <= MOST_SEEDS:
        ends = share_interval(round(share * runs), runs, seen.level)
        if _compared(comparison, seen, ends.low, ends.high) != "inconclusive":
            return f"; about {runs} runs would decide it, if the share stays"
        runs += max(1, runs // 20)
    return f"; over {MOST_SEEDS} runs would be needed to decide it"
