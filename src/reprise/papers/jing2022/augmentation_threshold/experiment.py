"""Settings of Section 4's linear toy model, for which the first version of the paper has no figure and no
numbers."""

from typing import Self

from pydantic import model_validator

from reprise.contract.experiment import Experiment, Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, from_code, ours, unstated

CLAIMED_ONE_VIEW = (0.25, 0.9, 1.1, 1.25, 4.0)
CLAIMED_BOTH_VIEWS = (4.0,)

CODE_STD, CODE_RATE = 48**-0.5, 0.001
"""The authors' toy code, on inputs of variance 1: the deviation of weights uniform within ±1/4, and the
learning rate."""
CODE_INPUTS, CODE_TEMPERATURE, CODE_NOISE = 10_000, 0.1, 1.5
"""The authors' toy code: size of the data set, temperature, and standard deviation of the strong noise."""
PROGRAM = "authors' case_1.py"
"""Stands for the views in the rows of the authors' own program, directclr 753f63c (2022-06-06)."""


class Params(Seeded, TakesLosses):
    """z = W x, trained by `infonce_distance` (Eq. 2); x ~ N(0, input_variance I); noise of variance
    weak_variance on the first half of the inputs, k on the rest."""

    dim: int = unstated(16, "the size of Section 5's toy model", ge=4, multiple_of=2)
    input_variance: float = unstated(0.5, "any scale: only its ratio to k matters", gt=0)
    weak_variance: float = unstated(0.05, "well below the threshold", ge=0)
    one_view: tuple[float, ...] = ours((0.25, 0.9, 1.0, 1.1, 1.25, 4.0), "amplitudes k, the other view clean")
    both_views: tuple[float, ...] = ours((0.25, 1.0, 4.0), "amplitudes k on both views")
    code_noise: tuple[float, ...] = ours(
        (CODE_NOISE,), "--noise of the authors' own program, toy_task/case_1.py of directclr 753f63c"
    )
    init_std: float = unstated(0.25, "W ~ N(0, 1/dim)", gt=0)
    learning_rate: float = unstated(0.1, "stable, and small enough to follow the dynamics", gt=0)
    batch_size: int = from_code(128, "fresh samples at each step", ge=2)
    steps: int = unstated(10_000, "until values at k = 1.25 have collapsed", ge=1)
    seeds: int = ours(10, "independent data, noise and weights", ge=1)

    @model_validator(mode="after")
    def _claims_have_their_amplitudes(self) -> Self:
        for name, needed in (("one_view", CLAIMED_ONE_VIEW), ("both_views", CLAIMED_BOTH_VIEWS)):
            if not set(needed) <= set(getattr(self, name)):
                raise ValueError(f"{name} must hold {needed}, which claims use")
        return self


def alternatives(params: Params) -> dict[str, Params]:
    """Other plausible values of what the paper leaves unstated, at the amplitudes used by claims: the
    initialisation and learning rate of the authors' toy code, scaled to our inputs' variance, with the loss
    of Eq. 2, and others with fewer but larger steps; all with half the batch, which is cheap."""
    cheaper = {
        "one_view": CLAIMED_ONE_VIEW,
        "both_views": CLAIMED_BOTH_VIEWS,
        "code_noise": (),
        "seeds": min(params.seeds, 10),
        "batch_size": params.batch_size // 2,
    }
    coarser = {"learning_rate": 2 * params.learning_rate, "steps": params.steps // 2}
    unit_variance = params.input_variance**-0.5  # of inputs, in the authors' code
    grid: dict[str, dict[str, float]] = {
        "twice the time": {"steps": params.steps},
        "init halved, weak noise doubled": {
            "init_std": params.init_std / 2, "weak_variance": 2 * params.weak_variance,
        },
        "init doubled, weak noise halved": {
            "init_std": 2 * params.init_std, "weak_variance": params.weak_variance / 2,
        },
        "authors' initialisation and rate, our loss": {
            "init_std": CODE_STD * unit_variance, "weak_variance": 0.0,
            "learning_rate": CODE_RATE * unit_variance**2, "steps": params.steps,
        },
    }  # fmt: skip
    return {
        name: params.model_copy(update={**cheaper, **coarser, **changes}) for name, changes in grid.items()
    }


EXPERIMENT = Experiment(
    params=Params,
    tables=("singular_values", "strong_block"),
    plan=Resources(minutes=3),
    alternatives=alternatives,
    excused={
        "dim": "each input has its own threshold, so that a wider model repeats what this one shows",
        "input_variance": "a change of it is one of k, the weak noise, the initial weights and the learning "
        "rate",
    },
    coordinates=("amplitude",),
)
