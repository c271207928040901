"""The judgement of one claim on the tables of one setting.

Each cell gives p-values by an estimate (`evidence.estimates`); the sentence's quantifier joins them
(`evidence.quantifiers`). A verdict is `reproduced` if and only if its p-value says so.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pandas as pd

from reprise.contract.experiment import Tables, reading
from reprise.errors import RepriseError
from reprise.evidence.claim import ALONE, CORRECTED, Claim
from reprise.evidence.comparison import FORMULAS, TOLERATED, UNBOUNDED, Comparison, Relation
from reprise.evidence.estimates import Estimate, unseen_share
from reprise.evidence.measures import Setting
from reprise.evidence.observation import (
    ABOUT_EACH,
    EDGE,
    Observation,
    Reason,
    estimate,
    looked_at,
    observe,
    with_interval,
)
from reprise.evidence.quantifiers import Evidence, existential, of_ordering, universal
from reprise.evidence.rounds import FIRST
from reprise.evidence.statistics import at_least, at_most, mean_interval, quantile

Verdict = Literal["reproduced", "contradicted", "tied", "depends", "inconclusive", "not run"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "contradicted", "tied", "depends", "inconclusive", "not run")

CROSSES = "the interval crosses the edge of what the statement allows"
MIN_POINTS = 200
"""Random points at which an equation, a bound or a sign must have been tried."""
MANY_CELLS = 5
"""Cells from which on the effect in a further one is predicted."""
UNKNOWN = Evidence()
UP = ("above", "at least")


@dataclass(frozen=True)
class Judgement:
    """A judgement of a claim on its observations.

    Attributes:
        observation: for a sentence about cells, in the cell that decides, or of their mean.
        evidence: p-values.
        cells: the judgement in each cell.
        tests: what the quantifier joins, by the name of the (first) cell: the judgements in cells or, of a
            generic sentence, on average over the cells of each part; none if it is one test.
        favours: whether the estimate is on the side of the statement.
        exceptions: of a generic sentence, the cells that are reversed.
        every: of a generic sentence, the verdict if it spoke of every cell.
        deciding: name of the cell that decides; None if it is none.
    """

    verdict: Verdict
    reason: str
    observation: Observation
    code: Reason = ""
    evidence: Evidence = UNKNOWN
    cells: Mapping[str, "Judgement"] = field(default_factory=dict)
    tests: Mapping[str, "Judgement"] = field(default_factory=dict)
    favours: bool = False
    exceptions: tuple[str, ...] = ()
    every: Verdict | Literal[""] = ""
    deciding: str | None = None

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


def judge(
    claim: Claim,
    tables: Tables,
    *,
    margin_scale: float = 1.0,
    alpha: float = FIRST.alpha,
    level: float | None = None,
) -> Judgement:
    """The verdict on one claim from tables of one setting, at one look; arguments as of `judge_margins`."""
    (judged,) = judge_margins(claim, tables, (margin_scale,), alpha=alpha, level=level)
    return judged


def judge_margins(
    claim: Claim,
    tables: Tables,
    margin_scales: Iterable[float],
    *,
    alpha: float = FIRST.alpha,
    level: float | None = None,
) -> list[Judgement]:
    """The verdicts on one claim with several margins, from what is observed once.

    Args:
        margin_scales: each multiplies the margin (of a formula, its tolerance; of an ordering, the smallest
            effect that is worth a name), to see how far the verdict rests on it.
        alpha: the one-sided rate of false verdicts.
        level: of the intervals; by default, of those that hold what no test at `alpha` rejects.
    """
    level = 1 - 2 * alpha if level is None else level
    looked = looked_at(claim, tables)
    observed = {name: observe(claim, name, tables, alpha, level) for name in looked}
    found = []
    for scale in margin_scales:
        cells = {name: decide(cell, observed[name], alpha, scale) for name, cell in looked.items()}
        is_alone = not claim.has_cells and claim.quantifier != "existential"
        found.append(cells[ALONE] if is_alone else joined(claim, cells, alpha, level))
    return found


def check_reproduced(claim: Claim, tables: Tables) -> None:
    """Judges a claim on tables in which it holds.

    Raises:
        RepriseError: unless it is reproduced there, or compared with a number that is printed so imprecisely
            that no run could decide it.
    """
    with reading(f"claim '{claim.id}'", tables):
        judged = judge(claim, tables)
    if judged.verdict != "reproduced" and judged.code != "print too imprecise":
        why = f" ({judged.reason})" if judged.reason else ""
        raise RepriseError(f"claim '{claim.id}' is {judged.verdict} on the ideal tables{why}, not reproduced")


def check_refuted(claim: Claim, tables: Tables) -> None:
    """Judges a claim on the data that it is `broken_by`.

    Args:
        tables: in which the claim holds; if it does not hold there, another test says so.

    Raises:
        RepriseError: unless each of its changes speaks against a cell, all of them together against every
            cell, and one of them against the claim: it is contradicted, or not found where its sentence says
            that something is.
    """
    wanted = "not found" if claim.quantifier == "existential" else "contradicted"
    unbroken, verdict = set(claim.cells), ""
    for number, change in enumerate(claim.broken_by, start=1):
        try:
            with reading(f"claim '{claim.id}'", tables):
                changed = Setting(change(tables))
                judged = judge(claim, changed)
                broken = {name for name in claim.cells if _is_broken(claim, name, changed)}
        except Exception as error:
            raise RepriseError(f"claim '{claim.id}' and its `broken_by`: {error}") from error
        if not broken:
            raise RepriseError(
                f"claim '{claim.id}': change {number} of its `broken_by` speaks against none of its cells"
            )
        unbroken -= broken
        if verdict != wanted:
            verdict = wanted if is_refuted(claim, judged) else judged.verdict
    if claim.broken_by and verdict != wanted:
        raise RepriseError(
            f"claim '{claim.id}' is {verdict} on the data of its `broken_by`, and must be {wanted}"
        )
    if claim.broken_by and unbroken:
        raise RepriseError(
            f"claim '{claim.id}': nothing in its `broken_by` speaks against {few_of(sorted(unbroken))}"
        )


def _is_broken(claim: Claim, name: str, tables: Tables) -> bool:
    """Tells if data contradict a cell alone, or in a search do not find it there."""
    alone = replace(claim, cells={ALONE: claim.cells[name]}, misprint=None)
    return is_refuted(alone, judge(alone, tables))


def is_refuted(claim: Claim, judgement: Judgement) -> bool:
    """Tells if data speak against a claim as far as data can: they contradict it, or do not find it."""
    if claim.quantifier == "existential":
        return judgement.code == "not found" or judgement.verdict == "contradicted"
    return judgement.verdict == "contradicted"


def decide(
    comparison: Comparison, observation: Observation, alpha: float, margin_scale: float = 1.0
) -> Judgement:
    """The verdict on a comparison at a one-sided level."""
    if comparison.measure is None or observation.obstacle:
        is_missing = comparison.measure is None or observation.reason == "no observations"
        verdict: Verdict = "not run" if is_missing else "inconclusive"
        return Judgement(verdict, observation.obstacle, observation, observation.reason)
    reference = observation.reference * (margin_scale if comparison.kind in FORMULAS else 1.0)
    seen = replace(
        observation, reference=reference, margin=observation.margin * margin_scale,
        smallest=observation.smallest * margin_scale,
    )  # fmt: skip
    if comparison.kind in ABOUT_EACH:
        return _about_each(comparison, seen, alpha)
    found = p_values(comparison, seen, alpha)
    code: Reason = ""
    verdict, reason = found.decision(alpha), ""
    if verdict == "inconclusive":
        code, reason = "crosses", CROSSES
        if beyond := too_imprecise(comparison, seen.margin, alpha):
            code, reason = "print too imprecise", beyond
    if verdict == "contradicted" and not seen.resting:
        found = replace(found, fails=1.0)
        verdict, code, reason = "inconclusive", "not yet", f"not yet at its limit: {seen.heading}"
    return Judgement(verdict, reason, seen, code, found, favours=favours(comparison, seen))


def p_values(comparison: Comparison, seen: Observation, alpha: float) -> Evidence:
    """The evidence on a comparison that is about one number."""
    number = seen.estimate
    assert number is not None
    edge, margin = seen.reference - seen.origin, seen.margin
    if comparison.relation == "near":
        return _near(comparison, seen, number, edge, margin * EDGE)
    if comparison.relation == "at least":
        return Evidence(number.p_above(edge, inclusive=True), number.p_below(edge))
    if comparison.relation == "at most":
        return Evidence(number.p_below(edge, inclusive=True), number.p_above(edge))
    above, below = number.p_above(edge), number.p_below(edge)
    if comparison.relation == "above":
        found = Evidence(above, number.p_below(edge, inclusive=True))
    else:
        found = Evidence(below, number.p_above(edge, inclusive=True))
    if not seen.smallest:
        return found
    tied = max(number.p_above(edge - seen.smallest), number.p_below(edge + seen.smallest))
    prints_more = comparison.effect is not None and abs(comparison.effect) >= seen.smallest
    return of_ordering(found.holds, found.fails, tied, prints_more=prints_more, alpha=alpha)


def _near(
    comparison: Comparison, seen: Observation, number: Estimate, edge: float, margin: float
) -> Evidence:
    """Equivalence by two one-sided tests; where the bounds leave nothing beyond an edge, it needs no test."""
    low, high = comparison.bounds
    has_low, has_high = seen.reference - margin > low, seen.reference + margin < high
    above_low = number.p_above(edge - margin, inclusive=True) if has_low else 0.0
    below_high = number.p_below(edge + margin, inclusive=True) if has_high else 0.0
    # Where a true mean lies on an edge, a sample may stray beyond that one or, if it is close, the other.
    too_low = number.p_below(edge - margin) + number.p_below(edge + margin) if has_low else 1.0
    too_high = number.p_above(edge + margin) + number.p_above(edge - margin) if has_high else 1.0
    return Evidence(max(above_low, below_high), min(1.0, too_low, too_high))


def too_imprecise(comparison: Comparison, margin: float, alpha: float) -> str:
    """The reason why no run can decide a printed number at a one-sided level: its own spread allows for more
    than the margin; empty if it does not."""
    std, n = comparison.published_std, comparison.published_n
    if std is None or n is None or n < 2:
        return ""
    half = float(quantile(n - 1, 1 - 2 * alpha)) * std / math.sqrt(n)
    if half <= margin:
        return ""
    return f"print too imprecise: of {n} repetitions, its own interval is ± {half:.2g}, beyond ± {margin:.2g}"


def favours(comparison: Comparison, seen: Observation) -> bool:
    """Tells if the estimate is on the side of the statement."""
    mean = seen.interval.mean
    return compare(comparison.relation, mean, seen.reference, seen.margin)


def _about_each(comparison: Comparison, seen: Observation, alpha: float) -> Judgement:
    """The verdict on a statement about every observation."""
    holds = [
        compare(comparison.relation, value, seen.reference, seen.margin) for value in seen.sample.tolist()
    ]
    failing, number = holds.count(False), len(holds)
    noun = {"identity": "points", "inequality": "points", "always": "runs"}.get(comparison.kind, "cases")
    fails = f"fails in {failing} of {number} {noun}" if failing and number > 1 else ""
    if comparison.kind == "always":
        return _about_runs(comparison, seen, fails, alpha)
    if failing:
        return Judgement("contradicted", fails, seen, evidence=Evidence(1.0, 0.0))
    if comparison.kind in FORMULAS and number < MIN_POINTS:
        reason = f"holds at all of {number} random points, and {MIN_POINTS} are needed"
        return Judgement("inconclusive", reason, seen, "few points", favours=True)
    return Judgement("reproduced", "", seen, evidence=Evidence(0.0, 1.0), favours=True)


def _about_runs(comparison: Comparison, seen: Observation, fails: str, alpha: float) -> Judgement:
    """The verdict on a statement about every run, by the share of independent units in which a run fails."""
    failing, number = failing_units(comparison, seen)
    found = Evidence(float(at_most(failing, number, TOLERATED)), at_least(failing, number, TOLERATED))
    if not failing:
        found = replace(found, fails=1.0)
    verdict, reason = found.decision(alpha), fails
    code: Reason = ""
    if verdict == "inconclusive":
        code = "crosses" if failing else "few runs"
        share = f"none of {number} runs fails, but {100 * unseen_share(number, alpha):.0f} % of all could"
        reason = f"{fails or share}; at most {100 * TOLERATED:g} % may"
    return Judgement(verdict, reason, seen, code, found, favours=failing <= TOLERATED * number)


def failing_units(comparison: Comparison, seen: Observation) -> tuple[int, int]:
    """The numbers of independent units with a run that fails, and of all, for a statement about every run."""
    holds = [
        compare(comparison.relation, value, seen.reference, seen.margin) for value in seen.sample.tolist()
    ]
    units = pd.Series(holds).groupby(list(seen.units)).all()
    return int((~units).sum()), len(units)


def compare(relation: Relation, value: float, reference: float, margin: float) -> bool:
    """Tells if one value satisfies a relation to a reference."""
    return {
        "near": abs(value - reference) <= margin * EDGE,
        "above": value > reference,
        "below": value < reference,
        "at least": value >= reference,
        "at most": value <= reference,
    }[relation]


def joined(claim: Claim, cells: Mapping[str, Judgement], alpha: float, level: float) -> Judgement:
    """The verdict on a sentence from those in its cells. Where a cell was not run, a sentence about all of
    them could only fail, so nothing is decided; a search goes on in the others."""
    missing = [cell for cell in cells.values() if cell.verdict == "not run"]
    if missing and (claim.quantifier != "existential" or len(missing) == len(cells)):
        return _named(claim, cells, missing[0])
    if claim.misprint:
        return _of_misprint(claim, cells, alpha)
    if claim.quantifier == "existential":
        return _searched(claim, cells, alpha)
    if claim.quantifier == "generic":
        return _on_average(claim, cells, alpha, level)
    return _named(claim, cells, _in_every(cells, alpha))


def _of_misprint(claim: Claim, cells: Mapping[str, Judgement], alpha: float) -> Judgement:
    """The judgement of a sentence with an error: the printed form is contradicted only where, on the same
    numbers, the corrected one holds."""
    printed = {name: cell for name, cell in cells.items() if not name.startswith(CORRECTED)}
    judged = _in_every(printed, alpha)
    mended = _in_every({name: cells[name] for name in cells if name not in printed}, alpha)
    found = replace(judged.evidence, fails=max(judged.evidence.fails, mended.evidence.holds))
    verdict = found.decision(alpha)
    fails = cells[judged.deciding or ""].reason or "fails"
    words = [f"as printed it {fails}"] if verdict == "contradicted" else []
    words.append(
        "as corrected it holds" if mended.verdict == "reproduced" else "the corrected form does not hold"
    )
    code: Reason = "crosses" if verdict == "inconclusive" else ""
    return replace(
        judged, verdict=verdict, code=code, reason="; ".join(words), evidence=found, cells=cells, tests=cells
    )


def _in_every(cells: Mapping[str, Judgement], alpha: float) -> Judgement:
    """The judgement of a sentence about every cell, as that of the cell that decides."""
    found = universal([each.evidence for each in cells.values()])
    verdict = found.decision(alpha)
    by_holds = sorted(cells, key=lambda name: -cells[name].evidence.holds)
    deciding = by_holds[0]
    if verdict == "contradicted":
        deciding = min(cells, key=lambda name: cells[name].evidence.fails)
    elif verdict == "inconclusive":
        deciding = next((name for name in by_holds if cells[name].verdict == "inconclusive"), deciding)
    one = cells[deciding]
    code: Reason = (one.code or "crosses") if verdict == "inconclusive" else ""
    favour = all(each.favours for each in cells.values())
    return Judgement(verdict, "", one.observation, code, found, cells, cells, favour, deciding=deciding)


def _searched(claim: Claim, cells: Mapping[str, Judgement], alpha: float) -> Judgement:
    """The judgement of a sentence about some cell, which only a complete search can contradict."""
    kinds = {claim.cells[name].kind for name in cells}
    found = existential([each.evidence for each in cells.values()], is_complete=kinds == {"printed"})
    verdict = found.decision(alpha)
    deciding = min(cells, key=lambda name: cells[name].evidence.holds)
    one, reason = cells[deciding], ""
    code: Reason = ""
    if verdict == "inconclusive":
        code, reason = one.code or "crosses", one.reason
        if all(each.verdict in ("contradicted", "tied") for each in cells.values()):
            code, reason = "not found", f"not found in {len(cells)} tried" if len(cells) > 1 else "not found"
    favour = any(each.favours for each in cells.values())
    judged = Judgement(verdict, reason, one.observation, code, found, cells, cells, favour, deciding=deciding)
    return _named(claim, cells, judged) if claim.has_cells else replace(judged, cells={})


def _on_average(claim: Claim, cells: Mapping[str, Judgement], alpha: float, level: float) -> Judgement:
    """A sentence about a tendency: each of its parts on average over the part's cells."""
    parts: dict[tuple[object, ...], dict[str, Judgement]] = {}
    for name, cell in cells.items():
        parts.setdefault(claim.cells[name].part, {})[name] = cell
    judged = {next(iter(part)): _part(claim, part, alpha, level) for part in parts.values()}
    whole = _in_every(judged, alpha)
    every = _in_every(cells, alpha).verdict if len(cells) > 1 else ""
    exceptions: list[str] = []
    for part in parts.values() if whole.verdict == "reproduced" else ():
        if len(part) > 1 and all(map(_is_averaged, map(claim.cells.__getitem__, part))):
            wrong = [name for name, cell in part.items() if not cell.favours]
            few = 3 * len(wrong) < len(part)
            exceptions += [name for name in wrong if not few or cells[name].evidence.fails <= alpha]
    return _named(claim, cells, replace(whole, every=every, exceptions=tuple(exceptions)))


def _is_averaged(comparison: Comparison) -> bool:
    """Tells if a sentence about a tendency averages cells of this kind. Cells that must lie near a number are
    not averaged, because errors of opposite signs would cancel."""
    return comparison.kind not in ABOUT_EACH and comparison.relation != "near"


def _part(claim: Claim, cells: Mapping[str, Judgement], alpha: float, level: float) -> Judgement:
    """One part of a sentence about a tendency: the mean effect over its cells, in each seed that all of them
    have."""
    obstacle = next((each for each in cells.values() if each.observation.obstacle), None)
    names = list(cells)
    first = claim.cells[names[0]]
    if obstacle is not None or len(cells) == 1:
        return obstacle or cells[names[0]]
    if not _is_averaged(first):
        return _in_every(cells, alpha)
    observations = [cells[name].observation for name in names]
    effects = pd.concat([each.effects for each in observations], axis=1, join="inner").mean(axis=1)
    mean = Observation(
        sample=effects.to_numpy(), reference=0.0, margin=0.0, seeds=len(effects), at=tuple(effects.index),
        smallest=float(np.mean([each.smallest for each in observations])),
    )  # fmt: skip
    plain = replace(first, reference=0.0, bounds=UNBOUNDED, learned=None, premise=None)
    mean = replace(mean, estimate=estimate(plain, mean.sample, alpha))
    return decide(plain, with_interval(plain, mean, level), alpha)


def _named(claim: Claim, cells: Mapping[str, Judgement], judged: Judgement) -> Judgement:
    """Adds to a judgement on cells in how many the sentence holds, and which are otherwise."""
    having: dict[Verdict, list[str]] = {
        verdict: [name for name, cell in cells.items() if cell.verdict == verdict] for verdict in VERDICTS
    }
    if len(cells) == 1 and judged.verdict in ("inconclusive", "not run"):
        return replace(judged, reason=next(iter(cells.values())).reason, cells=cells)
    reason = f"holds in {len(having['reproduced'])} of {len(cells)} cells"
    words: dict[Verdict, str] = {
        "contradicted": "not", "tied": "tied", "inconclusive": "undecided", "not run": "not run",
    }  # fmt: skip
    for verdict, word in words.items():
        if having[verdict]:
            reason += f"; {word}: {few_of(having[verdict])}"
    why = {cells[name].reason for name in having["inconclusive"]}
    if len(why) == 1 and why != {CROSSES}:
        reason += f" ({why.pop()})"
    if judged.every:
        reason = f"on average; {reason}{_further(claim, cells)}; in every cell: {judged.every}"
    if judged.code == "not found":
        reason = f"{judged.reason}; {reason}"
    return replace(judged, reason=reason, cells=cells)


def _further(claim: Claim, cells: Mapping[str, Judgement]) -> str:
    """The worst cell, and the 95 % prediction interval of the effect in a further cell."""
    parts = {claim.cells[name].part for name in cells}
    first = claim.cells[next(iter(cells))]
    if len(parts) > 1 or not _is_averaged(first):
        return ""
    effects = {name: each.observed - each.reference for name, each in cells.items()}
    if not all(map(math.isfinite, effects.values())):
        return ""
    worst = min(effects, key=lambda name: effects[name] if first.relation in UP else -effects[name])
    words = f"; worst: {worst} ({effects[worst]:+.2g})"
    if len(effects) >= MANY_CELLS:
        spread = np.array(list(effects.values()))
        half = float(quantile(len(spread) - 1, 0.95)) * spread.std(ddof=1) * math.sqrt(1 + 1 / len(spread))
        mean = mean_interval(spread).mean
        words += f"; a further cell: {mean - half:+.2g} to {mean + half:+.2g}"
    return words


def few_of(names: Sequence[str], most: int = 4) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return " | ".join(list(names)[:most]) + (f" and {more} more" if more > 0 else "")
