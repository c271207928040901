"""Listings of `reprise list` and `reprise check`: experiments with their states, claims as tasks, verdicts,
findings."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from reprise.engine import registry
from reprise.engine.check import Verdicts
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.engine.draw import Drawing
from reprise.engine.registry import Paper
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim
from reprise.evidence.judgement import VERDICTS
from reprise.evidence.verdicts import known_false
from reprise.report.wording import NOT_SEEN, TEST, is_only_here, measured

COUNTED = VERDICTS[:-1]
"""The verdicts that the overview counts: all but `not run`."""
NOT_JUDGED = "not judged"
NOT_RUN = "-"
SHOWN = 3
"""Most contradictions that the end of a run names."""


def rows(
    keys: Iterable[str], tiers: Sequence[Tier], recorded: Mapping[str, Tier] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """An object for each experiment of some papers in each tier: its `id`, `paper` and `tier`; its `state`
    (`done`, `stale`, `damaged` or `-` for not run), and whether it `is_recorded`, read from the run that
    comes with the checkout; its number of `claims`; how many have each of the `verdicts`, null unless they
    are judged; its `figures`; and the `command` that makes it.

    Args:
        recorded: tier -> the recorded run to show of what has not run here.
    """
    found = []
    papers = [registry.paper(key) for key in keys]
    for tier in tiers:
        judged = _by_experiment(tier)
        there = _by_experiment(recorded[tier.name]) if tier.name in recorded else {}
        for id, experiment in ((id, each) for paper in papers for id, each in paper.experiments.items()):
            each, verdicts = tier.experiment(id), judged.get(id)
            state = state_of(each)
            is_recorded = tier.is_recorded
            if state == NOT_RUN and tier.name in recorded:
                other = recorded[tier.name].experiment(id)
                if (there_state := state_of(other)) != NOT_RUN:
                    state, verdicts, is_recorded = there_state, there.get(id), True
            found.append(
                {
                    "id": id,
                    "paper": experiment.paper,
                    "tier": tier.in_commands,
                    "state": state,
                    "is_recorded": is_recorded,
                    "claims": len(experiment.claims),
                    "verdicts": None
                    if verdicts is None or state != "done"
                    else {verdict: verdicts[verdict] for verdict in VERDICTS},
                    "figures": [artifact.id for artifact in experiment.artifacts],
                    "command": each.how_to_make,
                }
            )
    return found


def overview(tiers: Sequence[Tier], recorded: Mapping[str, Tier] = MappingProxyType({})) -> Iterator[str]:
    """A line an experiment: its state in each tier, and how many of its claims have each verdict there.

    Args:
        recorded: tier -> the recorded run to show of what has not run here.
    """
    cells: dict[str, list[str]] = {}
    for row in rows(registry.papers(), tiers, recorded):
        cells.setdefault(row["id"], []).append(_cell(row))
    width = max(map(len, cells))
    names = [tier.name for tier in tiers]
    widths = [max(map(len, column)) for column in zip(names, *cells.values(), strict=True)]
    yield _row(f"{'experiment':{width}}", names, widths)
    for key, paper in registry.papers().items():
        yield f"{key}: {paper.title}"
        yield from (_row(f"{id:{width}}", cells[id], widths) for id in paper.experiments)
    yield f"counts: {', '.join(COUNTED)}; more with: reprise list KEY, reprise list --claims"


def _row(name: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join([name, *padded]).rstrip()


def _cell(row: Mapping[str, Any]) -> str:
    state = row["state"]
    if state == "done" and row["is_recorded"]:
        state = "recorded"
    counts = row["verdicts"]
    return f"{state} {'/'.join(str(counts[verdict]) for verdict in COUNTED)}" if counts else state


def _by_experiment(tier: Tier) -> dict[str, Counter[str]]:
    """Experiment -> counts of the verdicts on its claims, for papers with saved verdicts."""
    counts: dict[str, Counter[str]] = {}
    for paper in registry.papers().values():
        verdicts = Verdicts(paper, tier).saved()
        for id, experiment in paper.experiments.items():
            if verdicts:
                counts[id] = Counter(verdicts[claim.id] for claim in experiment.claims)
    return counts


def state_of(configured: ConfiguredExperiment) -> str:
    """The state of an experiment's results: `done`, `stale`, `damaged` or `NOT_RUN`."""
    if not configured.has_results():
        return NOT_RUN
    try:
        reason = configured.staleness()
        return "stale" if reason else "done" if configured.is_whole() else "damaged"
    except RepriseError:
        return "damaged"


def said_of_state(configured: ConfiguredExperiment) -> str:
    """The state of an experiment's results, with what makes them unless they are there."""
    state = state_of(configured)
    if state == "done":
        return state
    return f"{'no results' if state == NOT_RUN else state}; {configured.how_to_make}"


def of_paper(key: str, tier: Tier) -> Iterator[str]:
    """A paper's experiments with their states, its figures and tables, and the verdicts on each of the
    paper's figures, tables, statements and sections."""
    paper = registry.paper(key)
    verdicts = Verdicts(paper, tier).saved()
    yield f"{key}: {paper.title} (tier {tier.in_commands})"
    yield "experiments"
    for each in map(tier.experiment, paper.experiments):
        yield f"  {each.id}: {len(each.experiment.claims)} claims; {said_of_state(each)}"
    yield "figures and tables"
    for id, artifact in paper.artifacts.items():
        yield f"  {id}: {artifact.number}, from {artifact.experiment}"
    yield (
        "verdicts"
        if verdicts
        else f"claims; judge them with: reprise check {key} --write --tier {tier.in_commands}"
    )
    claims = [claim for claim, _ in paper.claims.values()]
    for artifact_id in dict.fromkeys(claim.artifact for claim in claims):
        counts = Counter(
            verdicts.get(claim.id, NOT_JUDGED) for claim in claims if claim.artifact == artifact_id
        )
        words = (f"{counts[verdict]} {verdict}" for verdict in (*VERDICTS, NOT_JUDGED) if counts[verdict])
        yield f"  {artifact_id}: {', '.join(words)}"


def of_claims(keys: Iterable[str], tier: Tier) -> Iterator[str]:
    """A line a claim: its saved verdict, its kind, its id, and what it needs to be decided."""
    for key in keys:
        paper = registry.paper(key)
        verdicts = Verdicts(paper, tier).saved()
        for claim, _ in paper.claims.values():
            verdict = verdicts.get(claim.id, NOT_JUDGED)
            yield f"{verdict:13}{claim.kind:11}{claim.id}{_needs(claim)}"


def tasks(keys: Iterable[str], tier: Tier) -> list[dict[str, Any]]:
    """An object for each claim of some papers, as a task of replication: its `id`, `paper`, `statement` and
    `source`; its `weight`, and whether it decides a headline (`is_headline`); how an observation must lie in
    order that the statement holds, `relation`, `reference` and `margin`, in `unit`; what this tier's run
    found, `expected`, with the `verdict`, the number `observed` and its interval, `low` and `high` at
    `level`, null where nothing was run; the `experiment`, the `command` that makes and judges it, and the
    `core_hours` and `gpu_hours` that its experiment takes. A paper's weights sum to one: the claims that
    decide its headlines share one half alike, the others the other half. What we say and the paper does not
    has no weight. No weight depends on a result.
    """
    found = []
    for paper in map(registry.paper, keys):
        verdicts, weight = Verdicts(paper, tier), weights(paper)
        rows = _rows(verdicts.table()) if verdicts.is_checked() else []
        judged = {row["claim"]: row for row in rows if row["verdict"] != "not run"}
        headlines = {id for _, id in paper.headlines}
        for id, (claim, decided_by) in paper.claims.items():
            each = tier.experiment(decided_by.id) if decided_by else None
            needs = each.needs().values() if each else ()
            make = f"{each.how_to_make} && " if each else ""
            found.append(
                {
                    "id": id,
                    "paper": paper.key,
                    "statement": claim.statement,
                    "source": claim.source,
                    "weight": weight[id],
                    "is_headline": id in headlines,
                    "unit": claim.first.unit,
                    "relation": claim.first.relation,
                    **_expected(claim, judged.get(id)),
                    "experiment": each.id if each else None,
                    "command": f"{make}reprise show {id} --tier {tier.in_commands} --json",
                    "core_hours": sum(need.minutes for need in needs if not need.gpus) / 60,
                    "gpu_hours": sum(need.minutes * need.gpus for need in needs) / 60,
                }
            )
    return found


def weights(paper: Paper) -> dict[str, float]:
    """Claim id -> its weight among a paper's, as `tasks` has it."""
    own = [id for id, (claim, _) in paper.claims.items() if claim.form != "ours"]
    deciding = {id for _, id in paper.headlines}
    groups = [[id for id in own if (id in deciding) == is_headline] for is_headline in (True, False)]
    shared = [group for group in groups if group]
    return dict.fromkeys(paper.claims, 0.0) | {
        id: 1 / len(shared) / len(group) for group in shared for id in group
    }


def _expected(claim: Claim, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """A claim's reference and margin, and the result of this tier's run."""
    if row is None:
        known = None if callable(claim.first.reference) else float(claim.first.reference)
        margin = None if known is None else claim.first.margin_at(known)
        return {"reference": known, "margin": margin, "expected": None}
    low, high = claim.shown(row["low"], row["high"])
    return {
        "reference": row["reference"],
        "margin": row["margin"],
        "expected": {
            "verdict": row["verdict"], "observed": row["observed"], "low": low, "high": high,
            "level": row["level"],
        },
    }  # fmt: skip


def _needs(claim: Claim) -> str:
    return f"  (needs {claim.needs})" if claim.needs else ""


def _measured(row: Mapping[str, Any]) -> str:
    low, high = row["low"], row["high"]
    if known := registry.claims().get(row["claim"]):  # a claim may have gone since it was judged
        low, high = known[0].shown(low, high)
    return f"{measured(row['kind'], row['observed'], low, high)} {row['unit']}"


def _rows(claims: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): cell for name, cell in row.items()} for row in claims.to_dict("records")]


def findings(claims: pd.DataFrame) -> Iterator[str]:
    """The claims that are contradicted or tied, that depend on what the paper leaves open, and that are known
    to be false as printed, each with what was observed, by id."""
    rows = _rows(claims)
    groups = {
        "contradicted": [row for row in rows if row["verdict"] == "contradicted" and not known_false(row)],
        "tied": [row for row in rows if row["verdict"] == "tied"],
        "depends": [row for row in rows if row["verdict"] == "depends"],
        "contradicted as printed, a known erratum": [
            row for row in rows if row["verdict"] == "contradicted" and known_false(row)
        ],
    }
    for title, group in groups.items():
        if group:
            yield f"{title}: {len(group)}"
        for row in sorted(group, key=lambda row: row["claim"]):
            yield f"  {row['claim']}: {_measured(row)}"


def ending(tier: Tier, claims: pd.DataFrame, report: Path) -> list[str]:
    """The summary that ends a run, in five lines.

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.
        report: the page of the report.
    """
    experiments = tier.experiments().values()
    artifacts = registry.artifacts().values()
    have_run = sum(each.has_results() for each in experiments)
    drawn = sum(all(file.is_file() for file in Drawing(each, tier).files.values()) for each in artifacts)
    made = (
        f"tier {tier.in_commands}: {have_run} of {len(experiments)} experiments have run, {drawn} of "
        f"{len(artifacts)} figures and tables are drawn"
    )
    if tier.is_test:
        return [
            made,
            TEST,
            f"numbers that moved: reprise check --tier {tier.in_commands} --fail-on drift",
            f"report: {report}",
            "results of the papers: make reproduce",
        ]
    content = json.loads(report.with_name("report.json").read_text(encoding="utf-8"))
    robust = content["findings"]["robust"][:SHOWN]
    return [
        made,
        f"what the abstracts claim: {_counted(claims)}",
        f"contradicted whatever the paper leaves open: {', '.join(robust) or 'nothing'}",
        f"report: {report} (reprise open)",
        f"more: reprise show {robust[0] if robust else 'CLAIM'}; reprise list --claims; reprise plan",
    ]


def _counted(claims: pd.DataFrame) -> str:
    """Counts the verdicts on claims that decide sentences of the abstracts and lists of contributions."""
    deciding = {id for paper in registry.papers().values() for _, id in paper.headlines}
    rows = [row for row in _rows(claims) if row["claim"] in deciding]
    found = Counter(
        NOT_SEEN if row["verdict"] == "contradicted" and is_only_here(row) else row["verdict"] for row in rows
    )
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in (*VERDICTS, NOT_SEEN) if found[verdict])
