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
    """Path from the root of the repository."""
    line: int
    name: str
    """The function that begins there."""
    path: str
    """Path to the file; empty if this checkout lacks it."""

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
    """Name and value of the parameter, with the published value if it departs: `width: 8 (paper: 16)`."""
    why: str
    """Place in the paper that states the published value, or else the reason for this value."""


class Experiment(Part):
    """An experiment, with its command and settings."""

    id: str
    command: str
    minutes: Number
    """Wall time of the experiment's jobs, in minutes; null if it has not run."""
    has_run: bool
    departures: list[Setting]
    """Settings that differ from the published ones."""
    assumptions: list[Setting]
    """Our values of what the paper leaves open."""
    older: str
    """Difference between the experiment of a recorded run and today's; empty if there is none."""
    looked: str
    """Parameters set after results had been seen; empty if there are none."""


PrintedSetting = Literal["the same", "the same, with assumptions", "reduced", "not run", "not judged"]


class PrintedNumber(Part):
    """A number that a paper prints, and what was measured of it here."""

    key: str
    """Key of the number in the paper's published.csv; empty if its row has none."""
    artifact: str
    """The figure, table or section that prints it."""
    row: str
    """Place of the number in its artifact, in words."""
    value: float
    std: Number
    places: int
    """Number of decimals printed."""
    unit: str
    claim: str
    """The claim about it; empty if there is none."""
    setting: PrintedSetting
    """Setting of our measurement: as published, with our values where the paper has none, smaller or on other
    images, or none."""
    note: str
    """Reason why the measurement decides nothing, or is missing."""
    observed: Number
    low: Number
    """Lower end of the interval of our mean."""
    high: Number
    difference: Number
    """Our number less the printed one, if measured as published; else null: they measure different things."""
    difference_low: Number
    """Lower end of the interval of the difference, which allows for a printed spread."""
    difference_high: Number
    predicted_low: Number
    """Lower end of the 95 % prediction interval, from our seeds, of a mean over as many runs as the printed
    one."""
    predicted_high: Number
    inside: bool | None
    """True if the printed number, as rounded, lies in the prediction interval; null without an interval."""
    gpu_hours: Number
    """GPU-hours of the run as published that decides the number; null if no such run is missing."""
    gpu_jobs: int
    """Number of jobs of the run as published that need GPUs."""
    longest_job_hours: Number
    longest_job_gpus: int
    """GPUs of the longest job."""
    together: int
    """Count of printed numbers that the run as published decides."""


class Figure(Part):
    """A figure or table of the paper, drawn again."""

    id: str
    number: str
    """Label that the paper prints: `Figure 6a`."""
    kind: Literal["figure", "table"]
    caption: str
    experiment: str
    files: dict[str, str]
    """Ending (`pdf`, `svg`, `png`, `csv`, `md`) -> path; empty if it has not been drawn."""
    width: int
    """Width of the PNG, in pixels; 0 for a table."""
    height: int
    columns: list[str]
    """Column names of a table; empty for a figure."""
    rows: list[list[str]]
    code: CodeLine
    """The function that draws it."""
    claims: list[str]
    """The claims about it."""
    commands: list[str]
    """Commands that make a missing drawing; otherwise empty."""


class Reading(Part):
    """A claim in one cell or one other setting."""

    name: str
    verdict: Verdict
    observed: Number
    low: Number
    high: Number
    reference: Number
    seeds: int
    """Number of observations."""
    p_reproduced: Number
    """`Claim.p_reproduced` in this cell or setting alone."""
    p_contradicted: Number
    """`Claim.p_contradicted` in this cell or setting alone."""
    p_tied: Number
    """`Claim.p_tied` in this cell or setting alone."""


class Published(Part):
    """A number that the paper prints."""

    value: float
    std: Number
    n: int | None
    low: Number
    """Lower end of the interval of the mean, at the level of ours, where the paper gives its spread and the
    number of repetitions."""
    high: Number


class Quotation(Part):
    """A sentence or a numbered statement of the paper."""

    text: str
    place: str
    """The section of the paper."""
    hedge: str
    """The words that make the sentence a conjecture; empty if none do."""


class Claim(Part):
    """A published statement, with its verdict and the evidence."""

    id: str
    kind: Kind
    statement: str
    """The statement in our words."""
    quotations: list[Quotation]
    """The paper's own sentences."""
    source: str
    """Place of the statement in the paper."""
    form: Form
    erratum: ErratumKind | Literal[""]
    reading: str
    """Our definition of the measured quantity, if it is not the paper's; otherwise empty."""
    quantifier: Quantifier
    """Quantifier of the sentence over cells."""
    word: str
    """The words of the sentence that decide the quantifier."""
    verdict: Verdict
    label: str
    """The verdict, or a finer degree of it: `not seen here`, `holds in 22 of 32 cells`."""
    mark: str
    """Outcome of attempts to confirm the frozen verdict, `confirmed in attempt 1 of 2`; empty if none has
    ended, or if the claim was edited since."""
    reason: str
    reason_code: Reason
    """Code of the reason why the verdict is inconclusive or not run; otherwise empty."""
    here: Verdict
    """The verdict in the published setting alone."""
    stands: Stands
    """Settings in which the verdict stands; empty if the paper leaves nothing open, or nothing is decided."""
    exceptions: list[str]
    """Cells in which a sentence that holds on average does not hold."""
    every: Verdict | Literal[""]
    """Verdict on a sentence about a tendency, if it spoke of every cell; otherwise empty."""
    ground: str
    """Basis of the verdict, one of the report's `grounds`."""
    unit: str
    relation: Relation
    """Relation of the observation to the reference that the statement requires."""
    reference: Number
    margin: Number
    """Largest distance from the reference that still counts as equal."""
    smallest: Number
    """The smallest effect that is worth a name: within it, an ordering is tied."""
    effect: Number
    """The effect that the paper prints."""
    published: Published | None
    """The number that the paper prints; null if it prints none."""
    target: Number
    """The number that the paper implies, if it prints none."""
    observed: Number
    low: Number
    """Lower end of the interval that decides, which allows for a printed spread."""
    high: Number
    own_low: Number
    """Lower end of the interval of our own measurement."""
    own_high: Number
    level: Number
    """Level of the interval that decides and of our own; null where nothing was estimated."""
    rounds: int
    """Rounds of seeds joined by the look that decided, or else by the last one; 0 if nothing was run."""
    alpha: Number
    """One-sided level of the look that decided, or else of the last one; null if nothing was run."""
    chance_same: Number
    """The chance that the verdict comes out the same on as many fresh seeds; null if undecided or not run."""
    seeds: int
    sample: str
    """Unit that `seeds` counts: seeds, runs, points, cases, printed numbers."""
    values: list[float]
    """An observation a seed, less the paired reference where that is measured too; empty where there are
    more than fifty."""
    cells: list[Reading]
    settings: list[Reading]
    """The claim with other values of what the paper leaves open."""
    is_one_scale: bool
    """True if all cells compare alike, in the same unit, so that they can be drawn together."""
    robust: bool
    """True if contradicted at twice the margin too, and wherever the paper leaves something open."""
    checks: list[str]
    """Evidence that a contradiction is no error of ours; otherwise empty."""
    verdict_half_margin: Verdict
    """The verdict with half the margin, or half the smallest effect."""
    verdict_twice_margin: Verdict
    """The verdict with twice the margin, or twice the smallest effect."""
    p_reproduced: Number
    """P-value of the hypothesis that the statement does not hold; null where nothing was tested."""
    p_contradicted: Number
    """P-value of the hypothesis that the statement holds."""
    p_tied: Number
    """P-value of the hypothesis that the effect is at least the smallest that is worth a name."""
    what_would_decide: str
    """Number of seeds that would decide an inconclusive claim, and the time for them; empty if seeds are not
    what is missing."""
    looked: str
    """Choices made after results had been seen; empty if there are none."""
    departures: list[str]
    """Settings that differ from the published ones."""
    assumptions: list[str]
    """Our values of what the paper leaves open."""
    experiment: str
    """The experiment that decides the claim; empty if none does."""
    tables: str
    """The folder of the experiment's tables; empty if it has not run."""
    figures: list[str]
    errata: list[str]
    corrections: list[str]
    recorded: list[str]
    """Verdicts of recorded runs, a line each."""
    code: CodeLine
    """The line that states the claim, beside what refutes it."""
    command: str
    """Command that judges the claim again."""
    minutes: Number
    """Duration of the command, in minutes."""


class Item(Part):
    """A line of the paper's table of contents: a sentence, a figure, a theorem."""

    text: str
    quotation: str
    """The sentence; empty for a line that is none."""
    section: str
    how: str
    """Kind of coverage, or the reason for none."""
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
    """True for a false statement, and if later lines, or a reader who computes as printed, come to another
    result."""
    where: str
    printed: str
    corrected: str
    printed_mathml: str
    corrected_mathml: str
    shown_by: str
    """The claim that shows the error; empty for an error found by reading."""


class Headline(Part):
    """A sentence of the abstract or the list of contributions, and the claim that decides it."""

    quotation: str
    claim: str
    caveats: list[str]
    """Other claims about the same place, the paper's or ours, that are contradicted or depend on what the
    paper leaves open."""


class Paper(Part):
    key: str
    title: str
    bibtex: str
    """The paper's BibTeX entry; empty for experiments of our own, which are no paper's."""
    version: str
    """The version of the text that is judged; empty where none is named."""
    url: str
    """Address of the version; empty where `version` names none."""
    minutes: Number
    headlines: list[Headline]
    experiments: list[Experiment]
    sections: list[Section]
    figures: list[Figure]
    claims: list[Claim]
    numbers: list[PrintedNumber]
    """Numbers that the paper prints."""
    errata: list[Erratum]
    """Errors in the paper, first those that change a result."""
    coverage: dict[str, int]
    """Kind of coverage (`Item.how`) -> number of items."""


class Count(Part):
    """Counts of a paper's verdicts on one ground."""

    paper: str
    ground: str
    verdicts: dict[Verdict, int]


class Discovery(Part):
    """False discovery rate, at most, of a paper's verdicts in which chance has a part."""

    paper: str
    tests: int
    decided: int
    rate: Number


class Printed(Part):
    """Counts of the numbers that the papers print: all, compared, and waiting for a run as published."""

    numbers: int
    compared: int
    waiting: int
    """Count of numbers that only a run as published decides, which has not been made."""
    data_sets: list[str]
    """Data sets that the runs as published need."""
    command: str


class Findings(Part):
    """Claims on the papers' own grounds to look at first: what the abstract rests on, then the others."""

    robust: list[str]
    depends: list[str]


class Provenance(Part):
    """Provenance of one experiment's tables."""

    experiment: str
    command: str
    minutes: float
    facts: dict[str, str]
    """Commit, versions, hardware and arithmetic."""


class Attempt(Part):
    """An attempt to confirm claims of one experiment on fresh seeds."""

    experiment: str
    number: int
    """Number among the attempts on the experiment, from 1."""
    phrase: str
    """Phrase from which the seeds were drawn; empty if none was given."""
    confirmation: str
    """Folder of the attempt's results, in `confirmations/`."""
    first_seed: int
    level: float
    """One-sided level of each verdict."""
    commit: str
    """Commit at which the attempt was recorded."""
    claims: int
    """Number of claims to be confirmed."""
    marks: dict[str, list[str]] | None
    """Claims that were confirmed, fell back, were reversed or edited, by mark; null if the attempt never
    ended."""


class Recorded(Part):
    """A run that was made elsewhere and merged here; never counted among the others."""

    name: str
    problem: str
    """Reason why this version cannot judge the run; otherwise empty."""
    experiments: list[str]
    facts: dict[str, str]
    counts: list[Count]


class Report(Part):
    """The results of a tier."""

    format: Literal[3]
    tier: str
    source: str
    """Date, commit and hardware of a recorded run; empty for a run made here."""
    config: str
    """A hash over all parameters."""
    banner: str
    """Warning above all results; empty except for a tier that tests the program alone."""
    attempts: list[Attempt]
    """All attempts in this tier that the ledger holds, also those that never ended."""
    grounds: dict[str, str]
    """Ground of a verdict -> its meaning. Counts on different grounds are never added together."""
    papers: list[Paper]
    counts: list[Count]
    discoveries: list[Discovery]
    printed: Printed
    findings: Findings
    runs: list[Provenance]
    shared: dict[str, str]
    """The facts that all runs share."""
    recorded: list[Recorded]
