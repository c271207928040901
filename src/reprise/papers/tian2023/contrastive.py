"""The contrastive covariance of Eq. 3, and the energy that training ascends with α held fixed (Eq. 2)."""

from jaxtyping import Float
from torch import Tensor


def contrastive_covariance(
    alpha: Float[Tensor, "sample sample"],
    a: Float[Tensor, "sample p"],
    a_aug: Float[Tensor, "sample p"],
    b: Float[Tensor, "sample q"] | None = None,
    b_aug: Float[Tensor, "sample q"] | None = None,
) -> Float[Tensor, "p q"]:
    """C_α[a, b] = 1/(2N²) Σ_ij α_ij [(a_i - a_j)(b_i - b_j)ᵀ - (a_i - a'_i)(b_i - b'_i)ᵀ] (Eq. 3).

    Args:
        alpha: pairwise importances, not necessarily symmetric.
        a, a_aug: a function's values on the first and the second view of each sample.
        b, b_aug: another function's values; by default the same ones, which gives C_α[a] = C_α[a, a].
    """
    b, b_aug = (a if b is None else b), (a_aug if b_aug is None else b_aug)
    rows, columns = alpha.sum(1), alpha.sum(0)
    covariance_between = (a.T * (rows + columns)) @ b - a.T @ (alpha + alpha.T) @ b
    covariance_within = ((a - a_aug).T * rows) @ (b - b_aug)
    return (covariance_between - covariance_within) / (2 * len(a) ** 2)


def energy(
    alpha: Float[Tensor, "sample sample"],
    f: Float[Tensor, "sample output"],
    f_aug: Float[Tensor, "sample output"],
) -> Float[Tensor, ""]:
    """Energy E_α = tr C_α[f] / 2 (before Eq. 3)."""
    return contrastive_covariance(alpha, f, f_aug).trace() / 2
