"""Checks Theorems 2 and 3, their proofs, and the sentences about them, at random points.

The `printed` ODE is Eq. 9; the `corrected` one is what small steps of projected gradient descent follow.
"""

from dataclasses import dataclass

import numpy as np
import torch

from reprise.evidence.identities import Array, Check, Checked, Random, as_printed, relative_error, size
from reprise.papers.esser2024.limiting_dynamics.dynamics import ODES, Velocity, flow, gradient_step, printed
from reprise.papers.esser2024.theory.points import orthonormal

DIFFERENCE_STEP = 1e-5
"""Step size of the central difference that gives descent's velocity."""


@dataclass(frozen=True)
class Point:
    """C = V Λ Vᵀ, and weights that satisfy the constraint."""

    eigenvalues: Array
    v: Array
    w1: Array
    w2: Array

    @property
    def c(self) -> Array:
        return (self.v * self.eigenvalues) @ self.v.T

    @property
    def q(self) -> Array:
        return self.v.T @ self.w1.T @ self.w2

    @property
    def sizes(self) -> dict[str, int]:
        return {"inputs": self.w1.shape[1], "outputs": self.w2.shape[1], "hidden": len(self.w1)}

    def loss(self, w1: Array, w2: Array) -> float:
        return float(np.trace(w2.T @ w1 @ self.c @ w1.T @ w2))

    def after_step(self, learning_rate: float) -> tuple[Array, Array]:
        """The weights after one projected step."""
        weights = (torch.from_numpy(self.w1), torch.from_numpy(self.w2))
        w1, w2 = gradient_step(weights, torch.from_numpy(self.c), learning_rate)
        return w1.numpy(), w2.numpy()

    @property
    def descent_velocity(self) -> Array:
        """dq/dt of projected gradient descent in the limit of small steps."""
        forward, backward = (
            self.v.T @ w1.T @ w2
            for w1, w2 in (self.after_step(DIFFERENCE_STEP), self.after_step(-DIFFERENCE_STEP))
        )
        return (forward - backward) / (2 * DIFFERENCE_STEP)


def random_point(rng: Random, inputs: int, outputs: int, width: int) -> Point:
    eigenvalues = np.sort(rng.normal(size=inputs))
    v, w1, w2 = (orthonormal(rng, *s) for s in ((inputs, inputs), (width, inputs), (width, outputs)))
    return Point(eigenvalues, v, w1, w2)


def square_layers(rng: Random, largest: int) -> Checked:
    """The velocity of each ODE against that of descent where h = d = 2 and z = 1."""
    point = random_point(rng, 2, 1, 2)
    descent = point.descent_velocity
    gaps = {form: relative_error(ode(point.q, point.eigenvalues), descent) for form, ode in ODES.items()}
    return Checked(point.sizes, {"thm2/velocity-h2": gaps})


def theorem_2(rng: Random, largest: int) -> Checked:
    """Theorem 2: the velocities of descent and of the proof's flow, and the invariances of the loss (8)."""
    inputs, outputs = size(rng, 2, largest), size(rng, 1, 3)
    point = random_point(rng, inputs, outputs, max(inputs, outputs) + size(rng, 1, largest))
    descent = point.descent_velocity
    w1, w2, c = point.w1, point.w2, point.c
    gradients = 2 * w2 @ w2.T @ w1 @ c, 2 * w1 @ c @ w1.T @ w2
    dw1, dw2 = (w @ (w.T @ gradient) - gradient for w, gradient in zip((w1, w2), gradients, strict=True))
    proof = point.v.T @ (dw1.T @ w2 + w1.T @ dw2)
    loss_before = point.loss(w1, w2)
    rotated_losses = (
        point.loss(w1 @ orthonormal(rng, inputs, inputs), w2),
        point.loss(w1, w2 @ orthonormal(rng, outputs, outputs)),
    )
    ode_errors = {
        form: relative_error(ode(point.q, point.eigenvalues), descent) for form, ode in ODES.items()
    }
    change = [abs(after / loss_before - 1) for after in rotated_losses]
    return Checked(
        point.sizes,
        {
            "thm2-ode": ode_errors,
            "thm2/proof-flow": as_printed(relative_error(printed(point.q, point.eigenvalues), proof)),
            "thm2-grassmann": {"printed": change[0], "corrected": change[1]},
        },
    )


def theorem_3_proof(rng: Random, largest: int) -> Checked:
    """Eq. 10 and the proof's two derivatives along Eq. 9."""
    values = np.sort(rng.normal(size=size(rng, 2, largest)))[:, None]
    q = rng.normal(size=values.shape)
    q *= rng.uniform(0.1, 0.95) / np.linalg.norm(q)
    velocity = printed(q, values[:, 0])
    inner, form = float((q.T @ q).item()), float((q.T @ (values * q)).item())
    eq10 = 2 * (-(1 - inner) * values * q - (np.eye(len(q)) - q @ q.T) @ (values * q))
    norm = np.array([-8 * (1 - inner) * form])
    first = 2 * ((1 - inner) * -values[0] + (form - values[0])) * q[0]
    return Checked(
        {"inputs": len(q), "outputs": 1},
        {
            "eq10/one-output": as_printed(relative_error(eq10, velocity)),
            "thm3/norm": as_printed(relative_error(norm, 2 * (q.T @ velocity)[0])),
            "thm3/first-component": as_printed(relative_error(first, velocity[0])),
        },
    )


def theorem_3_positive(rng: Random, largest: int) -> Checked:
    """Theorem 3 for positive eigenvalues: from an admissible start with h = d and |q| = 1, and from |q| <
    1."""
    inputs = size(rng, 2, largest)
    values = rng.uniform(0.5, 2, inputs)
    square = random_point(rng, inputs, 1, inputs)
    # Uses descent, because the ODEs preserve |q| = 1 only in exact arithmetic.
    limit = _descend(square, values, steps=100)
    interior_start = rng.uniform(0.1, 0.9) * square.q
    ends = [_end(ode, interior_start, values, 10 / values.min()) for ode in ODES.values()]
    return Checked(
        {"inputs": inputs, "outputs": 1, "hidden": inputs},
        {
            "thm3-positive": {
                "printed": float(np.linalg.norm(limit)),
                "corrected": max(float(np.linalg.norm(end)) for end in ends),
            }
        },
    )


def theorem_3_negative(rng: Random, largest: int) -> Checked:
    """Theorem 3 with a negative eigenvalue: from a start with e_1ᵀ q < 0, and from its opposite."""
    inputs = size(rng, 2, largest)
    gap = rng.uniform(0.5, 1)
    values = -rng.uniform(0.5, 1.5) + np.concatenate([[0.0], gap + rng.uniform(0, 3, inputs - 1)])
    q0 = _away_from_zero(rng, inputs) * rng.uniform(0.1, 1)
    q0 *= -np.sign(q0[0])
    e1 = np.eye(inputs)[:, :1]
    sign_error = max(
        relative_error(_end(ode, sign * q0, values, 12 / gap), -sign * e1)
        for ode in ODES.values()
        for sign in (1, -1)
    )
    printed_error = relative_error(_end(printed, q0, values, 12 / gap), e1)
    return Checked(
        {"inputs": inputs, "outputs": 1}, {"thm3-limit": {"printed": printed_error, "corrected": sign_error}}
    )


def theorem_3_zero(rng: Random, largest: int) -> Checked:
    """Theorem 3 with a smallest eigenvalue of 0: q against 0 and ±e_1, and against the line through e_1."""
    inputs = size(rng, 2, largest)
    values = np.concatenate([[0.0], rng.uniform(0.5, 2, inputs - 1)])
    q0 = _away_from_zero(rng, inputs) * rng.uniform(0.3, 0.8)
    e1 = np.eye(inputs)[:, :1]
    ends = [_end(ode, q0, values, 18) for ode in ODES.values()]
    printed_error = min(float(np.linalg.norm(ends[0] - limit)) for limit in (0 * e1, e1, -e1))
    line_error = max(float(np.linalg.norm(end[1:]) / abs(end[0, 0])) for end in ends)
    return Checked(
        {"inputs": inputs, "outputs": 1}, {"thm3-zero": {"printed": printed_error, "corrected": line_error}}
    )


def most_negative_eigenvectors(rng: Random, largest: int) -> Checked:
    """The limit of projected gradient descent: Q Qᵀ against the projector on the eigenvectors to be
    extracted, one per output or negative eigenvalue, whichever are fewer.

    Eigenvalues are at least 0.4 away from each other and from 0.
    """
    inputs, outputs = size(rng, 2, largest), size(rng, 1, 3)
    negative = size(rng, 1, inputs)
    steps = 0.4 + rng.uniform(0, 0.6, inputs)
    values = np.concatenate([-np.cumsum(steps[:negative])[::-1], np.cumsum(steps[negative:])])
    point = random_point(rng, inputs, outputs, inputs + outputs)
    q = _descend(point, values, steps=600)
    expected = np.diag((np.arange(inputs) < min(negative, outputs)).astype(float))
    return Checked(
        point.sizes,
        {"prop3/most-negative-eigenvectors": as_printed(relative_error(q @ q.T, expected))},
    )


def new_datapoint(rng: Random, largest: int) -> Checked:
    """u_t(x̂) = q_tᵀ Vᵀ x̂ after some steps of descent."""
    inputs, outputs = size(rng, 2, largest), size(rng, 1, 3)
    point = random_point(rng, inputs, outputs, max(inputs, outputs) + size(rng, 1, largest))
    w1, w2 = point.after_step(0.1)
    x, trained = rng.normal(size=inputs), Point(point.eigenvalues, point.v, w1, w2)
    return Checked(
        point.sizes,
        {"new-datapoint/output": as_printed(relative_error(trained.q.T @ point.v.T @ x, w2.T @ (w1 @ x)))},
    )


def eq_11(rng: Random, largest: int) -> Checked:
    """Whether a short step of (11) raises the loss (1) or not (0), for each sign of the gradient."""
    inputs, outputs = size(rng, 2, largest), size(rng, 1, 3)
    point = random_point(rng, inputs, outputs, max(inputs, outputs) + size(rng, 1, largest))
    loss_before = point.loss(point.w1, point.w2)
    raises_loss = {
        form: float(point.loss(*point.after_step(step)) > loss_before)
        for form, step in (("printed", -1e-3), ("corrected", 1e-3))
    }
    return Checked(point.sizes, {"eq11": raises_loss})


def _descend(point: Point, values: Array, *, steps: int) -> Array:
    """q after projected gradient descent on a C with other eigenvalues and the point's eigenvectors."""
    c = torch.from_numpy((point.v * values) @ point.v.T)
    w1, w2 = torch.from_numpy(point.w1), torch.from_numpy(point.w2)
    for _ in range(steps):
        w1, w2 = gradient_step((w1, w2), c, 0.1 / np.abs(values).max())
    return point.v.T @ (w1.mT @ w2).numpy()


def _end(ode: Velocity, q0: Array, values: Array, time: float) -> Array:
    return flow(ode, q0, values, np.array([time]))[-1]


def _away_from_zero(rng: Random, inputs: int) -> Array:
    """A unit vector with |e_1ᵀ q| > 0.1. Shape [d, 1]."""
    while True:
        q = orthonormal(rng, inputs, 1)
        if abs(q[0, 0]) > 0.1:
            return q


CHECKS: tuple[Check, ...] = (
    square_layers,
    theorem_2,
    theorem_3_proof,
    theorem_3_positive,
    theorem_3_negative,
    theorem_3_zero,
    most_negative_eigenvectors,
    new_datapoint,
    eq_11,
)
