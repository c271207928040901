"""Settings of Figure 2."""

from itertools import product
from typing import Literal, NamedTuple

from reprise.contract.experiment import Experiment, Plan, Resources
from reprise.contract.losses import TakesLosses
from reprise.contract.settings import Seeded, ours, stated, unstated

Activation = Literal["tanh", "relu", "sigmoid", "centred_sigmoid", "scaled_sigmoid"]


class Params(Seeded, TakesLosses):
    """Two layers on half moons, trained with orthonormal W1 and W2, and a linear twin."""

    widths: tuple[int, ...] = stated(
        (10, 30, 100, 300, 1000, 2000),
        "Figure 2: h from 10 to 2000; the intermediate values are ours",
        min_length=3,
    )
    activations: tuple[Activation, ...] = ours(
        ("tanh", "relu", "sigmoid", "centred_sigmoid", "scaled_sigmoid"),
        "the first three are Figure 2's; the others have φ(0) = 0, the last also φ'(0) = 1",
        min_length=1,
    )
    samples: int = unstated(50, "n", ge=4)
    moons_noise: float = unstated(0.1, "standard deviation of the noise on scikit-learn's moons", ge=0)
    positive_variance: float = stated(0.1, "Example 1: variance of each coordinate of x⁺ - x", ge=0)
    output_dim: int = unstated(1, "z", ge=1)
    learning_rate: float = stated(0.01, "Section 4, Numerical Evaluation", gt=0)
    epochs: int = stated(500, "Section 4, Numerical Evaluation: full-batch steps", ge=1)
    seeds: int = stated(10, "Section 4: initialisations; here each also has its own data", ge=1)
    starts: int = ours(20, "further initialisations of a seed, of which none is trained", ge=1)
    records: int = ours(50, "recorded epochs after the start, evenly spaced", ge=1)


class Task(NamedTuple):
    """Networks of one width."""

    width: int

    def __str__(self) -> str:
        return f"width {self.width}"


def tasks(params: Params, objective: str | None = None) -> list[Task]:
    """A task for each width."""
    return [Task(width) for width in params.widths]


def needs(params: Params, task: Task, objective: str | None = None) -> Resources:
    """Resources of a task; its time was measured at several widths."""
    networks = params.seeds * (1 + len(params.activations))
    return Resources(minutes=networks * params.epochs * (1.2e-4 + 1.2e-6 * task.width) / 60)


def alternatives(params: Params) -> dict[str, Params]:
    """The unstated settings lower and higher, all together: each pair of values of each two settings once.

    With six seeds and without the largest widths, which take most of the time. One output is the fewest.
    """
    common = {
        "seeds": min(params.seeds, 6),
        "widths": tuple(sorted(params.widths)[: max(3, len(params.widths) - 2)]),
    }
    samples = (params.samples // 2, params.samples * 2)
    noise = (params.moons_noise / 2, params.moons_noise * 2)
    dims = (params.output_dim + 1, params.output_dim + 3)
    return {
        f"n = {samples[a]}, moons noise {noise[b]:g}, z = {dims[a ^ b]}": params.model_copy(
            update={**common, "samples": samples[a], "moons_noise": noise[b], "output_dim": dims[a ^ b]}
        )
        for a, b in product((0, 1), repeat=2)
    }


EXPERIMENT = Experiment(
    params=Params,
    tables=("differences", "starts", "bounds"),
    plan=Plan(tasks, needs),
    alternatives=alternatives,
)
