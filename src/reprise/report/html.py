"""The report: report.json, the page report.html made from it, which opens offline, a summary for CI, and the
table of all claims. Where that page would be too large, each paper has a page of its own, and so have the
printed numbers.

The files hold no date, so that the same results give the same bytes.
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from reprise.contract.experiment import is_in_paper
from reprise.engine.configured import Tier
from reprise.evidence.comparison import (
    COLLAPSED,
    IDENTITY_TOLERANCE,
    LEARNED,
    MARGINS,
    RELATIVE,
    TOLERATED,
)
from reprise.evidence.effects import SMALLEST
from reprise.evidence.estimates import ALPHA, MIN_RANKED
from reprise.evidence.judgement import MIN_POINTS, VERDICTS
from reprise.evidence.rounds import FIRST, LEVELS
from reprise.ledger.plan import hours
from reprise.report import (
    audit,
    contents,
    digest,
    drawings,
    findings,
    numbers,
    published,
    recorded,
    sealed,
    wording,
)
from reprise.report.build import build
from reprise.report.claims import marked
from reprise.report.findings import unconfirmed
from reprise.report.pictures import thumbnail
from reprise.report.schema import Claim, Figure, Part, Report
from reprise.report.vector import Vector, is_heat_map, values, vector

MOST_BYTES = 4_000_000
"""Most bytes of a page; with more, browsers take over two seconds to open it."""
IDS = re.compile(r'<[^>]* id="([^"]+)"')
"""A place in a page, which a link can name."""
LINKS = re.compile(r'href="#(?=([^"?]+)[?"])')
LONG_TABLE = 30
"""Number of rows above which a table is shown folded."""
SYMBOLS = dict(zip(VERDICTS, "✓✗≈±?·", strict=True))
NOT_SEEN = "∅"


def symbol(claim: Claim) -> str:
    """The symbol of a claim's verdict."""
    return NOT_SEEN if claim.label == wording.NOT_SEEN else SYMBOLS[claim.verdict]


def write(tier: Tier, claims: pd.DataFrame) -> Path:
    """Writes the files of a report (`sealed.REPORT`) into `results/TIER/`, all or none, with a sealed record,
    `.report.json`, that binds them to the results and verdicts they were made from. Drawings that are not up
    to date are drawn again first (`report.build`).

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.

    Returns:
        report.html.

    Raises:
        RepriseError: if a result is damaged, a figure holds what matplotlib does not draw, or results or
            verdicts change meanwhile.
    """
    made_from = sealed.shown(tier)
    others = [] if tier.is_recorded else recorded.gather(tier)
    report, claims = build(tier, claims, others), marked(tier, claims)
    files: dict[str, sealed.Writer] = {
        **{name: _writer(text) for name, text in pages(report, tier.results, tier.root).items()},
        "report.json": _writer(report.model_dump_json(indent=1) + "\n"),
        "summary.md": _writer(digest.digest(report)),
        "claims.parquet": lambda file: claims.to_parquet(file, index=False),
        "claims.csv": lambda file: claims.to_csv(file, index=False, lineterminator="\n"),
        "observations.parquet": lambda file: audit.observed(tier, claims).to_parquet(file, index=False),
        audit.SCRIPT.name: _writer(audit.SCRIPT.read_text(encoding="utf-8")),
    }
    sealed.save_report(tier, files, made_from)
    return tier.results / "report.html"


def _writer(text: str) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        file.write_text(text, encoding="utf-8")

    return write


def pages(report: Report, folder: Path, root: Path) -> dict[str, str]:
    """File name -> a page: report.html alone, self-contained, if it has at most `MOST_BYTES`; else also one
    for the printed numbers and one for each paper, to which report.html links from a list of its claims.

    Args:
        folder: where they will lie; the paths of the report start there.
        root: the checkout, whose cache keeps the thumbnails.
    """
    text = page(report, folder, root)
    if len(text.encode()) <= MOST_BYTES:
        return {sealed.PAGE: text}
    keys = [paper.key for paper in report.papers]
    part = partial(page, report, folder, root)
    made = {sealed.PAGE: part(whole=(), printed=False), sealed.page_of("printed"): part(whole=(), home=False)}
    made |= {sealed.page_of(key): part(whole=(key,), home=False, printed=False) for key in keys}
    ids = {name: set(IDS.findall(text)) for name, text in made.items()}
    on_each = set.intersection(*ids.values())
    places = {id: name for name, own in ids.items() for id in own - on_each}

    def elsewhere(name: str, link: re.Match[str]) -> str:
        place = places.get(link[1], name)
        return link[0] if place == name else f'href="{place}#'

    return {name: LINKS.sub(partial(elsewhere, name), text) for name, text in made.items()}


def page(
    report: Report,
    folder: Path,
    root: Path,
    whole: Collection[str] | None = None,
    *,
    home: bool = True,
    printed: bool = True,
) -> str:
    """A page of the report, in HTML.

    Args:
        folder, root: as for `pages`.
        whole: keys of the papers that it holds whole, by default all; of the others, what is found and a list
            of claims.
        home: whether it also holds all else that belongs to no paper.
        printed: whether it also holds the printed numbers of all papers.
    """
    whole = [paper.key for paper in report.papers] if whole is None else whole
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
            whole=whole,
            home=home,
            printed=printed,
            claims=every,
            papers={paper.key: paper for paper in report.papers},
            counted=counted,
            figures={figure.id: figure for paper in report.papers for figure in paper.figures},
            experiments={each.id: each for paper in report.papers for each in paper.experiments},
            by_ground=by_ground,
            asked=findings.asked(report.papers),
            questions=findings.QUESTIONS,
            sorts=wording.ERRATA,
            verdicts=VERDICTS,
            symbols=SYMBOLS,
            not_seen=wording.NOT_SEEN,
            comparisons=[
                (title, len(claims), Markup(drawings.panel(title, claims)))
                for title, claims in drawings.comparisons(report.papers)
            ],
            published={each.id for paper in report.papers if paper.bibtex for each in paper.experiments},
            vector=partial(_vector, folder),
            values=lambda figure: values((folder / figure.files["svg"]).with_suffix(".csv")),
            is_heat_map=lambda figure: is_heat_map(folder / figure.files["svg"]),
            thumbnail=partial(_thumbnail, root, folder),
            style=Markup(_text("report.css")),
            script=Markup(_text("report.js")),
            long_table=LONG_TABLE,
            rules=_rules(),
        )
    )
    return "\n".join(line.strip() if not line.startswith("  ") else line for line in text.splitlines()) + "\n"


@cache
def _environment() -> jinja2.Environment:
    made = environment(autoescape=True)
    made.filters |= {
        "notes": wording.notes,
        "look": wording.look,
        "drawing": drawings.drawing,
        "distance": _distance,
        "slug": lambda verdict: f"v{VERDICTS.index(verdict)}",
    }
    return made


def environment(**more: Any) -> jinja2.Environment:
    """The report's templates, with what all pages use of filters and tests; `more` are other options of
    jinja2."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("reprise.report", "."),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **more,
    )
    made.filters |= {
        "collected": _collected,
        "number": numbers.number,
        "percent": numbers.percent,
        "duration": numbers.duration,
        "to_hold": wording.to_hold,
        "observed": wording.observed,
        "printed": wording.printed,
        "section": wording.section,
        "symbol": symbol,
        "line": published.line,
        "by_artifact": published.by_artifact,
        "summary": published.summary,
        "answer": published.answer,
        "whole": published.whole,
        "hours": hours,
        "groups": contents.groups,
        "lead": contents.lead,
        "redrawn": contents.redrawn,
        "unconfirmed": unconfirmed,
    }
    made.tests["in_paper"] = is_in_paper
    return made


def _collected(parts: Iterable[Part], name: str, by: str) -> dict[Any, list[Any]]:
    """The values of one attribute, grouped by those of another."""
    found: dict[Any, list[Any]] = {}
    for part in parts:
        found.setdefault(getattr(part, by), []).append(getattr(part, name))
    return found


def _text(name: str) -> str:
    return (files("reprise.report") / name).read_text(encoding="utf-8")


def _vector(folder: Path, figure: Figure) -> Vector:
    return vector(folder / figure.files["svg"], figure.id.replace("/", "."))


def _thumbnail(root: Path, folder: Path, figure: Figure) -> str:
    return thumbnail(folder / figure.files["png"], root)


def _distance(claim: Claim) -> str:
    """The distance of the observation from the reference, in margins or else relative to the reference, to
    sort by; empty if nothing was observed."""
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
        "alpha": f"{show(100 * ALPHA)} %",
        "first_level": f"{show(100 * FIRST.level)} %",
        "levels": [f"{show(100 * level)} %" for level in LEVELS],
        "min_points": MIN_POINTS,
        "min_ranked": MIN_RANKED,
        "tolerated": f"{show(100 * TOLERATED)} %",
        "smallest": [
            (each.scale, f"{show(100 * each.effect)} %" if each.relative else show(each.effect))
            for each in SMALLEST
        ],
    }
