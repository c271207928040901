"""The two losses of the linear regime, and gradient descent on them with one linear layer per view.

Both losses depend on the layers only through the embeddings Z_v = X_v W_vᵀ. Their gradient G_v moves W_v by
-lr G_vᵀ X_v, and so Z_v by -lr X_v X_vᵀ G_v. Descent can therefore be computed exactly in the embeddings,
with one Gram matrix K_v = X_v X_vᵀ of the samples per view, whatever the number of inputs.
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
    """A loss on two views' embeddings, and its gradient for both."""

    value: Callable[[Embeddings], Float[Array, "*run"]]
    gradient: Callable[[Embeddings], Embeddings]


def _frossl(z: Embeddings) -> Float[Array, "*run"]:
    variance = np.square(_covariances(z) - np.eye(z.shape[-1])).sum((-3, -2, -1))
    return variance + np.square(z[..., 0, :, :] - z[..., 1, :, :]).sum((-2, -1))


def _frossl_gradient(z: Embeddings) -> Embeddings:
    pull = 4 * _covariances(z)
    pull -= 2 * np.eye(z.shape[-1])  # -4 from the variance term, +2 from the invariance term
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
    """Yields Z1 and Z2 before the first step of full-batch gradient descent on both layers, and after each
    step.

    Args:
        runs: the loss and learning rate of each run; one product with the kernels serves all runs.
    """
    z_runs = np.stack([z] * len(runs))
    rows = (2, len(runs), z.shape[-1], z.shape[-2])
    while True:
        yield z_runs
        gradients = [rate * loss.gradient(views) for (loss, rate), views in zip(runs, z_runs, strict=True)]
        change = np.concatenate(gradients, -1).swapaxes(-1, -2) @ kernels  # rows are faster than columns
        z_runs = np.subtract(z_runs, change.reshape(rows).transpose(1, 0, 3, 2), out=np.empty_like(z_runs))


@dataclass(frozen=True)
class Modes:
    """Directions of the inputs along which layers grow independently.

    Attributes:
        variance: λ, the views' variance along each direction.
        cross: c, the value of X1ᵀX2 there.
        start: s(0), the initial singular value of the layers.
    """

    variance: Float[Array, " mode"]
    cross: Float[Array, " mode"]
    start: Float[Array, " mode"]


def sharpness(loss: str, variance: float, cross: float) -> float:
    """The largest eigenvalue of the Hessian for the layers at the optimum, from λ and c of the leading mode.
    Learning rates above 2 / sharpness are unstable there."""
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
