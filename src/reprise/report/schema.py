"""The report as one plain structure, report.json, from which the page is made and which other programs may
read. docs/report.md describes it; `Report.model_json_schema()` is its JSON Schema.

A number that is unknown or not finite is null. Paths are relative to the folder of report.json.
"""

import os
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from reprise.contract.experiment import CodePlace
from reprise.evidence.claim import Form, Quantifier
from reprise.evidence.comparison import Kind, Relation
from reprise.evidence.errata import ErratumKind
from reprise.evidence.judgement import Verdict
from reprise.evidence.observation import Reason
from reprise.evidence.region import Stands

Number = float | None
PACKAGE = Path(str(files("reprise")))


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class CodeLine(Part):
    """A line of code."""

    file: str
    """From the root of the repository."""
    line: int
    name: str
    """The function that begins there."""
    path: str
    """Of the file, or empty if it is not in this checkout."""

    @classmethod
    def of(cls, place: CodePlace, root: Path, folder: Path) -> "CodeLine":
        """A line of the checkout at `root`, as seen from a folder."""
        file = Path(place.file)
        inside = PACKAGE in file.parents
        shown = f"src/reprise/{file.relative_to(PACKAGE)}" if inside else os.path.relpath(file, root)
        own = not inside or (root / "src" / "reprise").resolve() == PACKAGE.resolve()
        there = own and (root / shown).is_file()
        path = os.path.relpath(root / shown, folder) if there else ""
        return cls(file=shown, line=place.line, name=place.name, path=path)


class Setting(Part):
    """One parameter of an experiment."""

    text: str
    """Its name and value, and of a departure the published value: `width: 8 (paper: 16)`."""
    why: str
    """Where the paper states the published value, or why this value was chosen where it does not."""


class Experiment(Part):
    """How an experiment was or will be run."""

    id: str
    command: str
    minutes: Number
    """That its jobs took; null if it has not run."""
    has_run: bool
    departures: list[Setting]
    """From the published settings."""
    assumptions: list[Setting]
    """Our values of what the paper leaves open."""
    older: str
    """How the experiment of a recorded run differs from what it is now; empty if it does not."""
    looked: str
    """What was set after results had been seen."""


PrintedSetting = Literal["the same", "the same, with assumptions", "reduced", "not run", "not judged"]


class PrintedNumber(Part):
    """A number that a paper prints, and what was measured of it here."""

    key: str
    """Of its row in the paper's published.csv; empty if it has none."""
    artifact: str
    """The figure, table or section that prints it."""
    row: str
    """Its place there, in words."""
    value: float
    std: Number
    places: int
    """How many decimals are printed."""
    unit: str
    claim: str
    """The claim about it; empty if there is none."""
    setting: PrintedSetting
    """What was measured here: as published, with our values where the paper has none, smaller or on other
    images, or nothing."""
    note: str
    """Why the measurement decides nothing, or why there is none."""
    observed: Number
    low: Number
    """Of the interval of our mean."""
    high: Number
    difference: Number
    """Of ours less the printed one, measured as published; else null: the two are not of one thing."""
    difference_low: Number
    """Of the interval of the difference, in which a printed spread is contained."""
    difference_high: Number
    predicted_low: Number
    """Of the 95 % prediction interval, by our seeds, of a mean over as many runs as the printed one."""
    predicted_high: Number
    inside: bool | None
    """Whether the printed number, as it is rounded, lies in that interval; null without one."""
    gpu_hours: Number
    """Of the run as published that decides it, where there is none yet."""
    gpu_jobs: int
    """How many jobs of that run need GPUs."""
    longest_job_hours: Number
    longest_job_gpus: int
    """GPUs of that longest job."""
    together: int
    """How many printed numbers that run decides."""


class Figure(Part):
    """A figure or table of the paper, drawn again."""

    id: str
    number: str
    """As the paper prints it: `Figure 6a`."""
    kind: Literal["figure", "table"]
    caption: str
    experiment: str
    files: dict[str, str]
    """Ending (`pdf`, `svg`, `png`, `csv`, `md`) -> path; empty if it has not been drawn."""
    width: int
    """Of the PNG in pixels; 0 of a table."""
    height: int
    columns: list[str]
    """Of a table."""
    rows: list[list[str]]
    code: CodeLine
    """The function that draws it."""
    claims: list[str]
    """The claims about it."""
    commands: list[str]
    """What makes it, if it is missing."""


class Reading(Part):
    """A claim in one cell or one other setting."""

    name: str
    verdict: Verdict
    observed: Number
    low: Number
    high: Number
    reference: Number
    seeds: int
    """Observations there."""
    p_reproduced: Number
    """As of a claim, for this one alone."""
    p_contradicted: Number
    """Likewise."""
    p_tied: Number
    """Likewise."""


class Published(Part):
    """A number that the paper prints."""

    value: float
    std: Number
    n: int | None
    low: Number
    """The interval of the mean, of the level of ours, where the paper gives its spread and the number of
    repetitions."""
    high: Number


class Quotation(Part):
    """A sentence or a numbered statement of the paper."""

    text: str
    place: str
    """The section of the paper."""
    hedge: str
    """The words that make it a conjecture; empty if none do."""


class Claim(Part):
    """A published statement, and what came out."""

    id: str
    kind: Kind
    statement: str
    """In our words."""
    quotations: list[Quotation]
    """The paper's own sentences."""
    source: str
    """Where the paper says it."""
    form: Form
    erratum: ErratumKind | Literal[""]
    reading: str
    """Whose definition of what is measured, if it is not the paper's."""
    quantifier: Quantifier
    """Over what the sentence speaks."""
    word: str
    """The words of the sentence that decide it."""
    verdict: Verdict
    label: str
    """The verdict, or one degree more than it: `not seen here`, `holds in 22 of 32 cells`."""
    mark: str
    """What attempts to confirm the frozen verdict say, `confirmed in attempt 1 of 2`; empty if none has
    ended, or if the claim was edited since."""
    reason: str
    reason_code: Reason
    """Why it is inconclusive or not run, in one of a few words."""
    here: Verdict
    """The verdict in the published setting alone."""
    stands: Stands
    """Where the verdict stands; empty if the paper leaves nothing open, or nothing is decided."""
    exceptions: list[str]
    """Of a sentence that holds on average, the cells in which it does not."""
    every: Verdict | Literal[""]
    """Of a sentence about a tendency, the verdict if it spoke of every cell."""
    ground: str
    """What the verdict stands on, one of the report's `grounds`."""
    unit: str
    relation: Relation
    """How the observation must lie to the reference."""
    reference: Number
    margin: Number
    """How far off still counts."""
    smallest: Number
    """The smallest effect that is worth a name: within it, an ordering is tied."""
    effect: Number
    """The effect that the paper prints."""
    published: Published | None
    """Only what the paper prints."""
    target: Number
    """The number that the paper implies, if it prints none."""
    observed: Number
    low: Number
    """Of the interval that decides, in which a printed spread is contained."""
    high: Number
    own_low: Number
    """Of the interval of our own measurement."""
    own_high: Number
    level: Number
    """Of these intervals; null where nothing was estimated."""
    rounds: int
    """How many rounds of seeds the look joined that decided, or else the last one; 0 if nothing was run."""
    alpha: Number
    """The one-sided level of that look; null if nothing was run."""
    chance_same: Number
    """The chance that the verdict comes out the same on as many fresh seeds; null of one that is undecided or
    was not run."""
    seeds: int
    sample: str
    """Of what there are so many: seeds, runs, points, cases."""
    values: list[float]
    """An observation a seed, less the paired reference where that is measured too; empty where there are
    more than fifty."""
    cells: list[Reading]
    settings: list[Reading]
    """With other values of what the paper leaves open."""
    is_one_scale: bool
    """Whether all cells compare alike, in the same unit, so that they can be drawn together."""
    robust: bool
    """Contradicted at twice the margin too, and wherever the paper leaves something open."""
    checks: list[str]
    """What speaks against an error of ours, of a contradiction."""
    verdict_half_margin: Verdict
    """With half the margin, or half the smallest effect."""
    verdict_twice_margin: Verdict
    """With twice the margin, or twice the smallest effect."""
    p_reproduced: Number
    """Of the hypothesis that the statement does not hold; null where nothing was tested."""
    p_contradicted: Number
    """Of the hypothesis that it holds."""
    p_tied: Number
    """Of the hypothesis that the effect is as large as the smallest that is worth a name, or larger."""
    what_would_decide: str
    """How many seeds would decide an inconclusive claim, and how long they take; empty if that is not what
    is missing."""
    looked: str
    """What was set after results had been seen."""
    departures: list[str]
    """From the published settings."""
    assumptions: list[str]
    """Our values of what the paper leaves open."""
    experiment: str
    """Empty of a claim that no experiment decides."""
    tables: str
    """The folder of the experiment's tables; empty if it has not run."""
    figures: list[str]
    errata: list[str]
    corrections: list[str]
    recorded: list[str]
    """Verdicts of recorded runs, a line each."""
    code: CodeLine
    """Where the claim is written, with what refutes it."""
    command: str
    """What judges it again."""
    minutes: Number
    """That the command takes."""


class Item(Part):
    """A line of the paper's table of contents: a sentence, a figure, a theorem."""

    text: str
    quotation: str
    """The sentence, if it is one."""
    section: str
    how: str
    """How it is covered, or why it is not."""
    note: str
    figures: list[str]
    claims: list[str]


class Section(Part):
    """A section of the paper, with what is shown there; a figure or claim stands in one section only."""

    id: str
    title: str
    items: list[Item]
    figures: list[str]
    claims: list[str]


class Erratum(Part):
    """An error in the paper."""

    id: str
    kind: ErratumKind
    changes_result: bool
    """Whether later lines, or a reader who computes as printed, come to another result."""
    where: str
    printed: str
    corrected: str
    printed_mathml: str
    corrected_mathml: str
    shown_by: str
    """The claim that shows it; empty for an error found by reading."""


class Headline(Part):
    """What the abstract or the list of contributions claims, and the claim that decides it."""

    quotation: str
    claim: str
    caveats: list[str]
    """Other claims about the same place, the paper's or ours, that are contradicted or depend on what the
    paper leaves open."""


class Paper(Part):
    key: str
    title: str
    bibtex: str
    """Empty of experiments of our own, which are no paper's."""
    version: str
    """The version of the text that is judged; empty where none is named."""
    url: str
    """Of that version; empty where the text names no address."""
    minutes: Number
    headlines: list[Headline]
    experiments: list[Experiment]
    sections: list[Section]
    figures: list[Figure]
    claims: list[Claim]
    numbers: list[PrintedNumber]
    """That the paper prints."""
    errata: list[Erratum]
    """Those that change a result first."""
    coverage: dict[str, int]
    """How many items are covered how."""


class Count(Part):
    """Of verdicts, on one ground."""

    paper: str
    ground: str
    verdicts: dict[Verdict, int]


class Discovery(Part):
    """Of a paper's verdicts in which chance has a part, the share expected to be wrong, at most."""

    paper: str
    tests: int
    decided: int
    rate: Number


class Printed(Part):
    """How many of the numbers that the papers print were compared."""

    numbers: int
    compared: int
    waiting: int
    """How many only a run as published decides, which has not been made."""
    data_sets: list[str]
    """That such a run needs."""
    command: str


class Findings(Part):
    """Claims on the papers' own grounds to look at first: what the abstract rests on, then the others."""

    robust: list[str]
    depends: list[str]


class Provenance(Part):
    """How one experiment's tables were made."""

    experiment: str
    command: str
    minutes: float
    facts: dict[str, str]
    """Commit, versions, hardware and arithmetic."""


class Attempt(Part):
    """An attempt to confirm claims of one experiment on fresh seeds."""

    experiment: str
    number: int
    """Among the attempts on the experiment, from 1."""
    phrase: str
    """From which the seeds were drawn; empty if none was given."""
    confirmation: str
    """The folder in `confirmations/` of what it found."""
    first_seed: int
    level: float
    """One-sided, of each verdict."""
    commit: str
    """When it was recorded."""
    claims: int
    """How many were to be confirmed."""
    marks: dict[str, list[str]] | None
    """Those that were confirmed, fell back or were reversed; null if it never ended."""


class Recorded(Part):
    """A run that was made elsewhere and merged here; never counted among the others."""

    name: str
    problem: str
    """Why this version cannot judge it; otherwise empty."""
    experiments: list[str]
    facts: dict[str, str]
    counts: list[Count]


class Report(Part):
    """The results of a tier."""

    format: Literal[3]
    tier: str
    source: str
    """When, where and at which commit a recorded run was made; empty of what was run here."""
    config: str
    """A hash over all parameters."""
    banner: str
    """What must be said above all results; empty but for a tier that tests the program alone."""
    attempts: list[Attempt]
    """All attempts in this tier that the ledger holds, also those that never ended."""
    grounds: dict[str, str]
    """What a verdict can stand on -> its meaning. Counts on different grounds are never added together."""
    papers: list[Paper]
    counts: list[Count]
    discoveries: list[Discovery]
    printed: Printed
    findings: Findings
    runs: list[Provenance]
    shared: dict[str, str]
    """The facts that all runs share."""
    recorded: list[Recorded]
