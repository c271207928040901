"""Binds a tier's report to the results and verdicts that it was made from."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reprise.engine import memo, provenance, registry
from reprise.engine.check import Verdicts
from reprise.engine.configured import Tier
from reprise.errors import RepriseError
from reprise.ledger.recorded import recorded_damage
from reprise.storage import disk, records, store

Writer = Callable[[Path], Any]

PAGE = "report.html"
REPORT = (
    PAGE, "report.json", "summary.md", "claims.parquet", "claims.csv", "observations.parquet",
    "redo_verdicts.py",
)  # fmt: skip
"""The files of a tier's report; it may also have pages of parts (`page_of`)."""
REPORT_RECORD = ".report.json"
"""The sealed record of a report's sources."""


def page_of(part: str) -> str:
    """The page of a paper, or of the printed numbers, where report.html does not hold them."""
    return f"report-{part}.html"


def _pages(tier: Tier) -> list[str]:
    return sorted(file.name for file in tier.results.glob(page_of("*")))


def shown(tier: Tier) -> dict[str, dict[str, Any]]:
    """The sources of a tier's report: the SHA-256 of the tables of each round whose results are up to
    date, of the verdicts on each paper that count, and of the lock and the ledger; and what is damaged in
    each recorded run.

    Raises:
        RepriseError: if a record is damaged.
    """
    fresh = [each for each in tier.runs(tier.experiments()) if not each.staleness()]
    verdicts = (Verdicts(paper, tier) for paper in registry.judged().values())
    checked = [each for each in verdicts if each.is_checked()]
    return {
        "results": {each.name: each.record()["sha256"] for each in fresh},
        "verdicts": {
            each.paper.key: store.load_record(each.folder, each.how_to_check)["sha256"] for each in checked
        },
        "recorded": {} if tier.is_recorded else recorded_damage(tier.root),
        "frozen": {
            name: disk.sha256((tier.root / name).read_bytes())
            for name in provenance.FROZEN
            if (tier.root / name).exists()
        },
    }


def save_report(tier: Tier, files: Mapping[str, Writer], made_from: Mapping[str, Any]) -> None:
    """Writes the files of a tier's report, all or none, with a sealed record of what they were made from, and
    removes the pages of parts that a larger report had.

    Args:
        files: each of `REPORT`, and pages of parts.
        made_from: `shown(tier)` as it was before they were made.

    Raises:
        RepriseError: if results or verdicts have changed since, or the folder cannot be written.
    """
    if shown(tier) != made_from or not memo.of_package().is_current():
        raise RepriseError(
            f"{tier.results}: results, verdicts or code changed while the report was made; write it again "
            f"with: reprise report --tier {tier.name}"
        )
    written = {tier.results / name: writer for name, writer in files.items()}
    records.write_sealed(tier.results / REPORT_RECORD, written, made_from)
    for name in set(_pages(tier)) - set(files):
        (tier.results / name).unlink()


def is_reported(tier: Tier) -> bool:
    """Tells if the files of a tier's report were made from the results and verdicts that are here now.

    Raises:
        RepriseError: if a record of results or verdicts is damaged.
    """
    now = shown(tier)
    try:
        record = records.load_sealed(tier.results / REPORT_RECORD, [*REPORT, *_pages(tier)])
    except ValueError:
        return False
    return all(record.get(name) == now[name] for name in now)
