"""Settings of Figure 1; the paper gives the data and the losses only.

No other loss can be shown: descent is on Tr(Qᵀ C Q), scaled by norms of the weights so that Propositions 1 to
3 apply, and only the contrastive loss (1) defines the matrix C.
"""

from itertools import product
from typing import Any, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.settings import Seeded, ours, stated, unstated

TABLES = ("trajectory", "runs", "penalised")
PENALTIES = ("sum", "product")
"""Frobenius penalties of Section 3: λ (|W1|² + |W2|²) and λ |W2ᵀ W1|²."""


class Params(Seeded):
    """Linear networks on half moons, trained by gradient descent on the mean contrastive loss or a scaled
    one."""

    output_dims: tuple[int, ...] = ours(
        (1, 2), "z: one output as in Figure 3, and two, for which a rank can show"
    )
    width: int = unstated(10, "h, the smallest of Figures 2 and 3", ge=2)
    samples: int = unstated(200, "n; a quarter of it is tried, too", ge=8)
    moons_noise: float = unstated(0.1, "standard deviation of the noise on scikit-learn's moons", ge=0)
    positive_variance: float = stated(0.1, "Example 1: variance of each coordinate of x⁺ - x", ge=0)
    init_scale: float = unstated(
        1.0, "W = normal x scale / √h: the columns' lengths are close to the scale", gt=0
    )
    learning_rate: float = unstated(0.01, "as in Figures 2 and 3", gt=0)
    steps: int = unstated(5000, "enough for the scaled losses to pass their saddles and settle", ge=4)
    seeds: int = ours(200, "independent data sets, which a statement about every run needs", ge=1)
    starts: int = ours(4, "initial weights per data set", ge=2)
    penalties: tuple[float, ...] = ours(
        (0.5, 2.0), "λ as a multiple of -λ_min(C), from which on the loss with λ |W2ᵀ W1|² is bounded below"
    )
    records: int = ours(120, "recorded steps after the start, evenly spaced in the logarithm", ge=2)

    @model_validator(mode="after")
    def _one_output_and_two(self) -> Self:
        if set(self.output_dims) != {1, 2}:
            raise ValueError("output_dims must be 1 and 2, which claims read")
        return self


NAMES = {
    "width": "h =",
    "samples": "n =",
    "moons_noise": "moons noise",
    "init_scale": "init",
    "learning_rate": "rate",
    "steps": "steps",
}


def alternatives(params: Params) -> dict[str, Params]:
    """The unstated settings lower and higher, all together: each pair of values of start and rate once, with
    which width and samples go along.

    The number of steps follows, so that all runs have as long to settle: the gradient of a scaled loss falls
    with the weights, and steps with the rate.
    """
    values = {
        "width": (params.width // 2, params.width * 10),
        "samples": (params.samples // 4, params.samples * 5),
        "moons_noise": (params.moons_noise / 2, params.moons_noise * 2),
        "init_scale": (params.init_scale / 2**0.5, params.init_scale * 2**0.5),
        "learning_rate": (params.learning_rate / 2, params.learning_rate * 2),
    }
    settings = {}
    for a, b in product((0, 1), repeat=2):
        levels = (a, b, a ^ b, a, b)
        changes: dict[str, Any] = {
            name: both[level] for (name, both), level in zip(values.items(), levels, strict=True)
        }
        slower = params.learning_rate / changes["learning_rate"] * changes["init_scale"] ** 2
        changes["steps"] = round(params.steps * slower / params.init_scale**2)
        name = ", ".join(f"{NAMES[field]} {round(value, 3)}" for field, value in changes.items())
        settings[name] = params.model_copy(update=changes)
    return settings


EXPERIMENT = Experiment(
    params=Params,
    tables=TABLES,
    alternatives=alternatives,
    plan=Resources(memory_mb=3200),
    # Unconstrained losses diverge, which is the result.
    gaps=("trajectory.*", "runs.*"),
)
