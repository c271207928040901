"""Settings of Figures 12 and 13. The text gives the data, fields, batch size, steps and crops only."""

import math
from typing import Literal, NamedTuple, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, from_code, location, ours, stated, unstated
from reprise.datasets import catalogue

ARMS = ("plain", "cropped", "linear")
"""Arms without augmentation, with random crops, and without augmentation and nonlinearity."""

UNTRAINED = "untrained"
"""The arm of the filters before training."""
WITH_UNTRAINED = (*ARMS, UNTRAINED)

FIELDS = ("upper left", "upper right", "lower left", "lower right")
"""The receptive fields: the image's quadrants."""


class Params(Seeded, TakesLosses):
    """z = V BN(h(W_k x_k)), where k runs over the image's four quadrants and V maps all of them to one
    output. The loss is `infonce_cosine`, that of the author's code for the net of Appendix E.2."""

    data_set: Literal["mnist", "strokes", "digits"] = stated("mnist", "Appendix E.3")
    root: str = location("data", "folder that holds MNIST/raw/", min_length=1)
    crop_scale: tuple[float, float] = stated((0.5, 1.0), "Appendix E.3")
    crop_ratio: tuple[float, float] = stated((0.5, 1.5), "Appendix E.3")
    filters: int = unstated(50, "per field: 10 β in the author's code, with β = 5", ge=2)
    activation: Literal["relu", "leaky_relu", "quadratic", "sigmoid"] = from_code(
        "relu", "the configuration of 2022-11-20; the main one of Section 5"
    )
    variance_gradient: bool = unstated(False, "mean-backprop BatchNorm, the setting that Table 1 justifies")
    pooled_statistics: bool = from_code(
        False, "each view has its own BatchNorm statistics; the theory's Eq. 164 pools both views"
    )
    outputs: int = from_code(50, "the net of Appendix E.2", ge=2)
    temperature: float = from_code(0.1, "of the published loss; the text is silent", gt=0)
    batch_size: int = stated(8, "Appendix E.3", ge=2, le=1024)
    learning_rate: float = unstated(0.02, "that of Section 5's code; its text has 2e-3, an erratum", gt=0)
    momentum: float = unstated(0.9, "as in Section 5", ge=0, lt=1)
    weight_decay: float = unstated(5e-3, "as in Section 5", ge=0)
    steps: int = stated(50_000, "Appendix E.3", ge=2)
    seeds: int = ours(5, "independent weights, image orders and crops", ge=1)

    @model_validator(mode="after")
    def _crops_are_ranges(self) -> Self:
        for name, highest in (("crop_scale", 1.0), ("crop_ratio", math.inf)):
            low, high = getattr(self, name)
            if not 0 < low <= high <= highest:
                raise ValueError(f"{name} must be a lowest and a highest number, above 0, at most {highest}")
        return self


class Task(NamedTuple):
    """The only task, which trains all networks at once."""

    networks: int

    def __str__(self) -> str:
        return f"{self.networks} nets"


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """The only task."""
    return [Task(len(ARMS) * params.seeds)]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of the task; its time was measured with 50 filters, on images of 8 and of 28 pixels."""
    pixels = catalogue.DATA_SETS[params.data_set].side ** 2
    return Resources(minutes=params.steps * task.networks * (2.5e-5 + 1.2e-7 * pixels) / 60)


def check(params: Params) -> None:
    """Checks that the data set is present.

    Raises:
        RepriseError: if it is not; it names what is missing, where, and what to do.
    """
    catalogue.check(params.data_set, params.root)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the unstated settings, with three seeds."""
    common = {"seeds": min(params.seeds, 3)}
    grid: dict[str, dict[str, object]] = {
        "learning rate of Section 5's text": {"learning_rate": 2e-3},
        "the authors' configuration of 2022-11-20": {
            "learning_rate": 0.01,
            "filters": 10,
            "outputs": 20,
            "variance_gradient": True,
        },
    }
    return {name: params.model_copy(update={**common, **changes}) for name, changes in grid.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("filters", "statistics", "patterns"),
    plan=Plan(tasks, needs),
    alternatives=alternatives,
    excused={
        "momentum": "as in Section 5 and in the authors' code; with it the learning rate is varied",
        "weight_decay": "as in Section 5 and in the authors' code",
    },
    # A field in which no filter has learned; a training that diverges stops the run.
    gaps=("statistics.high_frequency_share*", "*.effective_rank", "patterns.match"),
    check=check,
)
