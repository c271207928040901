"""The paper's printed numbers."""

from functools import cache
from pathlib import Path

import pandas as pd


@cache
def numbers() -> dict[str, float]:
    """The printed numbers by key, which of a number that a claim is to reach is the claim's id without the
    paper."""
    table = pd.read_csv(Path(__file__).parent / "published.csv")
    return dict(zip(table["key"], table["value"], strict=True))
