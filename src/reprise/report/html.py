"""The report: report.json, the page report.html made from it, which opens offline, a summary for CI, and the
table of all claims.

The files hold no date, so that the same results give the same bytes.
"""

import re
from collections.abc import Callable, Collection
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

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
from reprise.evidence.verdicts import CERTAIN
from reprise.execute.tiers import Tier
from reprise.report import digest, drawings, numbers, pictures, recorded
from reprise.report.build import build
from reprise.report.schema import Claim, Report
from reprise.storage import store

LONG_TABLE = 30
"""Number of rows above which a table is shown folded."""
SYMBOLS = dict(zip(VERDICTS, "✓✗±?·", strict=True))


def write(tier: Tier, claims: pd.DataFrame) -> Path:
    """Writes `report.{json,html}`, `summary.md` and `claims.{parquet,csv}` into `results/TIER/`, all or none.

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.

    Returns:
        report.html.

    Raises:
        RepriseError: if a result or figure is damaged, or a result is out of date.
    """
    others = [] if tier.is_recorded else recorded.gather(tier.root)
    report = build(tier, claims, others)
    html = tier.results / "report.html"
    store.write_files(
        {
            html: _writer(page(report, tier.results)),
            tier.results / "report.json": _writer(report.model_dump_json(indent=1) + "\n"),
            tier.results / "summary.md": _writer(digest.digest(report, claims)),
            tier.results / "claims.parquet": lambda file: claims.to_parquet(file, index=False),
            tier.results / "claims.csv": lambda file: claims.to_csv(file, index=False, lineterminator="\n"),
        }
    )
    return html


def _writer(text: str) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        file.write_text(text, encoding="utf-8")

    return write


def page(report: Report, folder: Path) -> str:
    """report.html, self-contained.

    Args:
        folder: where it will lie; the paths of the report start there.
    """
    every = {claim.id: claim for paper in report.papers for claim in paper.claims}

    def counted(ids: Collection[str]) -> dict[str, int]:
        return {verdict: sum(every[id].verdict == verdict for id in ids) for verdict in VERDICTS}

    by_ground = {
        name: {
            verdict: sum(count.verdicts[verdict] for count in report.counts if count.ground == name)
            for verdict in VERDICTS
        }
        for name in report.grounds
        if any(count.ground == name for count in report.counts)
    }
    text = (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            claims=every,
            counted=counted,
            figures={figure.id: figure for paper in report.papers for figure in paper.figures},
            experiments={each.id: each for paper in report.papers for each in paper.experiments},
            by_ground=by_ground,
            verdicts=VERDICTS,
            symbols=SYMBOLS,
            comparisons=[
                (title, len(claims), Markup(drawings.panel(title, claims)))
                for title, claims in drawings.comparisons(report.papers)
            ],
            picture=partial(_picture, folder, pictures.WIDE),
            thumbnail=partial(_picture, folder, pictures.SMALL),
            style=Markup(_text("report.css")),
            script=Markup(_text("report.js")),
            long_table=LONG_TABLE,
            rules=_rules(),
        )
    )
    return "\n".join(line.strip() if not line.startswith("  ") else line for line in text.splitlines()) + "\n"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("reprise.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": numbers.number,
        "percent": numbers.percent,
        "duration": numbers.duration,
        "to_hold": digest.to_hold,
        "notes": _notes,
        "drawing": drawings.drawing,
        "distance": _distance,
        "interval": _interval,
        "section": _section,
        "slug": lambda verdict: f"v{VERDICTS.index(verdict)}",
    }
    return environment


def _text(name: str) -> str:
    return (files("reprise.report") / name).read_text(encoding="utf-8")


def _picture(folder: Path, width: int, path: str) -> str:
    return pictures.embedded(folder / path, width)


def _interval(claim: Claim) -> str:
    """What was observed: of an equation the largest error alone."""
    if claim.kind in ("identity", "inequality"):
        return numbers.number(float(f"{claim.observed:.1e}"))
    return numbers.interval(claim.observed, claim.own_low, claim.own_high)


def _notes(claim: Claim) -> list[str]:
    """What limits the verdict: settings, margin, error rates, last bits, another reading, a second look."""
    notes = [_agreement(claim)] if claim.settings else []
    half, twice = claim.verdict_half_margin, claim.verdict_twice_margin
    has_margin = claim.margin or claim.kind in ("identity", "inequality")
    if claim.verdict not in ("not run", "depends") and has_margin:
        same = half == twice == claim.verdict
        notes.append("the same at ½× and 2× margin" if same else f"{half} at ½× margin, {twice} at 2×")
    if claim.false_reproduced is not None and claim.verdict != "not run" and claim.kind not in CERTAIN:
        rates = [numbers.percent(rate) for rate in (claim.false_reproduced, claim.false_contradicted)]
        notes.append(f"if false, ‘reproduced’ in {rates[0]} of draws; if true, ‘contradicted’ in {rates[1]}")
    notes += [f"fragile: {claim.fragile}"] if claim.fragile else []
    notes += [f"reading: {claim.reading}"] if claim.reading else []
    notes += [f"set after a look at results: {claim.looked}"] if claim.looked else []
    return notes


def _agreement(claim: Claim) -> str:
    """How many settings agree, with the verdict or where it depends on them with the statement."""
    verdicts = [setting.verdict for setting in claim.settings]
    is_decided = claim.verdict in ("reproduced", "contradicted")
    agreeing = claim.verdict if is_decided else "reproduced"
    same = verdicts.count(agreeing)
    opposed = verdicts.count("reproduced" if agreeing == "contradicted" else "contradicted")
    words = ("same", "opposite") if is_decided else ("holds", "fails")
    undecided = len(verdicts) - same - opposed
    return f"{len(verdicts)} other settings: {same} {words[0]}, {opposed} {words[1]}, {undecided} undecided"


def _section(place: str) -> str:
    """`5.1` as `Section 5.1`, `B.5` as `Appendix B.5`; what has a name keeps it."""
    if place[0].isdigit():
        return f"Section {place}"
    return f"Appendix {place}" if re.match(r"[A-Z](\W|$)", place) else place


def _distance(claim: Claim) -> str:
    """How far the observation lies from the reference, in margins or else relative to it, to sort by; empty
    if nothing was observed."""
    if claim.observed is None or claim.reference is None:
        return ""
    size = claim.margin or abs(claim.reference) or 1.0
    return f"{abs(claim.observed - claim.reference) / size:.3g}"


def _rules() -> dict[str, Any]:
    """The numbers of the rules by which verdicts are reached."""
    show = numbers.number
    return {
        "margins": [
            (name, f"{show(100 * margin)} % of the reference" if name in RELATIVE else show(margin))
            for name, margin in MARGINS.items()
        ],
        "tolerance": show(IDENTITY_TOLERANCE),
        "collapsed": show(COLLAPSED),
        "learned": show(LEARNED),
        "level": f"{show(100 * LEVEL)} %",
        "min_seeds": MIN_SEEDS,
        "min_points": MIN_POINTS,
        "min_runs": MIN_RUNS,
        "tolerated": f"{show(100 * TOLERATED)} %",
        "false": f"{show(100 * FALSE)} %",
    }
