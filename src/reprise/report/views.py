"""The content of the report as plain objects, with all numbers formatted."""

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from reprise.errors import RepriseError
from reprise.evidence.errata import Erratum
from reprise.evidence.verdicts import CERTAIN, GROUNDS, ground, known_false
from reprise.execute import pipeline, registry
from reprise.execute.registry import Paper
from reprise.execute.tiers import Tier
from reprise.report.curves import Reading, curve
from reprise.storage import store
from reprise.study.experiment import Artifact
from reprise.study.settings import assumptions, departures

NONE = "—"


@dataclass(frozen=True)
class Link:
    """A link within the report, or plain text if `id` is empty; `verdict` is empty unless it is a claim."""

    id: str
    text: str
    verdict: str = ""


@dataclass(frozen=True)
class ReadingsView:
    """A claim's cells or settings.

    Attributes:
        summary: how many there are of each sort.
        picture: an SVG; empty if there is nothing to draw.
        rows: name, verdict, observed with its interval, reference.
    """

    summary: str
    picture: str
    rows: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True)
class ClaimView:
    id: str
    statement: str
    kind: str
    source: str
    verdict: str
    ground: str
    reason: str
    observed: str
    interval: str
    unit: str
    compared: str
    published: str
    sample: str
    cells: ReadingsView | None
    settings: ReadingsView | None
    notes: tuple[str, ...]
    departures: tuple[str, ...]
    assumptions: tuple[str, ...]
    shown_in: tuple[Link, ...]
    errata: tuple[Link, ...]
    corrections: tuple[str, ...]
    recorded: tuple[str, ...]


@dataclass(frozen=True)
class ArtifactView:
    """A figure (`image`), a table (`columns`, `rows`), or if it is missing, the `commands` that make it."""

    id: str
    number: str
    caption: str
    experiment: Link
    departures: tuple[str, ...]
    assumptions: tuple[str, ...]
    claims: tuple[Link, ...]
    image: str = ""
    width: int = 0
    height: int = 0
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class CoverageView:
    item: str
    section: str
    how: str
    links: tuple[Link, ...]
    note: str


@dataclass(frozen=True)
class ErratumView:
    id: str
    kind: str
    where: str
    printed: str
    corrected: str
    shown_by: tuple[Link, ...]


@dataclass(frozen=True)
class PaperView:
    key: str
    title: str
    bibtex: str
    claims: tuple[ClaimView, ...]
    artifacts: tuple[ArtifactView, ...]
    coverage: tuple[CoverageView, ...]
    covered: tuple[tuple[str, int], ...]
    errata: tuple[ErratumView, ...]

    def having(self, *verdicts: str) -> list[ClaimView]:
        """The claims with these verdicts, firmest ground first."""
        grounds = list(GROUNDS)
        selected = [claim for claim in self.claims if claim.verdict in verdicts]
        return sorted(selected, key=lambda claim: grounds.index(claim.ground))


@dataclass(frozen=True)
class RunView:
    """How one experiment's tables were made. `facts`: commit, versions, hardware and arithmetic."""

    experiment: str
    command: str
    duration: str
    facts: Mapping[str, str]


def number(value: float) -> str:
    """Formats a number with four significant digits, an exponent if it is very small or large, or a dash for
    NaN."""
    if math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        places = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
        text = f"{value:.{places}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        mantissa, exponent = f"{value:.3e}".split("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return text.replace("-", "−")


def _duration(seconds: float) -> str:
    """Formats a duration in its two largest units: `3 min 20 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


# Runs.


def runs(tier: Tier) -> dict[str, RunView]:
    """How each experiment was run, by id, for experiments whose results are up to date.

    Raises:
        RepriseError: if a record is damaged.
    """
    ids = [id for id in registry.experiments() if pipeline.has_results(id, tier)]
    return {id: _run(tier, id) for id in ids if not pipeline.staleness(id, tier)}


def _run(tier: Tier, id: str) -> RunView:
    folder, again = tier.results / id, pipeline.how_to_make(id, tier)
    record = store.load_record(folder, again)
    try:
        seconds = float(record["duration_seconds"])
        return RunView(id, record["command"], _duration(seconds), _facts(record))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RepriseError(
            f"{folder / store.RECORD}: damaged, lacks a readable {error}; make it again with: {again}"
        ) from None


def _facts(record: Mapping[str, Any]) -> dict[str, str]:
    hardware = record["hardware"]
    return {
        "commit": record["commit"],
        "Python": record["python"],
        "versions": ", ".join(f"{name} {version}" for name, version in record["versions"].items()),
        "hardware": f"{hardware['processor']}, {hardware['cores']} cores, "
        f"{hardware['memory_gib']} GiB, {hardware['system']}",
        **({"not finite": ", ".join(record["not_finite"])} if record.get("not_finite") else {}),
        **({"GPUs": ", ".join(hardware["gpus"])} if "gpus" in hardware else {}),
        **_arithmetic(record),
    }


def _arithmetic(record: Mapping[str, Any]) -> dict[str, str]:
    """The facts on which the last bits depend; empty for results of versions that did not record them."""
    if "arithmetic" not in record:
        return {}
    libraries, variables = record["arithmetic"]["libraries"], record["arithmetic"]["variables"]
    kernels: dict[str, set[str]] = {}
    for library in libraries:
        if words := [word for word in (library["version"], library["kernel"]) if word]:
            kernels.setdefault(library["name"], set()).add(" ".join(words))
    return {
        **{f"kernels of {name}": ", ".join(sorted(kernel_names)) for name, kernel_names in kernels.items()},
        "threads": ", ".join(sorted({str(library["threads"]) for library in libraries})),
        "variables": " ".join(f"{name}={value}" for name, value in variables.items()),
    }


def common(runs: Iterable[RunView]) -> dict[str, str]:
    """The facts shared by all runs that have them; not every run loads every library."""
    facts: dict[str, set[str]] = {}
    for run in runs:
        for name, text in run.facts.items():
            facts.setdefault(name, set()).add(text)
    return {name: texts.pop() for name, texts in facts.items() if len(texts) == 1}


# Claims.


def _claim(
    row: Mapping[str, Any], shown_in: Iterable[Link], errata: Sequence[Erratum], recorded: Iterable[str]
) -> ClaimView:
    return ClaimView(
        id=row["claim"],
        statement=row["statement"],
        kind=row["kind"],
        source=row["source"],
        verdict=row["verdict"],
        ground=ground(row),
        reason=row["reason"],
        observed=number(row["observed"]),
        interval="" if math.isnan(row["low"]) else f"[{number(row['low'])}, {number(row['high'])}]",
        unit=row["unit"],
        compared=_compared(row),
        published=_published(row),
        sample=_sample(row),
        cells=_readings(row["cells"], _cells_summary),
        settings=_readings(row["settings"], partial(_settings_summary, verdict=row["verdict"])),
        notes=tuple(note for note in (_margins(row), *_errors(row)) if note),
        departures=_split(row["departures"]),
        assumptions=_split(row["assumptions"]),
        shown_in=tuple(shown_in),
        errata=tuple(Link(f"erratum:{erratum.id}", erratum.where) for erratum in errata),
        corrections=tuple(erratum.corrected for erratum in errata) if known_false(row) else (),
        recorded=tuple(recorded),
    )


def _compared(row: Mapping[str, Any]) -> str:
    if math.isnan(row["reference"]):
        return NONE
    margin = f" ± {number(row['margin'])}" if row["margin"] > 0 else ""
    return f"{row['relation']} {number(row['reference'])}{margin}"


def _published(row: Mapping[str, Any]) -> str:
    spread = "" if math.isnan(row["published_std"]) else f" ± {number(row['published_std'])}"
    repetitions = "" if math.isnan(row["published_n"]) else f" (n = {number(row['published_n'])})"
    return number(row["published"]) + spread + repetitions


def _sample(row: Mapping[str, Any]) -> str:
    noun = {"identity": "points", "printed": "printed"}.get(row["kind"], "seeds")
    noun = {"inequality": "points", "always": "runs", "given": "cases"}.get(row["kind"], noun)
    spread = ", no spread" if noun == "seeds" and row["low"] == row["high"] else ""
    return f"{int(row['seeds'])} {noun}{spread}" if row["seeds"] else NONE


def _margins(row: Mapping[str, Any]) -> str:
    """How much the verdict depends on the margin; empty if there is none."""
    half, twice = row["verdict_half_margin"], row["verdict_twice_margin"]
    has_margin = row["margin"] or row["kind"] in ("identity", "inequality")
    if row["verdict"] in ("not run", "depends") or not has_margin:
        return ""
    if half == twice == row["verdict"]:
        return "the same at ½× and 2× margin"
    return f"{half} at ½× margin, {twice} at 2×"


def _errors(row: Mapping[str, Any]) -> list[str]:
    """What else limits the verdict: its error rates, last bits, another reading, a second look."""
    notes = []
    if row["verdict"] != "not run" and row["kind"] not in CERTAIN and not math.isnan(row["false_reproduced"]):
        wrong = [f"{100 * row[name]:.1f}" for name in ("false_reproduced", "false_contradicted")]
        notes.append(
            f"if false, ‘reproduced’ in {wrong[0]} % of draws; if true, ‘contradicted’ in {wrong[1]} %"
        )
    notes += [f"fragile: {row['fragile']}"] if row["fragile"] else []
    notes += [f"reading: {row['reading']}"] if row["reading"] else []
    notes += [f"set after a look at results: {row['looked']}"] if row["looked"] else []
    return notes


def _readings(joined: str, summary: Callable[[Sequence[str]], str]) -> ReadingsView | None:
    """The cells or settings of a claim, from the JSON of its row."""
    if not joined:
        return None
    readings = json.loads(joined)
    drawn = [
        Reading(
            each["name"],
            each["verdict"],
            *(_less(each[key], each["reference"]) for key in ("observed", "low", "high")),
        )
        for each in readings
    ]
    rows = [
        (
            each["name"],
            each["verdict"],
            interval(*(_float(each[key]) for key in ("observed", "low", "high"))),
            number(_float(each["reference"])),
        )
        for each in readings
    ]
    return ReadingsView(summary([each["verdict"] for each in readings]), curve(drawn), tuple(rows))


def _float(value: float | None) -> float:
    return math.nan if value is None else value


def _less(value: float | None, reference: float | None) -> float | None:
    return None if value is None or reference is None else value - reference


def interval(observed: float, low: float, high: float) -> str:
    """An observed value with its interval, if it has one."""
    return number(observed) + ("" if math.isnan(low) else f" [{number(low)}, {number(high)}]")


def _cells_summary(verdicts: Sequence[str]) -> str:
    return f"holds in {verdicts.count('reproduced')} of {len(verdicts)} cells"


def _settings_summary(verdicts: Sequence[str], verdict: str) -> str:
    """How many settings agree, with the verdict or where it depends on them with the statement."""
    agreeing = verdict if verdict in ("reproduced", "contradicted") else "reproduced"
    opposite = {"reproduced": "contradicted", "contradicted": "reproduced"}[agreeing]
    same, opposed = verdicts.count(agreeing), verdicts.count(opposite)
    words = ("holds", "fails") if verdict not in ("reproduced", "contradicted") else ("same", "opposite")
    undecided = len(verdicts) - same - opposed
    return f"{len(verdicts)} other settings: {same} {words[0]}, {opposed} {words[1]}, {undecided} undecided"


def _split(joined: str) -> tuple[str, ...]:
    return tuple(joined.split("; ")) if joined else ()


# Papers.


def gather(
    tier: Tier,
    paper: Paper,
    claims: pd.DataFrame,
    have_run: Container[str],
    recorded: Sequence[Mapping[str, str]],
) -> PaperView:
    """Gathers a paper's section.

    Args:
        claims: the paper's rows of the joint table.
        have_run: ids of the experiments with up-to-date results; figures of others are not shown.
        recorded: for each recorded run, claim -> its verdict there, in one line.

    Raises:
        RepriseError: if a figure or table is damaged.
    """
    rows = [{str(name): cell for name, cell in row.items()} for row in claims.to_dict("records")]
    links = {row["claim"]: Link(row["claim"], row["claim"], row["verdict"]) for row in rows}
    claims_about = {
        id: [row["claim"] for row in rows if _concerns(row, artifact, paper)]
        for id, artifact in paper.artifacts.items()
    }
    artifacts = {
        id: _artifact(
            tier, artifact, [links[claim] for claim in claims_about[id]], artifact.experiment in have_run
        )
        for id, artifact in paper.artifacts.items()
    }
    views = [
        _claim(
            row,
            [Link(id, view.number) for id, view in artifacts.items() if row["claim"] in claims_about[id]],
            [erratum for erratum in paper.errata if row["claim"] in erratum.shown_by],
            [lines[row["claim"]] for lines in recorded if row["claim"] in lines],
        )
        for row in rows
    ]
    coverage = tuple(_coverage(entry, artifacts, links) for entry in paper.coverage)
    return PaperView(
        key=paper.key,
        title=paper.title,
        bibtex=paper.bibtex,
        claims=tuple(views),
        artifacts=tuple(sorted(artifacts.values(), key=lambda view: _natural_key(view.number))),
        coverage=coverage,
        covered=tuple(Counter(entry.how for entry in coverage).most_common()),
        errata=tuple(
            ErratumView(
                erratum.id,
                erratum.kind,
                erratum.where,
                erratum.printed,
                erratum.corrected,
                tuple(links.get(id, Link("", id)) for id in erratum.shown_by),
            )
            for erratum in paper.errata
        ),
    )


def _natural_key(text: str) -> list[tuple[int, str]]:
    """A sort key that puts Figure 10 after Figure 9."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]


_MENTION = re.compile(r"\b(fig|tab|sec)[a-z]*\.?\s*0*(\d+(?:\.\d+)*)\(?([a-z]?)\b", re.IGNORECASE)


def _mentions(text: str) -> set[tuple[str, str, str]]:
    """The figures, tables and sections mentioned: `Figure 6(a)` and `fig06a` are both ("fig", "6", "a")."""
    return {(kind.lower(), digits, letter.lower()) for kind, digits, letter in _MENTION.findall(text)}


def _concerns(claim: Mapping[str, Any], artifact: Artifact, paper: Paper) -> bool:
    """Whether the claim is about the artifact, by its id, its source, or a line of artifacts.csv that names
    both."""
    named = _mentions(f"{claim['artifact']} {claim['source']}")
    listed = any({claim["claim"], artifact.id} <= set(_ids(entry)) for entry in paper.coverage)
    return listed or any(_same_item(a, b) for a in named for b in _mentions(artifact.number))


def _same_item(a: tuple[str, str, str], b: tuple[str, str, str]) -> bool:
    """Whether two mentions name the same item; `Figure 6` matches all its parts."""
    return a[:2] == b[:2] and (a[2] == b[2] or not a[2] or not b[2])


def _ids(entry: Mapping[str, str]) -> list[str]:
    return re.split(r"[;,\s]+", entry["covered_by"])


def _coverage(
    entry: Mapping[str, str], artifacts: Mapping[str, ArtifactView], claims: Mapping[str, Link]
) -> CoverageView:
    shown = [artifacts[id] for id in _ids(entry) if id in artifacts]
    checked = [claims[id] for id in _ids(entry) if id in claims]
    if not shown and not checked:
        how = entry["covered_by"]
    elif shown and not any(view.commands for view in shown):
        how = "drawn again"
    elif any(link.verdict != "not run" for link in checked):
        how = "checked by claims"
    else:
        how = "not run yet"
    links = (*(Link(view.id, view.number) for view in shown), *checked)
    return CoverageView(entry["item"], entry["section"], how, links, entry["note"])


# Figures and tables.


def _artifact(tier: Tier, artifact: Artifact, claims: Iterable[Link], has_run: bool) -> ArtifactView:
    params = tier.params[artifact.experiment]
    return ArtifactView(
        id=artifact.id,
        number=artifact.number,
        caption=artifact.caption,
        experiment=Link(f"run:{artifact.experiment}" if has_run else "", artifact.experiment),
        departures=tuple(departures(params)),
        assumptions=tuple(assumptions(params)),
        claims=tuple(claims),
        **_content(tier, artifact, has_run),
    )


def _content(tier: Tier, artifact: Artifact, has_run: bool) -> dict[str, Any]:
    file = tier.figures / f"{artifact.id}.{'png' if artifact.kind == 'figure' else 'csv'}"
    again = f"reprise draw {artifact.id} --tier {tier.name}"
    if not (has_run and file.is_file()):
        first = () if has_run else (pipeline.how_to_make(artifact.experiment, tier),)
        return {"commands": (*first, again)}
    return _image(file, again) if artifact.kind == "figure" else _table(file, again)


def _image(file: Path, again: str) -> dict[str, Any]:
    data = file.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n" or b"IEND" not in data[-12:]:
        raise RepriseError(f"{file}: damaged, not a whole PNG; make it again with: {again}")
    width, height = (int.from_bytes(data[offset : offset + 4], "big") for offset in (16, 20))
    return {"image": base64.b64encode(data).decode("ascii"), "width": width, "height": height}


def _table(file: Path, again: str) -> dict[str, Any]:
    try:
        table = pd.read_csv(file)
    except (ValueError, OSError) as error:
        raise RepriseError(f"{file}: damaged, not CSV ({error}); make it again with: {again}") from None
    cells = [tuple(map(_cell, row)) for row in table.itertuples(index=False, name=None)]
    return {"columns": tuple(map(str, table.columns)), "rows": tuple(cells)}


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
