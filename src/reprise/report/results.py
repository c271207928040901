"""A run's results as pages that a repository shows to those who run nothing: a page a paper with its
drawings, the table of verdicts, the findings in the README, and the bundle of the run.

They are made from the same structure as the report, and hold no date but those of the commits that they name,
so that the same results give the same bytes.
"""

import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from reprise.contract.settings import origin
from reprise.engine import registry, seconds
from reprise.engine.configured import Tier
from reprise.engine.provenance import commit_date
from reprise.errors import RepriseError
from reprise.evidence.judgement import VERDICTS
from reprise.evidence.verdicts import STANDINGS
from reprise.ledger import costs, plan
from reprise.ledger.bundling import small_bundle
from reprise.ledger.recorded import BUNDLE
from reprise.report import agreement, history, published, specifications, wording
from reprise.report.build import build
from reprise.report.drawings import OURS
from reprise.report.findings import beyond_headlines, by_standing
from reprise.report.html import LONG_TABLE, SYMBOLS, environment
from reprise.report.schema import Claim, Experiment, Paper, Report, Setting
from reprise.report.vector import standalone
from reprise.storage import disk
from reprise.training.costs import GPU

WIDTH = 1000
"""Width of a drawing in PNG, in pixels."""
COLORS = 256
"""Colours of a drawing in PNG: a third of the bytes, with no visible difference."""
MOST_BYTES = 300_000
"""Most bytes of a drawing in SVG; a larger one is shown as a PNG."""
COLUMNS = ("claim", "verdict", "ground", "statement", "observed", "low", "high", "level", "unit",
           "relation", "reference", "margin", "smallest", "published", "seeds", "rounds", "alpha",
           "chance_same", "reason", "quantifier", "word", "stands",
           "reason_code", "p_reproduced", "p_contradicted", "p_tied")  # fmt: skip
TABLE = "verdicts.csv"
PRINTED = "published"
"""The name of the page, the table and the picture of all printed numbers."""
INDEX = "README.md"
LETTERS = "letters"
"""The folder of letters to authors, beside that of the results."""
HEADLINES = 2
"""Most headlines of a paper and standing that the README names; the others are counted."""
UP = "../.."
"""The way from `docs/results` to the checkout."""
MARKS = "<!-- results: written by `reprise publish` -->", "<!-- end of results -->"
"""The lines of a README that enclose the findings."""


def publish(tier: Tier, claims: pd.DataFrame, folder: Path, readme: Path) -> list[Path]:
    """Writes the pages of a tier's results into a folder, and the findings into a README.

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.
        folder: what an earlier run has written there is replaced.
        readme: has the two lines `MARKS`.

    Returns:
        The files written.

    Raises:
        RepriseError: if the results are incomplete, or the README lacks the marks.
    """
    report = build(tier, claims, [])
    required = [
        figure
        for figure in (figure for paper in report.papers for figure in paper.figures)
        if figure.experiment not in tier.on_request
        and (not tier.is_recorded or tier.experiment(figure.experiment).has_results())
    ]
    if missing := [figure.id for figure in required if not figure.files]:
        again = f"make reproduce TIER={tier.name}"
        raise RepriseError(f"tier {tier.name} lacks {', '.join(missing)}; make everything with: {again}")
    changed = [*history.read(folder), *history.changes(tier, claims, folder / TABLE)]
    drawings = _drawings(report, tier.results)
    contents = pages(report, tier.root, changed, drawings) | drawings
    contents |= {TABLE: verdicts(report).encode(), BUNDLE.name: small_bundle(tier)}
    contents |= {f"{PRINTED}.csv": published.csv(report.papers).encode()}
    contents |= {f"{PRINTED}.png": agreement.drawn(report.papers)}
    contents |= {history.HISTORY: history.written(changed), seconds.FILE.name: costs.to_publish(tier)}
    text = readme.read_text(encoding="utf-8")
    files = {folder / name: content for name, content in contents.items()}
    files |= {folder.parent / LETTERS / name: text for name, text in letters(report).items()}
    files[readme] = in_readme(text, findings(report, folder.relative_to(readme.parent)), readme).encode()
    before = {*folder.glob("*.*"), *folder.glob("*/*.*")}
    disk.write_files({file: partial(_write, content) for file, content in files.items()})
    for file in before - set(files):
        file.unlink()
    return list(files)


def _write(content: bytes, file: Path) -> None:
    file.write_bytes(content)


def pages(
    report: Report, root: Path, changed: Sequence[history.Change] = (), drawings: Collection[str] = ()
) -> dict[str, bytes]:
    """File name -> the page in Markdown: one with the findings of all papers, one with all numbers that
    they print, and one a paper.

    Args:
        root: the checkout, whose git knows when the commits were made that the results are of.
        changed: verdicts that have changed since they were first published.
        drawings: the names of the files beside the pages, which are PNGs where they are not SVGs.
    """
    index = _render(
        "results.md.j2", report, facts=_facts(report, root), findings=findings(report, Path()),
        changed=changed, causes=history.CAUSES,
    )  # fmt: skip
    papers = {
        f"{paper.key}.md": _render(
            "results_paper.md.j2",
            report,
            paper=paper,
            figures={each.id: each for each in paper.figures},
            drawings=drawings,
            courses=history.courses(changed, paper.key),
            curves=specifications.curves(paper),
            main_setting=OURS,
        )
        for paper in report.papers
    }
    printed = _render(
        "results_published.md.j2", report, level=published.LEVEL, gpu=GPU, assumed=plan.assumed()
    )
    return {
        INDEX: index.encode(),
        f"{PRINTED}.md": printed.encode(),
        **{name: text.encode() for name, text in papers.items()},
    }


def letters(report: Report) -> dict[str, bytes]:
    """File name -> the letter to a paper's authors, in Markdown: what holds, what does not and how sure that
    is, what was assumed, and what seems misprinted. Papers whose version is not named have none."""
    return {
        f"{paper.key}.md": _render(
            "letter.md.j2",
            report,
            paper=paper,
            authors=paper.bibtex.count(" and ") + 1,
            theirs=[claim for claim in paper.claims if _is_theirs(claim)],
            against=[
                claim
                for claim in paper.claims
                if _is_theirs(claim)
                and claim.verdict == "contradicted"
                and claim.ground != "reduced"  # it says little of the paper's networks
            ],
            assumed=list(_assumed(paper)),
        ).encode()
        for paper in report.papers
        if paper.version
    }


def _assumed(paper: Paper) -> Iterator[tuple[str, Setting]]:
    """Each value that we assumed, once, with an experiment that has it. What a tier reduces is left out:
    the reason is one for another value."""
    known: set[str] = set()
    for experiment in paper.experiments:
        reduced = {each.text.partition(":")[0] for each in experiment.departures}
        for each in experiment.assumptions:
            if each.text not in known and each.text.partition("=")[0] not in reduced:
                known.add(each.text)
                yield experiment.id, each


def _is_theirs(claim: Claim) -> bool:
    """Tells if a verdict is on the paper's own statement: on no misprint, which has its own place, and on no
    single number, which is one draw."""
    return claim.form != "ours" and not claim.erratum and claim.ground != "single numbers"


def findings(report: Report, folder: Path) -> str:
    """The findings in Markdown: a table of the outcomes of each paper's headlines, and a picture of its
    printed numbers.

    Args:
        folder: where the pages lie, from the file that shows it.
    """
    return _render("results_findings.md.j2", report, folder=folder, standings=STANDINGS, most=HEADLINES)


def in_readme(text: str, section: str, readme: Path) -> str:
    """A README with the findings between its marks.

    Raises:
        RepriseError: if a mark is missing.
    """
    begin, end = map(re.escape, MARKS)
    if not re.search(f"{begin}.*{end}", text, re.DOTALL):
        raise RepriseError(
            f"{readme}: lacks the lines {MARKS[0]} and {MARKS[1]}, between which results are written"
        )
    return re.sub(
        f"({begin}\n).*({end})", lambda match: f"{match[1]}{section}{match[2]}", text, flags=re.DOTALL
    )


def verdicts(report: Report) -> str:
    """All claims as CSV, one a row, numbers as they are."""
    rows = [
        {**{name: getattr(claim, name, None) for name in COLUMNS}, "claim": claim.id,
         "published": claim.published.value if claim.published else None}
        for paper in report.papers
        for claim in paper.claims
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS)).to_csv(
        index=False, lineterminator="\n", float_format="%.6g"
    )


def _facts(report: Report, root: Path) -> Mapping[str, str]:
    """Commits with their dates, hardware and versions of all runs."""
    facts: dict[str, set[str]] = {}
    for run in report.runs:
        for name in ("commit", "Python", "versions", "hardware"):
            said = run.facts[name]
            facts.setdefault(name, set()).update(said.split(", ") if name == "versions" else [said])
    dates = {commit: commit_date(commit, root) for commit in facts.get("commit", ())}
    if dates:
        facts["commit"] = {f"{commit} ({date})" if date else commit for commit, date in dates.items()}
    return {name: ", ".join(sorted(texts)) for name, texts in facts.items()}


def _drawings(report: Report, results: Path) -> dict[str, bytes]:
    """File name -> a figure as SVG, or as a smaller PNG if that is too large, or a table as CSV."""
    contents = {}
    for figure in (figure for paper in report.papers for figure in paper.figures if figure.files):
        if figure.kind == "table":
            contents[f"{figure.id}.csv"] = (results / figure.files["csv"]).read_bytes()
        elif len(svg := standalone(results / figure.files["svg"])) <= MOST_BYTES:
            contents[f"{figure.id}.svg"] = svg
        else:
            contents[f"{figure.id}.png"] = _smaller(results / figure.files["png"])
    for paper in report.papers:
        if specifications.curves(paper):
            contents[f"{paper.key}/specifications.png"] = specifications.drawn(paper)
    return contents


def _smaller(file: Path) -> bytes:
    with Image.open(file) as image:
        picture = image.convert("RGB")
    picture.thumbnail((WIDTH, WIDTH * picture.height), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(content, "png", optimize=True)
    return content.getvalue()


def _from_code(experiment: Experiment) -> list[str]:
    """The settings that a run has from the authors' code, because the text is silent or wrong, and why."""
    reduced = {re.split(r"[.:]", each.text)[0] for each in experiment.departures}
    return [
        f"{name} {field.default} ({field.description})" if isinstance(field.default, (int, float)) else name
        for name, field in registry.experiment(experiment.id).params.model_fields.items()
        if origin(field) == "code" and name not in reduced
    ]


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _render(template: str, report: Report, **values: Any) -> str:
    made = environment(keep_trailing_newline=True)
    made.filters |= {
        "cell": wording.cell,
        "by_standing": by_standing,
        "beyond_headlines": beyond_headlines,
        "anchor": _anchor,
        "from_code": _from_code,
        "mark_of": SYMBOLS.get,
        "measured": wording.measured,
        "agreement": wording.agreement,
    }
    claims = {claim.id: claim for paper in report.papers for claim in paper.claims}
    made.filters["code"] = lambda claim: (
        f"{UP}/{claim.code.file}#L{claim.code.line}" if claim.code.path else ""
    )
    return made.get_template(template).render(
        report=report, claims=claims, verdicts=VERDICTS, long_table=LONG_TABLE, **values
    )
