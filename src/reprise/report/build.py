"""The report's structure, built from a tier's verdicts, results and drawings.

A drawing is shown if its experiment's results are up to date and its files are there. If these are not what
the present code draws from the present tables (they are stale, damaged, or were put there by hand), they are
drawn again first. Of stale results only the commands that make them are shown.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from reprise.contract.experiment import Artifact
from reprise.contract.settings import Settings, assumptions, departures
from reprise.engine import registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.engine.draw import Drawing
from reprise.engine.registry import Paper as Registered
from reprise.errors import RepriseError
from reprise.evidence.errata import Erratum as Found
from reprise.evidence.judgement import VERDICTS
from reprise.evidence.verdicts import GROUNDS, false_discoveries, summary
from reprise.ledger import frozen
from reprise.ledger.recorded import described
from reprise.report.claims import Claims, Row, marked
from reprise.report.contents import Contents, claims_about
from reprise.report.findings import caveats, findings, printed
from reprise.report.formulas import mathml
from reprise.report.numbers import finite, number
from reprise.report.published import PrintedNumbers
from reprise.report.runs import minutes, runs, shared
from reprise.report.schema import (
    Attempt,
    CodeLine,
    Count,
    Discovery,
    Erratum,
    Experiment,
    Figure,
    Headline,
    Paper,
    Provenance,
    Recorded,
    Report,
    Setting,
)
from reprise.report.vector import Foreign, parsed, values
from reprise.report.wording import TEST


def build(tier: Tier, claims: pd.DataFrame, others: Sequence[tuple[Recorded, Mapping[str, str]]]) -> Report:
    """The report of a tier.

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.
        others: the recorded runs to show, each with claim -> its verdict there, in one line.

    Raises:
        RepriseError: if a result, figure or benchmark is damaged.
    """
    fresh, claims = runs(tier), marked(tier, claims)
    lines = [lines for _, lines in others]
    rows = [{str(name): cell for name, cell in row.items()} for row in claims.to_dict("records")]
    papers = [
        _Builder(tier, paper, [row for row in rows if row["paper"] == paper.key], fresh, lines).paper()
        for paper in registry.in_order()
    ]
    return Report(
        format=3,
        tier=tier.in_commands,
        source=described(tier, fresh) if tier.is_recorded else "",
        config=tier.hash,
        banner=TEST if tier.is_test else "",
        attempts=attempts(tier),
        grounds=GROUNDS,
        papers=papers,
        counts=counts(claims),
        discoveries=[Discovery(**{**row, "rate": finite(row["rate"])}) for row in false_discoveries(claims)],
        printed=printed(papers),
        findings=findings(papers),
        runs=list(fresh.values()),
        shared=shared(fresh.values()),
        recorded=[recorded for recorded, _ in others],
    )


def attempts(tier: Tier) -> list[Attempt]:
    """A tier's attempts in the order of the ledger, but those that confirmed all of their claims last."""
    attempts = [
        Attempt(
            **{
                name: getattr(each, name)
                for name in ("experiment", "number", "phrase", "confirmation", "first_seed", "commit")
            },
            level=each.alpha,
            claims=len(each.claims),
            marks=None if found is None else frozen.sorted_by_mark(each, found),
        )
        for each, found in frozen.of_tier(tier)
    ]
    return sorted(attempts, key=lambda each: each.marks is not None and not each.marks.keys() - {"confirmed"})


def counts(claims: pd.DataFrame) -> list[Count]:
    """Counts of verdicts of each sort, by paper and ground."""
    return [
        Count(
            paper=row["paper"],
            ground=row["ground"],
            verdicts={verdict: row[verdict] for verdict in VERDICTS},
        )
        for row in summary(claims).to_dict("records")
    ]


@dataclass(frozen=True)
class _Builder:
    """Builds one paper's part."""

    tier: Tier
    registered: Registered
    rows: Sequence[Row]
    fresh: Mapping[str, Provenance]
    lines: Sequence[Mapping[str, str]]
    """Claim -> its verdict in one line, for each recorded run."""

    def paper(self) -> Paper:
        figures = [self._figure(artifact) for artifact in self.registered.artifacts.values()]
        verdicts = {row["claim"]: row["verdict"] for row in self.rows}
        contents = Contents(self.registered, figures, verdicts)
        stated = Claims(self.tier, self.registered, self.rows, self.fresh, self.lines)
        claims = [stated.claim(row, contents.quotations(row["claim"])) for row in self.rows]
        by_id = {claim.id: claim for claim in claims}
        deciding = {id for _, id in self.registered.headlines}
        return Paper(
            key=self.registered.key,
            title=self.registered.title,
            bibtex=self.registered.bibtex,
            version=self.registered.version,
            url=address(self.registered.version),
            minutes=minutes(self.registered, self.tier, self.fresh),
            headlines=[
                Headline(quotation=quotation, claim=id, caveats=caveats(id, claims, deciding))
                for quotation, id in self.registered.headlines
            ],
            experiments=[
                self._experiment(each) for each in map(self.tier.experiment, self.registered.experiments)
            ],
            sections=contents.sections,
            figures=figures,
            claims=claims,
            numbers=PrintedNumbers(self.tier, self.registered, by_id).all(),
            errata=sorted(map(_erratum, self.registered.errata), key=lambda each: not each.changes_result),
            coverage=contents.coverage,
        )

    @cached_property
    def _about(self) -> dict[str, list[str]]:
        return claims_about(self.registered, [row["claim"] for row in self.rows])

    # Experiments.

    def _experiment(self, configured: ConfiguredExperiment) -> Experiment:
        id, params = configured.id, configured.params
        return Experiment(
            id=id,
            command=configured.how_to_make,
            minutes=self.fresh[id].minutes if id in self.fresh else None,
            has_run=id in self.fresh,
            departures=[_setting(params, text) for text in departures(params)],
            assumptions=[_setting(params, text) for text in assumptions(params)],
            older=configured.older() if id in self.fresh else "",
            looked=configured.looked,
        )

    # Claims.

    # Figures and tables.

    def _figure(self, artifact: Artifact) -> Figure:
        drawing = Drawing(artifact, self.tier)
        files, again = drawing.files, drawing.how_to_draw
        has_run = artifact.experiment in self.fresh
        content: dict[str, Any] = {"width": 0, "height": 0, "columns": [], "rows": []}
        shown = ("svg", "png") if artifact.kind == "figure" else ("csv",)
        drawn = has_run and (self.tier.is_recorded or all(files[ending].is_file() for ending in shown))
        drawn = drawn and _is_kept_current(drawing)
        if drawn and artifact.kind == "figure":
            content |= _size(files, again)
        elif drawn:
            content |= _table(files["csv"], again)
        first = [] if has_run else [drawing.experiment.how_to_make]
        return Figure(
            id=artifact.id,
            number=artifact.number,
            kind=artifact.kind,
            caption=artifact.caption,
            experiment=artifact.experiment,
            files={
                ending: os.path.relpath(file, self.tier.results)
                for ending, file in files.items()
                if drawn and file.is_file()
            },
            code=CodeLine.of(artifact.code, self.tier.root, self.tier.results),
            claims=self._about[artifact.id],
            commands=[] if drawn else [*first, again],
            **content,
        )


def address(version: str) -> str:
    """The address of a version on arXiv, from its words; empty where they name none."""
    found = re.search(r"\barXiv:(\d{4}\.\d{4,5}(?:v\d+)?)\b", version)
    return f"https://arxiv.org/abs/{found[1]}" if found else ""


def _is_kept_current(drawing: Drawing) -> bool:
    """Draws a figure or table again unless its files are up to date; returns whether they are now, which
    tables of an older version of the experiment may not allow."""
    try:
        drawing.keep_current()
    except RepriseError:
        if not drawing.experiment.older():
            raise
        return False
    return True


def _size(files: Mapping[str, Path], again: str) -> dict[str, int]:
    """The width and height of a figure's PNG; its files must be whole, and hold what a drawing writes."""
    for ending, read in (("svg", parsed), ("csv", values)):
        try:
            read(files[ending])
        except (OSError, SyntaxError, Foreign) as error:
            problem = str(error) if isinstance(error, Foreign) else f"damaged, not a whole SVG ({error})"
            raise RepriseError(f"{files[ending]}: {problem}; make it again with: {again}") from None
    try:
        with Image.open(files["png"]) as image:
            image.load()
            return {"width": image.width, "height": image.height}
    except (OSError, SyntaxError) as error:
        raise RepriseError(
            f"{files['png']}: damaged, not a whole PNG ({error}); make it again with: {again}"
        ) from None


def _table(file: Path, again: str) -> dict[str, Any]:
    try:
        table = pd.read_csv(file)
    except (ValueError, OSError) as error:
        raise RepriseError(f"{file}: damaged, not CSV ({error}); make it again with: {again}") from None
    rows = [[_cell(value) for value in row] for row in table.itertuples(index=False, name=None)]
    return {"columns": [str(column) for column in table.columns], "rows": rows}


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _setting(params: Settings, text: str) -> Setting:
    """A line of `departures` or `assumptions`, with the description of the parameter's field."""
    name = re.split(r"[.:=]", text)[0]
    return Setting(text=text, why=type(params).model_fields[name].description or "")


def _erratum(erratum: Found) -> Erratum:
    return Erratum(
        id=erratum.id,
        kind=erratum.kind,
        changes_result=erratum.changes_result,
        where=erratum.where,
        printed=erratum.printed,
        corrected=erratum.corrected,
        printed_mathml=mathml(erratum.printed_formula) if erratum.printed_formula else "",
        corrected_mathml=mathml(erratum.corrected_formula) if erratum.corrected_formula else "",
        shown_by=erratum.shown_by,
    )
