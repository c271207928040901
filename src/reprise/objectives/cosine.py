"""Losses on cosine similarities, with positive pairs across the views and negatives within the first view.

Source: Tian 2023, "Understanding the Role of Nonlinearity in Training Dynamics of Contrastive Learning", as
in the author's code: github.com/facebookresearch/luckmatters.
"""

import math
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from reprise.numerics.compiled import arrays, compiled_rows
from reprise.objectives.closed_form import closed_form
from reprise.objectives.embeddings import check_views
from reprise.objectives.infonce import CACHED, LOG2_E, exp2_, filled

TEMPERATURE = 0.1


def infonce_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """InfoNCE on cosine similarities, with negatives from the first view.

    mean_i -log( exp(c'_ii / τ) / (exp(c'_ii / τ) + Σ_{j≠i} exp(c_ij / τ)) ), with c'_ii = cos(z1_i, z2_i) and
    c_ij = cos(z1_i, z1_j). On the CPU the gradient is computed in closed form, for speed, unless the
    exponentials could overflow or underflow: at 128 samples, below a temperature of .015 in float32 and .0015
    in float64.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> round(infonce_cosine(torch.eye(3), torch.eye(3), temperature=1.0).item(), 4)  # log(e + 2) - 1
        0.5514

    Raises:
        RepriseError: if the views' shapes differ, or for a single sample, which has no negatives.
    """
    check_views("infonce_cosine", z1, z2, samples=2)
    limits = torch.finfo(z1.dtype)
    # The closed form sums `batch` exponentials between exp(-1/τ) and exp(1/τ) without subtracting a maximum.
    in_range = 1 / temperature + math.log(z1.shape[-2]) < math.log(limits.eps / limits.tiny)
    if in_range and z1.device.type == "cpu":
        return closed_form(partial(_loss_and_gradients, temperature=temperature), z1, z2)
    return differentiated_infonce_cosine(z1, z2, temperature=temperature)


def differentiated_infonce_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """`infonce_cosine` by automatic differentiation, on any device and at any temperature.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> z = torch.eye(3)
        >>> round(differentiated_infonce_cosine(z, z, temperature=1.0).item(), 4)
        0.5514
    """
    u1, u2 = normalize(z1, dim=-1), normalize(z2, dim=-1)
    positive = (u1 * u2).sum(-1)
    diagonal = torch.eye(z1.shape[-2], dtype=torch.bool, device=z1.device)
    similarities = torch.where(diagonal, positive[..., None], u1 @ u1.mT) / temperature
    return (similarities.logsumexp(-1) - positive / temperature).mean(-1)


def quadratic_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """Quadratic loss on the similarities of `infonce_cosine`: every pair has the same weight.

    (mean_ij s_ij - (1 + 1/N) mean_i s_ii) / τ, with s_ii = c'_ii and s_ij = c_ij as in `infonce_cosine`. The
    gradient is computed in closed form, for speed.

    Args:
        z1, z2: embeddings of two views, each of shape [*replica, batch, dim].

    Example:
        >>> round(quadratic_cosine(torch.eye(3), torch.eye(3), temperature=1.0).item(), 4)  # 1/3 - 4/3
        -1.0

    Raises:
        RepriseError: if the views' shapes differ, or for a single sample, which has no negatives.
    """
    check_views("quadratic_cosine", z1, z2, samples=2)
    return closed_form(partial(_quadratic_and_gradients, temperature=temperature), z1, z2)


def _inverse_norm(z: Float[Tensor, "*rest dim"]) -> Float[Tensor, "*rest 1"]:
    """1/|z|, at most 1e12 as in `torch.nn.functional.normalize`."""
    return 1 / torch.linalg.vector_norm(z, dim=-1, keepdim=True).clamp_min(1e-12)


def _loss_and_gradients(z1: Tensor, z2: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """`infonce_cosine` and its gradients with respect to z1 and z2.

    e_ij = exp(c_ij / τ) is symmetric, so the softmax weights of a pair sum to α_ij + α_ji = e_ij (1/Z_i +
    1/Z_j): one exponential per pair is enough. No logit exceeds 1/τ, so no maximum needs subtracting.
    """
    replicas, batch, _ = z1.shape
    x1, x2 = arrays(z1, z2)
    # Vectors of this length have products c_ij / τ · log2(e), ready for exp2.
    length = math.sqrt(LOG2_E / temperature)
    rate = 1 / (batch * temperature)
    v, attraction, gradient1, gradient2 = np.empty((4, *x1.shape), x1.dtype)
    inverse1, inverse2, cosine, partition = np.empty((4, replicas, batch), x1.dtype)
    _lengthen(x1, x2, v, inverse1, inverse2, cosine, length)
    log_positive = cosine / temperature
    positive = np.exp(log_positive)

    chunk = math.ceil(replicas / math.ceil(replicas * batch**2 / CACHED))
    # Zeros after the last pair pad the buffer to whole SIMD vectors.
    buffer = z1.new_zeros(filled(chunk * batch**2))
    pairs, scaled = buffer[: chunk * batch**2].view(chunk, batch, batch), torch.from_numpy(v)
    for start in range(0, replicas, chunk):
        rows = slice(start, min(start + chunk, replicas))
        n = rows.stop - start
        torch.bmm(scaled[rows], scaled[rows].mT, out=pairs[:n])
        exp2_(buffer[: filled(n * batch**2)])
        e = pairs[:n].numpy()
        _weigh(e, positive[rows], partition[rows], rate / length)
        np.matmul(e, v[rows], out=attraction[rows])

    loss = (np.log(partition) - log_positive).mean(-1)
    repulsion = rate * (1 - positive / partition)
    _project(attraction, v, x2, inverse1, inverse2, cosine, repulsion, gradient1, gradient2, length)
    return torch.from_numpy(loss), torch.from_numpy(gradient1), torch.from_numpy(gradient2)


@compiled_rows
def _lengthen(z1, z2, v, inverse1, inverse2, cosine, length):  # type: ignore[no-untyped-def]
    """Writes z1 scaled to `length` to v, [replica, batch, dim], and 1/|z1|, 1/|z2| and c' to [replica,
    batch]."""
    number = v.dtype.type
    for replica, i in np.ndindex(cosine.shape):
        x, y, scaled = z1[replica, i], z2[replica, i], v[replica, i]
        square1 = square2 = product = number(0)
        for k in range(len(x)):
            square1 += x[k] * x[k]
            square2 += y[k] * y[k]
            product += x[k] * y[k]
        # As in `torch.nn.functional.normalize`.
        scale1 = number(1) / max(np.sqrt(square1), number(1e-12))
        scale2 = number(1) / max(np.sqrt(square2), number(1e-12))
        inverse1[replica, i], inverse2[replica, i] = scale1, scale2
        cosine[replica, i] = product * scale1 * scale2
        factor = number(length) * scale1
        for k in range(len(x)):
            scaled[k] = x[k] * factor


@compiled_rows
def _weigh(e, positive, partition, rate):  # type: ignore[no-untyped-def]
    """Replaces e_ij, [replica, batch, batch], by rate e_ij (1/Z_i + 1/Z_j) with a zero diagonal; writes Z to
    partition."""
    number = e.dtype.type
    inverse = np.empty(e.shape[1], e.dtype)
    for replica in range(len(e)):
        for i in range(len(inverse)):
            row = e[replica, i]
            row[i] = 0
            total = number(0)
            for j in range(len(inverse)):
                total += row[j]
            partition[replica, i] = total + positive[replica, i]
            inverse[i] = number(rate) / partition[replica, i]
        for i in range(len(inverse)):
            row = e[replica, i]
            for j in range(len(inverse)):
                row[j] *= inverse[i] + inverse[j]


@compiled_rows
def _project(  # type: ignore[no-untyped-def]
    attraction, v, z2, inverse1, inverse2, cosine, repulsion, gradient1, gradient2, length
):
    """Writes the gradients for z1 and z2: with u = z/|z|, a gradient g for u becomes (g - u uᵀ g) / |z| for
    z."""
    number = v.dtype.type
    size = number(length)
    for replica, i in np.ndindex(cosine.shape):
        force, x, y = attraction[replica, i], v[replica, i], z2[replica, i]
        out1, out2 = gradient1[replica, i], gradient2[replica, i]
        radial = number(0)
        for k in range(len(x)):
            radial += force[k] * x[k]
        radial = (radial / size - repulsion[replica, i] * cosine[replica, i]) / size
        push, scale1 = repulsion[replica, i] * inverse2[replica, i], inverse1[replica, i]
        weight_v, weight_z2 = push / size, push * cosine[replica, i] * inverse2[replica, i]
        for k in range(len(x)):
            out1[k] = (force[k] - push * y[k] - radial * x[k]) * scale1
            out2[k] = weight_z2 * y[k] - weight_v * x[k]


def _quadratic_and_gradients(z1: Tensor, z2: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """`quadratic_cosine` and its gradients with respect to z1 and z2.

    With S = Σ u_i over the first view's unit vectors, Σ_{i≠j} c_ij = |S|² - Σ |u_i|². c'_ii has weight
    -1 / (N τ), and the gradient for u_i is the part of 2 S / (N² τ) - u'_i / (N τ) orthogonal to u_i.
    """
    batch = z1.shape[-2]
    inverse1, inverse2 = _inverse_norm(z1), _inverse_norm(z2)
    u1, u2 = z1 * inverse1, z2 * inverse2
    total = u1.sum(-2, keepdim=True)
    cosine = (u1 * u2).sum(-1, keepdim=True)
    repulsion, attraction = 2 / (batch**2 * temperature), 1 / (batch * temperature)
    squares = u1.square().sum((-2, -1))
    loss = (total.square().sum((-2, -1)) - squares) * (repulsion / 2) - cosine.sum((-2, -1)) * attraction
    # A gradient g for u = z/|z| becomes (g - u uᵀ g) / |z| for z.
    radial = (u1 @ total.mT).mul_(repulsion).sub_(cosine, alpha=attraction)
    gradient1 = (
        torch.sub(repulsion * total, u2, alpha=attraction).addcmul_(u1, radial, value=-1).mul_(inverse1)
    )
    gradient2 = torch.addcmul(-u1, u2, cosine).mul_(inverse2 * attraction)
    return loss, gradient1, gradient2
