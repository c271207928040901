"""A claim, a figure or table, an experiment or a paper as a card in the terminal: what the paper says, what
was observed, and where each thing lies."""

import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.contract.experiment import BASE, Artifact, CodePlace, Tables
from reprise.contract.settings import departures
from reprise.engine import check, ids, registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.engine.coverage import coverage
from reprise.engine.draw import Drawing
from reprise.engine.registry import Paper
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim as Definition
from reprise.evidence.comparison import FORMULAS
from reprise.evidence.judgement import VERDICTS
from reprise.evidence.observation import ABOUT_EACH, observe
from reprise.evidence.verdicts import judge_all, setting
from reprise.ledger import frozen
from reprise.report import listing, wording
from reprise.report.claims import Claims, Row
from reprise.report.contents import Contents, claims_about
from reprise.report.numbers import duration, number, percent
from reprise.report.runs import runs
from reprise.report.schema import Claim, CodeLine, Reading
from reprise.report.wording import measured, observed

LABEL = 16
"""Width of the labels, in characters."""
SHOWN = 12
"""Most seeds whose values are shown one by one."""

Line = tuple[str, str]
"""A label, empty below a line of the same label, and a text."""


def card(id: str, tier: Tier, width: int = 100) -> str:
    """The card of a claim, figure, table, experiment or paper.

    Args:
        id: in any spelling.
        width: of the lines, in characters.

    Raises:
        RepriseError: for an id that names nothing or several things.
    """
    found = ids.find(id)
    banner = f"{wording.TEST}\n" if tier.is_test else ""
    if found.kind == "paper":
        return banner + "\n".join(listing.of_paper(found.id, tier))
    if found.kind == "experiment":
        lines = _experiment_lines(tier.experiment(found.id))
    elif found.kind == "claim":
        lines = _claim_lines(*_decided(found, tier), tier)
    else:
        lines = _artifact_lines(Drawing(registry.artifact(found.id), tier))
    return banner + laid_out(found.id, lines, width)


def as_json(id: str, tier: Tier) -> dict[str, Any]:
    """The content of a card under stable names: for a claim, its fields in report.json (docs/report.md); for
    all else `id`, `kind`, the `claims` with their verdicts, the `figures`, and the `command` that makes it.

    Raises:
        RepriseError: as `card` does.
    """
    found = ids.find(id)
    if found.kind == "claim":
        return _stated(*_decided(found, tier), tier)[0].model_dump(mode="json")
    content: dict[str, Any] = {"id": found.id, "kind": found.kind, "tier": tier.in_commands}
    if found.kind == "paper":
        paper = registry.paper(found.id)
        content |= {"title": paper.title, "experiments": listing.rows([paper.key], [tier])}
        about = list(paper.claims)
        content["command"] = (
            check.Verdicts(paper, tier).how_to_check
            if tier.is_recorded
            else f"make reproduce PAPER={paper.key} TIER={tier.name}"
        )
    elif found.kind == "experiment":
        each = tier.experiment(found.id)
        content |= {"state": listing.state_of(each), "folder": _shown(each.folder, tier)}
        about = [claim.id for claim in each.experiment.claims]
        content["command"] = each.how_to_make
    else:
        drawing = Drawing(registry.artifact(found.id), tier)
        paper, about = _about(drawing.artifact)
        content |= {
            "kind": drawing.artifact.kind,
            "number": drawing.artifact.number,
            "caption": drawing.artifact.caption,
            "experiment": drawing.artifact.experiment,
            "files": {ending: _shown(file, tier) for ending, file in drawing.files.items() if file.is_file()},
            "not_up_to_date": _outdated(drawing),
            "command": drawing.how_to_draw,
        }
    verdicts = check.Verdicts(registry.paper(found.id.split("/")[0]), tier).saved()
    content["claims"] = {id: verdicts.get(id, listing.NOT_JUDGED) for id in about}
    content["figures"] = [artifact.id for artifact in drawn(found)]
    return content


def drawn(found: ids.Id) -> list[Artifact]:
    """The figures and tables that belong to an id: those that a claim is about, or else those of its
    experiments."""
    if found.kind == "figure or table":
        return [registry.artifact(found.id)]
    paper = registry.paper(found.id.split("/")[0])
    if found.kind == "claim":
        about = [id for id, claims in claims_about(paper, [found.id]).items() if claims]
        if about:
            return [paper.artifacts[id] for id in about]
    return [artifact for id in ids.experiments(found) for artifact in paper.experiments[id].artifacts]


def of_drawing(drawing: Drawing) -> str:
    """A figure or table in a line: how many claims about it have each verdict, of those that its own
    experiment decides; what that took; and its last file."""
    each, paper = drawing.experiment, registry.paper(drawing.id.split("/")[0])
    about = claims_about(paper, [claim.id for claim in each.experiment.claims])[drawing.id]
    own = [claim for claim in each.experiment.claims if claim.id in about]
    try:
        found = Counter(check.judge(each, own, lenient=True)["verdict"]) if own else Counter()
        words = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS if found[verdict])
    except RepriseError as error:  # the judge of the paper reports it
        words = f"not judged: {error}"
    if drawing.tier.is_test:
        words = "a test, no verdicts"
    took = duration(each.record()["duration_seconds"] / 60)
    file = list(drawing.files.values())[-1]
    return f"{drawing.id}: {words or 'no claims'}; {took}; {_shown(file, drawing.tier)}"


def _decided(found: ids.Id, tier: Tier) -> tuple[Definition, ConfiguredExperiment | None]:
    """A claim, with the experiment in a tier that decides it."""
    claim, decided_by = registry.claim(found.id)
    return claim, tier.experiment(decided_by.id) if decided_by else None


def laid_out(title: str, lines: Iterable[Line], width: int) -> str:
    """A title and labelled texts below each other, folded at a width."""
    rows = [title]
    for label, text in lines:
        folded = textwrap.wrap(text, max(20, width - LABEL), break_long_words=False, break_on_hyphens=False)
        for index, part in enumerate(folded or [""]):
            rows.append(f"{'' if index else label:{LABEL}}{part}".rstrip())
    return "\n".join(rows)


# Claims.


def _stated(
    definition: Definition, experiment: ConfiguredExperiment | None, tier: Tier
) -> tuple[Claim, Tables | None]:
    """A claim as the report states it, judged now, and the tables that it reads."""
    paper = registry.paper(definition.paper)
    tables, row = judged(definition, experiment, paper)
    mark = frozen.marks(tier).get(definition.id)
    row = {**row, "mark": mark.beside(row["verdict"]) if mark else ""}
    fresh = runs(tier, [experiment.id] if experiment else [])
    contents = Contents(paper, [], {definition.id: row["verdict"]})
    return Claims(tier, paper, [row], fresh).claim(row, contents.quotations(definition.id)), tables


def _claim_lines(
    definition: Definition, experiment: ConfiguredExperiment | None, tier: Tier
) -> Iterator[Line]:
    paper = registry.paper(definition.paper)
    claim, tables = _stated(definition, experiment, tier)
    fresh = runs(tier, [experiment.id] if experiment else [])
    yield "says", claim.statement
    yield from _labelled("in the paper", (f"{each.text} ({each.place})" for each in claim.quotations))
    yield "source", claim.source
    if claim.word:
        yield "quantifier", f"{claim.quantifier}: “{claim.word}”"
    yield "verdict", ": ".join(dict.fromkeys(filter(None, (claim.verdict, claim.label, claim.reason))))
    if claim.mark:
        yield "mark", claim.mark
    if claim.verdict != "not run":
        yield "basis", claim.ground + (f" ({'; '.join(claim.departures)})" if claim.departures else "")
    if claim.observed is not None:
        yield "observed", f"{observed(claim)} {claim.unit}{_meaning(claim)}"
    if (printed := claim.published) is not None:
        repeats = "" if printed.n is None else f", {printed.n} repetitions"
        yield "published", f"{wording.printed(printed.value, printed.std)} {claim.unit}{repeats}"
    if claim.reference is not None:
        yield "holds if", f"{claim.relation} {number(claim.reference)}{_origin(claim, definition)}"
    if claim.margin:
        yield "margin", number(claim.margin)
    if claim.seeds:
        yield claim.sample, _values(claim)
    if claim.p_reproduced is not None:
        tests = {"reproduced": claim.p_reproduced, "contradicted": claim.p_contradicted, "tied": claim.p_tied}
        yield "p-values", ", ".join(f"{verdict} {number(p)}" for verdict, p in tests.items())
    if words := wording.look(claim):
        yield "judged", words
    yield from _labelled("cells", (_reading(claim, each) for each in claim.cells))
    yield from _labelled("other settings", (_reading(claim, each) for each in claim.settings))
    yield from _labelled("notes", wording.notes(claim))
    yield from _labelled("assumptions", filter(None, ["; ".join(claim.assumptions)]))
    for erratum in (each for each in paper.errata if each.id in claim.errata):
        yield "erratum", f"{erratum.where}: printed {erratum.printed}; corrected {erratum.corrected}"
    if claim.corrections:
        yield "", "known to be false as printed"
    for artifact in map(paper.artifacts.__getitem__, claim.figures):
        yield artifact.kind, _drawn(Drawing(artifact, tier))
    yield from _labelled("table file", _files(definition, experiment, tables, claim.verdict))
    yield "written in", f"{claim.code.file}:{claim.code.line}"
    if experiment and experiment.id in fresh:
        yield "commit", fresh[experiment.id].facts["commit"]
    took = f" ({_duration(claim, experiment)})" if experiment and not tier.is_recorded else ""
    yield "run it again", f"{claim.command}{took}"


def _labelled(label: str, texts: Iterable[str]) -> Iterator[Line]:
    for index, text in enumerate(texts):
        yield "" if index else label, text


def judged(
    claim: Definition, experiment: ConfiguredExperiment | None, paper: Paper
) -> tuple[Tables | None, Row]:
    """The tables that a claim reads, if they are here and fresh, and its row of the table of verdicts, judged
    now."""
    if experiment is None:
        tables = (
            {"published": paper.printed_numbers().assign(setting=BASE)} if claim in paper.printed else None
        )
        judged = judge_all([claim], None if tables is None else [tables], None)
    elif not experiment.has_results():
        tables, judged = None, judge_all([claim], None, None, missing=check.no_results(experiment))
    else:
        try:
            tables = experiment.tables()
            judged = check.judge(experiment, [claim], lenient=True)
        except RepriseError as error:
            tables, judged = None, judge_all([claim], None, None, missing=str(error))
    (row,) = judged.to_dict("records")
    return tables, {str(name): value for name, value in row.items()}


def _meaning(claim: Claim) -> str:
    """Explains the bracket after an observation."""
    if claim.low is None or claim.kind in FORMULAS:
        return ""
    if claim.kind in ABOUT_EACH:
        return " (the one that counts, and the range of all)"
    return f" (interval of {percent(claim.level)})"


def _origin(claim: Claim, definition: Definition) -> str:
    """The origin of the reference, in words; empty if the paper prints it."""
    if callable(definition.first.reference):
        return " (measured in the same run)"
    if claim.kind in FORMULAS:
        return " (more is not rounding)"
    return " (the target that the paper implies; it prints no such number)" if claim.published is None else ""


def _values(claim: Claim) -> str:
    values = list(map(number, claim.values))
    return f"{claim.seeds}: {', '.join(values)}" if 0 < len(values) <= SHOWN else f"{claim.seeds}"


def _reading(claim: Claim, reading: Reading) -> str:
    reference = "" if reading.reference is None else f", against {number(reading.reference)}"
    if reading.observed is None:
        return f"{reading.verdict}: {reading.name}: nothing observed"
    shown = measured(claim.kind, reading.observed, reading.low, reading.high)
    return f"{reading.verdict}: {reading.name}: {shown}{reference}"


# Files and commands.


class _Read(dict[str, pd.DataFrame]):
    """Tables that note which of them were read."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> pd.DataFrame:
        self.names.add(name)
        return super().__getitem__(name)


def _files(
    claim: Definition, experiment: ConfiguredExperiment | None, tables: Tables | None, verdict: str
) -> Iterator[str]:
    """The files of the tables that a claim reads."""
    if experiment is None or tables is None or verdict == "not run":
        return
    read = _Read(setting(tables, BASE))
    for cell in claim.cells:
        observe(claim, cell, read)
    for name in sorted(read.names):
        yield _shown(experiment.folder / f"{name}.parquet", experiment.tier)


def _shown(file: Path, tier: Tier) -> str:
    return str(file.relative_to(tier.root))


def _drawn(drawing: Drawing) -> str:
    """A figure or table, with its file or the command that draws it."""
    file = next(iter(drawing.files.values()))
    how = drawing.how_to_draw if _outdated(drawing) else _shown(file, drawing.tier)
    return f"{drawing.artifact.number}, {drawing.id}: {how}"


def _outdated(drawing: Drawing) -> str:
    """The reason not to show a figure's or table's files; empty if they are up to date."""
    if not drawing.experiment.has_results():
        return "no results"
    try:
        return drawing.experiment.staleness() or drawing.staleness()
    except RepriseError as error:
        return str(error)


def _duration(claim: Claim, configured: ConfiguredExperiment) -> str:
    """The time that an experiment took, or else is expected to take on one core or GPU."""
    return _expected(configured) if claim.minutes is None else f"took {duration(claim.minutes)}"


def _expected(configured: ConfiguredExperiment) -> str:
    """The time that an experiment is expected to take on one core or GPU."""
    needs = configured.needs().values()
    gpus = ", on GPUs" if any(each.gpus for each in needs) else ""
    return f"about {duration(sum(each.minutes for each in needs))}{gpus}"


# Experiments, figures and tables.


def _experiment_lines(configured: ConfiguredExperiment) -> Iterator[Line]:
    experiment, tier = configured.experiment, configured.tier
    paper = registry.paper(experiment.paper)
    said = sys.modules[f"{experiment.module}.experiment"].__doc__ or ""
    yield "experiment", f"of {paper.title}"
    yield from _labelled("does", filter(None, [" ".join(said.split("\n\n")[0].split())]))
    yield "state", listing.said_of_state(configured)
    yield from _labelled("departures", departures(configured.params))
    yield from _labelled("claims", _verdicts(paper, [claim.id for claim in experiment.claims], tier))
    for artifact in experiment.artifacts:
        yield artifact.kind, _drawn(Drawing(artifact, tier))
    yield "in", _shown(configured.folder, tier)
    place = CodePlace(str(sys.modules[f"{experiment.module}.experiment"].__file__), 1, experiment.id)
    yield "written in", CodeLine.of(place, tier.root, tier.root).file
    took = "" if tier.is_recorded else f" ({_expected(configured)})"
    yield "run it again", f"{configured.how_to_make}{took}"


def _about(artifact: Artifact) -> tuple[Paper, list[str]]:
    """The paper of a figure or table, and the claims about it."""
    paper = registry.paper(artifact.id.split("/")[0])
    return paper, sorted(claims_about(paper, paper.claims)[artifact.id])


def _verdicts(paper: Paper, about: Iterable[str], tier: Tier) -> Iterator[str]:
    """The saved verdicts on claims, each with the claim's id."""
    verdicts = check.Verdicts(paper, tier).saved()
    return (f"{verdicts.get(id, listing.NOT_JUDGED)}: {id}" for id in about)


def _artifact_lines(drawing: Drawing) -> Iterator[Line]:
    artifact, tier = drawing.artifact, drawing.tier
    paper = registry.paper(artifact.id.split("/")[0])
    yield artifact.kind, f"{artifact.number} of {paper.title}"
    yield "shows", artifact.caption
    entries = (entry for entry in coverage(paper) if artifact.id in entry["covered_by"].split())
    yield from _labelled("in the paper", (f"{entry['item']} ({entry['section']})" for entry in entries))
    yield from _labelled("claims", _verdicts(*_about(artifact), tier))
    if there := [_shown(file, tier) for file in drawing.files.values() if file.is_file()]:
        outdated = _outdated(drawing)
        yield from _labelled("files", [f"not up to date: {outdated}"] if outdated else there)
    yield "from", _shown(drawing.experiment.folder, tier)
    place = CodeLine.of(artifact.code, tier.root, tier.root)
    yield "written in", f"{place.file}:{place.line}"
    yield "draw it again", drawing.how_to_draw
