"""The published numbers of Table 1."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

CELL = ["beta", "P", "backprop_mean", "backprop_variance"]
REPETITIONS = 3
"""Repetitions of every printed number."""


class Score(NamedTuple):
    """Mean and standard deviation of χ+ over the repetitions.

    Attributes:
        key: of a printed score, the id of its claim without the paper.
    """

    mean: float
    std: float
    key: str = ""

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.std:.2f}"


@cache
def table1() -> dict[tuple[int, int, bool, bool], Score]:
    """Printed scores, by cell (`CELL`)."""
    table = pd.read_csv(Path(__file__).parent / "published.csv")
    rows = table[table["artifact"] == "Table 1"].to_dict("records")
    return {
        (row["beta"], row["P"], row["backprop_mean"], row["backprop_variance"]): Score(
            row["value"], row["std"], row["key"]
        )
        for row in rows
    }
