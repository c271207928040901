"""Settings of Figure 1; our text of the paper has lost all of them.

No other loss can be shown: learners of width m are reduced to 2d outputs, exactly, because the losses of Eqs.
3 and 4 depend on the outputs only through the kernel H; a general loss does not, and its limit of infinite
width is not known.
"""

from typing import Self

from pydantic import model_validator

from reprise.study.experiment import Resources
from reprise.study.settings import Settings, lost, ours

TABLES = ("trajectory", "limit")

TIME_SCALE = 2
"""A step of Stage 1 equals two of non-contrastive descent: Eq. 3 has two softmaxes, Eq. 4 one inner
product."""


class Params(Settings):
    """Both losses, with and without noise, on both spectra of A, from the same start and on the same data."""

    dim: int = lost(30, "d: small, and three times r", ge=3)
    signals: int = lost(10, "r", ge=2)
    noise: float = lost(0.5, "σ_ξ: below the weakest signal", gt=0)
    width: int = lost(1000, "m: much larger than d, so that the limit is near", ge=1)
    batch_size: int = lost(256, "pairs per step", ge=2)
    negatives: float = lost(255.0, "K: every other pair of the batch counts fully", gt=0)
    step_size: float = lost(0.2, "below .3, above which non-contrastive descent drifts", gt=0)
    stage1_tau2: float = lost(0.1, "τ² of Stage 1: small", gt=0)
    stage1_steps: int = lost(300, "until K_A and K_B agree", ge=1)
    stage2_tau2: float = lost(12.0, "τ² of Stage 2: above r", gt=0)
    stage2_steps: int = lost(700, "until the condition number has settled", ge=1)
    fresh_pairs: int = ours(2000, "pairs for measuring alignment and balance", ge=3)
    record_every: int = ours(20, "steps between measurements", ge=1)
    seeds: int = ours(10, "independent starts, data and minibatches", ge=1)

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.signals >= self.dim:
            raise ValueError("signals must be fewer than dim")
        if self.width < 2 * self.dim:
            raise ValueError("width must be at least twice dim")
        if self.stage1_steps % self.record_every or self.stage2_steps % self.record_every:
            raise ValueError(
                "record_every must divide stage1_steps and stage2_steps, because claims read their ends"
            )
        if self.steps < TIME_SCALE * self.stage1_steps:
            raise ValueError(
                "stage2_steps must be at least stage1_steps, so that non-contrastive descent gets as far"
            )
        return self

    @property
    def steps(self) -> int:
        return self.stage1_steps + self.stage2_steps

    @property
    def recorded(self) -> list[int]:
        """The steps at which the learners are measured, from 0 to the last."""
        return list(range(0, self.steps + 1, self.record_every))


def task_name(seed: int) -> str:
    """The name of a seed's task."""
    return f"seed {seed}"


def resources(params: Params, objective: str | None = None) -> dict[str, Resources]:
    """What each task needs, by its name; its time was measured at the default settings."""
    needs = Resources(minutes=5e-7 * params.steps * params.batch_size)
    return {task_name(seed): needs for seed in range(params.seeds)}


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the settings that our text has lost."""
    common = {"seeds": min(params.seeds, 3)}
    half = params.batch_size // 2
    grid = {
        "step halved, for as long": {
            "step_size": params.step_size / 2,
            "stage1_steps": 2 * params.stage1_steps,
            "stage2_steps": 2 * params.stage2_steps,
            "record_every": 2 * params.record_every,
        },
        "batch and K halved": {"batch_size": half, "negatives": half - 1.0},
        "Stage 2 at twice τ²": {"stage2_tau2": 2 * params.stage2_tau2},
        "noise halved": {"noise": params.noise / 2},
    }
    return {name: params.model_copy(update={**common, **changes}) for name, changes in grid.items()}
