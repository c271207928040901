"""The report: one HTML file that opens offline, a summary for CI, and the table of all claims.

The files hold no date, so that the same results give the same bytes.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from reprise.evidence.calibration import FALSE
from reprise.evidence.claims import (
    COLLAPSED,
    IDENTITY_TOLERANCE,
    LEARNED,
    MARGINS,
    MIN_RUNS,
    RELATIVE,
    TOLERATED,
)
from reprise.evidence.judgement import MIN_POINTS, MIN_SEEDS, VERDICTS
from reprise.evidence.statistics import LEVEL
from reprise.evidence.verdicts import GROUNDS, error_rates, false_discoveries, summary
from reprise.execute import registry
from reprise.execute.tiers import Tier
from reprise.report import recorded
from reprise.report.recorded import RecordedView
from reprise.report.views import ClaimView, PaperView, RunView, common, gather, number, runs
from reprise.storage import store

SHOWN = 6
"""Number of findings per ground that the summary shows unfolded."""
LONG_TABLE = 30
"""Number of rows above which a table is shown folded."""


def write(tier: Tier, claims: pd.DataFrame) -> Path:
    """Writes `report.html`, `summary.md` and `claims.{parquet,csv}` into `results/TIER/`, all or none.

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.

    Raises:
        RepriseError: if a result or figure is damaged, or a result is out of date.
    """
    fresh_runs = runs(tier)
    others = [] if tier.is_recorded else recorded.gather(tier.root)
    lines = [run.lines for run in others]
    papers = [
        gather(tier, paper, claims[claims["paper"] == key], fresh_runs, lines)
        for key, paper in registry.papers().items()
    ]
    page = _page(tier, papers, claims, list(fresh_runs.values()), others)
    digest = _summary(tier, papers, claims)
    report = tier.results / "report.html"
    store.write_files(
        {
            report: _writer(page),
            tier.results / "summary.md": _writer(digest),
            tier.results / "claims.parquet": lambda file: claims.to_parquet(file, index=False),
            tier.results / "claims.csv": lambda file: claims.to_csv(file, index=False, lineterminator="\n"),
        }
    )
    return report


def _writer(text: str) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        file.write_text(text, encoding="utf-8")

    return write


def _page(
    tier: Tier,
    papers: list[PaperView],
    claims: pd.DataFrame,
    fresh_runs: list[RunView],
    others: list[RecordedView],
) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("reprise.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    counts = summary(claims)
    by_ground = counts.groupby("ground")[list(VERDICTS)].sum()
    return environment.get_template("report.html.j2").render(
        tier=tier,
        papers=papers,
        grounds=[
            (name, meaning, by_ground.loc[name].to_dict())
            for name, meaning in GROUNDS.items()
            if name in by_ground.index
        ],
        counts=counts.to_dict("records"),
        verdicts=VERDICTS,
        margins=[
            (name, f"{number(100 * margin)} % of the reference" if name in RELATIVE else number(margin))
            for name, margin in MARGINS.items()
        ],
        tolerance=number(IDENTITY_TOLERANCE),
        collapsed=number(COLLAPSED),
        learned=number(LEARNED),
        level=f"{number(100 * LEVEL)} %",
        min_seeds=MIN_SEEDS,
        min_points=MIN_POINTS,
        min_runs=MIN_RUNS,
        tolerated=f"{number(100 * TOLERATED)} %",
        false=f"{number(100 * FALSE)} %",
        discoveries=[{**row, "rate": percent(row["rate"])} for row in false_discoveries(claims)],
        error_rates=_rates(claims),
        findings=_findings(papers),
        shown=SHOWN,
        long_table=LONG_TABLE,
        common=common(fresh_runs),
        runs=fresh_runs,
        recorded=others,
    )


def _rates(claims: pd.DataFrame) -> list[dict[str, Any]]:
    """The rates of each type of statement: mean and largest."""
    return [
        {
            "kind": kind,
            "claims": int(rates["claims"]),
            **{
                name: f"{percent(rates[name])} ({percent(rates[f'largest_{name}'])})"
                for name in ("false_reproduced", "false_contradicted")
            },
            **{name: percent(rates[name]) for name in ("power_half", "power_twice")},
        }
        for kind, rates in error_rates(claims).iterrows()
    ]


def percent(share: float) -> str:
    return number(share) if pd.isna(share) else f"{100 * share:.1f} %"


def _findings(papers: list[PaperView]) -> list[tuple[str, list[ClaimView]]]:
    """The claims that are contradicted or depend on what is unstated, by ground; misprints are listed as
    errata."""
    contradicted = [
        claim
        for paper in papers
        for claim in paper.having("contradicted", "depends")
        if claim.ground != "errata"
    ]
    by_ground = {name: [claim for claim in contradicted if claim.ground == name] for name in GROUNDS}
    return [(name, claims) for name, claims in by_ground.items() if claims]


def _summary(tier: Tier, papers: list[PaperView], claims: pd.DataFrame) -> str:
    """The verdicts in Markdown, for the summary of a CI run."""
    lines = [
        f"# Reprise: verdicts of tier `{tier.name}`",
        "",
        f"Config `{tier.hash}`. Counts on different grounds are not added together.",
        "",
        *_markdown(("paper", "ground", *VERDICTS), summary(claims).itertuples(index=False)),
    ]
    lines += ["", "## False discovery rates", ""]
    rates = [
        (row["paper"], row["tests"], row["decided"], percent(row["rate"]))
        for row in false_discoveries(claims)
    ]
    lines += (
        _markdown(("paper", "tests", "decided", "expected to be wrong, at most"), rates)
        if rates
        else ["None."]
    )
    for verdict in ("contradicted", "depends", "inconclusive"):
        selected = [claim for paper in papers for claim in paper.having(verdict)]
        lines += ["", f"## {verdict.capitalize()}", "", *(_listed(selected) if selected else ["None."])]
    return "\n".join(lines) + "\n"


def _listed(claims: list[ClaimView]) -> list[str]:
    rows = [
        (f"`{c.id}`", c.statement, f"{c.observed} {c.interval} {c.unit}", c.compared, c.ground, c.reason)
        for c in claims
    ]
    return _markdown(("claim", "statement", "observed", "to hold", "ground", "reason"), rows)


def _markdown(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    def line(cells: Iterable[Any]) -> str:
        texts = (" ".join(str(cell).split()).replace("|", "\\|").replace("<", "&lt;") for cell in cells)
        return "| " + " | ".join(texts) + " |"

    head = list(columns)
    return [line(head), line(["---"] * len(head)), *map(line, rows)]
