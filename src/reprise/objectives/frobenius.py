"""FroSSL: the Frobenius norm of the covariance keeps embeddings from collapsing."""

from jaxtyping import Float
from torch import Tensor

from reprise.objectives.embeddings import check_views, unit_columns


def frossl(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    invariance_weight: float = 1.0,
) -> Float[Tensor, "*replica"]:
    """FroSSL: w |Z1 - Z2|²_F / N + log |Z1ᵀZ1|²_F + log |Z2ᵀZ2|²_F, each dimension of Z1 and Z2 centred and
    at unit length over the batch (Skean 2024, Eq. 6).

    Up to a constant this is the authors' code, whose columns have length sqrt(dim) and whose squared error is
    averaged over dimensions too. Of other readings: with columns of unit variance the invariance weighs N
    times more; the pseudocode of Appendix A, one scale for the whole matrix and the log of the norm, all but
    ignores it. Embeddings that are all the same give -inf.

    Args:
        invariance_weight: w, 1 in Eq. 6: the tradeoff that Section 3.1 found best.

    Raises:
        RepriseError: for views of different shapes, or of a single sample.
    """
    check_views("frossl", z1, z2, samples=2)
    z1, z2 = unit_columns(z1), unit_columns(z2)
    return invariance_weight * _invariance(z1, z2) + gram_energy(z1).log() + gram_energy(z2).log()


def frossl_as_given(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """Eq. 6 of embeddings as they are: that of which the paper shows invariance to rotations and both
    dualities, and whose minimum, without a normalisation, is collapse.

    Raises:
        RepriseError: for views of different shapes.
    """
    check_views("frossl_as_given", z1, z2)
    return _invariance(z1, z2) + gram_energy(z1).log() + gram_energy(z2).log()


def frossl_no_logs(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    variance_weight: float = 1.0,
) -> Float[Tensor, "*replica"]:
    """FroSSL without logarithms, literally: |Z1 - Z2|²_F / N + w (|Z1ᵀZ1|²_F + |Z2ᵀZ2|²_F), Z1 and Z2
    normalised as in `frossl` (Skean 2024, Section 3.1).

    Its scale is not published.

    Args:
        variance_weight: w.

    Raises:
        RepriseError: for views of different shapes, or of a single sample.
    """
    check_views("frossl_no_logs", z1, z2, samples=2)
    z1, z2 = unit_columns(z1), unit_columns(z2)
    return _invariance(z1, z2) + variance_weight * (gram_energy(z1) + gram_energy(z2))


def frossl_no_logs_unit_trace(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """`frossl_no_logs` of ZᵀZ divided by its trace, which is the number of dimensions: the variance terms lie
    in [1/dim, 1] each.

    Raises:
        RepriseError: for views of different shapes, or of a single sample.
    """
    return frossl_no_logs(z1, z2, variance_weight=1 / z1.shape[-1] ** 2)


def gram_energy(z: Float[Tensor, "*replica batch dim"]) -> Float[Tensor, "*replica"]:
    """|ZᵀZ|²_F = |ZZᵀ|²_F (Skean 2024, Eq. 2), by the smaller of the two matrices."""
    batch, dim = z.shape[-2:]
    gram = z @ z.mT if batch < dim else z.mT @ z
    return gram.square().sum((-2, -1))


def _invariance(z1: Tensor, z2: Tensor) -> Tensor:
    return (z1 - z2).square().sum((-2, -1)) / z1.shape[-2]
