"""How often the rules of `evidence.judgement` are wrong, measured for each claim at its own number of seeds and their
distribution.

A world in which a claim is false by a known amount is made from the claim's own observations: they are moved until
their mean lies just outside what the statement allows, or for an ordering, until the effect is gone. Samples of the
same size are drawn there (a smoothed bootstrap; of counts, a plain one), and the share that comes out `reproduced` is
the claim's rate of false reproductions. Rules that are exact have theirs by formula.
"""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from reprise.evidence.claims import MIN_RUNS, TOLERATED, Claim
from reprise.evidence.judgement import CROSSES, Judgement, Observation, compare, joined
from reprise.evidence.statistics import median_interval, quantile, welch_error

FALSE = 0.05
"""Largest rate of false verdicts at which a claim is decided."""
DRAWS = 4000
ROUNDING = 1e-6
"""Relative change of the reference within which two processors may differ."""
MOST_SEEDS = 10_000
AVERAGED = ("value", "ordering", "trend", "limit")
"""The types of statement that are about a mean."""


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


def rates(claim: Claim, judgement: Judgement) -> Rates:
    """The error rates of a claim; of a sentence about cells, where only the cell fails that is hardest to catch."""
    leaves = list(_leaves(claim, judgement))
    if any(not leaf.observation.seeds or leaf.observation.obstacle for _, leaf in leaves):
        return Rates()
    every = [_rates(cell, leaf.observation) for cell, leaf in leaves]
    if not judgement.cells:
        return replace(every[0][0], p_value=min(every[0][1:]))
    measured = [each for each, _, _ in every]
    holding, failing = [p for _, p, _ in every], [p for _, _, p in every]
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


def _leaves(claim: Claim, judgement: Judgement) -> Iterator[tuple[Claim, Judgement]]:
    """The claims without cells, with their judgements."""
    if not claim.cells:
        yield claim, judgement
    for name, cell in claim.cells.items():
        if name in judgement.cells:
            yield from _leaves(cell, judgement.cells[name])
        else:
            yield cell, Judgement("not run", "", Observation())


def _rates(claim: Claim, seen: Observation) -> tuple[Rates, float, float]:
    """The rates, and the p-values of `reproduced` and `contradicted`."""
    if claim.kind in ("always", "inequality"):
        enough = seen.seeds >= MIN_RUNS
        missed, half, twice = ((1 - scale * TOLERATED) ** seen.seeds for scale in (1, 0.5, 2))
        fails = seen.seeds and "contradicted" in {
            compare(claim.relation, value, value, seen.reference, seen.margin) for value in seen.values
        }
        measured = Rates(missed if enough else 0.0, 0.0, half if enough else 0.0, 1 - twice)
        return measured, 1.0 if fails else missed, 0.0 if fails else 1.0
    if claim.kind == "count":
        from scipy import stats

        holds = [
            compare(claim.relation, x, x, seen.reference, seen.margin) == "reproduced" for x in seen.values
        ]
        outside = int(np.sum(seen.values < seen.interval.low))
        error = float(stats.binom.cdf(outside, seen.seeds, 0.5))
        sides = [
            float(stats.binom.sf(number - 1, seen.seeds, 0.5)) for number in (sum(holds), holds.count(False))
        ]
        return Rates(error, error), sides[0], sides[1]
    if claim.kind not in AVERAGED:
        return Rates(0.0, 0.0), 0.0, 0.0
    return _of_mean(claim, seen)


def _of_mean(claim: Claim, seen: Observation) -> tuple[Rates, float, float]:
    centred = _draws(claim.id, seen.values)
    effect = float(seen.values.mean()) - seen.reference
    if claim.relation == "near":
        edges = [
            sign * seen.margin
            for sign in (-1, 1)
            if claim.bounds[0] <= seen.reference + sign * seen.margin <= claim.bounds[1]
        ] or [seen.margin]
        outside, inside = [edge * (1 + ROUNDING) for edge in edges], [edge * (1 - ROUNDING) for edge in edges]
        half = max(_shares(claim, seen, centred, edge / 2)[0] for edge in edges)
        twice = max(_shares(claim, seen, centred, 2 * edge)[1] for edge in edges)
    else:
        outside = inside = [0.0]
        half, twice = (_shares(claim, seen, centred, scale * effect)[0] for scale in (0.5, 2.0))
    reproduced = max(_shares(claim, seen, centred, shift)[0] for shift in outside)
    contradicted = max(_shares(claim, seen, centred, shift)[1] for shift in inside)
    return Rates(reproduced, contradicted, half, twice), *_p_values(claim, seen, effect)


def _draws(id: str, values: np.ndarray) -> np.ndarray:
    """Samples like this one from a population like it, whose mean is 0: a row a sample."""
    generator = np.random.default_rng(zlib.crc32(id.encode()))
    deviations = values - values.mean()
    picked = deviations[generator.integers(len(values), size=(DRAWS, len(values)))]
    if (values == np.round(values)).all():  # counts, which take few values
        return picked
    bandwidth = 1.06 * len(values) ** -0.2  # of a kernel estimate of a density, in standard deviations
    noise = bandwidth * values.std() * generator.standard_normal(picked.shape)
    return (picked + noise) / math.hypot(1, bandwidth)


def _shares(claim: Claim, seen: Observation, centred: np.ndarray, shift: float) -> tuple[float, float]:
    """The shares of samples that are reproduced and contradicted where the true mean is `reference + shift`."""
    mean, variance = centred.mean(1) + shift, centred.var(1, ddof=1)
    error, freedom = _error(claim, variance, seen.seeds)
    if claim.published_std is not None and claim.published_n is not None and seen.values.size:
        generator = np.random.default_rng(zlib.crc32(f"{claim.id} published".encode()))
        spread = claim.published_std / math.sqrt(claim.published_n)
        mean = mean + spread * generator.standard_normal(len(mean))
    half = quantile(freedom, seen.level) * error
    low = np.maximum(mean - half, claim.bounds[0] - seen.reference)
    high = np.minimum(mean + half, claim.bounds[1] - seen.reference)
    margin = seen.margin
    inside, outside = {
        "near": ((low >= -margin) & (high <= margin), (low > margin) | (high < -margin)),
        "above": (low > 0, high <= 0),
        "below": (high < 0, low >= 0),
    }[claim.relation]
    return float(inside.mean()), float(outside.mean())


def _error(claim: Claim, variance: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray | float]:
    """The standard error of a mean, or of its difference from a published one, and the degrees of freedom."""
    if claim.published_std is None or claim.published_n is None or callable(claim.reference):
        return np.sqrt(variance / size), size - 1.0
    return welch_error(variance + 1e-300, size, claim.published_std, claim.published_n)


def _p_values(claim: Claim, seen: Observation, effect: float) -> tuple[float, float]:
    from scipy import special

    error, freedom = _error(claim, np.asarray(seen.values.var(ddof=1)), seen.seeds)
    inside = {"near": seen.margin - abs(effect), "above": effect, "below": -effect}[claim.relation]
    if error == 0:
        return (0.0, 1.0) if inside > 0 else (1.0, 0.0)
    p = float(special.stdtr(freedom, -inside / error))
    return p, 1 - p


def fragility(claim: Claim, judgement: Judgement) -> str:
    """Why the verdict may differ on another machine; empty if it should not.

    There, the last bits differ, and in a chaotic training another seed may end where one of ours did.
    """
    if (
        judgement.verdict not in ("reproduced", "contradicted", "inconclusive")
        or not judgement.observation.seeds
    ):
        return ""
    for name, leaf_claim, leaf in _named_leaves(claim, judgement):
        if leaf.observation.obstacle:
            continue
        for verdict, why in _nearby(leaf_claim, leaf):
            changed = replace(leaf, verdict=verdict)
            if claim.cells:
                changed = joined(claim, {**judgement.cells, name: changed})
            before = joined(claim, judgement.cells).verdict if claim.cells else leaf.verdict
            if changed.verdict != before:
                return f"{name}: {why}" if name else why
    return ""


def _named_leaves(claim: Claim, judgement: Judgement) -> list[tuple[str, Claim, Judgement]]:
    if not claim.cells:
        return [("", claim, judgement)]
    return [
        (name, claim.cells[name], cell)
        for name, cell in judgement.cells.items()
        if not claim.cells[name].cells
    ]


def _nearby(claim: Claim, leaf: Judgement) -> Iterator[tuple[str, str]]:
    """The verdicts within reach of rounding or of one seed, and why."""
    seen, verdict = leaf.observation, leaf.verdict
    interval = seen.interval
    for scale in (1 - ROUNDING, 1 + ROUNDING):
        size = max(abs(seen.reference), abs(interval.low), abs(interval.high))
        low, high = (end + (scale - 1) * size for end in (interval.low, interval.high))
        other = compare(claim.relation, low, high, seen.reference, seen.margin)
        if claim.kind in (*AVERAGED, "count") and other != verdict:
            yield other, "within rounding of an edge"
    if claim.kind == "count":
        for values in _one_changed(seen.values):
            ends = median_interval(values, seen.level)
            other = compare(claim.relation, ends.low, ends.high, seen.reference, seen.margin)
            if other != verdict:
                yield other, "one seed that ended as another did would change it"
    if claim.kind in AVERAGED:
        changed = _one_changed(seen.values)
        error, freedom = _error(claim, changed.var(1, ddof=1), seen.seeds)
        half = quantile(freedom, seen.level) * error
        for mean, width in zip(changed.mean(1), half, strict=True):
            low, high = max(mean - width, claim.bounds[0]), min(mean + width, claim.bounds[1])
            other = compare(claim.relation, low, high, seen.reference, seen.margin)
            if other != verdict:
                yield other, "one seed that ended as another did would change it"


def _one_changed(values: np.ndarray) -> np.ndarray:
    """The sample with one observation replaced by the smallest or the largest: a row a change."""
    size = len(values)
    changed = np.repeat(values[None], 2 * size, axis=0)
    changed[np.arange(2 * size), np.arange(2 * size) % size] = np.repeat([values.min(), values.max()], size)
    return changed


def what_would_decide(claim: Claim, judgement: Judgement) -> str:
    """For an inconclusive claim about a mean: how many seeds would decide it, if mean and spread stay."""
    seen = judgement.observation
    if judgement.reason != CROSSES or claim.kind not in AVERAGED:
        return ""
    effect = abs(float(seen.values.mean()) - seen.reference)
    distance = abs(effect - seen.margin) if claim.relation == "near" else effect
    size, variance = seen.seeds, np.asarray(seen.values.var(ddof=1))
    while size <= MOST_SEEDS:
        error, freedom = _error(claim, variance, size)
        if quantile(freedom, seen.level) * error < distance:
            return f"; about {size} seeds would decide it, if mean and spread stay"
        size += max(1, size // 20)
    if claim.published_std:
        return "; no number of seeds would decide it: the published repetitions differ too much"
    return f"; over {MOST_SEEDS} seeds would be needed to decide it"
