"""A claim, or a figure or table, as a card in the terminal: what the paper says, what was found, and where
each thing lies."""

import json
import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.errors import RepriseError, unknown
from reprise.evidence.claims import Claim
from reprise.evidence.judgement import ABOUT_EACH, observe
from reprise.evidence.statistics import LEVEL
from reprise.evidence.verdicts import ground, judge_all, known_false, setting
from reprise.execute import pipeline, registry
from reprise.execute.registry import Experiment, Paper
from reprise.execute.tiers import Tier
from reprise.report.numbers import duration
from reprise.report.places import Checkout
from reprise.storage import store
from reprise.study.experiment import BASE, Artifact, Tables

LABEL = 16
"""Width of the labels."""
MOST_DIGITS = 6
"""Of a number that is known more precisely."""
SHOWN = 12
"""Seeds whose values are shown one by one."""

Line = tuple[str, str]
"""A label, or nothing below another line of the same label, and a text."""


def card(id: str, tier: Tier, width: int = 100) -> str:
    """The card of a claim, figure or table.

    Args:
        width: of the lines, in characters.

    Raises:
        RepriseError: for an unknown id.
    """
    if id in registry.artifacts():
        return _set(id, _artifact_lines(registry.artifact(id), tier), width)
    if id in registry.claims():
        claim, experiment = registry.claims()[id]
        return _set(id, _claim_lines(claim, experiment, tier), width)
    key = id.split("/")[0]
    known = [*registry.claims(), *registry.artifacts()]
    where = f" {key}" if key in registry.papers() else ""
    raise unknown("claim, figure or table", id, known, f"list them with: reprise list{where} --claims")


def _set(title: str, lines: Iterable[Line], width: int) -> str:
    rows = [title]
    for label, text in lines:
        folded = textwrap.wrap(text, max(20, width - LABEL), break_long_words=False, break_on_hyphens=False)
        for number, part in enumerate(folded or [""]):
            rows.append(f"{'' if number else label:{LABEL}}{part}".rstrip())
    return "\n".join(rows)


# Claims.


def _claim_lines(claim: Claim, experiment: Experiment | None, tier: Tier) -> Iterator[Line]:
    paper = registry.paper(claim.paper)
    tables, row = _judged(claim, experiment, paper, tier)
    yield "says", claim.statement
    for entry in _entries(paper, claim.id):
        yield "in the paper", f"{entry['item']} ({entry['section']})"
    yield "source", claim.source
    yield "verdict", ": ".join(filter(None, (row["verdict"], row["reason"])))
    if row["verdict"] != "not run":
        yield "ground", ground(row) + (f" ({row['departures']})" if row["departures"] else "")
    if not math.isnan(row["observed"]):
        yield "observed", f"{measured(row)} {row['unit']}{_interval_of(row)}"
    if not math.isnan(row["published"]):
        spread = "" if math.isnan(row["published_std"]) else f" ± {number(row['published_std'])}"
        repeats = "" if math.isnan(row["published_n"]) else f", {number(row['published_n'])} repetitions"
        yield "published", f"{number(row['published'])}{spread} {row['unit']}{repeats}"
    if not math.isnan(row["reference"]):
        yield "holds if", f"{row['relation']} {number(row['reference'])}{_origin(claim, row)}"
    if row["margin"] > 0:
        yield "margin", number(row["margin"])
    if row["seeds"]:
        yield _noun(claim), _values(claim, tables, row)
    yield from _readings("cells", row["cells"], claim.kind)
    yield from _readings("other settings", row["settings"], claim.kind)
    notes = {
        "assumptions": "assumptions",
        "reading": "reading",
        "fragile": "fragile",
        "looked": "after a look",
    }
    for name, label in notes.items():
        if row[name]:
            yield label, row[name]
    for erratum in (each for each in paper.errata if claim.id in each.shown_by):
        yield "erratum", f"{erratum.where}: printed {erratum.printed}; corrected {erratum.corrected}"
        if known_false(row):
            yield "", "known to be false as printed"
    about = [artifact for artifact in paper.artifacts.values() if _shows(artifact, claim, paper)]
    for artifact in about:
        yield "figure" if artifact.kind == "figure" else "table", _drawn(artifact, tier)
    yield from _files(claim, experiment, tables, tier)
    yield "written in", _place(claim, experiment, tier)
    yield "run it again", _commands(claim, experiment, tier)


def _judged(
    claim: Claim, experiment: Experiment | None, paper: Paper, tier: Tier
) -> tuple[Tables | None, Mapping[str, Any]]:
    """The tables that a claim reads, if they are here and fresh, and its row of the table of verdicts."""
    tables, params, missing, looked = None, None, "", ""
    if experiment is None:
        tables = {"published": paper.published().assign(setting=BASE)} if claim in paper.printed else None
    elif not pipeline.has_results(experiment.id, tier):
        missing = f"no results; compute them with: {pipeline.how_to_make(experiment.id, tier)}"
    else:
        looked = tier.looked.get(experiment.id, "")
        try:
            tables, params = pipeline.load(experiment.id, tier)
        except RepriseError as error:
            missing = str(error)
    (row,) = judge_all([claim], tables, params, missing=missing, looked=looked).to_dict("records")
    return tables, {str(name): value for name, value in row.items()}


def _entries(paper: Paper, id: str) -> list[dict[str, str]]:
    """The lines of the paper's artifacts.csv that name an id."""
    return [entry for entry in paper.coverage if id in entry["covered_by"].split()]


def number(value: float, uncertainty: float = math.nan) -> str:
    """A number to two digits of its uncertainty, or to three of its own where that is not known."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    size = math.floor(math.log10(abs(value)))
    if not uncertainty > 0:
        return f"{value:.0f}" if 3 <= size < 7 else f"{value:.3g}"
    places = min(1 - math.floor(math.log10(uncertainty)), MOST_DIGITS - 1 - size)
    if not -4 <= size < 7:
        return f"{value:.{max(0, places + size)}e}"
    return f"{round(value, places):.{max(0, places)}f}"


def measured(row: Mapping[str, Any]) -> str:
    """What was observed, with its interval, to two digits of that; or with the range of all observations."""
    observed, low, high = (
        math.nan if row[name] is None else row[name] for name in ("observed", "low", "high")
    )
    half = math.nan if row["kind"] in ABOUT_EACH else (high - low) / 2
    shown = [number(value, half) for value in (observed, low, high)]
    return shown[0] if math.isnan(low) else f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _interval_of(row: Mapping[str, Any]) -> str:
    if math.isnan(row["low"]):
        return ""
    if row["kind"] in ABOUT_EACH:
        return " (the one that counts, and the range of all)"
    level = "in all cells together " if row["cells"] else ""
    return f" ({100 * LEVEL:g} % interval {level})".replace(" )", ")")


def _origin(claim: Claim, row: Mapping[str, Any]) -> str:
    """Whose number an observation is compared with, unless it is the published one."""
    if callable(claim.reference):
        return " (measured in the same run)"
    if claim.kind in ("identity", "inequality"):
        return " (more is not rounding)"
    return " (target implied: the paper prints no number)" if math.isnan(row["published"]) else ""


def _noun(claim: Claim) -> str:
    nouns = {"identity": "points", "inequality": "points", "always": "runs", "given": "cases"}
    return nouns.get(claim.kind, "numbers" if claim.kind == "printed" else "seeds")


def _values(claim: Claim, tables: Tables | None, row: Mapping[str, Any]) -> str:
    count = f"{int(row['seeds'])}"
    if claim.cells or tables is None or not 0 < row["seeds"] <= SHOWN:
        return count
    values = observe(claim, setting(tables, BASE)).values  # noqa: PD011
    return f"{count}: {', '.join(number(float(value)) for value in values)}" if len(values) else count


def _readings(label: str, joined: str, kind: str) -> Iterator[Line]:
    for index, each in enumerate(json.loads(joined) if joined else ()):
        reference = "" if each.get("reference") is None else f", against {number(each['reference'])}"
        yield (
            "" if index else label,
            f"{each['verdict']}: {each['name']}: {measured({**each, 'kind': kind})}{reference}",
        )


# Places.


class _Read(dict[str, pd.DataFrame]):
    """Tables that note which of them were read."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.names.add(name)
        return super().__getitem__(name)


def _files(claim: Claim, experiment: Experiment | None, tables: Tables | None, tier: Tier) -> Iterator[Line]:
    """The files of the tables that a claim reads."""
    if experiment is None or tables is None:
        return
    read = _Read(setting(tables, BASE))
    for cell in claim.cells.values() or [claim]:
        observe(cell, read)
    for index, name in enumerate(sorted(read.names)):
        yield "" if index else "table file", _shown(tier.results / experiment.id / f"{name}.parquet", tier)


def _shown(file: Path, tier: Tier) -> str:
    return str(file.relative_to(tier.root))


def _drawn(artifact: Artifact, tier: Tier) -> str:
    """Where a figure or table lies, or the command that draws it."""
    file = tier.figures / f"{artifact.id}.{'pdf' if artifact.kind == 'figure' else 'csv'}"
    how = _shown(file, tier) if file.is_file() else f"reprise draw {artifact.id} --tier {tier.name}"
    return f"{artifact.number}, {artifact.id}: {how}"


def _shows(artifact: Artifact, claim: Claim, paper: Paper) -> bool:
    """Whether a figure or table shows what a claim is about: a line of artifacts.csv names both, or the claim
    bears the figure's number."""
    listed = any({artifact.id, claim.id} <= set(entry["covered_by"].split()) for entry in paper.coverage)
    figure, stated = (re.sub(r"(?<=[a-z])0+(?=\d)", "", id) for id in (artifact.id, claim.artifact))
    return listed or re.fullmatch(rf"{re.escape(stated)}(?!\d)\w*", figure) is not None


def _place(claim: Claim, experiment: Experiment | None, tier: Tier) -> str:
    """The file and line of the text that a claim's id is made of, or the file alone."""
    module = f"{experiment.module}.claims" if experiment else f"{registry.ROOM}.{claim.paper}.printed"
    place = Checkout(tier.root, tier.root).claim(claim.id, claim.statement, module)
    return f"{place.file}:{place.line}" if place else f"src/{module.replace('.', '/')}.py"


def _commands(claim: Claim, experiment: Experiment | None, tier: Tier) -> str:
    check = f"reprise check {claim.paper} --tier {tier.name}"
    if experiment is None:
        return check
    if tier.is_recorded:
        return f"{check}; its tables were made elsewhere"
    return f"{pipeline.how_to_make(experiment.id, tier)} && {check} ({_duration(experiment, tier)})"


def _duration(experiment: Experiment, tier: Tier) -> str:
    """How long an experiment took, or is expected to take on one core or GPU."""
    if pipeline.has_results(experiment.id, tier):
        record = store.load_record(tier.results / experiment.id, pipeline.how_to_make(experiment.id, tier))
        return f"took {duration(record['duration_seconds'] / 60)}"
    needs = experiment.needs(tier.params[experiment.id]).values()
    gpus = ", on GPUs" if any(each.gpus for each in needs) else ""
    return f"about {duration(sum(each.minutes for each in needs))}{gpus}"


# Figures and tables.


def _artifact_lines(artifact: Artifact, tier: Tier) -> Iterator[Line]:
    paper = registry.paper(artifact.id.split("/")[0])
    yield artifact.kind, f"{artifact.number} of {paper.title}"
    yield "shows", artifact.caption
    for entry in _entries(paper, artifact.id):
        yield "in the paper", f"{entry['item']} ({entry['section']})"
    claims = [claim for claim, _ in paper.claims.values() if _shows(artifact, claim, paper)]
    verdicts = pipeline.saved_verdicts(paper.key, tier)
    for index, claim in enumerate(sorted(claims, key=lambda claim: claim.id)):
        verdict = verdicts.get(claim.id, "not judged")
        yield "" if index else "claims", f"{verdict}: {claim.id}"
    endings = ("pdf", "png") if artifact.kind == "figure" else ("csv", "md")
    drawn = [file for ending in endings if (file := tier.figures / f"{artifact.id}.{ending}").is_file()]
    for index, file in enumerate(drawn):
        yield "" if index else "files", _shown(file, tier)
    yield "from", _shown(tier.results / artifact.experiment, tier)
    if place := Checkout(tier.root, tier.root).figure(artifact):
        yield "written in", f"{place.file}:{place.line}"
    yield "draw it again", f"reprise draw {artifact.id} --tier {tier.name}"
