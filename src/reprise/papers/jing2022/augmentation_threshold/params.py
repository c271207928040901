"""Settings of Section 4's linear toy model, for which the first version of the paper has no figure and no
numbers."""

from typing import Self

from pydantic import model_validator

from reprise.study.experiment import Resources
from reprise.study.losses import TakesLosses
from reprise.study.settings import ours, unstated

TABLES = ("singular_values", "strong_block")
RESOURCES = Resources(minutes=3)

CLAIMED_ONE_VIEW = (0.25, 0.9, 1.1, 1.25, 4.0)
CLAIMED_BOTH_VIEWS = (4.0,)

EXCUSED = {
    "dim": "each input has its own threshold, so that a wider model repeats what this one shows",
    "input_variance": "a change of it is one of k, the weak noise, the initial weights and the learning rate",
}
"""Why these fields are in none of the `alternatives`."""


class Params(TakesLosses):
    """z = W x, trained by `infonce_distance` (Eq. 2); x ~ N(0, input_variance I); noise of variance
    weak_variance on the first half of the inputs, k on the rest."""

    dim: int = unstated(16, "the size of Section 5's toy model", ge=4, multiple_of=2)
    input_variance: float = unstated(0.5, "any scale: only its ratio to k matters", gt=0)
    weak_variance: float = unstated(0.05, "well below the threshold", ge=0)
    one_view: tuple[float, ...] = ours((0.25, 0.9, 1.0, 1.1, 1.25, 4.0), "amplitudes k, the other view clean")
    both_views: tuple[float, ...] = ours((0.25, 1.0, 4.0), "amplitudes k on both views")
    init_std: float = unstated(0.25, "W ~ N(0, 1/dim)", gt=0)
    learning_rate: float = unstated(0.1, "stable, and small enough to follow the dynamics", gt=0)
    batch_size: int = unstated(128, "fresh samples at each step", ge=2)
    steps: int = unstated(10_000, "until values at k = 1.25 have collapsed", ge=1)
    seeds: int = ours(10, "independent data, noise and weights", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_amplitudes(self) -> Self:
        for name, needed in (("one_view", CLAIMED_ONE_VIEW), ("both_views", CLAIMED_BOTH_VIEWS)):
            if not set(needed) <= set(getattr(self, name)):
                raise ValueError(f"{name} must hold {needed}, which claims use")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, at the amplitudes used by claims: half the
    batch, with
    fewer but larger steps, which is cheap, and on top of it other times, initial weights and weak noise."""
    coarser = {
        "one_view": CLAIMED_ONE_VIEW,
        "both_views": CLAIMED_BOTH_VIEWS,
        "seeds": min(params.seeds, 10),
        "batch_size": params.batch_size // 2,
        "learning_rate": 2 * params.learning_rate,
        "steps": params.steps // 2,
    }
    grid: dict[str, dict[str, float]] = {
        "coarser": {},
        "coarser, half the time": {"steps": params.steps // 4},
        "coarser, twice the time": {"steps": params.steps},
        "coarser, init halved, weak noise doubled": {
            "init_std": params.init_std / 2, "weak_variance": 2 * params.weak_variance,
        },
        "coarser, init doubled, weak noise halved": {
            "init_std": 2 * params.init_std, "weak_variance": params.weak_variance / 2,
        },
    }  # fmt: skip
    return {name: params.model_copy(update={**coarser, **changes}) for name, changes in grid.items()}
