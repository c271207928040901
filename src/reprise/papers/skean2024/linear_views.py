"""The two losses of the linear regime, and gradient descent of one linear layer a view under them.

Both losses depend on the layers through the embeddings Z_v = X_v W_vᵀ alone, whose gradient G_v moves W_v by
-lr G_vᵀ X_v and so Z_v by -lr X_v X_vᵀ G_v: the descent can be followed exactly in the embeddings, with a
Gram matrix K_v = X_v X_vᵀ of the samples for each view, however many inputs there are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

Embeddings = Float[Array, "*run 2 sample dim"]
"""Z1 and Z2."""
Kernels = Float[Array, "2 sample sample"]
"""X1 X1ᵀ and X2 X2ᵀ."""


@dataclass(frozen=True)
class Loss:
    """A loss of two views' embeddings, and its gradient on both."""

    value: Callable[[Embeddings], Float[Array, "*run"]]
    gradient: Callable[[Embeddings], Embeddings]


def _frossl(z: Embeddings) -> Float[Array, "*run"]:
    variance = np.square(_covariances(z) - np.eye(z.shape[-1])).sum((-3, -2, -1))
    return variance + np.square(z[..., 0, :, :] - z[..., 1, :, :]).sum((-2, -1))


def _frossl_gradient(z: Embeddings) -> Embeddings:
    pull = 4 * _covariances(z)
    pull -= 2 * np.eye(z.shape[-1])  # -4 of the variance term, +2 of the invariance term
    return z @ pull - 2 * z[..., ::-1, :, :]


def _barlow(z: Embeddings) -> Float[Array, "*run"]:
    return np.square(_cross_covariance(z) - np.eye(z.shape[-1])).sum((-2, -1))


def _barlow_gradient(z: Embeddings) -> Embeddings:
    error = 2 * (_cross_covariance(z) - np.eye(z.shape[-1]))
    return z[..., ::-1, :, :] @ np.stack([error.swapaxes(-1, -2), error], -3)


def _covariances(z: Embeddings) -> Float[Array, "*run 2 dim dim"]:
    return z.swapaxes(-1, -2) @ z


def _cross_covariance(z: Embeddings) -> Float[Array, "*run dim dim"]:
    return z[..., 0, :, :].swapaxes(-1, -2) @ z[..., 1, :, :]


FROSSL = Loss(_frossl, _frossl_gradient)
"""‖Z1ᵀZ1 - I‖² + ‖Z2ᵀZ2 - I‖² + ‖Z1 - Z2‖² (Skean 2024, Eqs. 8 and 10)."""
BARLOW = Loss(_barlow, _barlow_gradient)
"""‖Z1ᵀZ2 - I‖² (Simon 2023; Skean 2024, Section 5.1)."""
LOSSES = {"frossl": FROSSL, "barlow": BARLOW}


def descent(
    runs: Sequence[tuple[Loss, float]], kernels: Kernels, z: Embeddings
) -> Iterator[Float[Array, "run 2 sample dim"]]:
    """Z1 and Z2 before the first step of full-batch gradient descent on both layers, after it, and so on.

    Args:
        runs: each one's loss and learning rate; one product with the kernels serves all.
    """
    now = np.stack([z] * len(runs))
    while True:
        yield now
        gradients = [rate * loss.gradient(of) for (loss, rate), of in zip(runs, now, strict=True)]
        moved = np.concatenate(gradients, -1).swapaxes(-1, -2) @ kernels  # rows are quicker than columns
        now = now - np.stack(np.split(moved.swapaxes(-1, -2), len(runs), -1))


@dataclass(frozen=True)
class Modes:
    """Directions of the inputs in which layers grow, each by itself.

    Attributes:
        variance: λ, of the views there.
        cross: c, of X1ᵀX2.
        start: s(0), of the layers.
    """

    variance: Float[Array, " mode"]
    cross: Float[Array, " mode"]
    start: Float[Array, " mode"]


def sharpness(loss: str, variance: float, cross: float) -> float:
    """The largest eigenvalue of the Hessian in the layers at the optimum, from λ and c of the leading mode;
    learning rates beyond 2 / sharpness are unstable there."""
    return {"frossl": 4 * variance + 8 * cross, "barlow": 4 * cross}[loss]


def closed_form(
    loss: str,
    variance: Float[Array, " mode"],
    cross: Float[Array, " mode"],
    start: Float[Array, " mode"],
    time: Float[Array, " time"],
) -> Float[Array, "time mode"]:
    """s²(t) of gradient flow from aligned layers with the same singular values s(0) in both views, λ = γ.

    Under Eq. 8 s' = 2 (λ + c) s - 4 λ² s³ (the paper's Eq. 32, corrected), under Barlow's loss s' = 2 c s -
    2 c² s³.

    Args:
        variance, cross: λ and c.
        start: s(0).
    """
    rate, brake = {"frossl": (variance + cross, 2 * variance**2), "barlow": (cross, cross**2)}[loss]
    return rate / (brake + (rate / start**2 - brake) * np.exp(-4 * rate * time[:, None]))
