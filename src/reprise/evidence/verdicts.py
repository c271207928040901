"""The table of verdicts on all claims of a run: one row a claim."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from reprise.contract.experiment import BASE, NamedTables, Tables, reading
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Settings, alterations, assumptions, departures
from reprise.evidence import chance
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import FORMULAS, Comparison
from reprise.evidence.judgement import VERDICTS, Judgement, judge, judge_margins
from reprise.evidence.measures import Setting
from reprise.evidence.observation import Observation, Reason
from reprise.evidence.power import seeds_to_decide
from reprise.evidence.region import Region, each_alpha, over_settings
from reprise.evidence.rounds import FIRST, LEVELS, Look, join, looks
from reprise.evidence.statistics import false_discovery_rate

GROUNDS = {
    "paper scale": "the published settings, none of them guessed",
    "paper scale, with assumptions": "the published settings, with our values where the paper has none",
    "reduced": "smaller than published or on stand-in data; each verdict lists its departures",
    "single numbers": "a printed number with its spread, one draw of the process: its table is judged whole",
    "restated by us": "theory, derived again: our copy of the paper has lost its formulas in conversion",
    "our own": "what we say and the paper does not: corrections of its false statements, and remarks",
    "errata": "misprints, and conditions left out: each as printed, and as corrected",
    "printed numbers": "sentences about the paper's own printed numbers: nothing was run",
    "not run": "no verdict yet; each says what is missing",
}
"""Grounds of verdicts. Counts on different grounds are never added together."""

STANDINGS = {
    "holds": "each claim that decides the sentence is reproduced at the paper's own scale",
    "does not, or only partly": "at that scale one of them is contradicted or tied, or depends on what the "
    "paper leaves open",
    "only at reduced scale, undecided or not run": "else: one of them is undecided, lacks its premise, was "
    "not run, or was run only smaller or on other images",
}
"""Standings of a sentence that several claims may decide."""

COLUMNS = (
    "claim", "paper", "artifact", "kind", "statement", "source", "reading", "form", "erratum", "quantifier",
    "word", "exists", "verdict", "reason", "reason_code", "here", "stands", "exceptions", "every", "scale",
    "departures", "assumptions", "looked", "cells", "settings", "observed", "low", "high", "level",
    "rounds", "alpha", "chance_same",
    "relation", "reference", "margin", "smallest", "effect", "published", "published_std", "published_n",
    "verdict_half_margin", "verdict_twice_margin", "p_reproduced", "p_contradicted", "p_tied",
    "seeds_to_decide", "seeds", "unit",
)  # fmt: skip
"""`cells` and `settings` are JSON: lists of objects with `name`, `verdict`, `observed`, `low`, `high`,
`reference`, `seeds`, `p_reproduced`, `p_contradicted` and `p_tied`."""


def judge_all(
    claims: Iterable[Claim],
    rounds: Sequence[Tables] | None,
    params: Settings | None,
    *,
    missing: str = "",
    looked: str = "",
    alpha: float | None = None,
) -> pd.DataFrame:
    """One row a claim (`COLUMNS`), for the claims that one experiment decides: by the first look that decides
    it, or else the last. What a look decides is not judged anew.

    Args:
        rounds: the tables of each, with all settings; None when the experiment has not run, and `missing`
            says what would run it.
        params: the parameters that the run had; None for claims without an experiment.
        looked: which of them were set after results had been seen.
        alpha: the one-sided level of a single look, at all rounds joined; by default there is a look after
            each round (`rounds.LEVELS`).

    Raises:
        RepriseError: if there are more rounds than looks, or a round lacks what another has.
    """
    claims = list(claims)
    rows: list[dict[str, object]] = [{} for _ in claims]
    undecided = list(range(len(claims)))
    for look in looks(len(rounds), alpha) if rounds else [FIRST]:
        settings = settings_of(join(rounds[: look.rounds]), params) if rounds else {}
        for place in undecided:
            rows[place] = judged(claims[place], settings, params, look, missing=missing, looked=looked)
        undecided = [place for place in undecided if rows[place]["verdict"] == "inconclusive"]
        if not undecided:
            break
    return pd.DataFrame(rows, columns=list(COLUMNS))


def judged(
    claim: Claim,
    settings: Mapping[str, Setting],
    params: Settings | None,
    look: Look = FIRST,
    *,
    missing: str = "",
    looked: str = "",
) -> dict[str, object]:
    """The row of one claim at one look, with `settings` from `settings_of` and the other arguments of
    `judge_all`."""
    with reading(f"claim '{claim.id}'", settings.get(BASE, {})):
        return _row(claim, settings, params, look, missing, looked)


def settings_of(tables: Tables, params: Settings | None) -> dict[str, Setting]:
    """The tables of each setting in which claims are judged, the published one first."""
    names = other_settings(tables, params) if params is not None and assumptions(params) else []
    return split(tables, (BASE, *names))


def differences(claim: Claim, params: Settings | None) -> list[str]:
    """The differences of a run from the paper that matter to a claim."""
    if params is None:
        return []
    # A claim that needs a run as published reads single rows, whatever else the run leaves out.
    return alterations(params) if claim.needs else departures(params)


def _row(
    claim: Claim,
    settings: Mapping[str, Tables],
    params: Settings | None,
    look: Look,
    missing: str,
    looked: str,
) -> dict[str, object]:
    missed = differences(claim, params)
    region, others, margins = _judged(claim, {} if claim.needs and missed else settings, look, missing)
    judgement = region.judgement
    was_run = judgement.verdict != "not run"
    scale = "reduced" if missed else "paper"
    is_algebra = claim.kind in FORMULAS  # at points of its own, whatever is simulated
    shown, seen = _deciding(claim, judgement), judgement.observation
    constant = math.nan if callable(shown.reference) else float(shown.reference)
    reference = constant if math.isnan(judgement.reference) else judgement.reference
    own = ("paper", "artifact", "kind", "statement", "source", "reading", "form", "erratum", "quantifier",
           "word", "exists")  # fmt: skip
    return {
        "claim": claim.id,
        **{name: getattr(claim, name) for name in own},
        **{name: _or_nan(getattr(claim, name)) for name in ("published", "published_std", "published_n")},
        **{
            name: getattr(judgement, name)
            for name in ("verdict", "reason", "observed", "low", "high", "seeds")
        },
        "reason_code": judgement.code,
        "here": region.here,
        "stands": region.stands,
        "exceptions": "; ".join(judgement.exceptions),
        "every": judgement.every,
        "scale": scale if was_run and claim.kind != "printed" else "",
        "departures": "; ".join(missed),
        "assumptions": "; ".join(assumptions(params)) if params is not None and not is_algebra else "",
        "looked": "; ".join(filter(None, (claim.looked, looked))),
        "cells": _listed(judgement.cells),
        "settings": _listed(others),
        "level": look.level if was_run and seen.estimate is not None else math.nan,
        "rounds": look.rounds if was_run else 0,
        "alpha": look.alpha if was_run else math.nan,
        "chance_same": chance.of_verdict(claim, judgement, others, look.alpha),
        "relation": shown.relation,
        "unit": shown.unit,
        "reference": reference,
        "margin": shown.margin_at(reference) if math.isnan(seen.margin) else seen.margin,
        "smallest": seen.smallest,
        "effect": _or_nan(shown.effect),
        **margins,
        **_p_values(judgement),
        "seeds_to_decide": seeds_to_decide(claim, judgement, next_alpha(look)),
    }


def _judged(
    claim: Claim, settings: Mapping[str, Tables], look: Look, missing: str
) -> tuple[Region, Mapping[str, Judgement], dict[str, object]]:
    """The verdict over all settings, the judgements in those besides the experiment's own, and the verdicts
    there with other margins, as columns of the row."""
    code: Reason = "no experiment" if claim.needs else "not run yet"
    missed = Judgement("not run", claim.needs or missing, Observation(), code)
    region = Region(missed, "not run", "")
    half = twice = missed
    others: dict[str, Judgement] = {}
    if settings:
        tables = settings[BASE]
        here, half, twice = judge_margins(claim, tables, (1.0, 0.5, 2.0), alpha=look.alpha)
        if claim.needs and here.code == "no observations":
            half = twice = missed
        else:
            alpha = each_alpha(len(settings), look.alpha)
            others = {
                name: judge(claim, settings[name], alpha=alpha, level=look.level)
                for name in settings
                if name != BASE
            }
            region = over_settings(here, others, look.alpha, exists=claim.exists)
    margins: dict[str, object] = {"verdict_half_margin": half.verdict, "verdict_twice_margin": twice.verdict}
    return region, others, margins


def chances_in_attempts(
    claims: Iterable[Claim], rounds: Sequence[Tables], params: Settings | None, levels: Sequence[float]
) -> dict[str, list[float]]:
    """Claim -> the chance that its verdict comes out the same on the seeds of one fresh round, at each of
    some one-sided levels; none of a claim that is not reproduced, contradicted or tied.

    Args:
        rounds, params: as of `judge_all`.
    """
    claims = list(claims)
    found: dict[str, list[float]] = {claim.id: [] for claim in claims}
    for look in looks(len(rounds)):
        settings, left = settings_of(join(rounds[: look.rounds]), params), []
        for claim in claims:
            is_lacking = bool(claim.needs and differences(claim, params))
            with reading(f"claim '{claim.id}'", settings.get(BASE, {})):
                region, others, _ = _judged(claim, {} if is_lacking else settings, look, "")
            if region.judgement.verdict in ONE_WAY:
                found[claim.id] = [
                    chance.of_verdict(claim, region.judgement, others, alpha, look.rounds) for alpha in levels
                ]
            elif region.judgement.verdict == "inconclusive":
                left.append(claim)
        claims = left
    return found


def next_alpha(look: Look) -> float:
    """The one-sided level at which further seeds are judged: that of the next look, or of the last."""
    return LEVELS[min(look.rounds, len(LEVELS) - 1)]


def _p_values(judgement: Judgement) -> dict[str, float]:
    """The p-values of a judgement, as columns; NaN where nothing was tested."""
    found = judgement.evidence
    tested = judgement.verdict != "not run" and not judgement.observation.obstacle
    names = ("p_reproduced", "p_contradicted", "p_tied")
    values = (found.holds, found.fails, found.tied)
    return dict(zip(names, values if tested else [math.nan] * 3, strict=True))


def _deciding(claim: Claim, judgement: Judgement) -> Comparison:
    """The comparison in the cell that decides; cells may differ in relation, unit and margin."""
    return claim.first if judgement.deciding is None else claim.cells[judgement.deciding]


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
        | {"seeds": each.seeds}
        | {key: None if math.isnan(p) else p for key, p in _p_values(each).items()}
        for name, each in judgements.items()
    ]
    return json.dumps(rows, ensure_ascii=False)


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
ONE_WAY = ("reproduced", "contradicted", "tied")
DECIDED = (*ONE_WAY, "depends")


def false_discoveries(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """By paper, over the claims in which chance has a part: how many tests there are, how many of them are
    reproduced or contradicted, and the share of those that is expected to be wrong, at most. Claims that
    depend on settings are tests alone: their p-value is of the experiment's own setting."""
    tests = claims[~claims["kind"].isin(CERTAIN) & claims["p_reproduced"].notna()]
    p_values = tests[["p_reproduced", "p_contradicted", "p_tied"]].min(axis=1)
    return [
        {
            "paper": paper,
            "tests": len(rows),
            "decided": int(rows["verdict"].isin(ONE_WAY).sum()),
            "rate": false_discovery_rate(list(p_values[rows.index]), list(rows["verdict"].isin(ONE_WAY))),
        }
        for paper, rows in tests.groupby("paper")
    ]


def ground(row: Mapping[Any, Any]) -> str:
    """The ground of a verdict, one of `GROUNDS`."""
    if row["verdict"] == "not run":
        return "not run"
    if row["erratum"] not in ("", "substantive"):
        return "errata"
    if row["form"] != "printed":
        return "our own" if row["form"] == "ours" else "restated by us"
    if row["kind"] == "printed":
        return "printed numbers"
    if row["published_std"] is not None and not math.isnan(row["published_std"]):
        return "single numbers"
    if row["scale"] == "reduced":
        return "reduced"
    return "paper scale, with assumptions" if row["assumptions"] else "paper scale"


def standing(decided_by: Iterable[tuple[str, str]]) -> str:
    """The standing of a sentence, one of `STANDINGS`.

    Args:
        decided_by: verdict and ground of each claim that decides it.
    """
    at_scale = [verdict if ground != "reduced" else "not run" for verdict, ground in decided_by]
    holds, fails, neither = STANDINGS
    if any(verdict in ("contradicted", "tied", "depends") for verdict in at_scale):
        return fails
    return holds if all(verdict == "reproduced" for verdict in at_scale) else neither


def known_false(row: Mapping[Any, Any]) -> bool:
    """Tells if a verdict is on the printed form of an erratum, so that its contradiction is no news."""
    return bool(row["erratum"]) and row["form"] == "printed"
