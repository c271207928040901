"""Settings of the checks of Appendix D, which states none.

No other loss can be shown: the formulas are about the losses of Appendix D, whose gradients have a closed
form.
"""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, ours


class Params(Seeded):
    """No value here is the paper's: its formulas hold at every point, and its solutions for all data."""

    points: int = ours(200, "random points and sizes at which each formula is checked", ge=1)
    largest: int = ours(6, "largest number of outputs there; inputs and samples go beyond", ge=3)
    variances: tuple[float, ...] = ours((3.0, 2.325, 1.65, 0.975, 0.3), "λ = γ of the modes", min_length=2)
    correlations: tuple[float, ...] = ours((0.95, 0.8375, 0.725, 0.6125, 0.5), "ρ of the modes")
    start: float = ours(0.01, "s(0) of aligned layers, in every mode", gt=0)
    learning_rate: float = ours(1e-4, "of gradient descent from there", gt=0)
    horizon: float = ours(8.0, "t = learning rate * step at its end", gt=0)
    stds: tuple[float, ...] = ours((0.1, 1e-2, 1e-3, 1e-4), "standard deviations of random initial layers")
    random_learning_rate: float = ours(2.5e-4, "of gradient descent from there", gt=0)
    random_horizon: float = ours(15.0, "t at its end", gt=0)
    records: int = ours(100, "times at which layers are compared", ge=2)
    seeds: int = ours(10, "random directions of data and layers", ge=1)

    @model_validator(mode="after")
    def _modes_are_ordered(self) -> Self:
        if len(self.correlations) != len(self.variances):
            raise ValueError("correlations and variances must have the same length")
        if not all(0 < rho <= 1 for rho in self.correlations) or min(self.variances) <= 0:
            raise ValueError("correlations must lie above 0, up to 1, and variances above 0")
        if len(set(self.stds)) < 4 or min(self.stds) <= 0:
            raise ValueError("stds must hold at least four different numbers above 0, which claims compare")
        return self


EXPERIMENT = Experiment(params=Params, tables=("identities", "closed_form", "equation_18", "small_starts"))
