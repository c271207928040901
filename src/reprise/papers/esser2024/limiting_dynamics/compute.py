"""Runs descent and both differential equations from the same starts."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.contract.experiment import Context
from reprise.contract.tidy import Axes, tidy
from reprise.papers.esser2024 import half_moons
from reprise.papers.esser2024.limiting_dynamics.dynamics import (
    ODES,
    check_step,
    eigenpairs,
    euler_step,
    flow,
    gradient_step,
    loss,
)
from reprise.papers.esser2024.limiting_dynamics.experiment import Params
from reprise.papers.esser2024.losses import cross_moment, symmetric
from reprise.papers.esser2024.two_layers import Weights, orthonormal_start

METHODS = ("descent", *(f"{ode}_{solver}" for solver in ("euler", "flow") for ode in ODES))
"""Projected gradient descent, and each ODE solved by Euler's method with the same step and by solve_ivp."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Computes three tables.

    `ends`: of every run, the loss after the last step and its mean over the iterations; the distance of the
    outputs q from those of descent after the last step and where it is largest; and what `_ends` adds; one
    row per embedding dimension `z`, width, method and seed. `trajectory`: the loss, and the distance of q
    from that of descent, of the first `courses` seeds at each recorded iteration; `flow` is read at times
    learning_rate * iteration. `outputs`: their outputs by the methods that take steps, for each `unit` and
    `eigenvector` of C, of which the first has the smallest eigenvalue.
    """
    seeds = range(params.first_seed, params.first_seed + params.seeds)
    moons = half_moons.draw(
        seeds,
        samples=params.samples,
        noise=params.moons_noise,
        positive_variance=params.positive_variance,
    )
    c = symmetric(cross_moment(moons.anchor, moons.positive, moons.negative, reduction=params.reduction))
    values, vectors = eigenpairs(c)
    settings = f"reduction '{params.reduction}' and {params.samples} samples"
    check_step(values.numpy(), params.embedding_dims, params.learning_rate, settings)

    iterations = range(0, params.steps + 1, params.record_every)
    courses = seeds[: params.courses]
    runs = [(z, width) for z in params.embedding_dims for width in params.widths]
    ends, trajectory, outputs = [], [], []
    for index, (z, width) in enumerate(runs):
        context.progress(index, len(runs), f"z = {z}, width {width}")
        starts = orthonormal_start(seeds, width, c.shape[-1], z)
        q = torch.stack(list(_outputs(c, values, vectors, starts, params)))
        columns = {"loss": loss(q, values), "distance": (q - q[0]).flatten(-2).norm(dim=-1)}
        case: Axes = {"z": [z], "width": [width], "method": METHODS}
        ends.append(tidy({**case, "seed": seeds}, **_ends(q, **columns)))
        axes: Axes = {**case, "iteration": iterations, "seed": courses}
        drawn = {name: column[None, None, ..., : len(courses)] for name, column in columns.items()}
        trajectory.append(tidy(axes, **drawn))
        units: Axes = {"eigenvector": range(1, q.shape[-2] + 1), "unit": range(1, z + 1)}
        takes_steps = [not method.endswith("flow") for method in METHODS]
        step_methods = [method for method in METHODS if not method.endswith("flow")]
        steps = q[takes_steps][None, None, :, :, : len(courses)]
        outputs.append(tidy({**axes, "method": step_methods, **units}, output=steps))
    return {
        "ends": pd.concat(ends, ignore_index=True),
        "trajectory": pd.concat(trajectory, ignore_index=True),
        "outputs": pd.concat(outputs, ignore_index=True),
    }


def _ends(
    q: Float[Tensor, "method iteration seed d z"],
    loss: Float[Tensor, "method iteration seed"],
    distance: Float[Tensor, "method iteration seed"],
) -> dict[str, Float[Tensor, "1 1 method seed"]]:
    """Columns of `ends`.

    `moved` and `loss_moved` say how far q and the loss went in the last quarter of the recorded iterations,
    `integration` and `loss_integration` how far they end from what solve_ivp gives for the same equation (0
    for descent). `miss` is the distance of q qᵀ from the projector on the z smallest eigenvectors.
    """
    end, earlier = q[:, -1], q[:, q.shape[1] * 3 // 4]
    exact = [METHODS.index(method.replace("euler", "flow")) for method in METHODS]
    wanted = torch.eye(q.shape[-2], q.shape[-1]).double()
    columns = {
        "loss": loss[:, -1],
        "first_loss": loss[:, 0],
        "mean_loss": loss.mean(1),
        "loss_moved": (loss[:, -1] - loss[:, q.shape[1] * 3 // 4]).abs(),
        "loss_integration": (loss[:, -1] - loss[exact, -1]).abs(),
        "distance": distance[:, -1],
        "largest_distance": distance.amax(1),
        "moved": (end - earlier).flatten(-2).norm(dim=-1),
        "integration": (end - end[exact]).flatten(-2).norm(dim=-1),
        "miss": (end @ end.mT - wanted @ wanted.mT).flatten(-2).norm(dim=-1),
    }
    return {name: column[None, None] for name, column in columns.items()}


def _outputs(
    c: Float[Tensor, "seed d d"],
    values: Float[Tensor, "seed d"],
    vectors: Float[Tensor, "seed d d"],
    starts: Weights,
    params: Params,
) -> Iterator[Float[Tensor, "iteration seed d z"]]:
    """Yields q for each method in the order of `METHODS`, from one start per seed.

    A rotation of the hidden units changes neither q nor what descent does to it, so that all but d + z of
    them can be rotated to 0.
    """
    inputs = c.shape[-1]
    rotated = torch.linalg.qr(torch.cat(starts, -1)).R
    w1, w2 = rotated[..., :inputs], rotated[..., inputs:]
    start = vectors.mT @ w1.mT @ w2
    records = [start]
    for step in range(1, params.steps + 1):
        w1, w2 = gradient_step((w1, w2), c, params.learning_rate)
        if step % params.record_every == 0:
            records.append(vectors.mT @ w1.mT @ w2)
    yield torch.stack(records)
    for ode in ODES.values():
        q, records = start, [start]
        for step in range(1, params.steps + 1):
            q = euler_step(ode, q, values, params.learning_rate)
            if step % params.record_every == 0:
                records.append(q)
        yield torch.stack(records)
    times = params.learning_rate * np.arange(0, params.steps + 1, params.record_every)
    for ode in ODES.values():
        yield torch.from_numpy(flow(ode, start.numpy(), values.numpy(), times))
