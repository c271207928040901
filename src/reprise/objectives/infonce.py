"""InfoNCE as in the toy experiments of Jing et al. 2022: one form from the paper, one from the authors' code.

Source: Jing et al. 2022, "Understanding Dimensional Collapse in Contrastive Self-supervised Learning"; code:
github.com/facebookresearch/directclr.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.objectives.closed_form import closed_form
from reprise.objectives.embeddings import check_positive, check_views

LOG2_E = math.log2(math.e)
CACHED = 2**18
"""Similarities per chunk: 1 MiB in float32, about the size of a core's L2 cache."""
FAR = 2.0**8
"""Squared length of a mean that is subtracted. Squared distances |a|² + |b|² - 2 a·b are wrong by float32's
precision times the squared lengths."""
DOUBTFUL = 2.0**10
"""Squared length, times the weights of an embedding's similarities, beyond which float32's gradients may have
fewer than four digits."""
VECTOR = 64
"""A multiple of the width of every processor's SIMD vectors, in numbers."""
SHARE = 2**15 - VECTOR
"""Numbers per call of exp2: ATen uses a second thread from 2^15 on."""


def infonce_distance(
    z1: Float[Tensor, "*replica batch dim"], z2: Float[Tensor, "*replica batch dim"]
) -> Float[Tensor, "*replica"]:
    """InfoNCE on squared distances of unnormalised embeddings, with negatives from the same view (Jing 2022,
    Eq. 2).

    mean_i -log( exp(-|z1_i - z2_i|²/2) / (Σ_{j≠i} exp(-|z1_i - z1_j|²/2) + exp(-|z1_i - z2_i|²/2)) )

    Eq. 2 sums over i; the mean is the same loss at `batch` times the learning rate. The gradient is Eq. 4 in
    closed form, three times as fast as automatic differentiation; a test compares the two.

    Invariant to: rotation of both views, shift of both views, permutation of samples.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> z = torch.tensor([[0.0], [2.0]])
        >>> round(infonce_distance(z, z).item(), 4)  # log(1 + exp(-2))
        0.1269

    Raises:
        RepriseError: if the views' shapes differ, or for a single sample, which has no negatives.
    """
    check_views("infonce_distance", z1, z2, samples=2)
    return closed_form(_loss_and_gradients, z1, z2)


def infonce_dot(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = 0.1,
) -> Float[Tensor, "*replica"]:
    """InfoNCE on dot products of unnormalised embeddings, with negatives from the other view (the authors'
    toy code).

    mean_i -log( exp(z1_i·z2_i / τ) / Σ_j exp(z1_i·z2_j / τ) )

    Invariant to: rotation of both views, shift of the second view, permutation of samples.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> round(infonce_dot(torch.eye(3), torch.eye(3), temperature=1.0).item(), 4)  # log(e + 2) - 1
        0.5514

    Raises:
        RepriseError: if the views' shapes differ, for a single sample, which has no negatives, or if the
            temperature is not above 0.
    """
    check_views("infonce_dot", z1, z2, samples=2)
    check_positive("infonce_dot", temperature=temperature)
    # A shift of all z2 by s adds z1_i·s to every similarity of sample i, which cancels, but not its rounding.
    z2 = z2 - z2.detach().mean(-2, keepdim=True)
    similarities = z1 @ z2.mT / temperature
    return -similarities.log_softmax(-1).diagonal(dim1=-2, dim2=-1).mean(-1)


def _loss_and_gradients(z1: Tensor, z2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`_in_products`, with a mean far from zero subtracted, and in float64 for replicas in which embeddings
    far from their mean are near each other. Neither changes a bit of the other replicas."""
    squares = _squares(z1)
    far = _longer(squares[1], FAR)
    if not far.any():
        return _in_products(z1, z2, *squares)[:3]
    mean = z1.mean(-2, keepdim=True)
    mean = torch.where(mean.square().sum(-1, keepdim=True) > FAR, mean, 0)
    centred = z1 - mean
    scaled, half_square = _squares(centred)
    loss, gradient1, gradient2, weight = _in_products(centred, z2 - mean, scaled, half_square)
    doubtful = far.any(1) & _longer(z1.shape[1] * weight * half_square, DOUBTFUL).any(1)
    if z1.dtype != torch.float64 and doubtful.any():
        at = doubtful[:, 0]
        precise = _loss_and_gradients(z1[at].double(), z2[at].double())
        loss[at], gradient1[at], gradient2[at] = (numbers.to(z1.dtype) for numbers in precise)
    return loss, gradient1, gradient2


def _squares(z: Tensor) -> tuple[Tensor, Tensor]:
    """Embeddings scaled for exp2, and their -|z|²/2 so scaled.

    exp2 takes a third of exp's time, and a fortieth where the result underflows.
    """
    scaled = LOG2_E * z
    return scaled, -0.5 * (scaled * z).sum(-1, keepdim=True)


def _longer(half_square: Tensor, limit: float) -> Tensor:
    """Tells which of `_squares` belong to a squared length above a limit."""
    return half_square < -0.5 * LOG2_E * limit


def _in_products(
    z1: Tensor, z2: Tensor, scaled: Tensor, half_square: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The losses of Eq. 2, their gradients with respect to z1 and z2, by Eq. 4, and Σ_j (α_ij + α_ji) / batch
    of each sample i.

    e_ij = exp(-|z1_i - z1_j|²/2) is symmetric, so the softmax weights α of Eq. 4 satisfy α_ij + α_ji = e_ij
    (1/Z_i + 1/Z_j). One exponential per pair is enough, and α itself is never formed.
    """
    replicas, batch, _ = z1.shape
    difference = z2 - z1
    log_positive = -0.5 * difference.square().sum(-1, keepdim=True)
    positive = log_positive.exp()

    partition, weight = torch.empty_like(half_square), torch.empty_like(half_square)
    attraction = z1.new_empty(z1.shape)
    chunks = math.ceil(replicas * batch**2 / CACHED)
    chunk = math.ceil(replicas / chunks)
    # Zeros after the last pair pad the buffer to whole SIMD vectors.
    buffer = z1.new_zeros(filled(chunk * batch**2))
    pairs = buffer[: chunk * batch**2].view(chunk, batch, batch)
    inverse_sums = torch.empty_like(pairs)
    for start in range(0, replicas, chunk):
        rows = slice(start, min(start + chunk, replicas))
        n = rows.stop - start
        e = torch.add(half_square[rows], half_square[rows].mT, out=pairs[:n])
        e.baddbmm_(scaled[rows], z1[rows].mT)
        exp2_(buffer[: filled(n * batch**2)])
        e.diagonal(dim1=-2, dim2=-1).zero_()
        z = torch.sum(e, -1, keepdim=True, out=partition[rows]).add_(positive[rows])
        inverse = (batch * z).reciprocal_()
        e.mul_(torch.add(inverse, inverse.mT, out=inverse_sums[:n]))  # now (α_ij + α_ji) / batch
        torch.sum(e, -1, keepdim=True, out=weight[rows])
        torch.bmm(e, z1[rows], out=attraction[rows])

    gradient2 = ((1 - positive / partition) / batch) * difference
    gradient1 = attraction.addcmul_(weight, z1, value=-1).sub_(gradient2)
    loss = (partition.log() - log_positive).mean((-2, -1))

    limits = torch.finfo(z1.dtype)
    underflowed = (partition < limits.tiny / limits.eps).flatten(1).any(1)
    if underflowed.any():
        loss[underflowed], gradient1[underflowed], gradient2[underflowed] = _in_logarithms(
            z1[underflowed], z2[underflowed]
        )
    return loss, gradient1, gradient2, weight


def filled(count: int) -> int:
    """Rounds a count up to whole SIMD vectors."""
    return math.ceil(count / VECTOR) * VECTOR


def exp2_(numbers: Float[Tensor, " n"]) -> None:
    """Computes 2^x in place; a number's result does not depend on its position in the stack.

    ATen passes what is left over after each thread's last whole SIMD vector to the C library, which rounds
    differently. Splitting the numbers into whole vectors, few enough for one thread, avoids that.
    """
    for share in numbers.split(SHARE):
        share.exp2_()


def _in_logarithms(z1: Tensor, z2: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`_in_products` in the log domain: slower, but right for embeddings so far apart that all
    similarities of a sample underflow."""
    batch, difference = z1.shape[-2], z2 - z1
    log_positive = -0.5 * difference.square().sum(-1)
    logits = -0.5 * torch.cdist(z1, z1, compute_mode="donot_use_mm_for_euclid_dist").square()
    logits.diagonal(dim1=-2, dim2=-1).copy_(log_positive)
    log_partition = logits.logsumexp(-1)
    alpha = (logits - log_partition[..., None]).exp()
    alpha.diagonal(dim1=-2, dim2=-1).zero_()
    pair_weight = (alpha + alpha.mT) / batch
    gradient2 = alpha.sum(-1, keepdim=True) / batch * difference
    gradient1 = pair_weight @ z1 - pair_weight.sum(-1, keepdim=True) * z1 - gradient2
    return (log_partition - log_positive).mean(-1), gradient1, gradient2
