"""Settings of the grid of inverse temperatures in the limit of infinite width; the others are Figure 1's.

No other loss can be shown: Eq. 8, the limit of infinite width, is derived for the losses of Eqs. 3 and 4.
"""

from typing import Any, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Seeded, lost, ours, unstated
from reprise.papers.ren2023.variations import variations

SMALL = 0.01
"""Lemma B.9 is about small τ²; claims read its power up to this value."""


class Params(Seeded):
    """Eq. 8 with noise, with random σ_p² between 1 and 4 that include both ends."""

    dim: int = lost(30, "d, as in Figure 1", ge=4)
    signals: int = lost(10, "r, as in Figure 1", ge=3)
    variance_ratio: float = lost(4.0, "σ_1² / σ_r², as in Figure 1", gt=1)
    noise: float = lost(0.5, "σ_ξ, as in Figure 1", gt=0)
    step_size: float = lost(0.2, "as in Figure 1", gt=0)
    claimed_negatives: float = lost(255.0, "K that claims read, as in Figure 1", gt=0)
    negatives: tuple[float, ...] = ours((1.0, 31.0, 255.0, 2047.0), "K, beside that which claims read")
    tau2: tuple[float, ...] = ours(
        (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 8.0, 12.0, 24.0, 48.0, 96.0), "uniform τ²", min_length=1
    )
    steps: int = unstated(10_000, "ten times as many as in Figure 1, because small τ² is slow", ge=10)
    looks: int = ours(120, "logarithmically spaced steps", ge=10)
    stage1_tau2: tuple[float, ...] = ours(
        (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
        "τ² of a Stage 1 that is compared with the other loss",
    )
    stage1_steps: int = lost(300, "as in Figure 1", ge=10)
    seeds: int = ours(16, "random spectra: enough for an interval of their median in each setting", ge=1)

    @property
    def every_negatives(self) -> list[float]:
        """K, in order."""
        return sorted({*self.negatives, self.claimed_negatives})

    @model_validator(mode="after")
    def _claims_have_their_settings(self) -> Self:
        if self.signals >= self.dim:
            raise ValueError("signals must be fewer than dim")
        small = [tau2 for tau2 in self.stage1_tau2 if 0 < tau2 <= SMALL]
        if len(small) < 2:
            raise ValueError(f"stage1_tau2 must hold at least two values up to {SMALL}")
        if min(*self.tau2, *self.every_negatives) <= 0:
            raise ValueError("tau2 and negatives must be positive")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the settings that our text of the paper has lost."""
    values = {
        "dim": ("d", 2 * params.dim // 3, 2 * params.dim),
        "signals": ("r", params.signals // 2, 3 * params.signals // 2),
        "variance_ratio": ("σ_1² / σ_r²", params.variance_ratio / 2, 1.5 * params.variance_ratio),
        "noise": ("σ_ξ", params.noise / 2, 1.4 * params.noise),
        "step_size": ("step", params.step_size / 2, 2 * params.step_size),
        "claimed_negatives": ("K", params.claimed_negatives // 8, 8 * params.claimed_negatives + 7),
        "stage1_steps": ("steps of Stage 1", params.stage1_steps // 2, 2 * params.stage1_steps),
    }
    few: dict[str, Any] = {"negatives": (), "looks": min(params.looks, 60), "tau2": params.tau2[1::2]}
    return variations(params, values, **few)


EXPERIMENT = Experiment(
    params=Params,
    tables=("uniform", "stage1"),
    alternatives=alternatives,
    excused={"steps": "they only end the time of gradient flow, which step_size varies"},
)
