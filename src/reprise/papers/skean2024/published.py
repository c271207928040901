"""The numbers printed in the paper."""

from pathlib import Path
from typing import Any

import pandas as pd

DATA_SETS = ("CIFAR-10", "CIFAR-100", "STL-10")


def numbers() -> pd.DataFrame:
    """All printed numbers, one per row."""
    return pd.read_csv(Path(__file__).parent / "published.csv")


def accuracies(published: pd.DataFrame, artifact: str) -> pd.DataFrame:
    """A table as printed, with methods as rows, in percent; NaN where it prints nothing."""
    rows = published[published["artifact"] == artifact]
    return rows.pivot(index="row", columns="column", values="value")


NEEDS = (
    "a run without departures: the data set at its root, and GPUs; compute it with: "
    "snakemake --config tier=paper paper=skean2024"
)
"""What a claim about a printed number needs to be decided."""


def rows_of(artifact: str) -> list[dict[str, Any]]:
    """The numbers of a table or section, each with its `row`, `column` and `value`."""
    table = numbers()
    return [
        {str(k): v for k, v in row.items()} for row in table[table["artifact"] == artifact].to_dict("records")
    ]


def slug(name: str) -> str:
    """The form of a method's, data set's or epoch's name in a claim's id: `mocov2`, `frossl-no-logs`,
    `epoch3`."""
    joined = name.lower().replace("moco v2", "mocov2").replace("epoch ", "epoch")
    return joined.replace("(", "").replace(")", "").replace(" ", "-")
