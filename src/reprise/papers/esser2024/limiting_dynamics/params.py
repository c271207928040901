"""Settings of Figure 3; the text gives the widths, the step and Example 1's positives."""

from typing import Literal, Self

from pydantic import model_validator

from reprise.evidence.verdicts import MIN_POINTS
from reprise.study.settings import Settings, ours, stated, unstated

TABLES = ("identities", "velocities", "trajectory", "outputs")

WIDTHS = (10, 100, 1000)
DIMS = (1, 2)
"""Widths and embedding dimensions at which claims read."""


class Params(Settings):
    """u(x) = W2ᵀ W1 x on half moons, W1ᵀ W1 = I_2 and W2ᵀ W2 = I_z, trained on the loss (8)."""

    widths: tuple[int, ...] = stated(WIDTHS, "Section 'Learning Dynamics of Linear SSL Models', after Eq. 12")
    embedding_dims: tuple[int, ...] = unstated(DIMS, "z; Theorem 3 has z = 1, Theorem 2 any")
    learning_rate: float = stated(0.01, "after Eq. 12", gt=0)
    positive_variance: float = stated(0.1, "Example 1, of x⁺ - x in each coordinate", ge=0)
    samples: int = unstated(200, "anchors, each with a positive and a negative", ge=2)
    moons_noise: float = unstated(0.1, "standard deviation, of scikit-learn's moons", ge=0)
    reduction: Literal["mean", "sum"] = unstated(
        "mean", "of the loss over the anchors; with the sum and this learning rate (12) is unstable"
    )
    steps: int = unstated(1000, "until both have come to rest", ge=2)
    record_every: int = ours(10, "steps between two rows of a run", ge=1)
    seeds: int = ours(30, "independent data sets and starts", ge=1)
    points: int = ours(25, "random points and sizes at which each formula is tried", ge=1)
    largest: int = ours(5, "largest number of inputs there", ge=3)

    @model_validator(mode="after")
    def _claims_have_their_runs(self) -> Self:
        for name, needed in (("widths", WIDTHS), ("embedding_dims", DIMS)):
            if not set(needed) <= set(getattr(self, name)):
                raise ValueError(f"{name} must hold {list(needed)}, at which claims read")
        if min(self.widths) < 2 or min(self.widths) < max(self.embedding_dims):
            raise ValueError("widths must be at least 2, the inputs, and at least the embedding's dimensions")
        if self.steps % self.record_every:
            raise ValueError("steps must be a multiple of record_every, for the last one to be recorded")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, with ten seeds."""
    grid: dict[str, dict[str, object]] = {
        "n = 50": {"samples": 50},
        "n = 1000": {"samples": 1000},
        "moons with noise 0.2": {"moons_noise": 0.2},
    }
    common: dict[str, object] = {"seeds": min(params.seeds, 10), "points": min(params.points, MIN_POINTS)}
    return {name: params.model_copy(update=common | changed) for name, changed in grid.items()}
