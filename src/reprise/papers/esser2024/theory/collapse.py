"""Proposition 1's collapse, and what Remarks 2 and 3 make of other losses and of a fixed projector."""

from collections.abc import Callable

import numpy as np
import torch
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import minimize
from torch import Tensor

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error, size
from reprise.papers.esser2024.theory.points import (
    Triplets,
    gradient,
    linear,
    normal,
    orthonormal,
    random_triplets,
    symmetric,
    tensor,
    triplets_of,
    velocity,
)

LONG = 12.0
"""Times of e-folding after which the slower directions count as gone: e⁻²⁴ of the fastest."""


def follow(at: Triplets, theta: Array, time: float) -> Array:
    """Θ after `time` on the gradient flow of the contrastive loss, differentiated automatically."""

    def flow(_: float, flat: Array) -> Array:
        (uphill,) = gradient(
            lambda weights: at.contrastive(lambda x: x @ weights.T), tensor(flat.reshape(theta.shape))
        )
        return -uphill.numpy().ravel()

    solution = solve_ivp(flow, (0, time), theta.ravel(), method="DOP853", rtol=1e-10, atol=1e-12)
    return solution.y[:, -1].reshape(theta.shape)


def second(matrix: Array) -> float:
    """The second singular value over the first."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[1] / values[0])


def unit(matrix: Array) -> Array:
    return matrix / np.linalg.norm(matrix)


def growing(rng: Random, largest: int) -> Checked:
    """The flow where C has a single smallest eigenvalue, and it is negative."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, dim)
    at = triplets_of(rng, symmetric(rng, negative, dim - negative))
    matrix = at.matrix.numpy()
    values, vectors = np.linalg.eigh(matrix)
    theta = rng.normal(size=(outputs, dim))
    short = 0.5 / np.abs(values).max()
    end = theta @ expm(-2 * LONG / (values[1] - values[0]) * (matrix - values[0] * np.eye(dim)))
    # Without the shift by λ_1, which rescales all outputs alike, the weights would overflow.
    moved = velocity(linear, (tensor(end),), lambda w: at.contrastive(lambda x: x @ w.T), at.x).numpy()
    outputs_at_end = at.x.numpy() @ end.T
    rank_one = np.outer(theta @ vectors[:, 0], vectors[:, 0])
    return Checked(
        {"samples": len(at.x), "inputs": dim, "outputs": outputs},
        {
            "prop1/identical": as_printed(
                relative_error(theta @ expm(-2 * short * matrix), follow(at, theta, short))
            ),
            "prop1/collapse": as_printed(second(outputs_at_end)),
            "prop1-convergence": {
                "printed": float(
                    np.linalg.norm(moved) / (2 * np.linalg.norm(matrix, 2) * np.linalg.norm(outputs_at_end))
                ),
                "corrected": max(
                    relative_error(-2 * values[0] * outputs_at_end, moved),
                    relative_error(unit(end), unit(rank_one)),
                ),
            },
        },
    )


def resting(rng: Random, largest: int) -> Checked:
    """Where C is positive semi-definite with a null space of two or more dimensions: the flow converges."""
    dim, outputs = size(rng, 3, largest), size(rng, 2, largest)
    null = size(rng, 2, dim - 1)
    vectors = orthonormal(rng, dim, dim)
    values = np.where(np.arange(dim) < null, 0.0, rng.uniform(0.5, 2, dim))
    at = triplets_of(rng, (vectors * values) @ vectors.T)
    theta = rng.normal(size=(outputs, dim))
    end = at.x.numpy() @ follow(at, theta, LONG / values[null:].min()).T
    rest = at.x.numpy() @ (theta @ vectors[:, :null] @ vectors[:, :null].T).T
    errors = {"printed": second(end), "corrected": relative_error(end, rest)}
    return Checked(
        {"samples": len(at.x), "inputs": dim, "outputs": outputs}, {"prop1-fixed-points": errors}
    )  # fmt: skip


def coupling(loss: Callable[[Tensor], Tensor], theta: Tensor) -> float:
    """The share of the loss's Hessian that lies between weights of different outputs."""
    hessian = torch.func.hessian(loss)(theta)  # [output, dim, output, dim]
    own = torch.einsum("lajb,lj->lajb", hessian, torch.eye(len(theta), dtype=theta.dtype))
    return float((hessian - own).norm() / hessian.norm())


def other_losses(rng: Random, largest: int) -> Checked:
    """Remark 2: whether a linear model's outputs decouple (u̇_l depends on u_l alone), and collapse."""
    at = random_triplets(rng, size(rng, 2, largest))
    dim, outputs = at.x.shape[1], size(rng, 2, largest)
    theta = 0.5 * normal(rng, outputs, dim)
    softmax = infonce_weights(theta, at).detach()

    def weighted(w: Tensor) -> Tensor:
        return (softmax * logits(w, at)).sum() - logits(w, at)[:, 0].sum()

    (held,), (free,) = gradient(weighted, theta), gradient(lambda w: infonce(w, at), theta)
    cosine = coupling(lambda w: at_cosine(w, at), theta)
    dot = coupling(lambda w: at.non_contrastive(lambda x: x @ w.T), theta)
    return Checked(
        {"samples": len(at.x), "inputs": dim, "outputs": outputs},
        {
            "remark2/decoupled": as_printed(coupling(lambda w: at.contrastive(lambda x: x @ w.T), theta)),
            "remark2/infonce-collapse": as_printed(second(at.x.numpy() @ minimised(infonce, theta, at).T)),
            "remark2/spectral": as_printed(coupling(lambda w: spectral(w, at), theta)),
            "remark2-infonce": {
                "printed": coupling(lambda w: infonce(w, at), theta),
                "corrected": max(coupling(weighted, theta), relative_error(held.numpy(), free.numpy())),
            },
            "remark2-cosine": {"printed": cosine, "corrected": dot},
        },
    )


def minimised(loss: Callable[[Tensor, Triplets], Tensor], theta: Tensor, at: Triplets) -> Array:
    """The weights of a linear model where descent comes to rest, or after 200 steps of BFGS."""

    def at_weights(flat: Array) -> tuple[float, Array]:
        weights = tensor(flat.reshape(theta.shape))
        return float(loss(weights, at)), gradient(lambda w: loss(w, at), weights)[0].numpy().ravel()

    found = minimize(at_weights, theta.numpy().ravel(), jac=True, method="BFGS", options={"maxiter": 200})
    return found.x.reshape(theta.shape)


def logits(theta: Tensor, at: Triplets) -> Tensor:
    """u(x_i)ᵀ u of the anchor's positive, then of every negative. Shape [sample, 1 + sample]."""
    u, plus, minus = (each @ theta.T for each in (at.x, at.positive, at.negative))
    return torch.cat([(u * plus).sum(1, keepdim=True), u @ minus.T], 1)


def infonce(theta: Tensor, at: Triplets) -> Tensor:
    return (logits(theta, at).logsumexp(1) - logits(theta, at)[:, 0]).sum()


def infonce_weights(theta: Tensor, at: Triplets) -> Tensor:
    """Its derivative in the logits, but for the positives' -1."""
    return logits(theta, at).softmax(1)


def spectral(theta: Tensor, at: Triplets) -> Tensor:
    """HaoChen et al. 2021: -2 E[u(x)ᵀ u(x⁺)] + E[(u(x)ᵀ u(x⁻))²]."""
    each = logits(theta, at)
    return -2 * each[:, 0].mean() + (each[:, 1:] ** 2).mean()


def at_cosine(theta: Tensor, at: Triplets) -> Tensor:
    """Eq. 2 with the cosine that its footnote replaces by the dot product."""
    return -torch.cosine_similarity(at.x @ theta.T, at.positive @ theta.T).sum()


def fixed_projector(rng: Random, largest: int) -> Checked:
    """Remark 3: u(x) = A Θ x, A fixed with r > 1 rows."""
    dim, outputs = size(rng, 2, largest), size(rng, 3, largest)
    rows = size(rng, 2, outputs - 1)
    negative = size(rng, 1, dim)
    while True:  # away from two modes of equal rate, where the limit takes for ever
        a = rng.normal(size=(rows, outputs))
        at = triplets_of(rng, symmetric(rng, negative, dim - negative))
        matrix = at.matrix.numpy()
        scales, values = np.linalg.eigvalsh(a @ a.T), np.linalg.eigvalsh(matrix)
        rates = np.sort(-2 * np.outer(scales, values).ravel())
        if rates[-1] - rates[-2] > 0.1 * rates[-1]:
            break
    theta = normal(rng, outputs, dim)

    def loss(w: Tensor) -> Tensor:
        return at.contrastive(lambda x: x @ w.T @ tensor(a).T)

    moved = velocity(lambda w, x: x @ w[0].T @ tensor(a).T, (theta,), loss, at.x).numpy()
    x, u = at.x.numpy(), a @ theta.numpy()
    operator = np.kron(-2 * a @ a.T, matrix) - rates[-1] * np.eye(rows * dim)  # on u by rows
    end = (expm(2 * LONG / (rates[-1] - rates[-2]) * operator) @ u.ravel()).reshape(u.shape)
    return Checked(
        {"samples": len(at.x), "inputs": dim, "outputs": rows},
        {
            "remark3/collapse": as_printed(second(x @ end.T)),
            "remark3-identical": {
                "printed": relative_error(x @ (-2 * u @ matrix).T, moved),
                "corrected": relative_error(x @ (-2 * a @ a.T @ u @ matrix).T, moved),
            },
        },
    )


CHECKS = (growing, resting, other_losses, fixed_projector)
