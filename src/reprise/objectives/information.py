"""CorInfoMax: maximising the log-determinant of a running covariance prevents collapse.

Source: Ozsoy et al. 2022, "Self-Supervised Learning with an Information Maximization Criterion"; code:
github.com/serdarozsoy/corinfomax-ssl.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.embeddings import check_fractions, check_views, check_weights


class Moments(NamedTuple):
    """Running first and second moments of the two views' embeddings, in float64."""

    mean: Float[Tensor, "2 dim"]
    covariance: Float[Tensor, "2 dim dim"]

    @classmethod
    def initial(cls, dim: int, device: torch.device | str = "cpu") -> "Moments":
        """Zero means and identity covariances, as in the authors' code."""
        identity = torch.eye(dim, dtype=torch.float64, device=device)
        return cls(identity.new_zeros(2, dim), identity.repeat(2, 1, 1))


def corinfomax(
    z1: Float[Tensor, "batch dim"],
    z2: Float[Tensor, "batch dim"],
    state: Moments,
    *,
    attraction: float = 500.0,
    forgetting: float = 0.01,
    epsilon: float = 1e-6,
) -> tuple[Float[Tensor, ""], Moments]:
    """CorInfoMax: α MSE(Z1, Z2) - (log det(R1 + εI) + log det(R2 + εI)) / dim, and the state after this batch
    (Ozsoy 2022, with the scales and defaults of the authors' code; Skean 2024, Eq. 7, names its terms).

    With forgetting factor λ, μ ← λ μ + (1 - λ) mean z and R ← λ R + (1 - λ) mean (z - μ)(z - μ)ᵀ. Gradients
    flow through this batch's share of μ and R; the new state carries none. MSE also averages over dimensions.

    The authors normalise embeddings at the projector's end, set α between 250 and 2000 by data set, and use
    ε = 1e-8. Skean 2024's code does not normalise, and neither does this function: that is up to the caller.

    Invariant to: permutation of samples.

    Args:
        state: from the previous step, or `Moments.initial`.
        attraction: α.
        forgetting: λ, the weight of the old state; at .01 this batch dominates.

    Returns:
        The loss, a scalar, and the new state.

    Example:
        >>> z = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> loss, state = corinfomax(z, z, Moments.initial(2), forgetting=0.0)
        >>> abs(loss.item()) < 1e-5  # covariances are identities, views equal
        True

    Raises:
        RepriseError: if the views' shapes differ, the state has another dimension, a weight is negative, or λ
            is not in [0, 1].
    """
    check_views("corinfomax", z1, z2)
    if state.mean.shape != (2, z1.shape[-1]):
        raise RepriseError(
            f"corinfomax: a state of {state.mean.shape[-1]} dimensions for embeddings of shape "
            f"{list(z1.shape)}; start from Moments.initial({z1.shape[-1]})"
        )
    check_weights("corinfomax", attraction=attraction, epsilon=epsilon)
    check_fractions("corinfomax", forgetting=forgetting)
    z = torch.stack([z1, z2]).double()
    mean = forgetting * state.mean + (1 - forgetting) * z.mean(1)
    deviation = z - mean[:, None]
    covariance = forgetting * state.covariance + (1 - forgetting) * deviation.mT @ deviation / z.shape[1]

    identity = torch.eye(z.shape[-1], dtype=z.dtype, device=z.device)
    spread = torch.logdet(covariance + epsilon * identity).sum() / z.shape[-1]
    invariance = (z[0] - z[1]).square().mean()
    return attraction * invariance - spread, Moments(mean.detach(), covariance.detach())
