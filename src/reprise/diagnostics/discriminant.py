"""LiDAR: the rank of a linear discriminant analysis that tells samples apart in spite of their views.

Source: Thilak et al. 2023, "LiDAR: Sensing Linear Probing Performance in Joint Embedding SSL Architectures".
"""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.diagnostics.ranks import rank_of_entropy

DELTA = 1e-4
"""Added to the diagonal of the covariance within samples, as the paper does."""


def lidar(z: Float[Tensor, "*replica sample view dim"], *, delta: float = DELTA) -> Float[Tensor, "*replica"]:
    """LiDAR: `rank_of_entropy` of the eigenvalues of Σ_w^-½ Σ_b Σ_w^-½, in dimensions.

    Σ_b is the covariance of the samples' means over their views, divided by sample - 1; Σ_w the mean
    covariance of views about these means, divided by sample (view - 1), plus δI. Each sample is a class of
    its own. Range: 1 to dim. The paper uses 1,000 samples of 50 views; with two views Σ_w is noisier. δ is
    absolute, so embeddings much smaller than √δ have another LiDAR when they are scaled.

    Args:
        z: embeddings of shape [*replica, sample, view, dim], at least two samples and two views.

    Example:
        >>> z = torch.randn(200, 2, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        >>> 3.5 < lidar(z).item() < 4.01
        True
    """
    means = z.mean(-2)
    samples, views = z.shape[-3:-1]
    centred = means - means.mean(-2, keepdim=True)
    deviations = (z - means[..., None, :]).flatten(-3, -2)
    between = centred.mT @ centred / (samples - 1)
    within = deviations.mT @ deviations / (samples * (views - 1))
    return rank_of_entropy(discriminant_eigenvalues(between, within, delta=delta))


def discriminant_eigenvalues(
    between: Float[Tensor, "*replica dim dim"],
    within: Float[Tensor, "*replica dim dim"],
    *,
    delta: float = DELTA,
) -> Float[Tensor, "*replica dim"]:
    """Eigenvalues of (Σ_w + δI)^-½ Σ_b (Σ_w + δI)^-½, largest first, in float64; rounding below 0 is cut.

    Example:
        >>> eye = torch.eye(2, dtype=torch.float64)
        >>> discriminant_eigenvalues(3 * eye, eye, delta=0.0).tolist()
        [3.0, 3.0]
    """
    identity = torch.eye(between.shape[-1], dtype=torch.float64, device=between.device)
    # L⁻¹ Σ_b L⁻ᵀ with the Cholesky factor L has the same eigenvalues as the symmetric root's product.
    factor = torch.linalg.cholesky(within.double() + delta * identity)
    left = torch.linalg.solve_triangular(factor, between.double(), upper=False)
    matrix = torch.linalg.solve_triangular(factor, left.mT, upper=False)
    return torch.linalg.eigvalsh((matrix + matrix.mT) / 2).flip(-1).clamp_min(0)
