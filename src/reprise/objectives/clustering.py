"""SwAV: each view predicts the other's assignment to prototypes.

Source: Caron et al. 2020, "Unsupervised Learning of Visual Features by Contrasting Cluster Assignments";
code: github.com/facebookresearch/swav.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.embeddings import (
    check_counts,
    check_positive,
    check_views,
    over_temperature,
    unit_rows,
)


def prototype_scores(
    z: Float[Tensor, "*replica batch dim"], prototypes: Float[Tensor, "*replica prototype dim"]
) -> Float[Tensor, "*replica batch prototype"]:
    """Cosine similarities z_iᵀ c_k of embeddings and prototypes, both at unit length (Caron 2020, Section
    3.1).

    Example:
        >>> prototype_scores(3 * torch.eye(2), torch.eye(2)).tolist()
        [[1.0, 0.0], [0.0, 1.0]]

    Raises:
        RepriseError: if the prototypes' dimension differs from the embeddings'.
    """
    if z.shape[-1] != prototypes.shape[-1]:
        raise RepriseError(
            f"swav: prototypes of shape {list(prototypes.shape)} for embeddings of shape {list(z.shape)}; "
            "their last dimensions must agree"
        )
    return unit_rows(z) @ unit_rows(prototypes).mT


def swav(
    scores1: Float[Tensor, "*replica batch prototype"],
    scores2: Float[Tensor, "*replica batch prototype"],
    *,
    temperature: float = 0.1,
    epsilon: float = 0.05,
    iterations: int = 3,
) -> Float[Tensor, "*replica"]:
    """Swapped-prediction loss (ℓ(z1, q2) + ℓ(z2, q1)) / 2 (Caron 2020, Eq. 1; halved as in the authors'
    code).

    ℓ is `swapped_prediction`; the codes q1 and q2 come from `sinkhorn`. The authors use a queue for small
    batches: to do the same, pass the queue's scores to `sinkhorn` along with the batch's, and keep the
    batch's codes.

    Invariant to: number added to each view, permutation of samples, order of the views.

    Args:
        scores1, scores2: `prototype_scores` of the two views.

    Example:
        >>> round(swav(torch.zeros(4, 2), torch.zeros(4, 2)).item(), 4)  # log 2
        0.6931

    Raises:
        RepriseError: if the shapes differ, or the temperature, ε or the number of iterations is not above 0.
    """
    check_views("swav", scores1, scores2)
    check_positive("swav", temperature=temperature, epsilon=epsilon)
    check_counts("swav", iterations=iterations)
    codes1, codes2 = (
        sinkhorn(scores, epsilon=epsilon, iterations=iterations) for scores in (scores1, scores2)
    )
    loss1 = swapped_prediction(scores1, codes2, temperature=temperature)
    loss2 = swapped_prediction(scores2, codes1, temperature=temperature)
    return (loss1 + loss2) / 2


def swapped_prediction(
    scores: Float[Tensor, "*replica batch prototype"],
    codes: Float[Tensor, "*replica batch prototype"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """Cross-entropy ℓ(z, q) = -mean_i Σ_k q_ik log p_ik with p = softmax(scores / τ) (Caron 2020, Eq. 2).

    Invariant to: number added to the first view, permutation of samples.

    Example:
        >>> round(swapped_prediction(torch.zeros(4, 2), torch.full((4, 2), 0.5)).item(), 4)  # log 2
        0.6931

    Raises:
        RepriseError: if the shapes differ, or the temperature is not above 0.
    """
    check_views("swapped_prediction", scores, codes)
    check_positive("swapped_prediction", temperature=temperature)
    return -(codes * over_temperature(scores, temperature).log_softmax(-1)).sum(-1).mean(-1)


@torch.no_grad()
def sinkhorn(
    scores: Float[Tensor, "*replica batch prototype"], *, epsilon: float = 0.05, iterations: int = 3
) -> Float[Tensor, "*replica batch prototype"]:
    """Soft codes Diag(u) exp(scores / ε) Diag(v) that use all prototypes equally (Caron 2020, Eq. 5), by
    Sinkhorn-Knopp iteration.

    Each iteration first scales every prototype's codes to sum to 1, then every sample's. The result sums to
    1 over prototypes and, in the limit, to batch / prototypes over samples. Codes carry no gradient.

    Example:
        >>> sinkhorn(torch.zeros(4, 2))[0].tolist()
        [0.5, 0.5]

    Raises:
        RepriseError: if ε or the number of iterations is not above 0.
    """
    check_positive("sinkhorn", epsilon=epsilon)
    check_counts("sinkhorn", iterations=iterations)
    # Logarithms don't underflow. The first iteration cancels what is subtracted from a prototype's scores.
    logs = (scores - scores.amax(-2, keepdim=True)) / epsilon
    for _ in range(iterations):
        logs = logs.log_softmax(-2).log_softmax(-1)
    return logs.exp()
