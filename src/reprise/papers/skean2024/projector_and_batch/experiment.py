"""Settings of Appendix C: two graphs whose captions and numbers our copy of the paper lacks.

No other loss can be shown: both graphs show FroSSL only.
"""

from typing import Annotated

from pydantic import Field

from reprise.contract.experiment import Experiment, Plan
from reprise.contract.settings import lost
from reprise.datasets.catalogue import DataSetName
from reprise.papers.skean2024 import nets
from reprise.papers.skean2024.training import OneDataSet, Rate
from reprise.training.grid import Net, Task

Size = Annotated[int, Field(ge=8)]


class Params(OneDataSet):
    """FroSSL, varying one factor at a time around the settings of Table 2; every batch size sees the same
    number of images."""

    data_set: DataSetName = lost("stl10", "Table 3's")
    steps: int = lost(41_000, "100 epochs of STL-10 with its unlabelled images, at the first batch", ge=1)
    learning_rates: tuple[Rate, ...] = lost((0.3,), "Section 6.1's", min_length=1)
    dims: tuple[Size, ...] = lost((256, 512, 1024, 2048), "embedding dimensions", min_length=2)
    batches: tuple[Size, ...] = lost((64, 128, 256, 512), "batch sizes", min_length=2)


def networks(params: Params) -> list[Net]:
    """Each embedding dimension at the base's batch size, and each batch size at the base's dimension."""
    budget = nets.own_budget(params)
    base = nets.nets(params, budget, ["frossl"], params.data_set)
    varied = [{"dim": dim} for dim in params.dims] + [{"batch": batch} for batch in params.batches]
    return base + [
        nets.net(params, budget, "frossl", params.data_set, seed, **changes)
        for changes in varied
        for seed in params.seed_range(params.seeds)
    ]


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """The tasks of all networks."""
    return nets.tasks(params, networks(params))


EXPERIMENT = Experiment(
    params=Params,
    tables=("probes",),
    plan=Plan(tasks, nets.needs),
    excused=dict.fromkeys(
        ("optimiser.momentum", "data_set", "steps", "learning_rates", "batches"),
        "a training of every network for each value",
    )
    | {"dims": "the claim reads the networks of one dimension, at each batch size"},
    check=nets.check,
    coordinates=("learning_rate", "start"),
)
