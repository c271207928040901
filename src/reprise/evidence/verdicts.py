"""From claims and tables to verdicts.

One rule for every kind: an interval of the observation, and a region that the statement allows. Inside:
reproduced; wholly outside: contradicted; else inconclusive.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from reprise.evidence.claims import LEARNED, Claim
from reprise.evidence.statistics import Interval, mean_interval, paired_interval, welch_interval
from reprise.study.experiment import BASE, Tables
from reprise.study.losses import TakesLosses
from reprise.study.settings import Settings, alterations, assumptions, departures

Verdict = Literal["reproduced", "contradicted", "inconclusive", "not run"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "contradicted", "inconclusive", "not run")

GROUNDS = {
    "paper scale": "the published settings, none of them guessed",
    "paper scale, with assumptions": "the published settings, with our values where the paper has none",
    "reduced": "smaller than published or on stand-in data; each verdict lists its departures",
    "restated by us": "theory whose formulas our text of the paper has lost: as we derived it again",
    "our own": "what we say and the paper does not: corrections of its false statements, and remarks",
    "errata": "misprints: each formula as printed (its id ends in /printed) and as corrected (/corrected)",
    "printed numbers": "sentences about the paper's own printed numbers: nothing was run",
    "not run": "no verdict yet; each says what is missing",
}
"""What a verdict can stand on. Counts on different grounds are never added together."""

NO_OBSERVATIONS = "no observations"
MIN_SEEDS = 3
MIN_POINTS = 20
"""Random points at which an identity must have been tried."""

COLUMNS = (
    "claim", "paper", "artifact", "kind", "statement", "source", "form", "erratum", "verdict", "reason",
    "scale", "departures", "assumptions", "stable_in", "observed", "low", "high", "relation", "reference",
    "margin", "published", "published_std", "published_n", "verdict_half_margin", "verdict_twice_margin",
    "seeds", "unit",
)  # fmt: skip


@dataclass(frozen=True)
class Judgement:
    """What a claim's observations say; `low` and `high` compare with `reference`, for paired seeds too."""

    verdict: Verdict
    reason: str
    observed: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reference: float = math.nan
    seeds: int = 0


UNKNOWN = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Observation:
    """What a claim measures, or in `obstacle` why it can decide nothing."""

    obstacle: str = ""
    interval: Interval = UNKNOWN
    reference: float = math.nan
    seeds: int = 0


def judge(claim: Claim, tables: Tables, *, margin_scale: float = 1.0) -> Judgement:
    """The verdict on one claim from tables of one setting.

    Args:
        margin_scale: multiplies the margin (an identity's tolerance), to see how far the verdict rests on it.
    """
    return _decide(claim, _observe(claim, tables), margin_scale)


def _observe(claim: Claim, tables: Tables) -> Observation:
    if claim.measure is None:
        return Observation(claim.needs)
    sample = claim.measure(tables).astype(float)
    paired = None if isinstance(claim.reference, (int, float)) else claim.reference(tables).astype(float)
    reference = float(paired.mean() if paired is not None else claim.reference)  # type: ignore[arg-type]
    if claim.kind not in ("printed", "identity") and not sample.index.is_unique:
        raise ValueError(f"{claim.id}: its measure gives more than one observation a seed")
    seeds, mean = len(sample), Interval(float(sample.mean()), math.nan, math.nan)
    observations = sample if paired is None else pd.concat([sample, paired])
    if not seeds or not np.isfinite(observations).all() or not math.isfinite(reference):
        obstacle = "non-finite observations" if seeds else NO_OBSERVATIONS
        return Observation(obstacle, reference=reference, seeds=seeds)
    if claim.learned is not None:
        gain = float(claim.learned(tables).min(skipna=False))
        if not gain >= LEARNED:
            obstacle = f"did not learn: a net is {gain:+.1f} points from random initialisation or a baseline"
            return Observation(obstacle, mean, reference, seeds)
    if claim.kind == "printed":
        interval = Interval(mean.mean, float(sample.min()), float(sample.max()))
    elif claim.kind == "identity":
        if seeds < MIN_POINTS:
            return Observation(f"fewer than {MIN_POINTS} random points", seeds=seeds)
        interval = Interval(float(sample.max()), float(sample.min()), float(sample.max()))
    elif seeds < MIN_SEEDS:
        return Observation(f"fewer than {MIN_SEEDS} seeds", mean, reference, seeds)
    elif paired is not None:
        interval = paired_interval(sample, paired)
    elif claim.published_std is not None and claim.published_n is not None:
        interval = welch_interval(sample, claim.published_std, claim.published_n)
    else:
        interval = mean_interval(sample)
    return Observation("", interval, reference, seeds)


def _decide(claim: Claim, observation: Observation, margin_scale: float) -> Judgement:
    interval, reference = observation.interval, observation.reference
    verdict: Verdict
    if claim.measure is None or observation.obstacle:
        verdict, reason = "not run" if claim.measure is None else "inconclusive", observation.obstacle
    else:
        reference *= margin_scale if claim.kind == "identity" else 1.0
        verdict = _compare(claim, interval, reference, claim.margin_at(reference) * margin_scale)
        crosses = "the interval crosses the edge of what the statement allows"
        reason = crosses if verdict == "inconclusive" else ""
    return Judgement(
        verdict, reason, interval.mean, interval.low, interval.high, reference, observation.seeds
    )  # fmt: skip


def _compare(claim: Claim, interval: Interval, reference: float, margin: float) -> Verdict:
    low, high = interval.low, interval.high
    inside, outside = {
        "near": (
            abs(low - reference) <= margin and abs(high - reference) <= margin,
            low > reference + margin or high < reference - margin,
        ),
        "above": (low > reference, high <= reference),
        "below": (high < reference, low >= reference),
        "at least": (low >= reference, high < reference),
        "at most": (high <= reference, low > reference),
    }[claim.relation]
    return "reproduced" if inside else "contradicted" if outside else "inconclusive"


def judge_all(
    claims: Iterable[Claim], tables: Tables | None, params: Settings | None, *, missing: str = ""
) -> pd.DataFrame:
    """One row a claim (`COLUMNS`), for the claims that one experiment decides.

    Args:
        tables: with all settings; None when the experiment has not run, and `missing` says what would run it.
        params: the parameters that the run had; None for claims without an experiment.
    """
    return pd.DataFrame([_row(claim, tables, params, missing) for claim in claims], columns=list(COLUMNS))


def _row(claim: Claim, tables: Tables | None, params: Settings | None, missing: str) -> dict[str, object]:
    half = twice = judgement = Judgement("not run", claim.needs or missing)
    missed = departures(params) if params is not None else []
    if claim.needs and params is not None:  # about single rows, whatever else the run leaves out
        missed = alterations(params)
    stable = ""
    if tables is not None and not (claim.needs and missed):
        observation = _observe(claim, setting(tables, BASE))
        judgement, half, twice = (_decide(claim, observation, scale) for scale in (1.0, 0.5, 2.0))
        if claim.needs and observation.obstacle == NO_OBSERVATIONS:
            judgement = Judgement("not run", claim.needs)
        if params is not None and assumptions(params):
            others = [judge(claim, setting(tables, name)).verdict for name in other_settings(tables, params)]
            stable = f"{others.count(judgement.verdict)} of {len(others)}" if others else ""
    scale = "reduced" if missed else "paper"
    reference = judgement.reference if callable(claim.reference) else float(claim.reference)
    return {
        "claim": claim.id,
        "paper": claim.paper,
        "artifact": claim.artifact,
        "kind": claim.kind,
        "statement": claim.statement,
        "source": claim.source,
        "form": claim.form,
        "erratum": claim.erratum,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "scale": "" if judgement.verdict == "not run" or claim.kind == "printed" else scale,
        "departures": "; ".join(missed),
        "assumptions": "; ".join(assumptions(params)) if params is not None else "",
        "stable_in": stable,
        "observed": judgement.observed,
        "low": judgement.low,
        "high": judgement.high,
        "relation": claim.relation,
        "reference": reference,
        "margin": claim.margin_at(reference),
        "published": _or_nan(claim.published),
        "published_std": _or_nan(claim.published_std),
        "published_n": _or_nan(claim.published_n),
        "verdict_half_margin": half.verdict,
        "verdict_twice_margin": twice.verdict,
        "seeds": judgement.seeds,
        "unit": claim.unit,
    }


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else float(number)


def setting(tables: Tables, name: str) -> dict[str, pd.DataFrame]:
    """The rows of one setting."""
    return {key: table[table["setting"] == name] for key, table in tables.items()}


def other_settings(tables: Tables, params: Settings) -> list[str]:
    """The settings besides the experiment's own parameters, in the order in which they ran, without other
    losses than the published one."""
    names = pd.concat([table["setting"] for table in tables.values()]).unique()
    losses = params.objective if isinstance(params, TakesLosses) else ()
    return [name for name in names if name not in (BASE, *losses)]


def summary(claims: pd.DataFrame) -> pd.DataFrame:
    """Counts of verdicts (columns) by paper and ground (rows); the grounds are never added together."""
    if claims.empty:
        return pd.DataFrame(columns=["paper", "ground", *VERDICTS])
    counts = (
        claims.assign(ground=pd.Categorical(claims.apply(ground, axis=1), list(GROUNDS)))
        .groupby(["paper", "ground", "verdict"], observed=True)
        .size()
        .unstack(fill_value=0)
        .reindex(columns=list(VERDICTS), fill_value=0)
    )
    return counts.reset_index().astype({"ground": str}).rename_axis(columns=None)


def ground(row: Mapping[Any, Any]) -> str:
    """What a verdict stands on, one of `GROUNDS`."""
    if row["verdict"] == "not run":
        return "not run"
    if row["kind"] == "printed":
        return "printed numbers"
    if row["erratum"] == "typo":
        return "errata"
    if row["form"] != "printed":
        return "our own" if row["form"] == "ours" else "restated by us"
    if row["scale"] == "reduced":
        return "reduced"
    return "paper scale, with assumptions" if row["assumptions"] else "paper scale"


def known_false(row: Mapping[Any, Any]) -> bool:
    """Whether this is the printed form of an erratum, so that its contradiction is no news."""
    return bool(row["erratum"]) and row["form"] == "printed"
