"""Losses of the angles between embeddings: positive pairs across the views, negatives within the first (Tian
2023, the authors' code)."""

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
    """InfoNCE on cosine similarities.

    mean_i -log( exp(c'_ii / τ) / (exp(c'_ii / τ) + Σ_{j≠i} exp(c_ij / τ)) ), c'_ii of z1_i and z2_i, c_ij of
    z1_i and z1_j. On the CPU the gradient is in closed form, for speed, unless its exponentials could leave
    the range of the numbers: at 128 samples, below a temperature of .015 in float32 and .0015 in float64.

    Raises:
        RepriseError: for views of different shapes, or of a single sample, which has no negatives.
    """
    check_views("infonce_cosine", z1, z2, samples=2)
    limits = torch.finfo(z1.dtype)
    # The closed form adds `batch` exponentials between exp(-1/τ) and exp(1/τ), and subtracts no maximum.
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
    """`infonce_cosine` by automatic differentiation, on any device."""
    u1, u2 = normalize(z1, dim=-1), normalize(z2, dim=-1)
    positive = (u1 * u2).sum(-1)
    itself = torch.eye(z1.shape[-2], dtype=torch.bool, device=z1.device)
    similarities = torch.where(itself, positive[..., None], u1 @ u1.mT) / temperature
    return (similarities.logsumexp(-1) - positive / temperature).mean(-1)


def quadratic_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """The quadratic loss, in which all pairs are of equal importance, on the same similarities.

    (mean_ij s_ij - (1 + 1/N) mean_i s_ii) / τ, where s_ii = c'_ii and s_ij = c_ij of `infonce_cosine`. The
    gradient is in closed form, for speed.

    Raises:
        RepriseError: for views of different shapes, or of a single sample, which has no negatives.
    """
    check_views("quadratic_cosine", z1, z2, samples=2)
    return closed_form(partial(_quadratic_and_gradients, temperature=temperature), z1, z2)


def _inverse_norm(z: Float[Tensor, "*rest dim"]) -> Float[Tensor, "*rest 1"]:
    """1/|z|; as in `torch.nn.functional.normalize`, 1e12 at most."""
    return 1 / torch.linalg.vector_norm(z, dim=-1, keepdim=True).clamp_min(1e-12)


def _loss_and_gradients(z1: Tensor, z2: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """With e_ij = exp(c_ij / τ), which is symmetric, the weights of the softmax add up to α_ij + α_ji = e_ij
    (1/Z_i + 1/Z_j): one exponential a pair. No similarity exceeds 1/τ, so none is subtracted.
    """
    replicas, batch, _ = z1.shape
    x1, x2 = arrays(z1, z2)
    # Of this length, products are similarities over the temperature, in powers of two.
    length = math.sqrt(LOG2_E / temperature)
    rate = 1 / (batch * temperature)
    v, attracted, first, second = np.empty((4, *x1.shape), x1.dtype)
    inverse1, inverse2, cosine, partition = np.empty((4, replicas, batch), x1.dtype)
    _lengthen(x1, x2, v, inverse1, inverse2, cosine, length)
    log_positive = cosine / temperature
    positive = np.exp(log_positive)

    chunk = math.ceil(replicas / math.ceil(replicas * batch**2 / CACHED))
    # Zeros behind the last pair fill up the processor's vectors.
    room = z1.new_zeros(filled(chunk * batch**2))
    pairs, lengthened = room[: chunk * batch**2].view(chunk, batch, batch), torch.from_numpy(v)
    for start in range(0, replicas, chunk):
        part = slice(start, min(start + chunk, replicas))
        n = part.stop - start
        torch.bmm(lengthened[part], lengthened[part].mT, out=pairs[:n])
        exp2_(room[: filled(n * batch**2)])
        e = pairs[:n].numpy()
        _weigh(e, positive[part], partition[part], rate / length)
        np.matmul(e, v[part], out=attracted[part])

    loss = (np.log(partition) - log_positive).mean(-1)
    missed = rate * (1 - positive / partition)
    _project(attracted, v, x2, inverse1, inverse2, cosine, missed, first, second, length)
    return torch.from_numpy(loss), torch.from_numpy(first), torch.from_numpy(second)


@compiled_rows
def _lengthen(z1, z2, v, inverse1, inverse2, cosine, length):  # type: ignore[no-untyped-def]
    """To v, z1 at this length, [replica, batch, dim], and to [replica, batch] 1/|z1|, 1/|z2| and c'."""
    number = v.dtype.type
    for replica, i in np.ndindex(cosine.shape):
        x, y, out = z1[replica, i], z2[replica, i], v[replica, i]
        square1 = square2 = product = number(0)
        for k in range(len(x)):
            square1 += x[k] * x[k]
            square2 += y[k] * y[k]
            product += x[k] * y[k]
        # As in `torch.nn.functional.normalize`.
        over1 = number(1) / max(np.sqrt(square1), number(1e-12))
        over2 = number(1) / max(np.sqrt(square2), number(1e-12))
        inverse1[replica, i], inverse2[replica, i] = over1, over2
        cosine[replica, i] = product * over1 * over2
        scale = number(length) * over1
        for k in range(len(x)):
            out[k] = x[k] * scale


@compiled_rows
def _weigh(e, positive, partition, rate):  # type: ignore[no-untyped-def]
    """Makes e_ij [replica, batch, batch] rate e_ij (1/Z_i + 1/Z_j), without the diagonal; Z to partition."""
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
    attracted, v, z2, inverse1, inverse2, cosine, missed, first, second, length
):
    """The gradients on z1 and z2: with u = z/|z|, a gradient g on u is one of (g - u uᵀ g) / |z| on z."""
    number = v.dtype.type
    size = number(length)
    for replica, i in np.ndindex(cosine.shape):
        pull, x, y = attracted[replica, i], v[replica, i], z2[replica, i]
        out1, out2 = first[replica, i], second[replica, i]
        along = number(0)
        for k in range(len(x)):
            along += pull[k] * x[k]
        along = (along / size - missed[replica, i] * cosine[replica, i]) / size
        away, over1 = missed[replica, i] * inverse2[replica, i], inverse1[replica, i]
        of_v, of_z2 = away / size, away * cosine[replica, i] * inverse2[replica, i]
        for k in range(len(x)):
            out1[k] = (pull[k] - away * y[k] - along * x[k]) * over1
            out2[k] = of_z2 * y[k] - of_v * x[k]


def _quadratic_and_gradients(z1: Tensor, z2: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """With S = Σ u_i of the first view's unit vectors, Σ_{i≠j} c_ij is |S|² - Σ |u_i|²: c'_ii weighs
    -1 / (N τ), and the gradient on u_i across itself that of 2 S·u_i / (N² τ) - c'_ii / (N τ)."""
    batch = z1.shape[-2]
    inverse1, inverse2 = _inverse_norm(z1), _inverse_norm(z2)
    u1, u2 = z1 * inverse1, z2 * inverse2
    total = u1.sum(-2, keepdim=True)
    cosine = (u1 * u2).sum(-1, keepdim=True)
    repelled, attracted = 2 / (batch**2 * temperature), 1 / (batch * temperature)
    squares = u1.square().sum((-2, -1))
    loss = (total.square().sum((-2, -1)) - squares) * (repelled / 2) - cosine.sum((-2, -1)) * attracted
    # A gradient g on u = z/|z| is one of (g - u uᵀ g) / |z| on z.
    along = (u1 @ total.mT).mul_(repelled).sub_(cosine, alpha=attracted)
    first = torch.sub(repelled * total, u2, alpha=attracted).addcmul_(u1, along, value=-1).mul_(inverse1)
    second = torch.addcmul(-u1, u2, cosine).mul_(inverse2 * attracted)
    return loss, first, second
