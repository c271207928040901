"""Settings of what the text says of wide networks without an experiment: Section 2 and the abstract.

No other loss can be shown: the sentences are about the losses (1) and (2) and the squared loss.
"""

from typing import Literal

from reprise.contract.experiment import Resources
from reprise.contract.settings import Settings, ours, stated

TABLES = ("collapse", "distances")

ACTIVATIONS = ("relu", "tanh")
LOSSES = ("contrastive", "non-contrastive")
ARMS = ("supervised", "unconstrained", "constrained")
"""The squared loss, and the loss (1) without and with orthonormal weights."""


class Params(Settings):
    """Half moons as in Example 1. The text's sentences are about wide networks and data of any kind."""

    samples: int = ours(50, "n", ge=4)
    moons_noise: float = ours(0.1, "standard deviation of the noise on scikit-learn's moons", ge=0)
    positive_variance: float = stated(0.1, "Example 1: variance of each coordinate of x⁺ - x", ge=0)
    width: int = ours(500, "h of the networks that collapse", ge=10)
    output_dim: int = ours(3, "z of the networks that collapse", ge=2)
    step_length: float = ours(
        0.02,
        "of a step, as a share of the length of all weights: gradient flow in another time",
        gt=0,
        lt=0.5,
    )
    steps: int = ours(600, "steps, in which weights can grow by a factor of 10^5", ge=1)
    record_every: int = ours(20, "steps between measurements", ge=1)
    widths: tuple[int, ...] = ours((100, 300, 1000), "h of the networks beside their kernel", min_length=3)
    activation: Literal["tanh", "relu"] = ours(
        "tanh", "of the networks beside their kernel, as Theorem 1 asks"
    )
    learning_rate: float = stated(0.01, "Section 4, Numerical Evaluation", gt=0)
    epochs: int = stated(500, "Section 4, Numerical Evaluation: full-batch steps", ge=1)
    seeds: int = ours(10, "independent data and starts", ge=1)


def collapse_task(loss: str, activation: str) -> str:
    """The name of a task."""
    return f"{loss}, {activation}"


def kernel_task(width: int) -> str:
    """The name of a task."""
    return f"kernel, width {width}"


def resources(params: Params, objective: str | None = None) -> dict[str, Resources]:
    """What each task needs, by its name; its time is a rough estimate."""
    collapse = Resources(minutes=1.5e-9 * params.seeds * params.steps * params.samples * params.width)
    return {
        **{collapse_task(loss, activation): collapse for loss in LOSSES for activation in ACTIVATIONS},
        **{
            kernel_task(width): Resources(
                minutes=2e-9 * params.seeds * params.epochs * params.samples * (width + 500)
            )
            for width in params.widths
        },
    }
