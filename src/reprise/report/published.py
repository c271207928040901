"""Every number that the papers print, with our measurement of it.

A printed number is a row of a paper's `published.csv`, and the claim whose id is its key compares it. Where
nothing was run as published, that claim has no verdict. Its measurement is then read off the run that there
is, smaller or on other images, and shown without a difference from print: the two are not of one thing.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reprise.contract.experiment import BASE, Tables
from reprise.engine.configured import Tier
from reprise.engine.registry import Paper as Registered
from reprise.engine.tiers import load_tier
from reprise.evidence.claim import ALONE
from reprise.evidence.claim import Claim as Definition
from reprise.evidence.observation import Observation, observe
from reprise.evidence.rounds import join
from reprise.evidence.statistics import LEVEL, quantile
from reprise.evidence.verdicts import GROUNDS, setting
from reprise.ledger import plan
from reprise.report.numbers import NONE, finite, interval
from reprise.report.schema import Claim, Paper, PrintedNumber, PrintedSetting
from reprise.training import costs

AS_PUBLISHED = "paper"
"""The tier that runs everything as published."""
SAME: tuple[PrintedSetting, ...] = ("the same", "the same, with assumptions")
"""The settings in which a measurement is compared with print."""
NOT_A_PLACE = ("key", "artifact", "value", "std", "unit", "source", "metric")
"""The columns of a `published.csv` that do not locate a number in its table."""
FIELDS = ("artifact", "row", "unit", "value", "std", "observed", "low", "high", "difference",
          "difference_low", "difference_high", "predicted_low", "predicted_high", "inside", "setting",
          "note", "gpu_hours", "gpu_jobs", "longest_job_hours", "longest_job_gpus", "together",
          "claim")  # fmt: skip
"""Fields of a printed number in `csv`."""


@dataclass(frozen=True)
class PrintedNumbers:
    """The numbers that a paper prints.

    Attributes:
        claims: what the paper claims, stated, by id.
    """

    tier: Tier
    paper: Registered
    claims: Mapping[str, Claim]

    def all(self) -> list[PrintedNumber]:
        """All numbers, each with our measurement of it, in the order of `published.csv`.

        Raises:
            RepriseError: if results are damaged, or the tier of a run as published cannot be read.
        """
        return [self._number(row) for row in self._rows]

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        rows = self.paper.printed_numbers().to_dict("records")
        return [{str(name): cell for name, cell in row.items()} for row in rows]

    def _claim(self, row: Mapping[str, Any]) -> Claim | None:
        return self.claims.get(f"{self.paper.key}/{row.get('key')}")

    def _number(self, row: Mapping[str, Any]) -> PrintedNumber:
        claim = self._claim(row)
        definition = self.paper.claims[claim.id][0] if claim else None
        alike = [each for each in self._rows if _of_what(each) == _of_what(row)]
        fields: dict[str, Any] = dict.fromkeys(PrintedNumber.model_fields)
        fields |= {
            "key": "" if _is_empty(row.get("key")) else row["key"],
            "artifact": row["artifact"],
            "row": place(row) or row["artifact"],
            "value": row["value"],
            "std": finite(row.get("std")),
            "places": (places := max(map(_decimals, alike))),
            "unit": claim.unit if claim else _words(row, "metric", "unit"),
            "claim": claim.id if claim else "",
            "setting": "not run" if claim else "not judged",
            "note": "" if claim else _words(row, "source"),
            **dict.fromkeys(("gpu_jobs", "longest_job_gpus", "together"), 0),
        }
        if claim is not None and definition is not None:
            fields |= self._measured(claim, definition, row["value"], places)
            if definition.needs and claim.experiment and fields["setting"] not in SAME:
                together = self._decided_together[claim.experiment]
                fields |= {**self._cost(claim.experiment), "together": together}
        return PrintedNumber(**fields)

    def _measured(self, claim: Claim, definition: Definition, value: float, places: int) -> dict[str, Any]:
        """Our measurement, as fields of a printed number."""
        if claim.verdict == "not run":
            return self._on_another(claim, definition)
        own = {"observed": claim.observed, "low": claim.own_low, "high": claim.own_high}
        if claim.departures:
            return {**own, "setting": "reduced"}
        repetitions = claim.published.n if claim.published and claim.published.n else 1
        low, high = definition.shown(*predicted(claim.values, repetitions))
        return {
            **own,
            "setting": SAME[bool(claim.assumptions)],
            "difference": _less(claim.observed, value),
            "difference_low": _less(claim.low, value),
            "difference_high": _less(claim.high, value),
            "predicted_low": low,
            "predicted_high": high,
            "inside": is_inside(value, places, low, high),
        }

    def _on_another(self, claim: Claim, definition: Definition) -> dict[str, Any]:
        """Our measurement in a reduced run, as fields of a printed number; empty if there is none."""
        if not claim.tables or definition.has_cells:
            return {}
        seen: Observation = observe(definition, ALONE, self._tables(claim.experiment))
        if finite(seen.interval.mean) is None:
            return {}
        low, high = definition.shown(finite(seen.interval.low), finite(seen.interval.high))
        return {
            "setting": "reduced", "note": seen.obstacle,
            "observed": seen.interval.mean, "low": low, "high": high,
        }  # fmt: skip

    @cached_property
    def _tables(self) -> Callable[[str], Tables]:
        """The tables of all rounds of an experiment, in its own setting, read once."""
        return cache(
            lambda id: setting(join([each.tables() for each in self.tier.experiment(id).rounds()]), BASE)
        )

    @cached_property
    def _cost(self) -> Callable[[str], dict[str, Any]]:
        """Estimates the GPU time of an experiment as published, as fields of a printed number."""

        def of_experiment(id: str) -> dict[str, Any]:
            needs = load_tier(AS_PUBLISHED, self.tier.root).experiment(id).needs().values()
            jobs = sorted((each for each in needs if each.gpus), key=lambda each: -each.minutes)
            return {
                "gpu_hours": sum(each.minutes * each.gpus for each in jobs) / 60,
                "gpu_jobs": len(jobs),
                "longest_job_hours": jobs[0].minutes / 60 if jobs else None,
                "longest_job_gpus": jobs[0].gpus if jobs else 0,
            }

        return cache(of_experiment)

    @cached_property
    def _decided_together(self) -> Counter[str]:
        """Experiment -> count of printed numbers that its run as published decides."""
        found = [self._claim(row) for row in self._rows]
        return Counter(claim.experiment for claim in found if claim)


def place(row: Mapping[str, Any]) -> str:
    """The place of a number in its table, in words, from a row of `published.csv`: `SimCLR, no projector`,
    `beta = 1, P = 3, backprop mean, no backprop variance`."""
    words = []
    for name, cell in row.items():
        if name in NOT_A_PLACE or _is_empty(cell):
            continue
        name = name.replace("_", " ")
        if isinstance(cell, bool) or cell == "none":
            words.append(name if cell is True else f"no {name}")
        else:
            words.append(cell if isinstance(cell, str) else f"{name} = {cell:g}")
    return ", ".join(words)


def predicted(values: Sequence[float], repetitions: int) -> tuple[float | None, float | None]:
    """The 95 % prediction interval of the mean over further runs: mean ± t s √(1/n + 1/repetitions), of n
    runs with standard deviation s, with Student's t at n - 1 degrees of freedom; None of fewer than two.

    Args:
        values: of runs with other seeds.
    """
    if len(values) < 2:
        return None, None
    sample = np.asarray(values, dtype=float)
    spread = 0.0 if sample.min() == sample.max() else float(sample.std(ddof=1))
    half = float(quantile(len(sample) - 1, LEVEL)) * spread * math.sqrt(1 / len(sample) + 1 / repetitions)
    return float(sample.mean()) - half, float(sample.mean()) + half


def is_inside(value: float, places: int, low: float | None, high: float | None) -> bool | None:
    """Tells if an interval holds a number that is printed as this one; None without an interval.

    Args:
        places: how many decimals are printed.
    """
    if low is None or high is None:
        return None
    half = 0.5 * 10.0**-places * (1 + 1e-9)  # half a digit, and rounding in binary
    return low <= value + half and value - half <= high


def _decimals(row: Mapping[str, Any]) -> int:
    """Lower bound on the decimals of a printed number and its spread: trailing zeros are not known."""
    shown = [row["value"], *([row["std"]] if not _is_empty(row.get("std")) else [])]
    return max(len(f"{float(each):.10f}".rstrip("0").partition(".")[2]) for each in shown)


def _of_what(row: Mapping[str, Any]) -> tuple[object, object]:
    """Metric and unit of a number: where both agree, a paper prints as many decimals."""
    return row.get("metric"), row.get("unit")


def _words(row: Mapping[str, Any], *names: str) -> str:
    return ", ".join(str(row[name]) for name in names if not _is_empty(row.get(name)))


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _less(value: float | None, reference: float) -> float | None:
    return None if value is None else value - reference


# In words.


class Line(NamedTuple):
    """A printed number as people read it, cell by cell."""

    printed: str
    ours: str
    difference: str
    predicted: str
    setting: str


def line(number: PrintedNumber) -> Line:
    """The cells of a printed number; a dash where there is nothing."""
    low, high = number.predicted_low, number.predicted_high
    digits = max(number.places, 2)
    return Line(
        printed=as_printed(number),
        ours=interval(number.observed, number.low, number.high),
        difference=interval(number.difference, number.difference_low, number.difference_high),
        predicted=NONE
        if low is None or high is None
        else f"{'in' if number.inside else 'outside'} [{_fixed(low, digits)}, {_fixed(high, digits)}]",
        setting=f"{number.setting}{f'; {number.note}' if number.note else ''}",
    )


def as_printed(number: PrintedNumber) -> str:
    """The number as its table prints it, with its spread: `0.30 ± 0.24`."""
    text = _fixed(number.value, number.places)
    return text if number.std is None else f"{text} ± {_fixed(number.std, number.places)}"


def _fixed(value: float, places: int) -> str:
    return f"{value:z.{places}f}".replace("-", "−")


class Summary(NamedTuple):
    """Counts of a table's numbers by how they were measured, and their agreement with ours.

    Attributes:
        same: measured as published.
        inside: of these, whose printed number lies in the prediction interval.
        with_interval: of these, that have one.
        mean_difference: of ours less the printed one, over those measured as published; None if there is
            none, or units differ.
        gpu_hours: of the runs as published that the others need.
    """

    numbers: int
    same: int
    inside: int
    with_interval: int
    reduced: int
    not_run: int
    not_judged: int
    mean_difference: float | None
    gpu_hours: float


def summary(numbers: Sequence[PrintedNumber], claims: Mapping[str, Claim]) -> Summary:
    """Summarises the printed numbers of a table.

    Args:
        claims: the numbers' claims, by id.
    """
    settings = Counter(number.setting for number in numbers)
    differences = [number.difference for number in numbers if number.difference is not None]
    hours = {claims[number.claim].experiment: number.gpu_hours for number in numbers if number.gpu_hours}
    return Summary(
        numbers=len(numbers),
        same=sum(settings[each] for each in SAME),
        inside=sum(number.inside is True for number in numbers),
        with_interval=sum(number.inside is not None for number in numbers),
        reduced=settings["reduced"],
        not_run=settings["not run"],
        not_judged=settings["not judged"],
        mean_difference=sum(differences) / len(differences)
        if differences and len({number.unit for number in numbers}) == 1
        else None,
        gpu_hours=sum(filter(None, hours.values())),
    )


def answer(numbers: Sequence[PrintedNumber], claims: Mapping[str, Claim], about: Iterable[Claim] = ()) -> str:
    """Says in a line how well a table's printed numbers agree with ours, and what would decide the others.

    Args:
        claims: the numbers' claims, by id.
        about: the claims about the table as a whole (`whole`); the first at paper scale that compares the
            table with print is named.
    """
    all = summary(numbers, claims)
    said = []
    if all.with_interval:
        said.append(
            f"{all.inside} of {all.with_interval} printed numbers lie in the prediction intervals of our runs"
        )
    if (mean := all.mean_difference) is not None:
        said.append(f"ours are {abs(mean):.2g} {'higher' if mean > 0 else 'lower'} on average")
    agreement = next(
        (claim for claim in about if claim.relation == "near" and claim.ground.startswith("paper scale")),
        None,
    )
    if said and agreement:
        said.append(f"judged as a whole: {agreement.label}")
    others = {"reduced": all.reduced, "not run": all.not_run, "not judged": all.not_judged}
    if any(others.values()):
        counts = ", ".join(f"{number} {name}" for name, number in others.items() if number)
        said.append(f"not compared: {counts}")
    runs = {claims[number.claim].experiment: number for number in numbers if number.gpu_hours}
    said += [
        f"as published, {each.together} numbers take {plan.hours(each.gpu_hours or 0)} GPU-hours: "
        f"{each.gpu_jobs} jobs, the longest {plan.hours(each.longest_job_hours or 0)} hours on "
        f"{each.longest_job_gpus} {costs.GPU}"
        for each in runs.values()
    ]
    line = "; ".join(said)
    return line[:1].upper() + line[1:]


def by_artifact(paper: Paper) -> dict[str, list[PrintedNumber]]:
    """The numbers of each figure, table or section that prints some."""
    found: dict[str, list[PrintedNumber]] = {}
    for number in paper.numbers:
        found.setdefault(number.artifact, []).append(number)
    return found


def whole(paper: Paper, artifact: str) -> list[Claim]:
    """The claims about a figure or table that prints numbers, except those on its single numbers; in the
    order of `GROUNDS`, on each ground agreement with print first."""
    single = {number.claim for number in paper.numbers}
    about = {id for figure in paper.figures if figure.number == artifact for id in figure.claims}
    found = [claim for claim in paper.claims if claim.id in about - single and claim.verdict != "not run"]
    return sorted(found, key=lambda claim: (list(GROUNDS).index(claim.ground), claim.relation != "near"))


def csv(papers: Iterable[Paper]) -> str:
    """All printed numbers, one a row, numbers as they are."""
    rows = []
    for paper in papers:
        claims = {claim.id: claim for claim in paper.claims}
        for number in paper.numbers:
            claim = claims.get(number.claim)
            quotation = claim.quotations[0] if claim and claim.quotations else None
            rows.append(
                {"paper": paper.key, **{name: getattr(number, name) for name in FIELDS}}
                | {
                    "printed": as_printed(number),
                    "n": claim.published.n if claim and claim.published else None,
                    "verdict": claim.verdict if claim else "",
                    "label": claim.label if claim else "",
                    "quotation": quotation.text if quotation else "",
                    "place": quotation.place if quotation else claim.source if claim else "",
                    "url": paper.url,
                    "command": claim.command if claim else "",
                }
            )
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n", float_format="%.6g")
