"""Settings of what the text says of wide networks without an experiment: Section 2 and the abstract.

No other loss can be shown: the sentences are about the losses (1) and (2) and the squared loss.
"""

from itertools import product
from typing import Literal, NamedTuple

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.settings import Seeded, ours, stated

ACTIVATIONS = ("relu", "tanh")
LOSSES = ("contrastive", "non-contrastive")
ARMS = ("supervised", "unconstrained", "constrained")
"""The squared loss, and the loss (1) without and with orthonormal weights."""


class Params(Seeded):
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


class Collapse(NamedTuple):
    """The task of networks that collapse."""

    loss: str
    activation: str

    def __str__(self) -> str:
        return f"{self.loss}, {self.activation}"


class Kernel(NamedTuple):
    """The task of networks of one width beside their kernels."""

    width: int

    def __str__(self) -> str:
        return f"kernel, width {self.width}"


Task = Collapse | Kernel


def collapses() -> list[Collapse]:
    """A task for each loss and activation."""
    return [Collapse(loss, activation) for loss, activation in product(LOSSES, ACTIVATIONS)]


def kernels(params: Params) -> list[Kernel]:
    """A task for each width beside its kernel."""
    return [Kernel(width) for width in params.widths]


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """All tasks."""
    return [*collapses(), *kernels(params)]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task; its time is a rough estimate."""
    if isinstance(task, Collapse):
        return Resources(minutes=1.5e-9 * params.seeds * params.steps * params.samples * params.width)
    return Resources(minutes=2e-9 * params.seeds * params.epochs * params.samples * (task.width + 500))


EXPERIMENT = Experiment(
    params=Params,
    tables=("collapse", "distances"),
    plan=Plan(tasks, needs),
)
