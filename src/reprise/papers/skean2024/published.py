"""The numbers printed in the paper."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from reprise.evidence.claim import Quotation
from reprise.papers.skean2024.lineup import METHODS

NEEDS = (
    "a run without departures: the data set at its root, and GPUs; compute it with: "
    "snakemake --config tier=paper paper=skean2024"
)
"""The run that decides a claim about a printed number."""
DATA_SETS = ("CIFAR-10", "CIFAR-100", "STL-10")
"""The columns of Table 2."""
PLACES = {
    "Table 2": "Table 2, Section 6.1",
    "Table 3": "Table 3, Section 6.1",
    "Section 6.2 text": "Section 6.2",
}


class Number(NamedTuple):
    """A printed number.

    Attributes:
        key: the id of its claim, without the paper.
    """

    key: str
    artifact: str
    row: str
    column: str
    value: float
    unit: str

    @property
    def method(self) -> str:
        """The key of its row's method."""
        return next(key for key, method in METHODS.items() if method.name == self.row)

    @property
    def as_printed(self) -> Quotation:
        """The row of the table with the number."""
        row = [str(each.value) for each in numbers_of(self.artifact) if each.row == self.row]
        return Quotation(" ".join([self.row, *row]), PLACES[self.artifact])


@cache
def numbers() -> pd.DataFrame:
    """All printed numbers, one per row. Who reads it must not change it."""
    return pd.read_csv(Path(__file__).parent / "published.csv")


def numbers_of(*artifacts: str) -> list[Number]:
    """The numbers of some tables or sections."""
    return [
        Number(**{str(name): value for name, value in row.items()})
        for row in numbers().to_dict("records")
        if row["artifact"] in artifacts
    ]


def accuracies(published: pd.DataFrame, artifact: str) -> pd.DataFrame:
    """A table as printed, with methods as rows, in percent; NaN where it prints nothing."""
    rows = published[published["artifact"] == artifact]
    return rows.pivot(index="row", columns="column", values="value")
