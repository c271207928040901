"""Losses of the angles between embeddings: positive pairs across the views, negatives within the first (Tian
2023, the authors' code)."""

import math
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.objectives.closed_form import closed_form
from reprise.objectives.infonce import CACHED, LOG2_E, exp2_, filled
from reprise.training.matmul import bmm

TEMPERATURE = 0.1


def infonce_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """InfoNCE on cosine similarities.

    mean_i -log( exp(c'_ii / τ) / (exp(c'_ii / τ) + Σ_{j≠i} exp(c_ij / τ)) ), c'_ii of z1_i and z2_i, c_ij of
    z1_i and z1_j. The gradient is in closed form, for speed.
    """
    return closed_form(partial(_loss_and_gradients, temperature=temperature), z1, z2)


def quadratic_cosine(
    z1: Float[Tensor, "*replica batch dim"],
    z2: Float[Tensor, "*replica batch dim"],
    *,
    temperature: float = TEMPERATURE,
) -> Float[Tensor, "*replica"]:
    """The quadratic loss, in which all pairs are of equal importance, on the same similarities.

    (mean_ij s_ij - (1 + 1/N) mean_i s_ii) / τ, where s_ii = c'_ii and s_ij = c_ij of `infonce_cosine`. The
    gradient is in closed form, for speed.
    """
    return closed_form(partial(_quadratic_and_gradients, temperature=temperature), z1, z2)


def _inverse_norm(z: Float[Tensor, "*rest dim"]) -> Float[Tensor, "*rest 1"]:
    """1/|z|; as in `torch.nn.functional.normalize`, 1e12 at most."""
    return 1 / torch.linalg.vector_norm(z, dim=-1, keepdim=True).clamp_min(1e-12)


def _loss_and_gradients(z1: Tensor, z2: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """With e_ij = exp(c_ij / τ), which is symmetric, the weights of the softmax add up to α_ij + α_ji = e_ij
    (1/Z_i + 1/Z_j): one exponential a pair. No similarity exceeds 1/τ, so none is subtracted.
    """
    replicas, batch, _ = z1.shape
    # Of this length, products are similarities over the temperature, in powers of two.
    length = math.sqrt(LOG2_E / temperature)
    rate = 1 / (batch * temperature)
    inverse1, inverse2 = _inverse_norm(z1), _inverse_norm(z2)
    v = z1 * (length * inverse1)
    cosine = (v * z2).sum(-1, keepdim=True).mul_(inverse2).div_(length)
    log_positive = cosine / temperature
    positive = log_positive.exp()

    partition = torch.empty_like(positive)
    attracted = torch.empty_like(z1)
    chunk = math.ceil(replicas / math.ceil(replicas * batch**2 / CACHED))
    # Zeros behind the last pair fill up the processor's vectors.
    room = z1.new_zeros(filled(chunk * batch**2))
    pairs = room[: chunk * batch**2].view(chunk, batch, batch)
    inverse_sums = torch.empty_like(pairs)
    for start in range(0, replicas, chunk):
        part = slice(start, min(start + chunk, replicas))
        n = part.stop - start
        e = torch.bmm(v[part], v[part].mT, out=pairs[:n])
        exp2_(room[: filled(n * batch**2)])
        e.diagonal(dim1=-2, dim2=-1).zero_()
        z = torch.sum(e, -1, keepdim=True, out=partition[part]).add_(positive[part])
        inverse = (rate / length) / z
        e.mul_(torch.add(inverse, inverse.mT, out=inverse_sums[:n]))
        bmm(e, v[part], out=attracted[part])

    loss = (partition.log() - log_positive).mean((-2, -1))
    missed = rate * (1 - positive / partition)
    # With u = z/|z|, a gradient g on u is one of (g - u uᵀ g) / |z| on z.
    away = missed * inverse2
    along = (attracted * v).sum(-1, keepdim=True).div_(length).sub_(missed * cosine)
    attracted.addcmul_(z2, away, value=-1).addcmul_(v, along, value=-1 / length).mul_(inverse1)
    other = (v * (away / -length)).addcmul_(z2, away * cosine * inverse2)
    return loss, attracted, other


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
