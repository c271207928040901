"""The paper's printed numbers."""

from functools import cache
from pathlib import Path

import pandas as pd


@cache
def table() -> pd.DataFrame:
    """The printed numbers, one a row, by `key`: of a number that a claim is to reach, the claim's id without
    the paper."""
    return pd.read_csv(Path(__file__).parent / "published.csv")


def number(key: str) -> float:
    """A printed number."""
    return float(table().set_index("key")["value"][key])
