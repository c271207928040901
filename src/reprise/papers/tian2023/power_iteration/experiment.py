"""Settings of Figure 1 (right), which the paper does not give, and of the checks of Section 3.3 and Eq. 9.

No other loss can be shown: the iterated matrix A(w) is that of the contrastive energy, and nothing is
trained.
"""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours, unstated

CLAIMED_SMALL = (0.05, 0.1)
"""Distances from orthogonal that count as small."""


class Params(Seeded):
    """x = U y + noise with M standardised Bernoulli variables y_m. The published model has no noise."""

    patterns: int = unstated(6, "M, small enough for exact expectations over its 2^M states", ge=2, le=10)
    probability: float = unstated(0.2, "q of every y_m: below Eq. 9's 0.382", gt=0, lt=1)
    gram_distances: tuple[float, ...] = unstated(
        (0.0, 0.05, 0.1, 0.2, 0.4), "‖UᵀU - I‖₂, from orthogonal to clearly not", min_length=2
    )
    noise_std: float = unstated(
        0.3, "ours: without noise A(w) lacks the Lipschitz constant that Theorem 3 needs", gt=0
    )
    iterations: int = unstated(100, "enough for converging runs to come to rest", ge=1)
    seeds: int = ours(200, "random U, as many as statements on every run need", ge=1)
    points: int = ours(
        200, "random points and sizes at which each formula is checked and Eq. 9's threshold computed", ge=1
    )
    largest: int = ours(6, "largest dimension at these points", ge=4)

    @model_validator(mode="after")
    def _claims_have_their_distances(self) -> Self:
        needed = (0.0, *CLAIMED_SMALL)
        if not set(needed) <= set(self.gram_distances):
            raise ValueError(f"gram_distances must hold {needed}, which claims read")
        if not all(0 <= distance < 1 for distance in self.gram_distances):
            raise ValueError("gram_distances must be at least 0 and below 1, so that U has full rank")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the unstated settings, with 150 runs or more from every u_m."""
    grid: dict[str, dict[str, float]] = {
        "q = 0.1": {"probability": 0.1},
        "q = 0.3": {"probability": 0.3},
        "M = 8": {"patterns": 8},
        "noise 0.1": {"noise_std": 0.1},
        "q = 0.1, M = 8, noise 0.6, 200 iterations": {
            "probability": 0.1, "patterns": 8, "noise_std": 0.6, "iterations": 2 * params.iterations,
        },
        "q = 0.3, M = 4, noise 0.1, 200 iterations": {
            "probability": 0.3, "patterns": 4, "noise_std": 0.1, "iterations": 2 * params.iterations,
        },
    }  # fmt: skip
    common = {"seeds": min(params.seeds, 40), "points": 1}
    return {name: params.model_copy(update=common | changes) for name, changes in grid.items()}


EXPERIMENT = Experiment(
    params=Params,
    tables=("steps", "ends", "irregularity", "thresholds", "identities"),
    alternatives=alternatives,
    excused={"gram_distances": "claims read those that are small, and the others are for the figure"},
    coordinates=("gram_distance",),
)
