"""Sample-contrastive losses: each embedding is told from those of other samples by its angle to them."""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.embeddings import check_views, unit_rows


def nt_xent(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """SimCLR's normalised, temperature-scaled cross-entropy (Chen 2020, Eq. 1).

    The mean over all 2N embeddings z_i, with z_j the other view of the same sample, of
    -log( exp(cos(z_i, z_j) / τ) / Σ_{k≠i} exp(cos(z_i, z_k) / τ) ): negatives are of both views. τ is .1 on
    ImageNet, .5 on CIFAR-10 (their Appendix B.9).

    Raises:
        RepriseError: for views of different shapes, or of a single sample, which has no negatives.
    """
    check_views("nt_xent", z1, z2, samples=2)
    z = unit_rows(torch.cat([z1, z2], -2))
    similarities = z @ z.mT / temperature
    itself = torch.eye(z.shape[-2], dtype=torch.bool, device=z.device)
    others = similarities.masked_fill(itself, -torch.inf)
    positives = similarities.diagonal(offset=z1.shape[-2], dim1=-2, dim2=-1)
    return others.logsumexp(-1).mean(-1) - positives.mean(-1)


def infonce_other_view(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """InfoNCE on cosine similarities with negatives of the other view alone, symmetrised: that of Jing 2022's
    image experiments (the authors' code).

    mean_i (ℓ_i + ℓ'_i) / 2, with ℓ_i = -log( exp(s_ii) / Σ_j exp(s_ij) ) and ℓ'_i the same of s_ji, where
    s_ij = cos(z1_i, z2_j) / τ.

    Raises:
        RepriseError: for views of different shapes, or of a single sample, which has no negatives.
    """
    check_views("infonce_other_view", z1, z2, samples=2)
    similarities = unit_rows(z1) @ unit_rows(z2).mT / temperature
    positives = similarities.diagonal(dim1=-2, dim2=-1)
    partition = (similarities.logsumexp(-1) + similarities.logsumexp(-2)) / 2
    return (partition - positives).mean(-1)


def directclr(
    r1: Float[Tensor, "*replica batch dim"],
    r2: Float[Tensor, "*replica batch dim"],
    *,
    dimensions: int = 360,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """DirectCLR: `infonce_other_view` of the representations' first dimensions, without a projector (Jing
    2022, Section 6.2, where the printed loss lacks the minus and the temperature).

    Args:
        r1, r2: representations, the encoder's outputs.
        dimensions: d0, 360 of a ResNet50's 2048.

    Raises:
        RepriseError: for representations of different shapes, of a single sample, or of fewer dimensions.
    """
    if not 0 < dimensions <= r1.shape[-1]:
        raise RepriseError(
            f"directclr: {dimensions} dimensions of representations of shape {list(r1.shape)}; "
            f"choose 1 to {r1.shape[-1]}"
        )
    check_views("directclr", r1, r2, samples=2)
    return infonce_other_view(r1[..., :dimensions], r2[..., :dimensions], temperature=temperature)


def moco(
    query: Float[Tensor, "batch dim"],
    key: Float[Tensor, "batch dim"],
    queue: Float[Tensor, "size dim"],
    *,
    temperature: float = 0.2,
) -> Float[Tensor, ""]:
    """MoCo's InfoNCE with negatives of a queue (He 2020, Eq. 1; v2's temperature, Chen 2020b).

    mean_i -log( exp(q_i·k_i / τ) / (exp(q_i·k_i / τ) + Σ_n exp(q_i·n / τ)) ), n over the queue, q and k at
    unit length. No gradient reaches the keys.

    Args:
        query, key: embeddings of one view by the net and of the other by its moving average.
        queue: earlier keys at unit length, from `enqueue`.

    Raises:
        RepriseError: for a query and a key of different shapes, or a queue of another dimension or empty.
    """
    check_views("moco", query, key)
    if queue.ndim != 2 or len(queue) == 0 or queue.shape[-1] != query.shape[-1]:
        raise RepriseError(
            f"moco: a queue of shape {list(queue.shape)} for queries of shape {list(query.shape)}; "
            f"expected [size, {query.shape[-1]}]"
        )
    query, key = unit_rows(query), unit_rows(key.detach())
    positive = (query * key).sum(-1, keepdim=True)
    logits = torch.cat([positive, query @ queue.mT], -1) / temperature
    return (logits.logsumexp(-1) - logits[:, 0]).mean()


def enqueue(queue: Float[Tensor, "size dim"], key: Float[Tensor, "batch dim"]) -> Float[Tensor, "size dim"]:
    """The queue after the keys, at unit length, have come in at its end and as many, the oldest, have left.

    A queue to start from is one of random keys: `enqueue(torch.zeros(size, dim), torch.randn(size, dim))`.
    """
    return torch.cat([queue[len(key) :], unit_rows(key.detach())[-len(queue) :]])
