"""Settings of Figure 8 (Appendix E.1), of its version with a Gaussian α, and of Appendix B.5's rotations.

No other loss can be shown: the figure shows optima of the energy for fixed importances α, and nothing is
trained.
"""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours, stated, unstated

CLAIMED_ROTATION = 30.0
FULL_GROUP = 180.0
CLAIMED_UNITS = (1, 2, 4, 8, 16)


class Params(Seeded):
    """One unit h(wᵀ x) with w = (cos θ, sin θ), on the paper's points and on random ones."""

    points: tuple[float, ...] = stated(
        (-4 / 5, -1 / 2, -2 / 5, -1 / 6, 0.0, 1 / 5, 2 / 5, 3 / 5, 4 / 5),
        "Appendix E.1: angles of the data, in π",
        min_length=2,
    )
    tau: float = unstated(
        0.1, "τ of the Gaussian α and of InfoNCE's: the temperature of the author's code for Section 5", gt=0
    )
    rotations: tuple[float, ...] = ours(
        (0.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0, 150.0, 180.0),
        "largest angle of the random rotations, in degrees; 180 gives the whole group",
    )
    units: tuple[int, ...] = ours(CLAIMED_UNITS, "numbers of units that collect optima")
    draws: int = ours(50, "random starts of so many units, per data set", ge=1)
    grid: int = ours(2400, "number of angles at which the velocity's sign is evaluated", ge=100)
    repeats: int = ours(10, "rotations of the points, each with its own grid", ge=1)
    data_sets: int = ours(200, "random data sets of the paper's size", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_settings(self) -> Self:
        if not set(CLAIMED_UNITS) <= set(self.units):
            raise ValueError(f"units must hold {sorted(CLAIMED_UNITS)}, which claims read")
        needed = {0.0, CLAIMED_ROTATION, FULL_GROUP}
        if not needed <= set(self.rotations):
            raise ValueError(f"rotations must hold {sorted(needed)}, which claims read")
        if not all(0 <= rotation <= FULL_GROUP for rotation in self.rotations):
            raise ValueError(f"rotations must lie from 0 to {FULL_GROUP:g}")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the unstated settings, on fewer data sets."""
    common = {
        "rotations": (0.0, CLAIMED_ROTATION, FULL_GROUP),
        "data_sets": min(params.data_sets, 25),
        "repeats": min(params.repeats, 2),
    }
    return {
        f"tau = {tau:g}": params.model_copy(update={**common, "tau": tau}) for tau in (0.05, 0.2, 0.5, 1.0)
    }


EXPERIMENT = Experiment(
    params=Params,
    tables=("curves", "optima", "counts", "collected", "pca"),
    alternatives=alternatives,
)
