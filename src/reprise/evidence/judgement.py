"""From one claim and the tables of one setting to a judgement.

One rule for every type of statement: an interval of the observation, and a region that the statement allows.
Inside: reproduced; wholly outside: contradicted; else inconclusive. A sentence about many cells is read in
each, by intervals that hold together.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables, reading
from reprise.errors import RepriseError
from reprise.evidence.claim import ALONE, Claim
from reprise.evidence.comparison import (
    COARSEST,
    FORMULAS,
    LEARNED,
    MIN_RUNS,
    SHARE,
    TOLERATED,
    Comparison,
    Relation,
)
from reprise.evidence.measures import once
from reprise.evidence.statistics import (
    LEVEL,
    Interval,
    mean_interval,
    median_interval,
    paired_interval,
    share_interval,
    welch_interval,
)

Verdict = Literal["reproduced", "contradicted", "depends", "inconclusive", "not run"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "contradicted", "depends", "inconclusive", "not run")

NO_OBSERVATIONS = "no observations"
CROSSES = "the interval crosses the edge of what the statement allows"
MIN_SEEDS = 3
MIN_POINTS = 20
"""Random points at which an equation must have been tried: one that is false fails at all but a few."""

ABOUT_EACH = ("always", "given", *FORMULAS, "printed")
"""The kinds of comparison that one observation refutes; the others have an observation a seed."""


UNKNOWN = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Observation:
    """What a comparison measures in one setting, or in `obstacle` why it can decide nothing.

    Attributes:
        values: what the interval is about: a number a seed, less the reference where that is measured too.
        interval: `low` and `high` compare with `reference`, for paired seeds too.
        margin: in the unit of the observation.
        level: of the interval.
    """

    obstacle: str = ""
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    interval: Interval = UNKNOWN
    reference: float = math.nan
    margin: float = math.nan
    seeds: int = 0
    level: float = LEVEL


@dataclass(frozen=True)
class Judgement:
    """What a claim's observations say.

    Attributes:
        observation: of a sentence about cells, that in the cell that decides.
        cells: the judgement in each cell.
    """

    verdict: Verdict
    reason: str
    observation: Observation
    cells: Mapping[str, "Judgement"] = field(default_factory=dict)

    @property
    def observed(self) -> float:
        return self.observation.interval.mean

    @property
    def low(self) -> float:
        return self.observation.interval.low

    @property
    def high(self) -> float:
        return self.observation.interval.high

    @property
    def reference(self) -> float:
        return self.observation.reference

    @property
    def seeds(self) -> int:
        return self.observation.seeds


def judge(claim: Claim, tables: Tables, *, margin_scale: float = 1.0, level: float = LEVEL) -> Judgement:
    """The verdict on one claim from tables of one setting.

    Args:
        margin_scale: multiplies the margin (of a formula, its tolerance), to see how far the verdict rests on
            it.
        level: of the claim's interval, or of the intervals in all of its cells together.
    """
    if not claim.has_cells:
        return decide(claim.first, observe(claim, ALONE, tables, level), margin_scale)
    cells = looked_at(claim, tables)
    each = 1 - (1 - level) / len(cells)
    return joined(claim, {name: decide(cell, observe(claim, name, tables, each), margin_scale)
                          for name, cell in cells.items()})  # fmt: skip


def check_refuted(claim: Claim, tables: Tables) -> None:
    """Judges a claim on the data that it is `broken_by`, if it names any.

    Args:
        tables: of the published setting.

    Raises:
        RepriseError: unless it is contradicted there.
    """
    if not claim.broken_by:
        return
    try:
        with reading(f"claim '{claim.id}'", tables):
            verdict = judge(claim, claim.broken_by(tables)).verdict
    except Exception as error:
        raise RepriseError(f"claim '{claim.id}' and its `broken_by`: {error}") from error
    if verdict != "contradicted":
        raise RepriseError(
            f"claim '{claim.id}' is {verdict} on the data of its `broken_by`, and must be contradicted"
        )


def looked_at(claim: Claim, tables: Tables) -> Mapping[str, Comparison]:
    """The cells that decide: of a `partial` claim those with observations, or all where none has any."""
    if not claim.partial:
        return claim.cells
    seen = {
        name: cell for name, cell in claim.cells.items() if cell.measure and len(once(cell.measure)(tables))
    }
    return seen or claim.cells


def observe(claim: Claim, cell: str, tables: Tables, level: float = LEVEL) -> Observation:
    """What a claim measures in one of its cells."""
    comparison = claim.cells[cell]
    if comparison.measure is None:
        return Observation(claim.needs)
    sample = once(comparison.measure)(tables).astype(float)
    against = comparison.reference
    paired = None if isinstance(against, (int, float)) else once(against)(tables).astype(float)
    reference = float(paired.mean() if paired is not None else against)  # type: ignore[arg-type]
    margin = comparison.margin_at(reference)
    if comparison.kind not in ABOUT_EACH and not sample.index.is_unique:
        raise ValueError(f"{claim.id}: its measure gives more than one observation a seed")
    seen = Observation("", sample.to_numpy(), Interval(float(sample.mean()), math.nan, math.nan),
                       reference, margin, len(sample), level)  # fmt: skip
    observations = np.concatenate([sample] if paired is None else [sample, paired])
    if not len(sample) or not np.isfinite(observations).all() or not math.isfinite(reference):
        obstacle = "non-finite observations" if len(sample) else NO_OBSERVATIONS
        return Observation(obstacle, reference=reference, margin=margin, seeds=len(sample))
    if comparison.learned is not None:
        gain = float(once(comparison.learned)(tables).min(skipna=False))
        if not gain >= LEARNED:
            obstacle = (
                f"did not learn: a network is {gain:+.2f} points from random initialisation or a baseline, "
                f"and {LEARNED:g} are needed"
            )
            return replace(seen, obstacle=obstacle)
    if comparison.premise is not None and not (once(comparison.premise.measure)(tables) == 1).all():
        return replace(seen, obstacle=f"not testable here: there is no {comparison.premise.words}")
    if comparison.resolution is not None:
        margin = float(once(comparison.resolution)(tables).max(skipna=False))
        if not margin <= COARSEST * (abs(reference) or 1.0):
            return replace(seen, obstacle=f"measured too coarsely for a limit: to {margin:.2g}")
        seen = replace(seen, margin=margin)
    return _with_interval(comparison, seen, sample, paired)


def _with_interval(
    comparison: Comparison, seen: Observation, sample: pd.Series, paired: pd.Series | None
) -> Observation:
    if paired is not None:
        seen = replace(seen, values=(sample - paired + seen.reference).to_numpy())
    values, level = seen.values, seen.level  # noqa: PD011
    if comparison.kind in ABOUT_EACH:
        worst = {"at most": values.max(), "at least": values.min()}.get(comparison.relation, values.mean())
        return replace(seen, interval=Interval(float(worst), float(values.min()), float(values.max())))
    if comparison.kind == "count":
        fewest = math.ceil(1 - math.log2(1 - level))
        if len(values) < fewest:
            return replace(seen, obstacle=f"fewer than {fewest} seeds")
        return replace(seen, interval=median_interval(values, level))
    if len(values) < MIN_SEEDS:
        return replace(seen, obstacle=f"fewer than {MIN_SEEDS} seeds")
    if paired is not None:
        interval = paired_interval(sample, paired, level)
    elif comparison.published_std is not None and comparison.published_n is not None:
        interval = welch_interval(sample, comparison.published_std, comparison.published_n, level)
    elif is_share(comparison, values):
        interval = share_interval(int(values.sum()), len(values), level)
    else:
        interval = mean_interval(sample, level)
    low, high = comparison.bounds
    bounded = Interval(interval.mean, max(low, interval.low), min(high, interval.high))
    return replace(seen, interval=bounded)


def is_share(comparison: Comparison, values: np.ndarray) -> bool:
    """Whether the mean is a share of runs: each observation is 0 or 1, and has these bounds, or the mean is
    compared with a number between them."""
    reference = comparison.reference
    if callable(reference) or not np.isin(values, (0.0, 1.0)).all():
        return False
    return comparison.bounds == SHARE or (comparison.relation in ("above", "below") and 0 < reference < 1)


def decide(comparison: Comparison, observation: Observation, margin_scale: float = 1.0) -> Judgement:
    """The verdict on a comparison."""
    if comparison.measure is None or observation.obstacle:
        verdict: Verdict = "not run" if comparison.measure is None else "inconclusive"
        return Judgement(verdict, observation.obstacle, observation)
    reference, margin = observation.reference, observation.margin * margin_scale
    if comparison.kind in FORMULAS:
        reference *= margin_scale
    interval = observation.interval
    verdict = compare(comparison.relation, interval.low, interval.high, reference, margin)
    reason = CROSSES if verdict == "inconclusive" else ""
    if comparison.kind in ABOUT_EACH:
        verdict, reason = _about_each(comparison, observation, reference, margin)
    return Judgement(verdict, reason, replace(observation, reference=reference, margin=margin))


def _about_each(
    comparison: Comparison, observation: Observation, reference: float, margin: float
) -> tuple[Verdict, str]:
    """The verdict on a statement about every observation: one that fails refutes it."""
    values = observation.values.tolist()  # noqa: PD011
    holds = [compare(comparison.relation, value, value, reference, margin) for value in values]
    failing, number = holds.count("contradicted"), len(holds)
    noun = {"identity": "points", "inequality": "points", "always": "runs"}.get(comparison.kind, "cases")
    if failing:
        return "contradicted", f"fails in {failing} of {number} {noun}" if number > 1 else ""
    if comparison.kind == "identity" and number < MIN_POINTS:
        return "inconclusive", f"fewer than {MIN_POINTS} random points"
    if comparison.kind in ("always", "inequality") and number < MIN_RUNS:
        most = 1 - 0.05 ** (1 / number)
        return "inconclusive", (
            f"none of {number} {noun} fails, but {100 * most:.0f} % of all could; {MIN_RUNS} would show that "
            f"at most {100 * TOLERATED:g} % do"
        )
    return "reproduced", ""


def compare(relation: Relation, low: float, high: float, reference: float, margin: float) -> Verdict:
    """Where an interval lies to what a relation allows."""
    inside, outside = {
        "near": (
            abs(low - reference) <= margin and abs(high - reference) <= margin,
            low > reference + margin or high < reference - margin,
        ),
        "above": (low > reference, high <= reference),
        "below": (high < reference, low >= reference),
        "at least": (low >= reference, high < reference),
        "at most": (high <= reference, low > reference),
    }[relation]
    return "reproduced" if inside else "contradicted" if outside else "inconclusive"


def joined(claim: Claim, cells: Mapping[str, Judgement]) -> Judgement:
    """The verdict on a sentence from those in its cells."""
    by_verdict = {
        verdict: [name for name, cell in cells.items() if cell.verdict == verdict] for verdict in VERDICTS
    }
    verdict = joint_verdict(claim, [cell.verdict for cell in cells.values()])
    if verdict == "inconclusive" and len(by_verdict["inconclusive"]) == 1 == len(cells):
        return replace(cells[by_verdict[verdict][0]], cells=cells)
    reason = f"holds in {len(by_verdict['reproduced'])} of {len(cells)} cells"
    words: dict[Verdict, str] = {"contradicted": "not", "inconclusive": "undecided", "not run": "not run"}
    for other, word in words.items():
        if by_verdict[other]:
            reason += f"; {word}: {few_of(by_verdict[other])}"
    why = {cells[name].reason for name in by_verdict["inconclusive"]}
    if len(why) == 1 and why != {CROSSES}:
        reason += f" ({why.pop()})"
    deciding = min((cells[name] for name in by_verdict[verdict]), key=_clearance)
    return Judgement(verdict, reason, deciding.observation, cells)


def joint_verdict(claim: Claim, verdicts: Collection[Verdict]) -> Verdict:
    """The verdict on a sentence from those in its cells alone."""
    order: tuple[Verdict, ...] = ("contradicted", "inconclusive", "not run", "reproduced")
    if claim.quantifier == "some":
        order = ("reproduced", "inconclusive", "not run", "contradicted")
    return next(verdict for verdict in order if verdict in verdicts)


def few_of(names: list[str], most: int = 4) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - most
    return " | ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _clearance(cell: Judgement) -> float:
    """The distance of the mean from the edge, in widths of the interval: the less, the closer the verdict."""
    seen = cell.observation
    width = seen.interval.high - seen.interval.low
    distance = abs(abs(seen.interval.mean - seen.reference) - (seen.margin or 0.0))
    return distance / width if width > 0 else math.inf
