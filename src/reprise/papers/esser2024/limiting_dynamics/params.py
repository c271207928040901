"""Settings of Figure 3; the text gives the widths, the step size and the positives of Example 1.

No other loss can be shown: descent (11) and the ODE (12) both use the matrix C, which only the contrastive
loss (1) defines.
"""

from typing import Literal, Self

from pydantic import model_validator

from reprise.evidence.judgement import MIN_POINTS
from reprise.study.settings import Settings, ours, stated, unstated

TABLES = ("identities", "velocities", "trajectory", "outputs")

WIDTHS = (10, 100, 1000)
DIMS = (1, 2)
"""Widths and embedding dimensions that claims read."""


class Params(Settings):
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
    steps: int = unstated(1000, "enough for both to settle", ge=2)
    record_every: int = ours(10, "steps between recorded iterations", ge=1)
    seeds: int = ours(30, "independent data sets and starts", ge=1)
    points: int = ours(25, "random points and sizes at which each formula is checked", ge=1)
    largest: int = ours(5, "largest number of inputs at these points", ge=3)

    @model_validator(mode="after")
    def _claims_have_their_runs(self) -> Self:
        for name, needed in (("widths", WIDTHS), ("embedding_dims", DIMS)):
            if not set(needed) <= set(getattr(self, name)):
                raise ValueError(f"{name} must hold {list(needed)}, which claims read")
        if min(self.widths) < 2 or min(self.widths) < max(self.embedding_dims):
            raise ValueError(
                "widths must be at least 2, the number of inputs, and at least the embedding's dimension"
            )
        if self.steps % self.record_every:
            raise ValueError("steps must be a multiple of record_every, so that the last one is recorded")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the unstated settings, with ten seeds."""
    grid: dict[str, dict[str, object]] = {
        "n = 50": {"samples": 50},
        "n = 1000": {"samples": 1000},
        "moons with noise 0.2": {"moons_noise": 0.2},
    }
    common: dict[str, object] = {"seeds": min(params.seeds, 10), "points": min(params.points, MIN_POINTS)}
    return {name: params.model_copy(update=common | changes) for name, changes in grid.items()}
