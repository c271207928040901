"""The time of a step of descent (11), of the ODE (12) and of a nonlinear network's training."""

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
from reprise.papers.esser2024.limiting_dynamics.dynamics import ODES, euler_step, gradient_step
from reprise.papers.esser2024.two_layers import orthonormal_start

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
    for repeat, width in product(range(params.repeats), params.timed_widths):
        w1, w2 = (w[0] for w in orthonormal_start([0], width, len(c), z))
        q = vectors.mT @ w1.mT @ w2
        descent = _seconds(partial(gradient_step, (w1, w2), c, rate), 1)
        ode = _seconds(partial(euler_step, ODES["printed"], q, values, rate), ODE_STEPS)
        durations = {"descent": descent, "ode": ode}
        if width in params.nonlinear_widths:
            for activation in params.activations[:1]:
                durations[activation] = _seconds(nonlinear.step(triplets, activation, width, z, rate), 1)
        for method, duration in durations.items():
            rows.append({"method": method, "width": width, "seed": repeat, "seconds": duration})
    return pd.DataFrame(rows)


def _seconds(step: Callable[[], object], steps: int) -> float:
    """Seconds per step, from timing `steps` of them."""

    def work() -> None:
        for _ in range(steps):
            step()

    return seconds(work) / steps
