"""Recorded runs in the report: what each holds, where it was made, and its verdicts beside ours."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reprise.errors import RepriseError
from reprise.evidence.verdicts import ground, summary
from reprise.execute import recorded, tiers
from reprise.report.views import common, interval, runs


@dataclass(frozen=True)
class RecordedView:
    """
    Attributes:
        name: `recorded/NAME`.
        problem: why this version cannot judge it; otherwise empty.
        facts: commit, versions and hardware that all its runs share.
        counts: of its verdicts, by paper and ground.
        lines: claim -> its verdict there, in one line.
    """

    name: str
    problem: str = ""
    experiments: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    counts: tuple[Mapping[Any, Any], ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)


def gather(root: Path) -> list[RecordedView]:
    """The recorded runs of a checkout, judged by the claims of this version."""
    return [_view(name, root) for name in tiers.recorded_names(root)]


def _view(name: str, root: Path) -> RecordedView:
    try:
        tier = tiers.load_tier(name, root)
        claims = recorded.verdicts(tier)
        made = runs(tier)
    except RepriseError as error:
        return RecordedView(name, problem=str(error))
    rows = [{str(column): cell for column, cell in row.items()} for row in claims.to_dict("records")]
    return RecordedView(
        name,
        experiments=tuple(made),
        facts=common(made.values()),
        counts=tuple(summary(claims).to_dict("records")),
        lines={row["claim"]: f"{name}: {_line(row)}" for row in rows if row["verdict"] != "not run"},
    )


def _line(row: Mapping[str, Any]) -> str:
    observed = interval(row["observed"], row["low"], row["high"])
    departures = f" ({row['departures']})" if row["departures"] else ""
    return f"{row['verdict']}, {observed} {row['unit']}, {ground(row)}{departures}"
