"""Claims as the report states them, from their verdicts and their experiments' tables."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import pandas as pd

from reprise.contract.experiment import BASE, Tables
from reprise.engine.configured import RECORDED, Tier
from reprise.engine.registry import Paper
from reprise.evidence.claim import ALONE
from reprise.evidence.claim import Claim as Definition
from reprise.evidence.comparison import shown
from reprise.evidence.judgement import Verdict
from reprise.evidence.observation import ABOUT_EACH, observe
from reprise.evidence.rounds import FIRST, join
from reprise.evidence.statistics import mean_interval, quantile
from reprise.evidence.verdicts import CERTAIN, ground, known_false, setting
from reprise.ledger import frozen
from reprise.report import wording
from reprise.report.contents import claims_about
from reprise.report.numbers import finite
from reprise.report.schema import Claim, CodeLine, Provenance, Published, Quotation, Reading

Row = Mapping[str, Any]
"""A row of a table of verdicts, with the columns `evidence.verdicts.COLUMNS`."""

MOST_VALUES = 50
"""Most observations that are shown one by one."""


@dataclass(frozen=True)
class Claims:
    """The claims of a paper, from their rows.

    Attributes:
        rows: of all claims that are to be stated, from `marked`.
        fresh: the runs whose results are up to date, by experiment.
        recorded: of each recorded run, claim -> its verdict there, in one line.
    """

    tier: Tier
    paper: Paper
    rows: Sequence[Row]
    fresh: Mapping[str, Provenance]
    recorded: Sequence[Mapping[str, str]] = ()

    def claim(self, row: Row, quotations: list[Quotation]) -> Claim:
        """A claim as the report states it, with the paper's sentences."""
        id = row["claim"]
        definition, experiment = self.paper.claims[id]
        about = [erratum for erratum in self.paper.errata if id == erratum.shown_by]
        values = self._values(row, definition)
        printed = _published(row, definition) if id in self._printed else None
        low, high = definition.shown(finite(row["low"]), finite(row["high"]))
        own_low, own_high = definition.shown(*_own_interval(row, values))
        minutes = self.fresh[experiment.id].minutes if experiment and experiment.id in self.fresh else None
        numbers: dict[str, Any] = {
            name: finite(row[name])
            for name in ("reference", "margin", "smallest", "effect", "observed", "p_reproduced",
                         "p_contradicted", "p_tied", "level", "alpha", "chance_same")
        }  # fmt: skip
        numbers["observed"], _ = definition.shown(numbers["observed"], None)
        return Claim(
            id=id,
            **{
                name: row[name]
                for name in (
                    "kind", "statement", "source", "form", "erratum", "reading", "verdict", "reason", "unit",
                    "relation", "verdict_half_margin", "verdict_twice_margin", "looked", "quantifier", "word",
                    "reason_code", "here", "stands", "every", "mark",
                )
            },
            **numbers,
            label=wording.label(row, definition, values),
            exceptions=_split(row["exceptions"]),
            what_would_decide=wording.what_would_decide(row, minutes),
            quotations=quotations,
            ground=ground(row),
            published=printed,
            target=finite(row["published"]) if printed is None else None,
            low=low,
            high=high,
            own_low=own_low,
            own_high=own_high,
            rounds=int(row["rounds"]),
            seeds=int(row["seeds"]),
            sample=_sample(row),
            values=values,
            cells=_readings(row["cells"], definition),
            settings=_readings(row["settings"], definition),
            is_one_scale=_is_one_scale(definition),
            robust=_is_robust(row),
            checks=_checks(row),
            departures=_split(row["departures"]),
            assumptions=_split(row["assumptions"]),
            experiment=experiment.id if experiment else "",
            tables=f"{experiment.id}/" if experiment and experiment.id in self.fresh else "",
            figures=[artifact for artifact, ids in self._about.items() if id in ids],
            errata=[erratum.id for erratum in about],
            corrections=[erratum.corrected for erratum in about] if known_false(row) else [],
            recorded=[lines[id] for lines in self.recorded if id in lines],
            code=CodeLine.of(definition.code, self.tier.root, self.tier.results),
            command=self._command(experiment.id if experiment else ""),
            minutes=minutes,
        )  # fmt: skip

    def _command(self, experiment: str) -> str:
        judged = f"reprise check {self.paper.key} --tier {self.tier.in_commands}"
        if not experiment or self.tier.in_commands.startswith(RECORDED):
            return judged
        return f"{self.tier.experiment(experiment).how_to_make} && {judged}"

    @cached_property
    def _verdicts(self) -> dict[str, str]:
        return {row["claim"]: row["verdict"] for row in self.rows}

    @cached_property
    def _printed(self) -> set[str]:
        """The claims about a number that the paper prints, by its `key`."""
        keys = self.paper.printed_numbers().get("key", ())
        return {f"{self.paper.key}/{key}" for key in keys}

    def _values(self, row: Row, definition: Definition) -> list[float]:
        experiment = self.paper.claims[row["claim"]][1]
        if row["verdict"] == "not run" or definition.kind in ABOUT_EACH or definition.has_cells:
            return []
        if experiment is None or experiment.id not in self.fresh:
            return []
        values = observe(definition, ALONE, self._tables(experiment.id, int(row["rounds"]))).sample
        return [float(value) for value in values] if len(values) <= MOST_VALUES else []

    @cached_property
    def _about(self) -> dict[str, list[str]]:
        return claims_about(self.paper, self._verdicts)

    @cached_property
    def _tables(self) -> Callable[[str, int], Tables]:
        """The tables of an experiment's first rounds joined, in its own setting, read once."""
        return cache(
            lambda id, rounds: setting(
                join([each.tables() for each in self.tier.experiment(id).rounds()[:rounds]]), BASE
            )
        )


def marked(tier: Tier, claims: pd.DataFrame) -> pd.DataFrame:
    """A tier's verdicts with a column `mark`: the outcome of attempts to confirm the frozen verdict, in
    words; empty if there is none.

    Args:
        claims: one row per claim, with the columns `evidence.verdicts.COLUMNS`.

    Raises:
        RepriseError: if the ledger is damaged.
    """
    marks = frozen.marks(tier)
    rows = zip(claims["claim"], claims["verdict"], strict=True)
    return claims.assign(mark=[marks[id].beside(verdict) if id in marks else "" for id, verdict in rows])


def _split(joined: str) -> list[str]:
    return joined.split("; ") if joined else []


def _sample(row: Row) -> str:
    return {
        "identity": "points", "inequality": "points", "printed": "printed numbers", "always": "runs",
        "given": "cases",
    }.get(row["kind"], "seeds")  # fmt: skip


def _readings(joined: str, definition: Definition) -> list[Reading]:
    """The cells or settings of a claim, from the JSON of its row."""
    readings = []
    for each in json.loads(joined) if joined else []:
        name = each["name"]
        low, high = finite(each["low"]), finite(each["high"])
        if name in definition.cells:
            low, high = shown([definition.cells[name]], low, high)
        else:
            low, high = definition.shown(low, high)
        observed, reference = finite(each["observed"]), finite(each["reference"])
        readings.append(
            Reading(name=name, verdict=each["verdict"], observed=observed, low=low, high=high,
                    reference=reference, seeds=each["seeds"], p_reproduced=each["p_reproduced"],
                    p_contradicted=each["p_contradicted"], p_tied=each["p_tied"])
        )  # fmt: skip
    return readings


def _other_verdicts(row: Row) -> list[Verdict]:
    """The verdicts in other settings."""
    return [each["verdict"] for each in (json.loads(row["settings"]) if row["settings"] else [])]


def _published(row: Row, definition: Definition) -> Published:
    """The paper's number, with the interval of its mean at the level of ours."""
    value, std, n = float(row["published"]), finite(row["published_std"]), finite(row["published_n"])
    level = FIRST.level if math.isnan(row["level"]) else row["level"]
    half = None
    if std is not None and n is not None and n > 1:
        half = float(quantile(n - 1, level)) * std / math.sqrt(n)
    low, high = (None, None) if half is None else definition.shown(value - half, value + half)
    return Published(
        value=value,
        std=std,
        n=None if n is None else int(n),
        low=low,
        high=high,
    )


def _own_interval(row: Row, values: Sequence[float]) -> tuple[float | None, float | None]:
    """The interval of our own mean, where the one that decides holds the paper's spread as well."""
    low, high = finite(row["low"]), finite(row["high"])
    if math.isnan(row["published_std"]) or len(values) < 2 or low is None:
        return low, high
    own = mean_interval(values, row["level"])
    return own.low, own.high


def _is_one_scale(definition: Definition) -> bool:
    return len({(cell.relation, cell.unit, cell.kind) for cell in definition.cells.values()}) <= 1


def _is_robust(row: Row) -> bool:
    """Tells if a contradiction rests on no choice of ours, neither on the settings nor on the margin, and
    concerns the paper: no slip and no condition left out, with which the statement holds, nothing at reduced
    scale, and no single printed number, which is one draw."""
    return (
        row["verdict"] == row["verdict_twice_margin"] == "contradicted"
        and (row["stands"] == "everywhere" or not row["settings"])
        and row["form"] != "ours"
        and not wording.is_only_here(row)
        and ground(row) not in ("errata", "single numbers")
    )


def _checks(row: Row) -> list[str]:
    """Evidence that a contradiction is no error of ours."""
    if row["verdict"] != "contradicted":
        return []
    checks = []
    others = _other_verdicts(row)
    if others and set(others) == {"contradicted"}:
        checks.append(f"contradicted in all {len(others)} other settings of what the paper leaves open")
    if row["margin"] > 0 and row["verdict_twice_margin"] == "contradicted":
        checks.append(f"contradicted at twice the margin, {2 * row['margin']:.3g}, too")
    if row["kind"] not in CERTAIN and not math.isnan(row["p_contradicted"]):
        checks.append(
            "if the statement were true, results as far from it would have probability "
            f"{row['p_contradicted']:.2g} or less"
        )
    if row["kind"] == "printed":
        checks.append("compared with the paper's own printed numbers: nothing was run")
    if row["kind"] == "identity":
        checks.append(f"computed in float64 at {int(row['seeds'])} random points and sizes")
    if row["erratum"]:
        checks.append("on the same numbers the corrected form holds")
    return checks
