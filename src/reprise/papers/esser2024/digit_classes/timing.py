"""The time of a step of descent (11), of the ODE (12) and of a nonlinear network's training, and the time to
a solution of the ODE."""

from collections.abc import Callable
from functools import partial
from itertools import product

import pandas as pd
from jaxtyping import Float
from torch import Tensor

from reprise.bench.timing import seconds
from reprise.papers.esser2024.digit_classes import nonlinear
from reprise.papers.esser2024.digit_classes.experiment import Params
from reprise.papers.esser2024.digit_classes.nonlinear import Triplets
from reprise.papers.esser2024.limiting_dynamics.dynamics import ODES, eigenpairs, euler_step, gradient_step
from reprise.papers.esser2024.losses import cross_moment, symmetric
from reprise.papers.esser2024.two_layers import Weights, orthonormal_start

ODE_STEPS = 200
"""Steps per timing, because one takes microseconds."""


def step_times(
    c: Float[Tensor, "d d"],
    values: Float[Tensor, " d"],
    vectors: Float[Tensor, "d d"],
    triplets: Triplets,
    params: Params,
) -> pd.DataFrame:
    """Times the steps; each repeat covers all widths, so that a slow spell of the machine affects all
    alike."""
    rate, z = params.learning_rate, params.embedding_dims[0]
    rows = []
    for repeat, width in product(params.seed_range(params.repeats), params.timed_widths):
        w1, w2 = (w[0] for w in orthonormal_start(params.seed_range(1), width, len(c), z))
        q = vectors.mT @ w1.mT @ w2
        descent = _seconds(partial(gradient_step, (w1, w2), c, rate), 1)
        ode = _seconds(partial(euler_step, ODES["printed"], q, values, rate), ODE_STEPS)
        durations = {"descent": descent, "ode": ode}
        if width in params.nonlinear_widths:
            for activation in params.activations[:1]:
                durations[activation] = _seconds(
                    nonlinear.step(triplets, activation, params.first_seed, width, z, rate), 1
                )
        for method, duration in durations.items():
            rows.append({"method": method, "width": width, "seed": repeat, "seconds": duration})
    return pd.DataFrame(rows)


def solution_times(steps: pd.DataFrame, triplets: Triplets, params: Params) -> pd.DataFrame:
    """Times the solution of the ODE from the data and the initial weights on, beside as many steps of a
    nonlinear network's training.

    Args:
        steps: what `step_times` returns.
    """
    z = params.embedding_dims[0]
    triplet = tuple(part[0] for part in triplets)
    rows = []
    for repeat, width in product(params.seed_range(params.repeats), params.nonlinear_widths):
        w1, w2 = (w[0] for w in orthonormal_start(params.seed_range(1), width, triplet[0].shape[-1], z))
        duration = seconds(partial(_solve, triplet, (w1, w2), params))
        rows.append({"method": "ode", "width": width, "seed": repeat, "seconds": duration})
    training = steps[steps["method"].isin(params.activations)]
    training = training.assign(seconds=params.steps * training["seconds"])
    return pd.concat([training, pd.DataFrame(rows)], ignore_index=True)


def _solve(triplet: Triplets, start: Weights, params: Params) -> None:
    """C, its eigenvectors, the outputs on them, and all steps of Euler's method."""
    values, vectors = eigenpairs(symmetric(cross_moment(*triplet, reduction="mean")))
    q = vectors.mT @ start[0].mT @ start[1]
    for _ in range(params.steps):
        q = euler_step(ODES["printed"], q, values, params.learning_rate)


def _seconds(step: Callable[[], object], steps: int) -> float:
    """Seconds per step, from timing `steps` of them."""

    def work() -> None:
        for _ in range(steps):
            step()

    return seconds(work) / steps
