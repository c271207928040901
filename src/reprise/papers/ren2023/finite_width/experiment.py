"""Settings of the finite-width learners; the paper proves what is measured here but simulates none of it.

No other loss can be shown: learners are compared with exact expectations of Eqs. 3 and 4 over all latents,
which a loss on batches does not have.
"""

from typing import Any, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.settings import Seeded, lost, ours
from reprise.papers.ren2023.variations import variations


class Params(Seeded):
    """Exact expectations over all latents, hence few latents; gradient flow except where descent is named."""

    dim: int = ours(6, "d: 2^d latents of each view", ge=3, le=10)
    signals: int = ours(3, "r", ge=2)
    noise: float = lost(0.5, "σ_ξ, as in Figure 1", gt=0)
    negatives: float = lost(255.0, "K, as in Figure 1", gt=0)
    stage1_tau2: float = lost(0.1, "τ² of Stage 1, as in Figure 1", gt=0)
    stage2_tau2: float = ours(3.6, "τ² of Stage 2: 1.2 r, as in Figure 1", gt=0)
    stage1_time: float = ours(16.0, "time of gradient flow: until K_A and K_B agree", gt=0)
    stage2_time: float = ours(48.0, "time of gradient flow: until the condition number is about 1", gt=0)
    looks: int = ours(20, "comparisons of the learners per stage", ge=2)
    flow_steps: int = ours(6, "Runge-Kutta steps between two looks", ge=1)
    widths: tuple[int, ...] = ours((200, 1000, 5000, 20_000, 100_000), "m", min_length=2)
    step_sizes: tuple[float, ...] = ours(
        (0.4, 0.2, 0.1, 0.05), "step sizes of descent, compared with the flow", min_length=2
    )
    batch_sizes: tuple[int, ...] = ours(
        (32, 64, 128, 256, 512), "batch sizes of SGD, compared with full batches", min_length=2
    )
    batch_step: float = ours(0.2, "step size of SGD, as in Figure 1", gt=0)
    descent_width: int = ours(1000, "m for descent, as in Figure 1", ge=1)
    seeds: int = ours(10, "independent starts and data", ge=1)
    width_seeds: int = ours(40, "independent starts of each width, for 200 runs", ge=1)

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.signals >= self.dim:
            raise ValueError("signals must be fewer than dim")
        if min(*self.widths, self.descent_width) < 2 * self.dim:
            raise ValueError("widths and descent_width must be at least twice dim")
        for step in (*self.step_sizes, self.batch_step):
            for time in (self.stage1_time, self.stage2_time):
                steps = time / self.looks / step
                if abs(steps - round(steps)) > 1e-9 or round(steps) < 1:
                    raise ValueError(f"a step of {step:g} does not divide the time between two looks")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the settings that our text has lost."""
    values = {
        "noise": ("σ_ξ", params.noise / 2, 1.4 * params.noise),
        "negatives": ("K", params.negatives // 8, 8 * params.negatives + 7),
        "stage1_tau2": ("τ² of Stage 1", params.stage1_tau2 / 10, 3 * params.stage1_tau2),
    }
    few: dict[str, Any] = {
        "widths": params.widths[::2] if len(params.widths) > 2 else params.widths,
        "step_sizes": params.step_sizes[:2],
        "batch_sizes": params.batch_sizes[:2],
        "seeds": min(params.seeds, 5),
        "width_seeds": min(params.width_seeds, 10),
    }
    return variations(params, values, **few)


EXPERIMENT = Experiment(
    params=Params,
    tables=("widths", "steps", "batches"),
    plan=Resources(minutes=2, memory_mb=1700),
    alternatives=alternatives,
)
