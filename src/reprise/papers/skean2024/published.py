"""The numbers that the paper prints."""

from pathlib import Path
from typing import Any

import pandas as pd

TABLE2_METHODS = {
    "sample-contrastive": ("SimCLR", "SwAV", "MoCo v2"),
    "asymmetric network": ("SimSiam", "BYOL", "DINO"),
    "dimension-contrastive": ("VICReg", "Barlow Twins", "W-MSE 2", "CorInfoMax"),
    "ours": ("FroSSL (no logs)", "FroSSL"),
}
"""The rows of Table 2 by family; FroSSL and its variant stand in the paper's third, too. Table 3 has no
CorInfoMax."""
DATA_SETS = ("CIFAR-10", "CIFAR-100", "STL-10")
EPOCHS = (3, 10, 30, 50, 100)


def numbers() -> pd.DataFrame:
    """All of them, a number a row."""
    return pd.read_csv(Path(__file__).parent / "published.csv")


def accuracies(published: pd.DataFrame, artifact: str) -> pd.DataFrame:
    """A table as printed: a method a row, in percent; NaN where it prints none."""
    rows = published[published["artifact"] == artifact]
    return rows.pivot(index="row", columns="column", values="value")


NEEDS = (
    "a run without departures: the data set at its root, and GPUs; it is made by: "
    "snakemake --config tier=paper paper=skean2024"
)
"""What a claim about a printed number needs."""


def rows_of(artifact: str) -> list[dict[str, Any]]:
    """The numbers of a table or section, each with its `row`, `column` and `value`."""
    found = numbers()
    return [
        {str(k): v for k, v in row.items()} for row in found[found["artifact"] == artifact].to_dict("records")
    ]


def slug(name: str) -> str:
    """A method's, data set's or epoch's name in a claim's id: `mocov2`, `frossl-no-logs`, `epoch3`."""
    joined = name.lower().replace("moco v2", "mocov2").replace("epoch ", "epoch")
    return joined.replace("(", "").replace(")", "").replace(" ", "-")
