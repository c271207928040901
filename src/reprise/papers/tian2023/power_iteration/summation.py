"""The latent summation model x = U y + σ n (Section 3.1) and its exact A(w) = V[x 1(wᵀ x > 0)].

The expectation over y is a sum over its 2^M states; that over the noise n ~ N(0, I) has a closed form. The
paper's model has σ = 0, for which A(w) is piecewise constant and jumps where wᵀ x changes sign for a state.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from reprise.evidence.identities import orthonormal

Array = np.ndarray
States = Float[Array, "run state dim"]
Weights = Float[Array, "run dim"]
Matrices = Float[Array, "run dim dim"]


def states(probabilities: Float[Array, " m"]) -> tuple[Float[Array, "state m"], Float[Array, " state"]]:
    """The states of y, whose variables have mean 0 and variance 1, and their probabilities."""
    q = np.asarray(probabilities)
    active = np.indices((2,) * len(q)).reshape(len(q), -1).T.astype(bool)
    return np.where(active, np.sqrt((1 - q) / q), -np.sqrt(q / (1 - q))), np.where(active, q, 1 - q).prod(1)


def patterns(rng: np.random.Generator, m: int, gram_distances: tuple[float, ...]) -> Float[Array, "s m m"]:
    """A random U with unit columns u_m for each ‖UᵀU - I‖₂.

    U = Q (I + s E)^½ with an orthogonal Q and a symmetric E of spectral norm 1 and zero diagonal; all
    distances s share Q and E.
    """
    rotation = orthonormal(rng, m, m)
    e = rng.normal(size=(m, m))
    e = e + e.T
    np.fill_diagonal(e, 0)
    values, vectors = np.linalg.eigh(e / np.linalg.norm(e, 2))
    roots = np.sqrt(1 + np.multiply.outer(gram_distances, values))
    return rotation @ ((vectors * roots[:, None]) @ vectors.T)


def a_matrix(w: Weights, means: States, likelihood: Float[Array, " state"], noise_std: float) -> Matrices:
    """A(w) for unit weights.

    Given y, x = μ + σ n. With a = wᵀμ/σ and the normal distribution's Φ and φ:
    E[x 1] = μ Φ(a) + σ w φ(a),
    E[x xᵀ 1] = μ μᵀ Φ(a) + σ (μ wᵀ + w μᵀ) φ(a) + σ² (I Φ(a) - w wᵀ a φ(a)).
    """
    products = (means @ w[:, :, None])[:, :, 0]
    if noise_std == 0:
        active, density, distance = (
            (products > 0).astype(float),
            np.zeros_like(products),
            np.zeros_like(products),
        )
    else:
        distance = products / noise_std
        active, density = ndtr(distance), np.exp(-np.square(distance) / 2) / np.sqrt(2 * np.pi)
    active, density = active * likelihood, density * likelihood
    weighted_means = active[:, :, None] * means
    mean = weighted_means.sum(1) + noise_std * density.sum(1)[:, None] * w
    cross = noise_std * (density[:, None] @ means)[:, 0, :, None] * w[:, None]
    isotropic = active.sum(1)[:, None, None] * np.eye(w.shape[1])
    radial = (density * distance).sum(1)[:, None, None] * w[:, :, None] * w[:, None]
    second_moment = weighted_means.mT @ means + cross + cross.mT + noise_std**2 * (isotropic - radial)
    return second_moment - mean[:, :, None] * mean[:, None]


def power_step(a: Matrices, w: Weights) -> Weights:
    """A w / ‖A w‖₂ (Eq. PI)."""
    product = (a @ w[:, :, None])[:, :, 0]
    return product / np.linalg.norm(product, axis=1, keepdims=True)
