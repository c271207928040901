"""Recorded runs in the report: what each holds, where it was made, and its verdicts beside ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reprise.engine import registry
from reprise.engine.configured import Tier
from reprise.errors import RepriseError
from reprise.evidence.verdicts import ground
from reprise.ledger import recorded
from reprise.report.build import counts
from reprise.report.runs import runs, shared
from reprise.report.schema import Recorded
from reprise.report.wording import measured


def gather(tier: Tier) -> list[tuple[Recorded, Mapping[str, str]]]:
    """The recorded runs beside a tier, judged by the claims of this version, each with claim -> its verdict
    there in one line: those that were merged, and the one that comes with the checkout if it has something
    that has not run here."""
    names = recorded.recorded_names(tier.root)
    if published := recorded.beside_missing(tier):
        names.append(published.name)
    return [_run(name, tier.root) for name in names]


def _run(name: str, root: Path) -> tuple[Recorded, Mapping[str, str]]:
    try:
        tier = recorded.load(name, root)
        claims = recorded.verdicts(tier)
        made = runs(tier)
    except RepriseError as error:
        return Recorded(name=name, problem=str(error), experiments=[], facts={}, counts=[]), {}
    rows = [{str(column): cell for column, cell in row.items()} for row in claims.to_dict("records")]
    run = Recorded(
        name=name, problem="", experiments=list(made), facts=shared(made.values()), counts=counts(claims)
    )
    return run, {row["claim"]: f"{name}: {_line(row)}" for row in rows if row["verdict"] != "not run"}


def _line(row: Mapping[str, Any]) -> str:
    low, high = registry.claims()[row["claim"]][0].shown(row["low"], row["high"])
    observed = measured(row["kind"], row["observed"], low, high)
    departures = f" ({row['departures']})" if row["departures"] else ""
    return f"{row['verdict']}, {observed} {row['unit']}, {ground(row)}{departures}"
