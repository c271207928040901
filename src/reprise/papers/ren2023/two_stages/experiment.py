"""Settings of Figure 1; our text of the paper has lost all of them.

No other loss can be shown: learners of width m are reduced to 2d outputs, exactly, because the losses of Eqs.
3 and 4 depend on the outputs only through the kernel H; a general loss does not, and its limit of infinite
width is not known.
"""

from typing import Any, Literal, NamedTuple, Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.settings import Seeded, lost, ours, replaced
from reprise.papers.ren2023.variations import variations

LONG = 50
"""Factor by which Stage 2 is longer at infinite width, where steps cost nothing: it then comes to rest with
other values of the settings, too."""


class Params(Seeded):
    """Both losses, with and without noise, on both spectra of A, from the same start and on the same data."""

    dim: int = lost(30, "d: small, and three times r", ge=3)
    signals: int = lost(10, "r", ge=2)
    noise: float = lost(0.5, "σ_ξ: below the weakest signal", gt=0)
    width: int | Literal["infinite"] = lost(
        1000,
        "m: much larger than d, so that the limit is near; `infinite` follows Eq. 8 instead of descending",
    )
    batch_size: int = lost(256, "pairs per step", ge=2)
    negatives: float = lost(255.0, "K: every other pair of the batch counts fully", gt=0)
    step_size: float = lost(0.2, "below .3, above which non-contrastive descent drifts", gt=0)
    stage1_tau2: float = lost(0.1, "τ² of Stage 1: small", gt=0)
    stage1_steps: int = lost(300, "until K_A and K_B agree", ge=1)
    stage2_tau2: float = lost(12.0, "τ² of Stage 2: above r", gt=0)
    stage2_steps: int = lost(2700, "until the condition number has settled", ge=1)
    fresh_pairs: int = ours(2000, "pairs for measuring alignment and balance", ge=3)
    record_every: int = ours(
        20,
        "steps between measurements; early ones at powers of two, late ones of Stage 2 further apart",
        ge=1,
    )
    seeds: int = ours(10, "independent starts, data and minibatches", ge=1)

    @model_validator(mode="after")
    def _sizes_fit(self) -> Self:
        if self.signals >= self.dim:
            raise ValueError("signals must be fewer than dim")
        if self.width != "infinite" and self.width < 2 * self.dim:
            raise ValueError("width must be at least twice dim")
        return self

    @property
    def steps(self) -> int:
        return self.stage1_steps + self.stage2_steps

    @property
    def recorded(self) -> list[int]:
        """The steps at which the learners are measured: in Stage 1 every `record_every`, and before that the
        powers of two; in Stage 2 every `record_every`, or 5 % of its steps so far if those are more."""
        early = (2**power for power in range(self.record_every.bit_length()))
        looks = {*early, *range(0, self.stage1_steps, self.record_every), self.stage1_steps}
        since = 0
        while since < self.stage2_steps:
            since = min(since + max(self.record_every, since // 20), self.stage2_steps)
            looks.add(self.stage1_steps + since)
        return sorted(step for step in looks if step <= self.steps)


class Task(NamedTuple):
    """The learners of one seed."""

    seed: int

    def __str__(self) -> str:
        return f"seed {self.seed}"


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each seed."""
    return [Task(seed) for seed in params.seed_range(params.seeds)]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task; its time was measured at the default settings."""
    minutes = 0.01 if params.width == "infinite" else 5e-7 * params.steps * params.batch_size
    return Resources(minutes=minutes)


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of the settings that our text has lost: two by descent, and many at infinite
    width, where a run takes no time and all seeds agree."""
    seeds = min(params.seeds, 3)
    descents: dict[str, dict[str, Any]] = {
        "batch halved": {"batch_size": params.batch_size // 2},
        "batch and step halved, for as long": {
            "batch_size": params.batch_size // 2,
            "step_size": params.step_size / 2,
            "stage1_steps": 2 * params.stage1_steps,
            "stage2_steps": 2 * params.stage2_steps,
            "record_every": 2 * params.record_every,
        },
    }
    long = LONG * params.stage2_steps
    values = {
        "dim": ("d", 2 * params.dim // 3, 2 * params.dim),
        "signals": ("r", params.signals // 2, 3 * params.signals // 2),
        "noise": ("σ_ξ", params.noise / 2, 1.4 * params.noise),
        "negatives": ("K", params.negatives // 2, 2 * params.negatives + 1),
        "stage1_tau2": ("τ² of Stage 1", params.stage1_tau2 / 10, 3 * params.stage1_tau2),
        "stage1_steps": (
            "steps of Stage 1",
            round(params.stage1_steps * 2 / 3),
            round(params.stage1_steps * 22 / 15),
        ),
        "stage2_tau2": ("τ² of Stage 2", params.stage2_tau2 / 2, 2 * params.stage2_tau2),
        "stage2_steps": ("steps of Stage 2", long // 2, 2 * long),
    }
    limit: dict[str, Any] = {"width": "infinite", "seeds": seeds, "stage2_steps": long}
    return {
        **{name: replaced(params, {"seeds": seeds, **changes}) for name, changes in descents.items()},
        "m = ∞": replaced(params, limit),
        **variations(params, values, where="m = ∞, ", **limit),
    }


EXPERIMENT = Experiment(
    params=Params,
    tables=("trajectory", "limit"),
    plan=Plan(tasks, needs),
    alternatives=alternatives,
    excused={
        "together": "batch_size and step_size matter to descent alone, where a run takes seconds: they are "
        "varied with each other and the stages' lengths; all others are varied in pairs at infinite width"
    },
)
