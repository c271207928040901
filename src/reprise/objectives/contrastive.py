"""Sample-contrastive losses on cosine similarities: SimCLR, DirectCLR and MoCo."""

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.errors import RepriseError
from reprise.objectives.embeddings import check_positive, check_views, unit_rows


def nt_xent(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """SimCLR's NT-Xent, the normalised temperature-scaled cross-entropy.

    The mean over all 2N embeddings z_i, with z_j the other view of the same sample, of
    -log( exp(cos(z_i, z_j) / τ) / Σ_{k≠i} exp(cos(z_i, z_k) / τ) ). Negatives come from both views. The paper
    uses τ = .1 on ImageNet and .5 on CIFAR-10 (Appendix B.9).

    Invariant to: rotation of both views, permutation of samples, order of the views, length of each
    embedding.

    Source: Chen et al. 2020, "A Simple Framework for Contrastive Learning of Visual Representations", Eq. 1;
    code: github.com/google-research/simclr.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> round(nt_xent(torch.eye(4), torch.eye(4), temperature=1.0).item(), 4)  # log(e + 6) - 1
        1.1654

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, which has no negatives, or if the
            temperature is not above 0.
    """
    check_views("nt_xent", z1, z2, samples=2)
    check_positive("nt_xent", temperature=temperature)
    z = unit_rows(torch.cat([z1, z2], -2))
    similarities = z @ z.mT / temperature
    diagonal = torch.eye(z.shape[-2], dtype=torch.bool, device=z.device)
    logits = similarities.masked_fill(diagonal, -torch.inf)
    positives = similarities.diagonal(offset=z1.shape[-2], dim1=-2, dim2=-1)
    return logits.logsumexp(-1).mean(-1) - positives.mean(-1)


def infonce_other_view(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """Symmetrised InfoNCE on cosine similarities, with negatives from the other view only.

    mean_i (ℓ_i + ℓ'_i) / 2, with ℓ_i = -log( exp(s_ii) / Σ_j exp(s_ij) ) and ℓ'_i the same with s_ji, where
    s_ij = cos(z1_i, z2_j) / τ.

    Invariant to: rotation of both views, permutation of samples, order of the views, length of each
    embedding.

    Source: the image experiments of Jing et al. 2022, "Understanding Dimensional Collapse in Contrastive
    Self-supervised Learning"; code: github.com/facebookresearch/directclr.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> round(infonce_other_view(torch.eye(4), torch.eye(4), temperature=1.0).item(), 4)  # log(e + 3) - 1
        0.7437

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, which has no negatives, or if the
            temperature is not above 0.
    """
    check_views("infonce_other_view", z1, z2, samples=2)
    check_positive("infonce_other_view", temperature=temperature)
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
    """DirectCLR: `infonce_other_view` on the first dimensions of the representations, without a projector.

    Invariant to: permutation of samples, order of the views, length of each embedding.

    Source: Jing et al. 2022, "Understanding Dimensional Collapse in Contrastive Self-supervised Learning",
    Section 6.2, where the printed loss lacks the minus sign and the temperature; code:
    github.com/facebookresearch/directclr.

    Args:
        r1, r2: representations, the encoder's outputs.
        dimensions: d0; the paper uses 360 of ResNet50's 2048.

    Example:
        >>> r = torch.eye(2, 8)
        >>> round(directclr(r, r, dimensions=2, temperature=1.0).item(), 4)  # log(e + 1) - 1
        0.3133

    Raises:
        RepriseError: if the shapes differ, for a single sample, if d0 exceeds the dimensions, or if the
            temperature is not above 0.
    """
    if not 0 < dimensions <= r1.shape[-1]:
        raise RepriseError(
            f"directclr: {dimensions} dimensions of representations of shape {list(r1.shape)}; "
            f"choose 1 to {r1.shape[-1]}"
        )
    check_views("directclr", r1, r2, samples=2)
    check_positive("directclr", temperature=temperature)
    return infonce_other_view(r1[..., :dimensions], r2[..., :dimensions], temperature=temperature)


def moco(
    query: Float[Tensor, "batch dim"],
    key: Float[Tensor, "batch dim"],
    queue: Float[Tensor, "size dim"],
    *,
    temperature: float = 0.2,
) -> Float[Tensor, ""]:
    """MoCo's InfoNCE, with negatives from a queue.

    mean_i -log( exp(q_i·k_i / τ) / (exp(q_i·k_i / τ) + Σ_n exp(q_i·n / τ)) ), where n runs over the queue and
    q and k have unit length. No gradient reaches the keys.

    Invariant to: permutation of samples, length of each embedding.

    Source: He et al. 2020, "Momentum Contrast for Unsupervised Visual Representation Learning", Eq. 1; the
    temperature is that of Chen et al. 2020, "Improved Baselines with Momentum Contrastive Learning" (MoCo
    v2); code: github.com/facebookresearch/moco.

    Args:
        query: one view's embeddings, from the net.
        key: the other view's embeddings, from the net's moving average.
        queue: earlier keys at unit length, from `enqueue`.

    Example:
        >>> q, queue = torch.eye(2, 4), torch.eye(4)[2:]
        >>> round(moco(q, q, queue, temperature=1.0).item(), 4)  # log(e + 2) - 1
        0.5514

    Raises:
        RepriseError: if query and key differ in shape, the queue is empty or of another dimension, or the
            temperature is not above 0.
    """
    check_views("moco", query, key)
    check_positive("moco", temperature=temperature)
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
    """Appends the keys, scaled to unit length, to MoCo's queue and drops as many of the oldest ones.

    Example:
        A queue of random keys to start from: `enqueue(torch.zeros(size, dim), torch.randn(size, dim))`.
        >>> enqueue(torch.eye(2), torch.tensor([[3.0, 0.0]])).tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    return torch.cat([queue[len(key) :], unit_rows(key.detach())[-len(queue) :]])
