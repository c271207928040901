"""Detects numbers that a change has moved: compares summaries of the result tables with the golden summaries
in tests/golden/."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from reprise.contract.experiment import BASE, Tables
from reprise.engine import registry
from reprise.engine.configured import ConfiguredExperiment, Tier
from reprise.errors import RepriseError

OTHERS = "other settings"
NOT_COMPARED = "_seconds"
"""End of the names of tables that measure time."""
KEYS = ["table", "group", "column", "statistic"]
LEAST_RELATIVE, LEAST_TOLERANCE = 1e-6, 1e-9
"""A tolerance is at least this share of a number's size, and at least so much."""


def summarise(tables: Tables, coordinates: Iterable[str] = ()) -> pd.DataFrame:
    """Mean, minimum and maximum of every measured column for each combination of the table's text columns,
    over all settings but the experiment's own together; omits values that are not finite, and tables of
    timings.

    Args:
        coordinates: columns of numbers that are settings, not measurements.

    Returns:
        The columns `table, group, column, statistic, value`, one number per row.
    """
    frames = []
    for name, table in sorted(tables.items()):
        if name.endswith(NOT_COMPARED):
            continue
        if "setting" in table:
            own = table["setting"] == BASE
            table = table.assign(setting=table["setting"].where(own, OTHERS).astype(object))
        text_columns = list(table.select_dtypes(include=["object", "string"]).columns)
        measured = table.select_dtypes(include="float").columns.difference(list(coordinates))
        for group, rows in table.groupby(text_columns, sort=True):
            statistics = rows[measured].agg(["mean", "min", "max"]).rename_axis("statistic").reset_index()
            frame = statistics.melt("statistic", var_name="column").sort_values(["column", "statistic"])
            frames.append(frame.assign(table=name, group=" ".join(map(str, group))))
    summary = pd.concat(frames, ignore_index=True)[[*KEYS, "value"]]
    return summary[np.isfinite(summary["value"])].reset_index(drop=True)


def summary(configured: ConfiguredExperiment) -> pd.DataFrame:
    """The summary of an experiment's results in a tier.

    Raises:
        RepriseError: if they are missing, damaged or out of date.
    """
    return summarise(configured.tables(), configured.experiment.coordinates)


def golden_file(root: Path, tier_name: str, id: str) -> Path:
    """The file of an experiment's golden summary in a checkout."""
    return root / "tests" / "golden" / tier_name / f"{id}.csv"


def golden(file: Path) -> pd.DataFrame:
    """A golden summary with its tolerances."""
    return pd.read_csv(file, keep_default_na=False, dtype={"value": float, "tolerance": float})


class Drift(NamedTuple):
    """A comparison with the golden numbers.

    Attributes:
        compared: how many numbers have a golden one.
        moved: those outside their tolerance, a line each.
    """

    compared: int
    moved: list[str]

    def __str__(self) -> str:
        return f"{self.compared:,} numbers compared, {len(self.moved):,} moved"


def compare(tier: Tier, papers: Iterable[str]) -> Drift:
    """Compares the numbers of some papers with their golden ones. With an infinite tolerance a number may
    also be missing.

    Raises:
        RepriseError: if the tier has no golden summary, or an experiment has no results.
    """
    compared, lines = 0, []
    for key in papers:
        for id in registry.paper(key).experiments:
            file = golden_file(tier.root, tier.name, id)
            if not file.is_file():
                raise RepriseError(f"{file}: no golden numbers; they exist for the smoke tier: --tier smoke")
            then = golden(file)
            compared += len(then)
            lines += _differences(id, then, summary(tier.experiment(id)))
    return Drift(compared, lines)


def moved(then: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """The numbers of two summaries that differ by more than their tolerance, or that only one of them has.

    Args:
        then: with a column `tolerance`; with an infinite one a number may be anything.

    Returns:
        The columns `table, group, column, statistic, value_then, value_now, tolerance`.
    """
    merged = then.merge(now, on=KEYS, how="outer", suffixes=("_then", "_now"))
    within = (merged["value_now"] - merged["value_then"]).abs() <= merged["tolerance"]
    return merged[~within & ~np.isinf(merged["tolerance"])]  # includes missing numbers


def _differences(id: str, then: pd.DataFrame, now: pd.DataFrame) -> list[str]:
    return [
        f"{id}: {row.statistic} of {row.table}.{row.column} [{row.group}]: "
        f"then {row.value_then:.9g}, now {row.value_now:.9g}, tolerance {row.tolerance:.2g}"
        for row in moved(then, now).itertuples()
    ]
