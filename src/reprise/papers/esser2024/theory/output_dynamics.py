"""Theorems 2 and 3, and Eq. 11: the outputs of a linear network under the orthogonal loss (8).

Functions that need torch import it where they calculate, so that lists of claims do not wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, orthonormal, relative_error, size

if TYPE_CHECKING:
    from reprise.papers.esser2024.limiting_dynamics.dynamics import Velocity

DIFFERENCE_STEP = 1e-5
"""Step size of the central difference that gives descent's velocity."""


@dataclass(frozen=True)
class Weights:
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

    def after(self, learning_rate: float, steps: int = 1) -> tuple[Array, Array]:
        """The weights after projected steps of descent."""
        from reprise.papers.esser2024.limiting_dynamics.dynamics import gradient_step
        from reprise.papers.esser2024.theory.autodiff import tensor

        w1, w2, c = (tensor(each) for each in (self.w1, self.w2, self.c))
        for _ in range(steps):
            w1, w2 = gradient_step((w1, w2), c, learning_rate)
        return w1.numpy(), w2.numpy()

    @property
    def descent_velocity(self) -> Array:
        """dq/dt of projected gradient descent in the limit of small steps."""
        forward, backward = (
            self.v.T @ w1.T @ w2 for w1, w2 in (self.after(DIFFERENCE_STEP), self.after(-DIFFERENCE_STEP))
        )
        return (forward - backward) / (2 * DIFFERENCE_STEP)

    @property
    def proof_velocity(self) -> Array:
        """dq/dt of the flow in Theorem 2's proof, by (I - W Wᵀ) times the gradient."""
        w1, w2, c = self.w1, self.w2, self.c
        gradients = 2 * w2 @ w2.T @ w1 @ c, 2 * w1 @ c @ w1.T @ w2
        dw1, dw2 = (w @ (w.T @ slope) - slope for w, slope in zip((w1, w2), gradients, strict=True))
        return self.v.T @ (dw1.T @ w2 + w1.T @ dw2)


def random_weights(rng: Random, inputs: int, outputs: int, width: int) -> Weights:
    eigenvalues = np.sort(rng.normal(size=inputs))
    v, w1, w2 = (orthonormal(rng, *s) for s in ((inputs, inputs), (width, inputs), (width, outputs)))
    return Weights(eigenvalues, v, w1, w2)


def constrained(rng: Random, largest: int) -> Weights:
    inputs, outputs = size(rng, 2, largest), size(rng, 1, 3)
    return random_weights(rng, inputs, outputs, max(inputs, outputs) + size(rng, 1, largest))


@formula(
    "thm2-ode",
    "In the Euclidean metric the outputs of gradient flow on the loss (8), within its constraints, obey {}.",
    at="Theorem 2, Eq. 9, Section 5.1",
    wrong=Misprint(
        "condition",
        printed=Text(
            "dq/dt = -2 [2 Λ q - Λ q qᵀ q - q qᵀ Λ q]",
            r"\dot{q}=-2\left[2\Lambda q-\Lambda qq^{\top}q-qq^{\top}\Lambda q\right]",
        ),
        corrected=Text(
            "in the Euclidean metric dq/dt = -[4 Λ q - Λ q qᵀ q - 3 q qᵀ Λ q]",
            r"\dot{q}=-\left[4\Lambda q-\Lambda qq^{\top}q-3qq^{\top}\Lambda q\right]",
        ),
        note="Eq. 9 is exact for the flow of its proof, in which (I - W Wᵀ) times the gradient G moves both "
        "weights, as on Grassmann manifolds; the theorem names no metric. The loss changes under W1 -> W1 R, "
        "so that W1 lies on a Stiefel manifold: the Euclidean gradient there, which small steps of (11) with "
        "its projection follow, has the further part W1 (W1ᵀ G - Gᵀ W1) / 2. With z = 1 both flows have the "
        "same limits",
    ),
    quotes=Quotation("the machine outputs are given by", at="Theorem 2, Section 5.1"),
    word="are given by",
    tried_at=constrained,
)
def theorem_2(point: Weights) -> Errors:
    """Errors against small steps of (11), whose projection onto the constraints is the nearest point."""
    from reprise.papers.esser2024.limiting_dynamics.dynamics import ODES

    velocity = point.descent_velocity
    return Errors(
        **{form: relative_error(ode(point.q, point.eigenvalues), velocity) for form, ode in ODES.items()}
    )


@formula(
    "thm2/proof-flow",
    "Along the flow of Theorem 2's proof, in which (I - W Wᵀ) times the gradient moves both weights, the "
    "outputs obey Eq. 9, in which the width does not occur.",
    at="Theorem 2 and its proof, Appendix",
    quotes=(
        Quotation(
            "the exact (network width independent) learning dynamics of the SSL models trained using "
            "gradient descent on the Grassmannian manifold",
            at="Abstract",
        ),
        Quotation(
            "the learning dynamics of SSL for linear networks, under orthogonality constraints (Theorem 2)",
            at="Section 1",
        ),
    ),
    word="the exact",
    reading="the paper's: gradients projected as on Grassmann manifolds; the flow in the Euclidean metric, "
    "which small steps of (11) follow, is another (`thm2-ode`)",
    tried_at=constrained,
)
def flow_of_the_proof(point: Weights) -> Errors:
    """The decoy is the equation of the Euclidean metric."""
    from reprise.papers.esser2024.limiting_dynamics import dynamics

    velocity = point.proof_velocity
    return Errors(
        printed=relative_error(dynamics.printed(point.q, point.eigenvalues), velocity),
        decoy=relative_error(dynamics.corrected(point.q, point.eigenvalues), velocity),
    )


@dataclass(frozen=True)
class OneOutput:
    """Eigenvalues of C, and a start q of shape [d, 1]."""

    values: Array
    q: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"inputs": len(self.q), "outputs": 1}

    def end(self, ode: Velocity, time: float, sign: int = 1) -> Array:
        """The solution of an equation at a time, from the start or from its opposite."""
        from reprise.papers.esser2024.limiting_dynamics.dynamics import flow

        return flow(ode, sign * self.q, self.values, np.array([time]))[-1]


def one_output(rng: Random, largest: int) -> OneOutput:
    values = np.sort(rng.normal(size=size(rng, 2, largest)))
    return OneOutput(values, rng.uniform(0.1, 0.95) * orthonormal(rng, len(values), 1))


@formula(
    "eq10/one-output",
    "The ODE (10) is the ODE (9) for one output, z = 1.",
    at="Theorem 3, Eq. 10, Section 5.1",
    quotes=Quotation("then our update rule simplifies to", at="Theorem 3, Section 5.1"),
    word="simplifies to",
    tried_at=one_output,
)
def eq_10(point: OneOutput) -> Errors:
    """The decoy leaves out the factor 2."""
    from reprise.papers.esser2024.limiting_dynamics.dynamics import printed

    q, product = point.q, point.values[:, None] * point.q
    half = -(1 - q.T @ q) * product - (np.eye(len(q)) - q @ q.T) @ product
    velocity = printed(q, point.values)
    return Errors(printed=relative_error(2 * half, velocity), decoy=relative_error(half, velocity))


def square(rng: Random, largest: int) -> Weights:
    """Positive eigenvalues and a square W1, h = d."""
    inputs = size(rng, 2, largest)
    point = random_weights(rng, inputs, 1, inputs)
    return Weights(np.sort(rng.uniform(0.5, 2, inputs)), point.v, point.w1, point.w2)


@formula(
    "thm3-positive",
    "If all eigenvalues of C are strictly positive, the output {} (tried: h = d, where |q_0| = 1).",
    at="Theorem 3, first case, Section 5.1",
    wrong=Misprint(
        "condition",
        printed=Text("q converges to 0", r"\lambda_1>0\ \Rightarrow\ q\to0"),
        corrected=Text(
            "q converges to 0 from |q_0| < 1", r"\lambda_1>0\text{ and }\Vert q_0\Vert<1\ \Rightarrow\ q\to0"
        ),
        note="a border of the range: h = d makes |q_0| = 1, and then it stays 1",
    ),
    quotes=Quotation(
        "Assume all the eigenvalues of ... are strictly positive then",
        at="Theorem 3, first case, Section 5.1",
    ),
    word="all the eigenvalues",
    tried_at=square,
)
def positive_eigenvalues(point: Weights) -> Errors:
    """The printed error is by descent, because the equations preserve |q| = 1 only in exact arithmetic."""
    from reprise.papers.esser2024.limiting_dynamics.dynamics import ODES

    w1, w2 = point.after(0.1 / point.eigenvalues.max(), steps=100)
    inside = OneOutput(point.eigenvalues, 0.8 * point.q)
    time = 10 / point.eigenvalues.min()
    ends = [float(np.linalg.norm(inside.end(ode, time))) for ode in ODES.values()]
    return Errors(printed=float(np.linalg.norm(w1.T @ w2)), corrected=max(ends))


def away_from_zero(rng: Random, inputs: int) -> Array:
    """A unit vector with |e_1ᵀ q| > 0.1. Shape [d, 1]."""
    while True:
        q = orthonormal(rng, inputs, 1)
        if abs(q[0, 0]) > 0.1:
            return q


def negative_smallest(rng: Random, largest: int) -> OneOutput:
    """A negative smallest eigenvalue."""
    inputs, gap = size(rng, 2, largest), rng.uniform(0.5, 1)
    values = -rng.uniform(0.5, 1.5) + np.concatenate([[0.0], gap + rng.uniform(0, 3, inputs - 1)])
    return OneOutput(values, away_from_zero(rng, inputs) * rng.uniform(0.1, 1))


@formula(
    "thm3/limit",
    "If an eigenvalue of C is negative, the output q becomes the smallest eigenvector, e_1 or -e_1.",
    at="Theorem 3, second case, Section 5.1",
    quotes=Quotation(
        "Assume there is at least one negative eigenvalue of ... becomes the smallest eigenvector",
        at="Theorem 3, second case, Section 5.1",
    ),
    word="becomes the smallest eigenvector",
    tried_at=negative_smallest,
)
def negative_eigenvalue(point: OneOutput) -> Errors:
    """Errors from a start and its opposite. The decoy is the next eigenvector."""
    from reprise.papers.esser2024.limiting_dynamics.dynamics import printed

    def error(index: int) -> float:
        vector = np.eye(len(point.q))[:, [index]]
        ends = (point.end(printed, 24, sign) for sign in (1, -1))
        return max(relative_error(end @ end.T, vector @ vector.T) for end in ends)

    return Errors(printed=error(0), decoy=error(1))


@formula(
    "eq11",
    "A short step {} on the orthogonal loss, projected, lowers the loss (1 where it raises it).",
    at="Eq. 11, Section 5.2",
    wrong=Misprint(
        "typo",
        printed=Text("W + η ∇L", r"W+\eta\nabla L"),
        corrected=Text("W - η ∇L", r"W-\eta\nabla L"),
    ),
    is_bound=True,
    tried_at=constrained,
)
def eq_11(point: Weights) -> Errors:
    before = point.loss(point.w1, point.w2)
    up, down = (float(point.loss(*point.after(step)) > before) for step in (-1e-3, 1e-3))
    return Errors(printed=up, corrected=down)


FORMULAS: tuple[Formula, ...] = (
    theorem_2,
    flow_of_the_proof,
    eq_10,
    positive_eigenvalues,
    negative_eigenvalue,
    eq_11,
)
