"""The verdicts in Markdown, for the summary of a CI run."""

from collections.abc import Iterable
from typing import Any

from reprise.evidence.judgement import VERDICTS
from reprise.evidence.verdicts import GROUNDS
from reprise.report.numbers import percent
from reprise.report.schema import Claim, Report
from reprise.report.wording import cell, observed, to_hold


def digest(report: Report) -> str:
    """summary.md: counts, false discovery rates, and what a CI run must look at; of a tier that tests the
    program alone, no verdicts."""
    if report.banner:
        claims = sum(len(paper.claims) for paper in report.papers)
        judged = sum(claim.verdict != "not run" for paper in report.papers for claim in paper.claims)
        said = f"{report.banner} {judged} of {claims} claims were judged."
        return f"# Reprise: tier `{report.tier}`\n\n{said}\n"
    counts = [(each.paper, each.ground, *each.verdicts.values()) for each in report.counts]
    rates = [(each.paper, each.tests, each.decided, percent(each.rate)) for each in report.discoveries]
    lines = [
        f"# Reprise: verdicts of tier `{report.tier}`",
        "",
        f"Config `{report.config}`. Counts on different bases are not added together. "
        "Claims that are not seen here, contradicted at reduced scale or on a stand-in, are counted under "
        "contradicted.",
        "",
        *_markdown(("paper", "basis", *VERDICTS), counts),
        "",
        "## False discovery rates",
        "",
    ]
    columns = ("paper", "tests", "decided", "expected to be wrong, at most")
    lines += _markdown(columns, rates) if rates else ["None."]
    order = list(GROUNDS)
    for verdict in ("contradicted", "tied", "depends", "inconclusive"):
        selected = [
            claim
            for paper in sorted(report.papers, key=lambda paper: paper.key)
            for claim in sorted(paper.claims, key=lambda claim: order.index(claim.ground))
            if claim.verdict == verdict
        ]
        lines += ["", f"## {verdict.capitalize()}", "", *(_listed(selected) if selected else ["None."])]
    return "\n".join(lines) + "\n"


def _listed(claims: list[Claim]) -> list[str]:
    rows = [
        (f"`{c.id}`", c.label, c.statement, f"{observed(c)} {c.unit}", to_hold(c), c.ground, c.reason)
        for c in claims
    ]
    return _markdown(("claim", "verdict", "statement", "observed", "to hold", "basis", "reason"), rows)


def _markdown(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    def line(cells: Iterable[Any]) -> str:
        return "| " + " | ".join(map(cell, cells)) + " |"

    head = list(columns)
    return [line(head), line(["---"] * len(head)), *map(line, rows)]
