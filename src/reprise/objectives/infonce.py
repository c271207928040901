"""InfoNCE, in the two forms of Jing et al. 2022: that of the paper and that of the authors' toy code."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.objectives.closed_form import closed_form
from reprise.objectives.embeddings import check_views

LOG2_E = math.log2(math.e)
CACHED = 2**18
"""Similarities held at a time: 1 MiB in float32, about a core's second-level cache."""
VECTOR = 64
"""A multiple of the numbers that a processor's vector instructions take at a time."""
SHARE = 2**15 - VECTOR
"""ATen gives no second thread to fewer than 2^15 numbers."""


def infonce_distance(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """InfoNCE with squared distances of un-normalised embeddings and negatives of the same branch (Jing
    2022, Eq. 2).

    mean_i -log( exp(-|z1_i - z2_i|²/2) / (Σ_{j≠i} exp(-|z1_i - z1_j|²/2) + exp(-|z1_i - z2_i|²/2)) )

    Eq. 2 sums over i; the mean is the same loss at `batch` times the learning rate. The gradient is Eq. 4 in
    closed form: it takes a third of the time of automatic differentiation, and a test compares the two.

    Raises:
        RepriseError: for views of different shapes, or of a single sample, which has no negatives.
    """
    check_views("infonce_distance", z1, z2, samples=2)
    return closed_form(_loss_and_gradients, z1, z2)


def infonce_dot(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """InfoNCE with dot products of un-normalised embeddings and negatives of the other branch (the authors'
    toy code).

    mean_i -log( exp(z1_i·z2_i / τ) / Σ_j exp(z1_i·z2_j / τ) )

    Raises:
        RepriseError: for views of different shapes, or of a single sample, which has no negatives.
    """
    check_views("infonce_dot", z1, z2, samples=2)
    similarities = z1 @ z2.mT / temperature
    return (similarities.logsumexp(-1) - similarities.diagonal(dim1=-2, dim2=-1)).mean(-1)


def _loss_and_gradients(z1: Tensor, z2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Eq. 2 and Eq. 4. With α_ij the softmax of Eq. 4 and e_ij = exp(-|z1_i - z1_j|²/2), which is symmetric,
    α_ij + α_ji = e_ij (1/Z_i + 1/Z_j): one exponential a pair, and the weights α themselves are never needed.
    """
    replicas, batch, _ = z1.shape
    # Distances in powers of two: exp2 takes a third of exp's time, and a fortieth where it underflows.
    scaled = LOG2_E * z1
    half = -0.5 * (scaled * z1).sum(-1, keepdim=True)
    difference = z2 - z1
    log_positive = -0.5 * difference.square().sum(-1, keepdim=True)
    positive = log_positive.exp()

    partition, weight = torch.empty_like(half), torch.empty_like(half)
    attracted = z1.new_empty(z1.shape)
    chunks = math.ceil(replicas * batch**2 / CACHED)
    chunk = math.ceil(replicas / chunks)
    # Zeros behind the last pair fill up the processor's vectors.
    room = z1.new_zeros(filled(chunk * batch**2))
    pairs = room[: chunk * batch**2].view(chunk, batch, batch)
    inverse_sums = torch.empty_like(pairs)
    for start in range(0, replicas, chunk):
        part = slice(start, min(start + chunk, replicas))
        n = part.stop - start
        e = torch.add(half[part], half[part].mT, out=pairs[:n])
        e.baddbmm_(scaled[part], z1[part].mT)
        exp2_(room[: filled(n * batch**2)])
        e.diagonal(dim1=-2, dim2=-1).zero_()
        z = torch.sum(e, -1, keepdim=True, out=partition[part]).add_(positive[part])
        inverse = (batch * z).reciprocal_()
        e.mul_(torch.add(inverse, inverse.mT, out=inverse_sums[:n]))  # now (α_ij + α_ji) / batch
        torch.sum(e, -1, keepdim=True, out=weight[part])
        torch.bmm(e, z1[part], out=attracted[part])

    gradient2 = ((1 - positive / partition) / batch) * difference
    gradient1 = attracted.addcmul_(weight, z1, value=-1).sub_(gradient2)
    loss = (partition.log() - log_positive).mean((-2, -1))

    limits = torch.finfo(z1.dtype)
    lost = (partition < limits.tiny / limits.eps).flatten(1).any(1)
    if lost.any():
        loss[lost], gradient1[lost], gradient2[lost] = _in_logarithms(z1[lost], z2[lost])
    return loss, gradient1, gradient2


def filled(count: int) -> int:
    return math.ceil(count / VECTOR) * VECTOR


def exp2_(numbers: Float[Tensor, " n"]) -> None:
    """Powers of two in place, the same to the last bit wherever in the stack a number lies.

    Of each thread's share ATen leaves what fills no vector to the C library, which rounds otherwise; so
    shares are cut here, into whole vectors, few enough for one thread.
    """
    for share in numbers.split(SHARE):
        share.exp2_()


def _in_logarithms(z1: Tensor, z2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same for embeddings so far from one another that all similarities of a sample underflow; it takes
    longer."""
    batch, difference = z1.shape[-2], z2 - z1
    log_positive = -0.5 * difference.square().sum(-1)
    logits = -0.5 * torch.cdist(z1, z1, compute_mode="donot_use_mm_for_euclid_dist").square()
    logits.diagonal(dim1=-2, dim2=-1).copy_(log_positive)
    log_partition = logits.logsumexp(-1)
    alpha = (logits - log_partition[..., None]).exp()
    alpha.diagonal(dim1=-2, dim2=-1).zero_()
    between = (alpha + alpha.mT) / batch
    gradient2 = alpha.sum(-1, keepdim=True) / batch * difference
    gradient1 = between @ z1 - between.sum(-1, keepdim=True) * z1 - gradient2
    return (log_partition - log_positive).mean(-1), gradient1, gradient2
