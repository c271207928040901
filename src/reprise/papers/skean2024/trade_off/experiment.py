"""Settings of the grid search of Section 3.1, of which the text gives only the outcome.

No other loss can be shown: the search is over the weights of FroSSL's own terms.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from reprise.contract.experiment import Experiment, Plan
from reprise.contract.settings import ours, unstated
from reprise.datasets.catalogue import DataSetName
from reprise.papers.skean2024 import nets
from reprise.papers.skean2024.lineup import weighted
from reprise.papers.skean2024.training import OneDataSet, Rate
from reprise.training.grid import Task

OTHERS = (0.25, 4.0)
"""Invariance weights that claims compare with equal ones."""

Weight = Annotated[float, Field(gt=0)]


class Params(OneDataSet):
    """FroSSL with each weight, each at its own learning rate, since a larger weight is also a larger
    gradient."""

    data_set: DataSetName = unstated("cifar10", "the first of Table 2's")
    steps: int = unstated(195_000, "Section 6.1's 1000 epochs of CIFAR", ge=1)
    learning_rates: tuple[Rate, ...] = unstated((0.3,), "Section 6.1's", min_length=1)
    weights: tuple[Weight, ...] = ours(
        tuple(sorted((*OTHERS, 1.0))), "of the invariance, relative to the variance"
    )

    @model_validator(mode="after")
    def _claims_have_their_numbers(self) -> Self:
        if not {1.0, *OTHERS} <= set(self.weights):
            raise ValueError(f"weights must hold 1 and {list(OTHERS)}, at which claims read")
        if list(self.weights) != sorted(set(self.weights)):
            raise ValueError("weights must increase")
        if self.objectives.frossl.invariance_weight != 1:
            raise ValueError("objectives.frossl.invariance_weight must be 1: `weights` has the others")
        return self


def weights(params: Params) -> dict[str, float]:
    """The invariance weight of each method."""
    return {weighted("frossl", weight): weight for weight in params.weights}


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """The tasks of each weight."""
    return nets.own_tasks(params, list(weights(params)))


EXPERIMENT = Experiment(
    params=Params,
    tables=("probes", "pilots"),
    plan=Plan(tasks, nets.needs),
    excused=dict.fromkeys(
        ("optimiser.momentum", "data_set", "steps", "learning_rates"),
        "a training of every network for each value; the learning rate is chosen for each weight",
    ),
    gaps=("pilots.held_out",),  # a pilot diverged, or one rate needs none
    check=nets.check,
    coordinates=("learning_rate", "start"),
)
