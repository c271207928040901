"""Settings of the growth with d: noiseless learners of infinite width with one strong signal.

No other loss can be shown: Eq. 8, the limit of infinite width, is derived for the losses of Eqs. 3 and 4.
"""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment
from reprise.contract.settings import Settings, lost, ours, unstated
from reprise.papers.ren2023.variations import variations


class Params(Settings):
    """σ_1² = max(spike ln d, 1), all other σ_p² = 1, and r = d / 2."""

    dims: tuple[int, ...] = ours((10, 30, 100, 300, 1000, 3000), "d, even", min_length=4)
    spike: float = lost(1.0, "σ_1² as a multiple of ln d: the proof's choice, without its constant", gt=0)
    negatives: float = lost(255.0, "K, of the order of a batch of 256, as in Figure 1", gt=0)
    tau2_stage1: float = lost(0.1, "τ² of Stage 1, as in Figure 1", gt=0)
    tau2_stage2: float = lost(12.0, "τ² of Stage 2, as in Figure 1", gt=0)
    alignment_gap: float = lost(0.01, "Stage 1 ends when every 1 - h_p / k_p is below this (Lemma B.1)", gt=0)
    tolerance: float = unstated(
        1e-6, "settled if doubling the time changes ρ and log κ by less", gt=0, le=1e-3
    )

    @model_validator(mode="after")
    def _even_and_increasing(self) -> Self:
        if any(dim < 4 or dim % 2 for dim in self.dims) or list(self.dims) != sorted(set(self.dims)):
            raise ValueError("dims must be even, at least 4, and increase")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the settings that our text has lost, for the smaller dimensions."""
    values = {
        "spike": ("σ_1² / ln d", 1.5 * params.spike, 2 * params.spike),
        "negatives": ("K", params.negatives // 8, 8 * params.negatives + 7),
        "tau2_stage1": ("τ² of Stage 1", params.tau2_stage1 / 10, 3 * params.tau2_stage1),
        "tau2_stage2": ("τ² of Stage 2", params.tau2_stage2 / 2, 2 * params.tau2_stage2),
        "alignment_gap": ("gap", params.alignment_gap / 3, 10 * params.alignment_gap),
        "tolerance": ("tolerance", params.tolerance / 10, 10 * params.tolerance),
    }
    return variations(params, values, dims=params.dims[:4])


EXPERIMENT = Experiment(
    params=Params,
    tables=("ends", "closed_form"),
    alternatives=alternatives,
)
