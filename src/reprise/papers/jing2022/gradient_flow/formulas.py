"""The paper's formulas in numpy.

Notation: x, x' are the two views, z, z' their embeddings (one per row), α the softmax of Eq. 4 with the
weights α_ii of the positives on its diagonal, W = U S Vᵀ with orthogonal U and V. The independent
computations are in `motion`.
"""

import numpy as np
from jaxtyping import Float

Array = np.ndarray
Data = Float[Array, "sample dim"]
Pairs = Float[Array, "sample sample"]
Square = Float[Array, "dim dim"]


def softmax(z: Data, z_aug: Data) -> Pairs:
    """α of Eq. 4: row i over the negatives z_j of the same branch and, on the diagonal, the positive z'_i."""
    logits = -0.5 * np.square(z[:, None] - z[None]).sum(-1)
    np.fill_diagonal(logits, -0.5 * np.square(z - z_aug).sum(-1))
    weights = np.exp(logits - logits.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)


def negatives(alpha: Pairs) -> Pairs:
    """α_ij for j ≠ i, with a zero diagonal."""
    return alpha - np.diag(np.diag(alpha))


def embedding_gradients(z: Data, z_aug: Data) -> tuple[Data, Data]:
    """g_z and g_z' (Eq. 4)."""
    alpha = softmax(z, z_aug)
    beta, to_positive = negatives(alpha), 1 - np.diag(alpha)[:, None]
    pulled = beta @ z - to_positive * z_aug  # Σ_j α_ij (z_j - z'_i)
    pushed = beta.T @ z - beta.sum(0)[:, None] * z  # Σ_j α_ji (z_j - z_i)
    return pulled + pushed, to_positive * (z_aug - z)


def embedding_gradient_sum(x: Data, x_aug: Data, z: Data, z_aug: Data) -> Float[Array, "out in"]:
    """G = Σ_i (g_zi x_iᵀ + g_z'i x'_iᵀ) (Lemma 1)."""
    g, g_aug = embedding_gradients(z, z_aug)
    return g.T @ x + g_aug.T @ x_aug


def eq6_sums(x: Data, x_aug: Data, alpha: Pairs) -> tuple[Square, Square]:
    """The two sums of Eq. 6: X = first - second."""
    beta, to_positive = negatives(alpha), 1 - np.diag(alpha)[:, None]
    from_negatives = to_positive * x_aug - beta @ x + beta.sum(0)[:, None] * x - beta.T @ x
    return from_negatives.T @ x, (to_positive * (x_aug - x)).T @ x_aug


def data_covariance(x: Data, alpha: Pairs) -> Square:
    """Σ0 = Σ_ij α_ij (x_i - x_j)(x_i - x_j)ᵀ (Lemma 2)."""
    difference = x[:, None] - x[None]
    return np.einsum("ij,ijk,ijl->kl", negatives(alpha), difference, difference)


def augmentation_covariance(x: Data, x_aug: Data, alpha: Pairs) -> Square:
    """Σ1 = Σ_i (1 - α_ii)(x'_i - x_i)(x'_i - x_i)ᵀ (Lemma 2)."""
    shift = x_aug - x
    return shift.T @ ((1 - np.diag(alpha)[:, None]) * shift)


def inverse_gaps(s: Array) -> Square:
    """H_kk' = 1/(σ_k'² - σ_k²) off the diagonal (Eqs. 15 and 19).

    0 between the vectors of two values that are both 0: what they turn among themselves is not determined.

    Args:
        s: diag(σ), with rows of zeros below for the other columns of a longer factor.
    """
    squares = (s @ s.T).diagonal()
    gaps = squares[None, :] - squares[:, None]
    return np.divide(1, gaps, out=np.zeros_like(gaps), where=gaps != 0)


def left_velocity(u: Square, s: Array, v: Square, velocity: Array, h: Square) -> Square:
    """dU/dt = U (H ∘ (Uᵀ Ẇ V S + S Vᵀ Ẇᵀ U)) (Eq. 13) for the whole orthogonal factors of W = U S Vᵀ, with S
    transposed where W is not square; for Wᵀ this is dV/dt (Eq. 14)."""
    turning = u.T @ velocity @ v @ s.T
    return u @ (h * (turning + turning.T))


def alignment_velocity(a: Array, f: Array, h1: Array, h2: Array) -> Array:
    """dA/dt = -A (H1 ∘ (Aᵀ F + Fᵀ A)) + (H2 ∘ (A Fᵀ + F Aᵀ)) A (Eq. 18)."""
    return -a @ (h1 * (a.T @ f + f.T @ a)) + (h2 * (a @ f.T + f @ a.T)) @ a
