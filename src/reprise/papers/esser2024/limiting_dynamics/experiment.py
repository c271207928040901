"""Settings of Figure 3; the text gives the widths, the step size and the positives of Example 1.

No other loss can be shown: descent (11) and the ODE (12) both use the matrix C, which only the contrastive
loss (1) defines.
"""

from typing import Any, Literal, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours, stated, unstated

WIDTHS = (10, 100, 1000)
DIMS = (1, 2)
"""Widths that claims read, and embedding dimensions that the figure shows; claims read the first."""
NAMES = {"samples": "n =", "moons_noise": "moons with noise", "steps": "steps"}
"""Names of the settings that are varied."""


class Params(Seeded):
    """u(x) = W2ᵀ W1 x on half moons with W1ᵀ W1 = I_2 and W2ᵀ W2 = I_z, trained on the loss (8)."""

    widths: tuple[int, ...] = stated(WIDTHS, "Section 'Learning Dynamics of Linear SSL Models', after Eq. 12")
    embedding_dims: tuple[int, ...] = unstated(DIMS, "z; Theorem 3 has z = 1, Theorem 2 any")
    learning_rate: float = stated(0.01, "after Eq. 12", gt=0)
    positive_variance: float = stated(0.1, "Example 1: variance of each coordinate of x⁺ - x", ge=0)
    samples: int = unstated(200, "anchors, each with a positive and a negative", ge=2)
    moons_noise: float = unstated(0.1, "standard deviation of the noise on scikit-learn's moons", ge=0)
    reduction: Literal["mean", "sum"] = unstated(
        "mean", "of the loss over anchors; with a sum, (12) is unstable at this learning rate"
    )
    steps: int = unstated(2000, "enough for both to settle, from nearly all starts", ge=4)
    record_every: int = ours(20, "steps between recorded iterations", ge=1)
    seeds: int = ours(200, "independent data sets and starts", ge=1)
    first_seed: int = ours(
        30, "the first; results of those before had been seen when we chose how many", ge=0
    )
    courses: int = ours(30, "seeds whose outputs are recorded on the way", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_runs(self) -> Self:
        for name, needed in (("widths", WIDTHS), ("embedding_dims", DIMS)):
            if not set(needed) <= set(getattr(self, name)):
                raise ValueError(f"{name} must hold {list(needed)}, which claims or the figure read")
        if min(self.widths) < 2 or min(self.widths) < max(self.embedding_dims):
            raise ValueError(
                "widths must be at least 2, the number of inputs, and at least the embedding's dimension"
            )
        if self.steps % self.record_every:
            raise ValueError("steps must be a multiple of record_every, so that the last one is recorded")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """The unstated settings lower and higher, all together: each pair of values of each two settings once."""
    every = params.record_every
    values: dict[str, tuple[Any, Any]] = {
        "samples": (50, 1000),
        "moons_noise": (0.05, 0.2),
        "steps": (params.steps // (2 * every) * every, params.steps * 2),
    }
    grid: list[dict[str, Any]] = [
        {name: values[name][sign] for name, sign in zip(values, signs, strict=True)}
        for signs in ((0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1))
    ]
    return {
        ", ".join(f"{NAMES[name]} {value}" for name, value in changes.items()): params.model_copy(
            update={"courses": 1, **changes}
        )
        for changes in grid
    }


EXPERIMENT = Experiment(
    params=Params,
    tables=("ends", "trajectory", "outputs"),
    alternatives=alternatives,
    excused={
        "embedding_dims": "claims read one output; two are drawn for comparison",
        "reduction": "with a sum, Euler's method (12) is unstable at the stated step",
    },
)
