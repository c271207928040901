"""Runs descent and both differential equations from the same starts, and checks the formulas."""

import zlib
from collections.abc import Iterator

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.evidence.identities import tried
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
from reprise.papers.esser2024.limiting_dynamics.formulas import CHECKS, velocity_gaps
from reprise.papers.esser2024.limiting_dynamics.params import Params
from reprise.papers.esser2024.losses import cross_moment, symmetric
from reprise.papers.esser2024.two_layers import orthonormal_start
from reprise.study.experiment import Context
from reprise.study.tidy import Axes, tidy

METHODS = ("descent", *(f"{ode}_{solver}" for solver in ("euler", "flow") for ode in ODES))
"""Projected gradient descent, and each ODE solved by Euler's method with the same step and by solve_ivp."""


def compute(params: Params, context: Context) -> dict[str, pd.DataFrame]:
    """Computes four tables.

    `identities`: the relative error of every formula in each of its forms, one row per point (`seed`).
    `velocities`: the relative distance of an ODE's dQ/dt from descent's in the limit of small steps, at
    random starts with h = d = 2 and z = 1, one row per start (`seed`). `trajectory`: the loss, and the
    distance of the outputs q from those of descent, one row per embedding dimension `z`, width, method, seed
    and recorded iteration; `flow` is read at times learning_rate * iteration. `outputs`: the outputs of the
    methods that take steps, for each `unit` and `eigenvector` of C, of which the first has the smallest
    eigenvalue.
    """
    seeds = range(params.seeds)
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
    runs = [(z, width) for z in params.embedding_dims for width in params.widths]
    trajectory, outputs = [], []
    for index, (z, width) in enumerate(runs):
        context.progress(index, len(runs), f"z = {z}, width {width}")
        q = torch.stack(list(_outputs(c, values, vectors, z, width, params)))
        axes: Axes = {"z": [z], "width": [width], "method": METHODS, "iteration": iterations, "seed": seeds}
        columns = {"loss": loss(q, values), "distance": (q - q[0]).flatten(-2).norm(dim=-1)}
        trajectory.append(tidy(axes, **{name: column[None, None] for name, column in columns.items()}))
        units: Axes = {"eigenvector": range(1, q.shape[-2] + 1), "unit": range(1, z + 1)}
        takes_steps = [not method.endswith("flow") for method in METHODS]
        step_methods = [method for method in METHODS if not method.endswith("flow")]
        outputs.append(tidy({**axes, "method": step_methods, **units}, output=q[takes_steps][None, None]))
    points = range(params.points)
    gaps = [
        {"seed": point, "form": form, "gap": gap}
        for point in points
        for form, gap in velocity_gaps(np.random.default_rng([point, zlib.crc32(b"velocities")])).items()
    ]
    return {
        "identities": tried(CHECKS, points, params.largest, ("inputs", "outputs", "width"), context),
        "velocities": pd.DataFrame(gaps),
        "trajectory": pd.concat(trajectory, ignore_index=True),
        "outputs": pd.concat(outputs, ignore_index=True),
    }


def _outputs(
    c: Float[Tensor, "seed d d"],
    values: Float[Tensor, "seed d"],
    vectors: Float[Tensor, "seed d d"],
    z: int,
    width: int,
    params: Params,
) -> Iterator[Float[Tensor, "iteration seed d z"]]:
    """Yields q for each method in the order of `METHODS`, from one start per seed."""
    w1, w2 = orthonormal_start(range(params.seeds), width, c.shape[-1], z)
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
        solutions = [
            flow(ode, q0.numpy(), eigenvalues.numpy(), times)
            for q0, eigenvalues in zip(start, values, strict=True)
        ]
        yield torch.from_numpy(np.stack(solutions, 1))
