"""Settings of Appendix C: two graphs whose captions and numbers our copy of the paper lacks.

No other loss can be shown: both graphs show FroSSL only.
"""

from typing import Annotated

from pydantic import Field

from reprise.datasets.catalogue import DataSetName
from reprise.papers.skean2024.training import Rate, Training, check_data
from reprise.study.experiment import Resources
from reprise.study.settings import lost

TABLES = ("probes",)
RESOURCES = Resources(minutes=60, memory_mb=4000)

Size = Annotated[int, Field(ge=8)]


class Params(Training):
    """FroSSL, varying one factor at a time around the settings of Table 2; every batch size sees the same
    number of images."""

    data_set: DataSetName = lost("stl10", "Table 3's")
    steps: int = lost(41_000, "100 epochs of STL-10 with its unlabelled images, at the first batch", ge=1)
    learning_rate: Rate = lost(0.3, "Section 6.1's")
    dims: tuple[Size, ...] = lost((256, 512, 1024, 2048), "embedding dimensions", min_length=2)
    batches: tuple[Size, ...] = lost((64, 128, 256, 512), "batch sizes", min_length=2)


def check(params: Params) -> None:
    """Checks that the data set exists.

    Raises:
        RepriseError: naming what is missing, where, and what to do.
    """
    check_data([params.data_set], params.root)
