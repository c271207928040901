"""The latent summation model x = U y + σ n (Section 3.1) and A(w) = V[x 1(wᵀ x > 0)], exactly.

The expectation over y is a sum over its 2^M states, that over the noise n ~ N(0, I) a closed form. The
paper's model is σ = 0: there A(w) is constant while wᵀ x changes no state's sign, and jumps where it does.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

Array = np.ndarray
States = Float[Array, "run state dim"]
Weights = Float[Array, "run dim"]
Matrices = Float[Array, "run dim dim"]


def states(probabilities: Float[Array, " m"]) -> tuple[Float[Array, "state m"], Float[Array, " state"]]:
    """The values of y, each variable of mean 0 and variance 1, and how likely they are."""
    q = np.asarray(probabilities)
    on = np.indices((2,) * len(q)).reshape(len(q), -1).T.astype(bool)
    return np.where(on, np.sqrt((1 - q) / q), -np.sqrt(q / (1 - q))), np.where(on, q, 1 - q).prod(1)


def patterns(rng: np.random.Generator, m: int, gram_distances: tuple[float, ...]) -> Float[Array, "s m m"]:
    """One random U for each ‖UᵀU - I‖₂, of unit columns u_m.

    U = Q (I + s E)^½ with an orthogonal Q and a symmetric E of spectral norm 1 and zero diagonal, both the
    same for every distance s.
    """
    rotation = np.linalg.qr(rng.normal(size=(m, m)))[0]
    e = rng.normal(size=(m, m))
    e = e + e.T
    np.fill_diagonal(e, 0)
    values, vectors = np.linalg.eigh(e / np.linalg.norm(e, 2))
    roots = np.sqrt(1 + np.multiply.outer(gram_distances, values))
    return rotation @ ((vectors * roots[:, None]) @ vectors.T)


def a_matrix(w: Weights, means: States, likelihood: Float[Array, " state"], noise_std: float) -> Matrices:
    """A(w) for unit weights.

    Given y, x = μ + σ n; with a = wᵀμ/σ, Φ and φ of the normal distribution:
    E[x 1] = μ Φ(a) + σ w φ(a),
    E[x xᵀ 1] = μ μᵀ Φ(a) + σ (μ wᵀ + w μᵀ) φ(a) + σ² (I Φ(a) - w wᵀ a φ(a)).
    """
    along = (means @ w[:, :, None])[:, :, 0]
    if noise_std == 0:
        active, density, distance = (along > 0).astype(float), np.zeros_like(along), np.zeros_like(along)
    else:
        distance = along / noise_std
        active, density = ndtr(distance), np.exp(-np.square(distance) / 2) / np.sqrt(2 * np.pi)
    active, density = active * likelihood, density * likelihood
    weighted = active[:, :, None] * means
    mean = weighted.sum(1) + noise_std * density.sum(1)[:, None] * w
    cross = noise_std * (density[:, None] @ means)[:, 0, :, None] * w[:, None]
    isotropic = active.sum(1)[:, None, None] * np.eye(w.shape[1])
    along_w = (density * distance).sum(1)[:, None, None] * w[:, :, None] * w[:, None]
    second = weighted.mT @ means + cross + cross.mT + noise_std**2 * (isotropic - along_w)
    return second - mean[:, :, None] * mean[:, None]


def power_step(a: Matrices, w: Weights) -> Weights:
    """A w / ‖A w‖₂ (Eq. PI)."""
    moved = (a @ w[:, :, None])[:, :, 0]
    return moved / np.linalg.norm(moved, axis=1, keepdims=True)
