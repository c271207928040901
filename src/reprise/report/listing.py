"""What `reprise list` and `reprise check` print: experiments with their states, verdicts, findings."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pandas as pd

from reprise.engine import registry
from reprise.engine.check import Verdicts
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim
from reprise.evidence.judgement import VERDICTS
from reprise.evidence.verdicts import known_false
from reprise.report.wording import measured

COUNTED = VERDICTS[:-1]
"""The verdicts that the overview counts: all but `not run`."""
NOT_JUDGED = "not judged"
NOT_RUN = "-"


def overview(tiers: Sequence[Tier], recorded: Mapping[str, Tier] = MappingProxyType({})) -> Iterator[str]:
    """A line an experiment: its state in each tier, and how many of its claims have each verdict there.

    Args:
        recorded: tier -> the recorded run to show of what has not run here.
    """
    columns = [_cells(tier) for tier in tiers]
    for tier, cells in zip(tiers, columns, strict=True):
        there = _cells(recorded[tier.name]) if tier.name in recorded else {}
        for id, cell in cells.items():
            if cell == NOT_RUN and there.get(id, NOT_RUN) != NOT_RUN:
                cells[id] = there[id].replace("done", "recorded")
    ids = registry.experiments()
    width = max(map(len, ids))
    rows = {id: [cells[id] for cells in columns] for id in ids}
    widths = [
        max(len(tier.name), *(len(row[number]) for row in rows.values())) for number, tier in enumerate(tiers)
    ]
    names = [tier.name for tier in tiers]
    yield _row(f"{'experiment':{width}}", names, widths)
    for key, paper in registry.papers().items():
        yield f"{key}: {paper.title}"
        yield from (_row(f"{id:{width}}", rows[id], widths) for id in paper.experiments)
    yield f"counts: {', '.join(COUNTED)}; more with: reprise list KEY, reprise list --claims"


def _row(name: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
    return "  ".join([name, *padded]).rstrip()


def _by_experiment(tier: Tier) -> dict[str, Counter[str]]:
    """How many claims of each experiment have each verdict, of the papers with saved verdicts."""
    counts: dict[str, Counter[str]] = {}
    for paper in registry.papers().values():
        verdicts = Verdicts(paper, tier).saved()
        for id, experiment in paper.experiments.items():
            if verdicts:
                counts[id] = Counter(verdicts[claim.id] for claim in experiment.claims)
    return counts


def _cells(tier: Tier) -> dict[str, str]:
    """The state of each experiment in a tier, and how many of its claims have each verdict."""
    verdicts = _by_experiment(tier)
    cells = {id: state_of(each) for id, each in tier.experiments().items()}
    for id in verdicts:
        if cells[id] == "done":
            cells[id] = f"done {'/'.join(str(verdicts[id][verdict]) for verdict in COUNTED)}"
    return cells


def state_of(configured: ConfiguredExperiment) -> str:
    """Whether an experiment's results are there: `done`, `stale`, `damaged` or `NOT_RUN`."""
    if not configured.has_results():
        return NOT_RUN
    try:
        reason = configured.staleness()
        return "stale" if reason else "done" if configured.is_whole() else "damaged"
    except RepriseError:
        return "damaged"


def of_paper(key: str, tier: Tier) -> Iterator[str]:
    """A paper's experiments with their states, its figures and tables, and the verdicts on each of the
    paper's figures, tables, statements and sections."""
    paper = registry.paper(key)
    verdicts = Verdicts(paper, tier).saved()
    yield f"{key}: {paper.title} (tier {tier.in_commands})"
    yield "experiments"
    for each in map(tier.experiment, paper.experiments):
        state = state_of(each)
        how = "" if state == "done" else f"; {each.how_to_make}"
        state = "no results" if state == NOT_RUN else state
        yield f"  {each.id}: {len(each.experiment.claims)} claims; {state}{how}"
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


def _needs(claim: Claim) -> str:
    return f"  (needs {claim.needs})" if claim.needs else ""


def _measured(row: Mapping[str, Any]) -> str:
    low, high = row["low"], row["high"]
    if known := registry.claims().get(row["claim"]):  # else it was judged, and has gone since
        low, high = known[0].shown(low, high)
    return f"{measured(row['kind'], row['observed'], low, high)} {row['unit']}"


def findings(claims: pd.DataFrame) -> Iterator[str]:
    """The claims that are contradicted or tied, that depend on what the paper leaves open, and that are known
    to be false as printed, each with what was observed, by id."""
    rows = [{str(name): cell for name, cell in row.items()} for row in claims.to_dict("records")]
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
