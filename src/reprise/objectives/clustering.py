"""SwAV: each view predicts the other's assignment to prototypes."""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.embeddings import check_views, unit_rows


def prototype_scores(
    z: Float[Tensor, "*replica batch dim"], prototypes: Float[Tensor, "*replica prototype dim"]
) -> Float[Tensor, "*replica batch prototype"]:
    """z_iᵀ c_k, both at unit length (Caron 2020, Section 3.1).

    Raises:
        RepriseError: for prototypes of another dimension.
    """
    if z.shape[-1] != prototypes.shape[-1]:
        raise RepriseError(
            f"swav: prototypes of shape {list(prototypes.shape)} for embeddings of shape {list(z.shape)}; "
            "the last dimensions must be the same"
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
    """The loss of swapped predictions (ℓ(z1, q2) + ℓ(z2, q1)) / 2 (Caron 2020, Eq. 1; halved as in the
    authors' code).

    ℓ is `swapped_prediction`; the codes q1 and q2 are `sinkhorn`'s of each view's scores. With a queue, as
    the authors use for small batches, a caller hands the queue's scores to `sinkhorn` too, and takes the
    batch's codes from it.

    Args:
        scores1, scores2: `prototype_scores` of the two views.

    Raises:
        RepriseError: for different shapes.
    """
    check_views("swav", scores1, scores2)
    codes1, codes2 = (
        sinkhorn(scores, epsilon=epsilon, iterations=iterations) for scores in (scores1, scores2)
    )
    first = swapped_prediction(scores1, codes2, temperature=temperature)
    second = swapped_prediction(scores2, codes1, temperature=temperature)
    return (first + second) / 2


def swapped_prediction(
    scores: Float[Tensor, "*replica batch prototype"],
    codes: Float[Tensor, "*replica batch prototype"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """ℓ(z, q) = -mean_i Σ_k q_ik log p_ik, p = softmax(scores / τ) (Caron 2020, Eq. 2)."""
    return -(codes * (scores / temperature).log_softmax(-1)).sum(-1).mean(-1)


@torch.no_grad()
def sinkhorn(
    scores: Float[Tensor, "*replica batch prototype"], *, epsilon: float = 0.05, iterations: int = 3
) -> Float[Tensor, "*replica batch prototype"]:
    """Soft codes that use all prototypes equally: Diag(u) exp(scores / ε) Diag(v) (Caron 2020, Eq. 5), by the
    iteration of Sinkhorn and Knopp.

    Each step scales the prototypes' sums to 1 and then the samples' sums to 1; so codes of a sample sum to 1,
    and those of a prototype to batch / prototypes in the limit. Codes carry no gradient.
    """
    # One factor for all: it keeps exp from overflowing and falls out in the first step.
    codes = ((scores - scores.amax((-2, -1), keepdim=True)) / epsilon).exp()
    for _ in range(iterations):
        codes = codes / codes.sum(-2, keepdim=True)
        codes = codes / codes.sum(-1, keepdim=True)
    return codes
