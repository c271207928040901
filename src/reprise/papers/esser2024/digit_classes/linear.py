"""The linear network of Figure 4: its training by descent (11), and the ODEs of its outputs."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from reprise.networks.dense import Weights
from reprise.objectives import Objective
from reprise.papers.esser2024.digit_classes.experiment import Params
from reprise.papers.esser2024.limiting_dynamics.dynamics import ODES, euler_step, gradient_step
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.training.replicas import sgd


def trained(
    c: Float[Tensor, "seed d d"],
    values: Float[Tensor, "seed d"],
    vectors: Float[Tensor, "seed d d"],
    z: int,
    params: Params,
    progress: Callable[[float], None],
) -> list[Float[Tensor, "seed d z"]]:
    """The outputs q on the eigenvectors of C, by each method, from one start per seed."""
    w1, w2 = orthonormal_start(params.seed_range(params.seeds), params.width, c.shape[-1], z)
    start = vectors.mT @ w1.mT @ w2
    for step in range(params.steps):
        progress(step / params.steps)
        w1, w2 = gradient_step((w1, w2), c, params.learning_rate)
    outputs = [start, vectors.mT @ w1.mT @ w2]
    for ode in ODES.values():
        q = start
        for _ in range(params.steps):
            q = euler_step(ode, q, values, params.learning_rate)
        outputs.append(q)
    return outputs


def descended(
    x: Float[Tensor, "seed sample d"],
    positive: Float[Tensor, "seed sample d"],
    loss: Objective,
    z: int,
    params: Params,
    progress: Callable[[float], None],
) -> Float[Tensor, "seed d z"]:
    """Q of the outputs Qᵀ x after projected gradient descent on a loss of the images and their positives,
    from the initial weights of `trained`."""

    def loss_of_weights(weights: Weights) -> Tensor:
        linear_map = weights[0].mT @ weights[1]
        return loss(x @ linear_map, positive @ linear_map)

    *_, (_, (w1, w2)) = sgd(
        list(orthonormal_start(params.seed_range(params.seeds), params.width, x.shape[-1], z)),
        loss_of_weights,
        learning_rate=params.learning_rate,
        steps=params.steps,
        checkpoints={params.steps},
        project=polar,
        progress=lambda step: progress(step / params.steps),
    )
    return w1.mT @ w2
