"""Hashes of what is judged in a claim, which edits of its words, or of how code is written, do not change."""

import json
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from reprise.contract.experiment import BASE, NamedTables, Tables
from reprise.contract.settings import Settings
from reprise.engine import memo
from reprise.engine.registry import Experiment
from reprise.errors import RepriseError
from reprise.evidence.claim import Claim
from reprise.evidence.comparison import Comparison
from reprise.evidence.verdicts import judged, settings_of
from reprise.numerics.streams import stream
from reprise.storage import records

JUDGED = (
    "claim", "kind", "quantifier", "exists", "verdict", "here", "stands", "every", "cells", "settings",
    "observed", "low", "high", "relation", "reference", "margin", "smallest", "effect", "published",
    "published_std", "published_n", "verdict_half_margin", "verdict_twice_margin", "p_reproduced",
    "p_contradicted", "p_tied", "seeds", "unit",
)  # fmt: skip
"""The columns of a verdict that hold what is judged and what comes of it; the others are words."""
DIGITS = 6
"""The significant digits of a number in a hash: machines differ in the last ones."""
ASKED = ("measure", "learned", "premise", "resolution", "course")
"""The fields of a comparison that measure something, of which only their presence is compared."""
ROUNDING = 1e-12
"""The size below which a number in a hash counts as 0: on ideal tables it is rounding."""
SHAKEN = 0.2
"""The standard deviation of the share by which numbers of ideal tables are moved."""
TRACE = 1e-3
"""A number that is added beside, times that share: an error of 0 has none."""


def judged_hashes(experiment: Experiment, params: Settings) -> dict[str, str]:
    """Claim -> hash of what is judged: the claim's relation, reference, margin, cells, measure and the rules
    of judgement, by what the judge says of it on several sets of tables (`digests`); and the settings,
    `params` and the other plausible ones. Words, and how code is written, do not enter it.

    Raises:
        RepriseError: if the experiment has no ideal tables, or a claim cannot read them.
    """
    settings = {
        name: each.model_dump(mode="json", exclude={"first_seed"})
        for name, each in experiment.settings(params).items()
    }

    def said() -> list[list[str]]:
        published = experiment.params()
        if not experiment.has_ideal:
            raise RepriseError(
                f"{experiment.id}: without ideal tables nobody can tell if a claim was edited; write them "
                f"({experiment.module}.ideal) to freeze its claims"
            )
        ideal = experiment.ideal(published)
        return [
            [*each] for each in digests(experiment.claims, ideal, published, experiment.coordinates).items()
        ]

    kept = memo.of_package().value(f"judged {experiment.id}", said)
    return {id: records.key_of(settings, digest)[:16] for id, digest in kept}


def digests(
    claims: Iterable[Claim], ideal: Tables, params: Settings | None, coordinates: Iterable[str] = ()
) -> dict[str, str]:
    """Claim -> digest of how its cells are compared and of all that the judge says of it, words apart: on
    tables in which every claim is true, on these `shaken`, and on these by each change that refutes it.

    Args:
        ideal: of the published setting.
        params: the published ones.

    Raises:
        RepriseError: if a claim cannot read the ideal tables.
    """
    tables = NamedTables({name: table.assign(setting=BASE) for name, table in ideal.items()})
    whole, moved = settings_of(tables, params), shaken(tables, coordinates)
    found = {}
    for claim in claims:
        said = [_said(judged(claim, whole, params)), _said_at_most(claim, moved, params)]
        said += [_said_at_most(claim, change(tables), params) for change in claim.broken_by]
        compared = {name: _structure(cell) for name, cell in claim.cells.items()}
        found[claim.id] = records.key_of(compared, said)
    return found


def _said_at_most(claim: Claim, tables: Tables, params: Settings | None) -> object:
    """The content of the verdict on a claim (`_said`), or the name of the error on tables that lack what a
    measure looks for."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return _said(judged(claim, settings_of(tables, params), params))
    except Exception as error:
        return type(error).__name__


def _structure(cell: Comparison) -> dict[str, object]:
    """The comparison in a cell without its measures, and whether it asks that networks learned, and for a
    premise."""
    plain = {
        name: _rounded(list(value) if isinstance(value, tuple) else value)
        for name, value in vars(cell).items()
        if isinstance(value, (str, int, float, tuple))
    }
    asked = {name: getattr(cell, name) is not None for name in ASKED}
    return {**plain, **asked}


def _said(row: Mapping[str, Any]) -> object:
    """The content of a verdict, without words."""
    listed = {name: json.loads(row[name] or "[]") for name in ("cells", "settings")}
    return _rounded({**{name: row[name] for name in JUDGED}, **listed})


def _rounded(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return list(map(_rounded, value))
    if isinstance(value, float):
        return f"{0.0 if abs(value) < ROUNDING else value:.{DIGITS}g}"
    return value.item() if hasattr(value, "item") else value


def shaken(tables: Tables, coordinates: Iterable[str] = ()) -> NamedTables:
    """Tables with each measured number moved by a random share of itself, always the same, and off 0. Columns
    of whole numbers stay as they are, unless all are 0, and so do those by which rows are found."""
    kept, moved = set(coordinates), NamedTables()
    for name, table in tables.items():
        moved[name] = table.copy()
        for column in map(str, table.select_dtypes("float")):
            if column not in kept and ((table[column] % 1).any() or not table[column].any()):
                share = stream(0, f"shaken {name} {column}").normal(0, SHAKEN, len(table))
                moved[name][column] = table[column] * (1 + share) + TRACE * abs(share)
    return moved
