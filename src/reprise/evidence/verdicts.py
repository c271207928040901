"""From all claims of a run to the table of verdicts: one row a claim."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

import pandas as pd

from reprise.contract.experiment import BASE, NamedTables, Tables, reading
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Settings, alterations, assumptions, departures
from reprise.evidence.calibration import Rates, calibrated, fragility, what_would_decide
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import FORMULAS, Comparison
from reprise.evidence.judgement import NO_OBSERVATIONS, VERDICTS, Judgement, Observation, few_of, judge
from reprise.evidence.measures import Setting
from reprise.evidence.statistics import false_discovery_rate, simultaneous

GROUNDS = {
    "paper scale": "the published settings, none of them guessed",
    "paper scale, with assumptions": "the published settings, with our values where the paper has none",
    "reduced": "smaller than published or on stand-in data; each verdict lists its departures",
    "restated by us": "theory, derived again: our copy of the paper has lost its formulas in conversion",
    "our own": "what we say and the paper does not: corrections of its false statements, and remarks",
    "errata": "misprints: each formula as printed (its id ends in /printed) and as corrected (/corrected)",
    "printed numbers": "sentences about the paper's own printed numbers: nothing was run",
    "not run": "no verdict yet; each says what is missing",
}
"""What a verdict can stand on. Counts on different grounds are never added together."""

COLUMNS = (
    "claim", "paper", "artifact", "kind", "statement", "source", "reading", "form", "erratum", "verdict",
    "reason", "scale", "departures", "assumptions", "looked", "quantifier", "cells", "settings", "observed",
    "low", "high", "relation", "reference", "margin", "published", "published_std", "published_n",
    "verdict_half_margin", "verdict_twice_margin", "fragile", "false_reproduced", "false_contradicted",
    "power_half", "power_twice", "p_value", "seeds", "unit",
)  # fmt: skip
"""`cells` and `settings` are JSON: lists of objects with `name`, `verdict`, `observed`, `low`, `high` and
`reference`."""


def judge_all(
    claims: Iterable[Claim],
    tables: Tables | None,
    params: Settings | None,
    *,
    missing: str = "",
    looked: str = "",
) -> pd.DataFrame:
    """One row a claim (`COLUMNS`), for the claims that one experiment decides.

    Args:
        tables: with all settings; None when the experiment has not run, and `missing` says what would run it.
        params: the parameters that the run had; None for claims without an experiment.
        looked: which of them were set after results had been seen.
    """
    settings = {}
    if tables is not None:
        names = other_settings(tables, params) if params is not None and assumptions(params) else []
        settings = split(tables, (BASE, *names))
    rows = []
    for claim in claims:
        with reading(f"claim '{claim.id}'", settings.get(BASE, {})):
            rows.append(_row(claim, settings, params, missing, looked))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(
    claim: Claim, settings: Mapping[str, Tables], params: Settings | None, missing: str, looked: str
) -> dict[str, object]:
    missed = departures(params) if params is not None else []
    if claim.needs and params is not None:  # about single rows, whatever else the run leaves out
        missed = alterations(params)
    judgement, others, firmness = _judged(claim, {} if claim.needs and missed else settings, missing)
    scale = "reduced" if missed else "paper"
    is_algebra = claim.kind in FORMULAS  # at points of its own, whatever is simulated
    shown = _deciding(claim, judgement)
    constant = math.nan if callable(shown.reference) else float(shown.reference)
    reference = constant if math.isnan(judgement.reference) else judgement.reference
    margin = judgement.observation.margin
    own = ("paper", "artifact", "kind", "statement", "source", "reading", "form", "erratum")
    return {
        "claim": claim.id,
        **{name: getattr(claim, name) for name in own},
        **{name: _or_nan(getattr(claim, name)) for name in ("published", "published_std", "published_n")},
        **{name: getattr(judgement, name) for name in ("verdict", "observed", "low", "high", "seeds")},
        "reason": judgement.reason + what_would_decide(claim, judgement),
        "scale": "" if judgement.verdict == "not run" or claim.kind == "printed" else scale,
        "departures": "; ".join(missed),
        "assumptions": "; ".join(assumptions(params)) if params is not None and not is_algebra else "",
        "looked": "; ".join(filter(None, (claim.looked, looked))),
        "quantifier": claim.quantifier if claim.has_cells else "",
        "cells": _listed(judgement.cells),
        "settings": _listed(others),
        "relation": shown.relation,
        "unit": shown.unit,
        "reference": reference,
        "margin": shown.margin_at(reference) if math.isnan(margin) else margin,
        **firmness,
    }


def _judged(
    claim: Claim, settings: Mapping[str, Tables], missing: str
) -> tuple[Judgement, Mapping[str, Judgement], dict[str, object]]:
    """The verdict over all settings, the judgements in those besides the experiment's own, and how firm the
    verdict is there, as columns of the row."""
    half = twice = judgement = Judgement("not run", claim.needs or missing, Observation())
    others: dict[str, Judgement] = {}
    measured, fragile = Rates(), ""
    if settings:
        tables = settings[BASE]
        judgement, measured, level = calibrated(claim, tables)
        half, twice = (judge(claim, tables, margin_scale=scale, level=level) for scale in (0.5, 2.0))
        fragile = fragility(claim, judgement)
        if claim.needs and judgement.reason == NO_OBSERVATIONS:
            judgement = Judgement("not run", claim.needs, Observation())
        else:
            level = simultaneous(len(settings) - 1)
            others = {name: judge(claim, settings[name], level=level) for name in settings if name != BASE}
            judgement = in_region(claim, judgement, others)
    margins = {"verdict_half_margin": half.verdict, "verdict_twice_margin": twice.verdict}
    return judgement, others, {**margins, "fragile": fragile, **asdict(measured)}


def _deciding(claim: Claim, judgement: Judgement) -> Comparison:
    """The comparison in the cell that decides; cells may differ in relation, unit and margin."""
    for name, cell in judgement.cells.items():
        if cell.observation is judgement.observation:
            return claim.cells[name]
    return claim.first


def _listed(judgements: Mapping[str, Judgement]) -> str:
    if not judgements:
        return ""
    rows = [
        {"name": name, "verdict": each.verdict}
        | {
            key: None if math.isnan(number) else number
            for key in ("observed", "low", "high", "reference")
            if isinstance(number := getattr(each, key), float)
        }
        for name, each in judgements.items()
    ]
    return json.dumps(rows, ensure_ascii=False)


def in_region(claim: Claim, judgement: Judgement, others: Mapping[str, Judgement]) -> Judgement:
    """The verdict over all plausible settings: `depends` where a claim holds in some and fails in others."""
    having = {
        verdict: [name for name, other in others.items() if other.verdict == verdict] for verdict in VERDICTS
    }
    holds, fails = having["reproduced"], having["contradicted"]
    if claim.exists:
        if judgement.verdict != "reproduced" and holds:
            return replace(judgement, verdict="reproduced", reason=f"holds with {few_of(holds)}")
        if judgement.verdict == "contradicted" and len(fails) < len(others):
            return replace(judgement, verdict="inconclusive", reason="undecided in some settings")
        return judgement
    here = judgement.verdict
    if (here == "reproduced" or holds) and (here == "contradicted" or fails):
        parts = [f"{here} here"] if here in ("reproduced", "contradicted") else []
        parts += [f"reproduced with {few_of(holds)}"] if holds and here != "reproduced" else []
        parts += [f"contradicted with {few_of(fails)}"] if fails and here != "contradicted" else []
        return replace(judgement, verdict="depends", reason="; ".join(parts))
    return judgement


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else float(number)


def setting(tables: Tables, name: str) -> dict[str, pd.DataFrame]:
    """The rows of one setting."""
    return NamedTables({key: table[table["setting"] == name] for key, table in tables.items()})


def split(tables: Tables, names: Iterable[str]) -> dict[str, Setting]:
    """The rows of each setting, by its name."""
    by_name = {key: dict(iter(table.groupby("setting", sort=False))) for key, table in tables.items()}
    return {
        name: Setting({key: by_name[key].get(name, table[:0]) for key, table in tables.items()})
        for name in names
    }


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


CERTAIN = ("given", "identity", "printed")
"""The types of statement in which chance has no part."""
ONE_WAY = ("reproduced", "contradicted")
DECIDED = (*ONE_WAY, "depends")


def false_discoveries(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """By paper, over the claims in which chance has a part: how many tests there are, how many of them are
    reproduced or contradicted, and the share of those that is expected to be wrong, at most. Claims that
    depend on settings are tests alone: their p-value is of the experiment's own setting."""
    tests = claims[~claims["kind"].isin(CERTAIN) & claims["p_value"].notna()]
    return [
        {
            "paper": paper,
            "tests": len(rows),
            "decided": int(rows["verdict"].isin(ONE_WAY).sum()),
            "rate": false_discovery_rate(list(rows["p_value"]), list(rows["verdict"].isin(ONE_WAY))),
        }
        for paper, rows in tests.groupby("paper")
    ]


def error_rates(claims: pd.DataFrame) -> pd.DataFrame:
    """By type of statement: number of claims, and means of their error rates and powers; the largest error
    rates as `largest_NAME`."""
    by_kind = claims[claims["false_reproduced"].notna()].groupby("kind")
    wrong = ["false_reproduced", "false_contradicted"]
    return pd.concat(
        [
            by_kind.size().rename("claims"),
            by_kind[[*wrong, "power_half", "power_twice"]].mean(),
            by_kind[wrong].max().add_prefix("largest_"),
        ],
        axis=1,
    )


def ground(row: Mapping[Any, Any]) -> str:
    """What a verdict stands on, one of `GROUNDS`."""
    if row["verdict"] == "not run":
        return "not run"
    if row["erratum"] == "typo":
        return "errata"
    if row["form"] != "printed":
        return "our own" if row["form"] == "ours" else "restated by us"
    if row["kind"] == "printed":
        return "printed numbers"
    if row["scale"] == "reduced":
        return "reduced"
    return "paper scale, with assumptions" if row["assumptions"] else "paper scale"


def known_false(row: Mapping[Any, Any]) -> bool:
    """Whether this is the printed form of an erratum, so that its contradiction is no news."""
    return bool(row["erratum"]) and row["form"] == "printed"
