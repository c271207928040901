"""Did a change move a number? Tables are summarised, and the summary is compared with a golden one under
tests/golden/."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from reprise.errors import RepriseError
from reprise.execute import pipeline, registry
from reprise.execute.tiers import Tier
from reprise.study.experiment import Tables

COORDINATES = ["amplitude", "zeta", "learning_rate", "start", "gram_distance"]
"""Columns of numbers that are set, not measured."""
KEYS = ["table", "group", "column", "statistic"]


def summarise(tables: Tables) -> pd.DataFrame:
    """Mean, least and largest value of every measured column, by what the table's words tell apart, where
    it is a finite number; of no table that measures time.

    Returns:
        The columns `table, group, column, statistic, value`, one number a row.
    """
    parts = []
    for name, table in sorted(tables.items()):
        if name.endswith("_seconds"):
            continue
        words = list(table.select_dtypes(include=["object", "string"]).columns)
        numbers = table.select_dtypes(include="float").columns.difference(COORDINATES)
        for group, rows in table.groupby(words, sort=True):
            found = rows[numbers].agg(["mean", "min", "max"]).rename_axis("statistic").reset_index()
            frame = found.melt("statistic", var_name="column").sort_values(["column", "statistic"])
            parts.append(frame.assign(table=name, group=" ".join(map(str, group))))
    found = pd.concat(parts, ignore_index=True)[[*KEYS, "value"]]
    return found[np.isfinite(found["value"])].reset_index(drop=True)


def golden_file(tier: Tier, id: str) -> Path:
    """Where the golden summary of an experiment lies."""
    return tier.root / "tests" / "golden" / tier.name / f"{id}.csv"


def compare(tier: Tier, papers: Iterable[str]) -> list[str]:
    """A line for every number outside its tolerance: the experiment, the number, then and now. With an
    infinite tolerance it may be missing, too.

    Raises:
        RepriseError: when a tier has no golden summary, or an experiment no results.
    """
    lines = []
    for key in papers:
        for id in registry.paper(key).experiments:
            file = golden_file(tier, id)
            if not file.is_file():
                raise RepriseError(f"{file}: no golden numbers; they exist for the smoke tier: --tier smoke")
            golden = pd.read_csv(file, keep_default_na=False, dtype={"value": float, "tolerance": float})
            lines += _differences(id, golden, summarise(pipeline.load(id, tier)[0]))
    return lines


def _differences(id: str, golden: pd.DataFrame, now: pd.DataFrame) -> list[str]:
    both = golden.merge(now, on=KEYS, how="outer", suffixes=("_then", "_now"))
    near = (both["value_now"] - both["value_then"]).abs() <= both["tolerance"]
    moved = ~near & ~np.isinf(both["tolerance"])  # also where one is missing
    return [
        f"{id}: {row.statistic} of {row.table}.{row.column} [{row.group}]: "
        f"then {row.value_then:.9g}, now {row.value_now:.9g}, tolerance {row.tolerance:.2g}"
        for row in both[moved].itertuples()
    ]
