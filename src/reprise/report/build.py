"""From a tier's verdicts, results and drawings to the report's structure."""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image

from reprise.errors import RepriseError
from reprise.evidence.claims import Claim as Definition
from reprise.evidence.claims import Tables
from reprise.evidence.errata import Erratum as Found
from reprise.evidence.judgement import VERDICTS, Verdict, observe
from reprise.evidence.statistics import mean_interval, quantile
from reprise.evidence.verdicts import (
    CERTAIN,
    GROUNDS,
    error_rates,
    false_discoveries,
    ground,
    known_false,
    split,
    summary,
)
from reprise.execute import pipeline, registry
from reprise.execute.registry import Paper as Registered
from reprise.execute.tiers import Tier
from reprise.report.contents import Contents, mentions, same_item
from reprise.report.formulas import mathml
from reprise.report.numbers import number, percent
from reprise.report.places import Checkout
from reprise.report.runs import minutes, runs, shared
from reprise.report.schema import (
    Claim,
    Count,
    Discovery,
    Errata,
    Erratum,
    ErrorRate,
    Experiment,
    Figure,
    Findings,
    Headline,
    Paper,
    Printed,
    Published,
    Reading,
    Recorded,
    Report,
    Run,
    Setting,
)
from reprise.study.experiment import BASE, Artifact
from reprise.study.settings import Settings, assumptions, departures

Row = Mapping[str, Any]

FINDINGS = 10
"""Of each sort on the first page."""
MOST_VALUES = 50
"""Observations that are still shown one by one."""
AVERAGED = ("value", "ordering", "trend", "limit", "count")
"""The types of statement with an observation a seed."""


def build(tier: Tier, claims: pd.DataFrame, others: Sequence[tuple[Recorded, Mapping[str, str]]]) -> Report:
    """The report of a tier.

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.
        others: the recorded runs to show, each with claim -> its verdict there, in one line.

    Raises:
        RepriseError: if a result, figure or benchmark is damaged.
    """
    fresh = runs(tier)
    lines = [lines for _, lines in others]
    rows = [{str(name): cell for name, cell in row.items()} for row in claims.to_dict("records")]
    papers = [
        _Builder(tier, paper, [row for row in rows if row["paper"] == paper.key], fresh, lines).paper()
        for paper in registry.in_order()
    ]
    return Report(
        format=1,
        tier=tier.name,
        config=tier.hash,
        grounds=GROUNDS,
        papers=papers,
        counts=counts(claims),
        discoveries=[Discovery(**{**row, "rate": _finite(row["rate"])}) for row in false_discoveries(claims)],
        error_rates=[
            ErrorRate(
                kind=str(kind),  # type: ignore[arg-type]
                claims=int(rates["claims"]),
                **{name: _finite(rates[name]) for name in rates.index if name != "claims"},
            )
            for kind, rates in error_rates(claims).iterrows()
        ],
        printed=_printed(papers),
        findings=_findings(papers),
        runs=list(fresh.values()),
        shared=shared(fresh.values()),
        recorded=[recorded for recorded, _ in others],
    )


def counts(claims: pd.DataFrame) -> list[Count]:
    """How many verdicts there are of each sort, by paper and ground."""
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
    """Of one paper's part."""

    tier: Tier
    registered: Registered
    rows: Sequence[Row]
    fresh: Mapping[str, Run]
    lines: Sequence[Mapping[str, str]]
    """Of each recorded run."""

    def paper(self) -> Paper:
        figures = [self._figure(artifact) for artifact in self.registered.artifacts.values()]
        verdicts = {row["claim"]: row["verdict"] for row in self.rows}
        contents = Contents(self.registered, figures, self._about, verdicts)
        claims = [self._claim(row, contents) for row in self.rows]
        return Paper(
            key=self.registered.key,
            title=self.registered.title,
            bibtex=self.registered.bibtex,
            minutes=minutes(self.tier, self.registered.key, self.fresh),
            headlines=[
                self._headline(phrase, ids, verdicts) for phrase, ids in self.registered.headlines.items()
            ],
            experiments=[self._experiment(id) for id in self.registered.experiments],
            sections=contents.sections,
            figures=figures,
            claims=claims,
            errata=errata_lists(self.registered),
            coverage=contents.coverage,
        )

    @cached_property
    def _checkout(self) -> Checkout:
        return Checkout(self.tier.root, self.tier.results)

    @cached_property
    def _about(self) -> dict[str, list[str]]:
        """Artifact -> the claims about it: by their ids, their sources, or a line of artifacts.csv that names
        both."""
        listed = [set(entry["covered_by"].split()) for entry in self.registered.coverage]
        named = {row["claim"]: mentions(f"{row['artifact']} {row['source']}") for row in self.rows}
        return {
            id: [
                claim
                for claim, places in named.items()
                if any({claim, id} <= names for names in listed)
                or any(same_item(a, b) for a in places for b in mentions(artifact.number))
            ]
            for id, artifact in self.registered.artifacts.items()
        }

    # Experiments.

    def _experiment(self, id: str) -> Experiment:
        params = self.tier.params[id]
        return Experiment(
            id=id,
            command=pipeline.how_to_make(id, self.tier),
            minutes=self.fresh[id].minutes if id in self.fresh else None,
            has_run=id in self.fresh,
            departures=[_setting(params, text) for text in departures(params)],
            assumptions=[_setting(params, text) for text in assumptions(params)],
            looked=self.tier.looked.get(id, ""),
        )

    @cached_property
    def _tables(self) -> dict[str, Tables]:
        """The tables of each experiment that has run, in its own setting."""
        return {
            id: split(pipeline.load(id, self.tier)[0], (BASE,))[BASE]
            for id, experiment in self.registered.experiments.items()
            if id in self.fresh and experiment.claims
        }

    # Claims.

    def _claim(self, row: Row, contents: Contents) -> Claim:
        id = row["claim"]
        definition, experiment = self.registered.claims[id]
        about = [erratum for erratum in self.registered.errata if id in erratum.shown_by]
        values = self._values(row, definition)
        printed = _published(row) if id in self._printed else None
        own_low, own_high = _own_interval(row, values, definition)
        counter_case = self._checkout.counter_case(id)
        module = f"{experiment.module}.claims" if experiment else f"reprise.papers.{row['paper']}.printed"
        return Claim(
            id=id,
            kind=row["kind"],
            statement=row["statement"],
            quotations=contents.quotations(id),
            source=row["source"],
            form=row["form"],
            erratum=row["erratum"],
            reading=row["reading"],
            verdict=row["verdict"],
            reason=row["reason"],
            ground=ground(row),
            unit=row["unit"],
            relation=row["relation"],
            reference=_finite(row["reference"]),
            margin=_finite(row["margin"]),
            published=printed,
            target=_finite(row["published"]) if printed is None else None,
            observed=_finite(row["observed"]),
            low=_finite(row["low"]),
            high=_finite(row["high"]),
            own_low=own_low,
            own_high=own_high,
            seeds=int(row["seeds"]),
            sample=_sample(row),
            values=values,
            cells=_readings(row["cells"]),
            settings=_readings(row["settings"]),
            is_one_scale=_is_one_scale(definition),
            robust=_is_robust(row),
            checks=_checks(row, about, self._verdicts),
            verdict_half_margin=row["verdict_half_margin"],
            verdict_twice_margin=row["verdict_twice_margin"],
            fragile=row["fragile"],
            **{
                name: _finite(row[name])
                for name in (
                    "false_reproduced", "false_contradicted", "power_half", "power_twice", "p_value",
                )
            },
            looked=row["looked"],
            departures=_split(row["departures"]),
            assumptions=_split(row["assumptions"]),
            experiment=experiment.id if experiment else "",
            tables=f"{experiment.id}/" if experiment and experiment.id in self.fresh else "",
            figures=[artifact for artifact, ids in self._about.items() if id in ids],
            errata=[erratum.id for erratum in about],
            corrections=[erratum.corrected for erratum in about] if known_false(row) else [],
            recorded=[lines[id] for lines in self.lines if id in lines],
            code=self._checkout.claim(id, row["statement"], module),
            counter_case=counter_case,
            command=self._command(experiment.id if experiment else ""),
            minutes=self.fresh[experiment.id].minutes if experiment and experiment.id in self.fresh else None,
        )  # fmt: skip

    def _command(self, experiment: str) -> str:
        judged = f"reprise check {self.registered.key} --tier {self.tier.name}"
        if not experiment or self.tier.is_recorded:
            return judged
        return f"{pipeline.how_to_make(experiment, self.tier)} && {judged}"

    @cached_property
    def _verdicts(self) -> dict[str, str]:
        return {row["claim"]: row["verdict"] for row in self.rows}

    @cached_property
    def _printed(self) -> set[str]:
        """The claims about a number that the paper prints in the place that they name, one a number."""
        table = self.registered.published()
        claims: set[str] = set()
        for printed in table.to_dict("records") if len(table) else []:
            places, std = mentions(printed["artifact"]), _finite(printed.get("std"))
            for row in self.rows:
                named = mentions(f"{row['artifact']} {row['source']}")
                is_its_number = (row["published"], _finite(row["published_std"])) == (printed["value"], std)
                is_its_place = any(same_item(a, b) for a in places for b in named)
                if is_its_number and is_its_place and row["claim"] not in claims:
                    claims.add(row["claim"])
                    break
        return claims

    def _values(self, row: Row, definition: Definition) -> list[float]:
        experiment = self.registered.claims[row["claim"]][1]
        if row["verdict"] == "not run" or definition.kind not in AVERAGED or definition.cells:
            return []
        if experiment is None or experiment.id not in self._tables:
            return []
        values = observe(definition, self._tables[experiment.id]).values  # noqa: PD011
        return [float(value) for value in values] if len(values) <= MOST_VALUES else []

    def _headline(self, phrase: str, ids: Sequence[str], verdicts: Mapping[str, Verdict]) -> Headline:
        having = [verdicts[id] for id in ids]
        order: tuple[Verdict, ...] = ("contradicted", "depends", "inconclusive", "not run", "reproduced")
        main = next(verdict for verdict in order if verdict in having)
        if set(having) == {"not run"}:
            needed = _published_sets(self.registered, ids)[1]
            words = f"needs {', '.join(needed)}" if needed else "not run"
        elif len(set(having)) == 1:
            words = {"depends": "depends on what the paper leaves open"}.get(main, str(main))
        else:
            words = f"holds in {having.count('reproduced')} of {len(having)}"
        if any(row["claim"] in ids and row["scale"] == "reduced" for row in self.rows):
            words += ", at reduced scale"
        return Headline(phrase=phrase, verdict=words, main=main, claims=list(ids))

    # Figures and tables.

    def _figure(self, artifact: Artifact) -> Figure:
        endings = ("pdf", "png") if artifact.kind == "figure" else ("csv", "md")
        files = {ending: self.tier.figures / f"{artifact.id}.{ending}" for ending in endings}
        has_run = artifact.experiment in self.fresh
        again = f"reprise draw {artifact.id} --tier {self.tier.name}"
        content: dict[str, Any] = {"width": 0, "height": 0, "columns": [], "rows": []}
        main = files["png" if artifact.kind == "figure" else "csv"]
        drawn = has_run and main.is_file()
        if drawn:
            content |= _size(main, again) if artifact.kind == "figure" else _table(main, again)
        first = [] if has_run else [pipeline.how_to_make(artifact.experiment, self.tier)]
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
            code=self._checkout.figure(artifact),
            claims=self._about[artifact.id],
            commands=[] if drawn else [*first, again],
            **content,
        )


def _size(file: Path, again: str) -> dict[str, int]:
    """The width and height of a PNG, which must be whole."""
    try:
        with Image.open(file) as image:
            image.load()
            return {"width": image.width, "height": image.height}
    except (OSError, SyntaxError) as error:
        raise RepriseError(
            f"{file}: damaged, not a whole PNG ({error}); make it again with: {again}"
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
    """A line of `departures` or `assumptions`, with what the parameter's field says of it."""
    name = re.split(r"[.:=]", text)[0]
    return Setting(text=text, why=type(params).model_fields[name].description or "")


def errata_lists(paper: Registered) -> Errata:
    """A paper's errata: misprints, and errors that change a result."""
    return Errata(
        misprints=[_erratum(erratum) for erratum in paper.errata if not erratum.changes_result],
        changing_results=[_erratum(erratum) for erratum in paper.errata if erratum.changes_result],
    )


def _erratum(erratum: Found) -> Erratum:
    return Erratum(
        id=erratum.id,
        kind=erratum.kind,
        where=erratum.where,
        printed=erratum.printed,
        corrected=erratum.corrected,
        printed_mathml=mathml(erratum.printed_formula) if erratum.printed_formula else "",
        corrected_mathml=mathml(erratum.corrected_formula) if erratum.corrected_formula else "",
        shown_by=list(erratum.shown_by),
    )


# A claim's numbers.


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def _split(joined: str) -> list[str]:
    return joined.split("; ") if joined else []


def _sample(row: Row) -> str:
    return {
        "identity": "points", "inequality": "points", "printed": "printed numbers", "always": "runs",
        "given": "cases",
    }.get(row["kind"], "seeds")  # fmt: skip


def _readings(joined: str) -> list[Reading]:
    """The cells or settings of a claim, from the JSON of its row."""
    numbers = ("observed", "low", "high", "reference")
    return [
        Reading(name=each["name"], verdict=each["verdict"], **{key: _finite(each[key]) for key in numbers})
        for each in (json.loads(joined) if joined else [])
    ]


def _published(row: Row) -> Published:
    """What the paper prints, with the interval of its mean."""
    value, std, n = float(row["published"]), _finite(row["published_std"]), _finite(row["published_n"])
    half = None
    if std is not None and n is not None and n > 1:
        half = float(quantile(n - 1, 0.95)) * std / math.sqrt(n)
    return Published(
        value=value,
        std=std,
        n=None if n is None else int(n),
        low=None if half is None else value - half,
        high=None if half is None else value + half,
    )


def _own_interval(row: Row, values: Sequence[float], definition: Definition) -> tuple[Any, Any]:
    """The interval of our own mean, where the one that decides holds the paper's spread as well."""
    low, high = _finite(row["low"]), _finite(row["high"])
    if math.isnan(row["published_std"]) or len(values) < 2 or low is None:
        return low, high
    own = mean_interval(values)
    least, most = definition.bounds
    return max(least, own.low), min(most, own.high)


def _is_one_scale(definition: Definition) -> bool:
    cells = definition.cells.values()
    return not any(cell.cells for cell in cells) and len({(c.relation, c.unit, c.kind) for c in cells}) <= 1


def _is_robust(row: Row) -> bool:
    """Whether a contradiction rests on no choice of ours: nor on the settings, the margin, or one seed. A
    misprint is none, because it is plain what was meant."""
    others = {reading.verdict for reading in _readings(row["settings"])}
    return (
        row["verdict"] == row["verdict_twice_margin"] == "contradicted"
        and others <= {"contradicted"}
        and not row["fragile"]
        and row["erratum"] != "typo"
        and row["form"] != "ours"
    )


def _checks(row: Row, about: Iterable[Found], verdicts: Mapping[str, str]) -> list[str]:
    """What speaks against an error of ours, of a contradiction."""
    if row["verdict"] != "contradicted":
        return []
    checks = []
    others = [reading.verdict for reading in _readings(row["settings"])]
    if others and set(others) == {"contradicted"}:
        checks.append(f"contradicted in all {len(others)} other settings of what the paper leaves open")
    if row["margin"] > 0 and row["verdict_twice_margin"] == "contradicted":
        checks.append("contradicted at twice the margin too")
    if row["kind"] not in CERTAIN:
        if not row["fragile"]:
            checks.append("no single seed, and no last bits, would change the verdict")
        if not math.isnan(row["false_contradicted"]):
            rate = percent(row["false_contradicted"])
            checks.append(f"if the statement were true, the rule would contradict it in {rate} of draws")
    if row["kind"] == "identity":
        checks.append(f"computed in float64 at {int(row['seeds'])} random points and sizes")
    for erratum in about:
        for id in erratum.shown_by:
            if id != row["claim"] and verdicts.get(id) == "reproduced":
                checks.append(f"on the same numbers the corrected form holds: {id}")
    return checks


# What stands on the first page.


def _findings(papers: Sequence[Paper]) -> Findings:
    def firmest(selected: Callable[[Claim], bool]) -> list[str]:
        """Of each paper in turn, one of a figure, table or theorem."""
        order = list(GROUNDS)
        by_paper = []
        for paper in papers:
            first: dict[str, Claim] = {}
            for claim in sorted(
                filter(selected, paper.claims),
                key=lambda claim: (order.index(claim.ground), -len(claim.settings), claim.id),
            ):
                first.setdefault(claim.id.rpartition("/")[0], claim)
            by_paper.append(first.values())
        turns = zip_longest(*by_paper)
        return [claim.id for turn in turns for claim in turn if claim is not None][:FINDINGS]

    return Findings(
        robust=firmest(lambda claim: claim.robust),
        depends=firmest(lambda claim: claim.verdict == "depends"),
    )


def _printed(papers: Sequence[Paper]) -> Printed:
    """How many of the printed numbers have been compared, and how many need a run as published."""
    waiting, sets = 0, set()
    for paper in papers:
        not_run = [claim.id for claim in paper.claims if claim.published and claim.verdict == "not run"]
        number, names = _published_sets(registry.paper(paper.key), not_run)
        waiting += number
        sets |= set(names)
    return Printed(
        numbers=sum(len(registry.paper(paper.key).published()) for paper in papers),
        compared=sum(
            claim.published is not None and claim.verdict != "not run"
            for paper in papers
            for claim in paper.claims
        ),
        waiting=waiting,
        data_sets=sorted(sets),
        command="make reproduce TIER=paper",
    )


def _published_sets(paper: Registered, ids: Iterable[str]) -> tuple[int, list[str]]:
    """How many of these claims only a run as published decides, and its data sets."""
    needing = [experiment for claim, experiment in (paper.claims[id] for id in ids) if claim.needs]
    names: dict[str, None] = {}
    for experiment in needing:
        fields = experiment.params.model_fields if experiment else {}
        names |= dict.fromkeys([str(fields["data_set"].default)] if "data_set" in fields else [])
        names |= dict.fromkeys(map(str, fields["data_sets"].default) if "data_sets" in fields else [])
    return len(needing), list(names)
