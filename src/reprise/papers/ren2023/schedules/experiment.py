"""Settings of the search over Algorithm 3.1's temperatures and lengths of stages; the others are Figure 1's.

No other loss can be shown: Eq. 8, the limit of infinite width, is derived for the losses of Eqs. 3 and 4.
"""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.settings import Settings, lost, ours
from reprise.papers.ren2023.variations import variations

SCHEDULE = ("stage1_tau2", "stage1_steps", "stage2_tau2", "stage2_steps")
"""Settings that the theorem leaves to choose."""


class Params(Settings):
    """Schedules at infinite width, on four spectra, with noise and without."""

    dim: int = lost(30, "d, as in Figure 1", ge=3)
    signals: int = lost(10, "r, as in Figure 1", ge=2)
    noise: float = lost(0.5, "σ_ξ, as in Figure 1", gt=0)
    negatives: float = lost(255.0, "K, as in Figure 1", gt=0)
    step_size: float = lost(0.2, "as in Figure 1", gt=0)
    stage1_tau2: tuple[float, ...] = ours((0.01, 0.1, 1.0), "τ² of Stage 1", min_length=2)
    stage1_steps: tuple[int, ...] = ours((150, 300, 600), "steps of Stage 1", min_length=1)
    stage2_tau2: tuple[float, ...] = ours((3.0, 6.0, 12.0, 24.0, 48.0), "τ² of Stage 2", min_length=2)
    stage2_steps: tuple[int, ...] = ours((350, 700, 1700, 5000), "steps of Stage 2", min_length=1)
    decay_steps: int = ours(200_000, "steps of Stage 2 over which its rate is followed, at most", ge=1)

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.signals >= self.dim:
            raise ValueError("signals must be fewer than dim")
        return self


def words(stage1_tau2: float, stage1_steps: int, stage2_tau2: float, stage2_steps: int) -> str:
    """A schedule's name."""
    return f"τ² = {stage1_tau2:g} for {stage1_steps}, then {stage2_tau2:g} for {stage2_steps}"


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the settings that our text has lost."""
    values = {
        "dim": ("d", 2 * params.dim // 3, 2 * params.dim),
        "signals": ("r", params.signals // 2, 3 * params.signals // 2),
        "noise": ("σ_ξ", params.noise / 2, 1.4 * params.noise),
        "negatives": ("K", params.negatives // 2, 2 * params.negatives + 1),
    }
    return variations(params, values)


EXPERIMENT = Experiment(
    params=Params,
    tables=("region", "decay"),
    plan=Resources(minutes=1),
    alternatives=alternatives,
    excused={
        "step_size": "the limit of infinite width has the time of gradient flow alone, and the steps are "
        "varied",
    },
    gaps=("decay.steps",),  # a power of ten that is not reached in `decay_steps`
)
