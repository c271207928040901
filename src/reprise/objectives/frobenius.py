"""FroSSL: a penalty on the covariance's Frobenius norm prevents collapse.

Source: Skean et al. 2024, "FroSSL: Frobenius Norm Minimization for Self-Supervised Learning"; code:
github.com/OFSkean/FroSSL.
"""

from jaxtyping import Float
from torch import Tensor

from reprise.objectives.embeddings import check_views, check_weights, unit_columns


def frossl(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    invariance_weight: float = 1.0,
) -> Float[Tensor, "*replica"]:
    """FroSSL: w |Z1 - Z2|²_F / N + log |Z1ᵀZ1|²_F + log |Z2ᵀZ2|²_F, with each dimension of Z1 and Z2 centred
    and at unit length over the batch (Skean 2024, Eq. 6).

    Up to a constant this matches the authors' code, whose columns have length sqrt(dim) and whose squared
    error is also averaged over dimensions. Two other readings are other objectives: with columns of unit
    variance the invariance term weighs N times more; the pseudocode of Appendix A (one scale for the whole
    matrix, the log of the norm) almost ignores that term. If all embeddings are the same, the loss is -inf.

    Invariant to: shift of each view, scale of each dimension, permutation of samples, order of the views.

    Args:
        invariance_weight: w. Eq. 6 has w = 1, the trade-off that Section 3.1 found best.

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> round(frossl(z, z).item(), 4)  # 2 log 2: uncorrelated dimensions, equal views
        1.3863

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, or if the weight is negative.
    """
    check_views("frossl", z1, z2, samples=2)
    check_weights("frossl", invariance_weight=invariance_weight)
    z1, z2 = unit_columns(z1), unit_columns(z2)
    return invariance_weight * _invariance(z1, z2) + gram_energy(z1).log() + gram_energy(z2).log()


def frossl_as_given(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """Eq. 6 without normalising the embeddings.

    The paper proves rotation invariance and both dualities for this form; its minimum is collapse.

    Invariant to: rotation of both views, permutation of samples, order of the views.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> round(frossl_as_given(z, z).item(), 4)  # 2 log 32
        6.9315

    Raises:
        RepriseError: if the views' shapes differ.
    """
    check_views("frossl_as_given", z1, z2)
    return _invariance(z1, z2) + gram_energy(z1).log() + gram_energy(z2).log()


def frossl_no_logs(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    variance_weight: float = 1.0,
) -> Float[Tensor, "*replica"]:
    """FroSSL with its logarithms removed: |Z1 - Z2|²_F / N + w (|Z1ᵀZ1|²_F + |Z2ᵀZ2|²_F), with Z1 and Z2
    normalised as in `frossl` (Skean 2024, Section 3.1).

    Invariant to: shift of each view, scale of each dimension, permutation of samples, order of the views.

    Args:
        variance_weight: w. The paper does not publish its scale.

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> round(frossl_no_logs(z, z).item(), 4)
        4.0

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, or if the weight is negative.
    """
    check_views("frossl_no_logs", z1, z2, samples=2)
    check_weights("frossl_no_logs", variance_weight=variance_weight)
    z1, z2 = unit_columns(z1), unit_columns(z2)
    return _invariance(z1, z2) + variance_weight * (gram_energy(z1) + gram_energy(z2))


def frossl_no_logs_unit_trace(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """`frossl_no_logs` with each ZᵀZ divided by its trace, dim, so that each variance term lies in [1/dim,
    1].

    Invariant to: shift of each view, scale of each dimension, permutation of samples, order of the views.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> round(frossl_no_logs_unit_trace(z, z).item(), 4)  # 2 / dim
        1.0

    Raises:
        RepriseError: if the views' shapes differ, or for a single sample.
    """
    check_views("frossl_no_logs_unit_trace", z1, z2, samples=2)
    return frossl_no_logs(z1, z2, variance_weight=1 / z1.shape[-1] ** 2)


def gram_energy(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica"]:
    """|ZᵀZ|²_F = |ZZᵀ|²_F (Skean 2024, Eq. 2), computed from the smaller of the two matrices.

    Example:
        >>> gram_energy(2 * torch.eye(3)).item()  # 3 * 4²
        48.0
    """
    batch, dim = z.shape[-2:]
    gram = z @ z.mT if batch < dim else z.mT @ z
    return gram.square().sum((-2, -1))


def _invariance(z1: Tensor, z2: Tensor) -> Tensor:
    return (z1 - z2).square().sum((-2, -1)) / z1.shape[-2]
