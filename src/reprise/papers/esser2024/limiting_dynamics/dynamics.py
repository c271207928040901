"""Projected gradient descent on the loss (8), the differential equations for its outputs, and the largest
stable step of Euler's method.

q = Vᵀ W1ᵀ W2, of shape [d, z], holds the outputs on the eigenvectors of C = V Λ Vᵀ, in ascending order of the
eigenvalues. With Q = V q = W1ᵀ W2 the network is u(x) = Qᵀ x.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.integrate import solve_ivp
from torch import Tensor

from reprise.errors import RepriseError
from reprise.papers.esser2024.projection import polar
from reprise.papers.esser2024.two_layers import Weights

Array = np.ndarray
Velocity = Callable[[Any, Any], Any]
"""Maps q [*run, d, z] and the eigenvalues [*run, d] to dq/dt, for tensors or arrays."""


def gradient_step(weights: Weights, c: Float[Tensor, "*run d d"], learning_rate: float) -> Weights:
    """One step of (11), with the minus sign that descent needs, and the projection to W1ᵀ W1 = I, W2ᵀ W2 = I.

    The gradients of Tr(W2ᵀ W1 C W1ᵀ W2) are 2 W2 (C Q)ᵀ and 2 W1 C Q.
    """
    w1, w2 = weights
    cq = c @ (w1.mT @ w2)
    return polar(w1 - 2 * learning_rate * w2 @ cq.mT), polar(w2 - 2 * learning_rate * w1 @ cq)


def printed(q: Any, eigenvalues: Any) -> Any:
    """dq/dt = -2 [2 Λ q - Λ q qᵀ q - q qᵀ Λ q] (Eq. 9)."""
    product = eigenvalues[..., None] * q
    return -2 * (2 * product - product @ (q.mT @ q) - q @ (q.mT @ product))


def corrected(q: Any, eigenvalues: Any) -> Any:
    """dq/dt = -[4 Λ q - Λ q qᵀ q - 3 q qᵀ Λ q], the flow in the Euclidean metric, which small steps of (11)
    follow.

    The projection removes W (Wᵀ G + Gᵀ W) / 2 from a step along G, whereas the proof of Theorem 2 removes
    W Wᵀ G. The two agree for W2 but not for W1, where Wᵀ G = 2 q qᵀ Λ is not symmetric.
    """
    product = eigenvalues[..., None] * q
    return -(4 * product - product @ (q.mT @ q) - 3 * q @ (q.mT @ product))


ODES: dict[str, Velocity] = {"printed": printed, "corrected": corrected}
ROTATION_FACTOR = {"printed": 2, "corrected": 3}
"""Factor on λ_j - λ_i in the rate at which q returns to its limit after a rotation of e_i towards e_j."""


def loss(q: Any, eigenvalues: Any) -> Any:
    """Tr(qᵀ Λ q), the loss (8). Shape [*run]."""
    return (eigenvalues[..., None] * q**2).sum((-2, -1))


def euler_step(ode: Velocity, q: Any, eigenvalues: Any, learning_rate: float) -> Any:
    """One step of (12)."""
    return q + learning_rate * ode(q, eigenvalues)


def flow(
    ode: Velocity, q0: Float[Array, "*run d z"], eigenvalues: Float[Array, "*run d"], times: Array
) -> Float[Array, "time *run d z"]:
    """The solution at each time, by an adaptive Runge-Kutta method.

    Raises:
        RepriseError: if there is no solution up to the last time, as from some starts outside ‖q‖₂ <= 1.
    """
    solution = solve_ivp(
        lambda _, q: ode(q.reshape(q0.shape), eigenvalues).ravel(),
        (0.0, float(times[-1])),
        q0.ravel(),
        t_eval=times,
        method="DOP853",
        rtol=1e-10,
        atol=1e-12,
    )
    if not solution.success:
        raise RepriseError(f"the ODE has no solution up to {times[-1]:g}: {solution.message}")
    return solution.y.T.reshape(len(times), *q0.shape)


def largest_step(name: str, eigenvalues: Array, outputs: int) -> float:
    """The learning rate at which Euler's method becomes unstable at an ODE's limit: 2 over its fastest rate.

    The limit consists of the eigenvectors of the `outputs` most negative eigenvalues. Lengths return to 1 at
    rate 8 |λ_1|, rotations decay as in `ROTATION_FACTOR`, and other components decay at 4 λ_d. Unless an
    eigenvalue is large and positive, the first rate decides: the method is stable if and only if
    learning_rate |λ_1| < 1/4.
    """
    lowest, highest = float(eigenvalues.min()), float(eigenvalues.max())
    rank = min(outputs, int((eigenvalues < 0).sum()))
    rates = [0.0]
    if rank:
        rates.append(8 * -lowest)
    if 0 < rank < len(eigenvalues):
        rates.append(ROTATION_FACTOR[name] * (highest - lowest))
    if rank < outputs:
        rates.append(4 * highest)
    return 2 / max(rates) if max(rates) > 0 else np.inf


def check_step(
    eigenvalues: Float[Array, "run d"], outputs: Iterable[int], learning_rate: float, where: str
) -> None:
    """Checks that Euler's method is stable at the limit of both ODEs, in every run.

    Args:
        where: the settings that determine the eigenvalues, for the message.

    Raises:
        RepriseError: if it is not; it names the settings, the largest learning rate and what to do.
    """
    limit, lowest = min(
        (largest_step(name, values, z), float(values.min()))
        for name in ODES
        for values in eigenvalues
        for z in outputs
    )
    if learning_rate >= limit:
        raise RepriseError(
            f"learning_rate {learning_rate:g} with {where}: Euler's steps of the ODE (12) would not settle; "
            f"C has the eigenvalue {lowest:.3g}, for which they need a learning_rate below {limit:.3g} (in "
            f"general |λ_1| learning_rate < 1/4): lower learning_rate, or take the mean over the anchors "
            f"instead of the sum"
        )


def eigenpairs(
    c: Float[Tensor, "*run d d"],
) -> tuple[Float[Tensor, "*run d"], Float[Tensor, "*run d d"]]:
    """Eigenvalues in ascending order, and eigenvectors whose largest component is positive."""
    values, vectors = torch.linalg.eigh(c)
    largest = vectors.gather(-2, vectors.abs().argmax(-2, keepdim=True))
    return values, vectors * largest.sign()
