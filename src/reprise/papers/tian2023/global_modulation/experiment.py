"""Settings of Theorem 6's dynamics. The paper gives no numbers, and the theorem should hold for any.

No other loss can be shown: Eq. 146, which is integrated here, contains no loss of two views.
"""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours

CLAIMED_DIMS = (2, 4, 8)
CLAIMED_MODULATIONS = (0.0, 0.1, 0.2, 0.4, 0.8)


class Params(Seeded):
    """ẏ_l = (y_l + b_l) y_l, y_l = u_lᵀ w (Eq. 146), with b_1 = b + c and b_l = b for the others."""

    points: int = ours(200, "random points and sizes at which each formula is checked", ge=1)
    largest: int = ours(6, "largest number of patterns at these points", ge=4)
    flow_starts: tuple[float, ...] = ours(
        (-1.8, -1.3, -0.8, -0.3, -0.03, 0.03, 0.3, 1.0),
        "y(0)/b of the solutions that Figure 7 shows",
        min_length=1,
    )
    dims: tuple[int, ...] = ours(CLAIMED_DIMS, "numbers of patterns; the first pattern is modulated")
    modulations: tuple[float, ...] = ours(CLAIMED_MODULATIONS, "c; the slope of g is 1")
    starts: int = ours(500, "weights drawn uniformly from the sphere, per seed and number of patterns", ge=20)
    duration: float = ours(60.0, "long enough for starts near a basin's boundary to leave it", gt=0)
    time_step: float = ours(0.1, "for Runge-Kutta of order 4; rates are of order 1", gt=0, le=0.1)
    probability_dims: tuple[int, ...] = ours((2, 8, 32), "d at which Eq. 155 is drawn")
    epsilons: tuple[float, ...] = ours(
        (-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2), "modulation factors of Eq. 155"
    )
    draws: int = ours(500_000, "draws of Y per seed and d", ge=100)
    seeds: int = ours(10, "independent b, starts and draws", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_settings(self) -> Self:
        for name, needed in (
            ("dims", set(CLAIMED_DIMS)),
            ("modulations", set(CLAIMED_MODULATIONS)),
            ("probability_dims", {2, 8}),
        ):
            if not needed <= set(getattr(self, name)):
                raise ValueError(f"{name} must hold {sorted(needed)}, which claims read")
        if list(self.modulations) != sorted(set(self.modulations)):
            raise ValueError("modulations must increase")
        return self


EXPERIMENT = Experiment(
    params=Params,
    tables=("identities", "flow", "basins", "probabilities"),
    gaps=("flow.critical_time",),  # none from negative starts
    coordinates=("start",),
)
