"""Proposition 1's collapse, and Remarks 2 and 3 on other losses and on a fixed projector."""

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
"""E-folding times after which slower directions count as vanished: they are e⁻²⁴ of the fastest."""


def follow(triplets: Triplets, theta: Array, time: float) -> Array:
    """Θ after `time` of gradient flow on the contrastive loss, by automatic differentiation."""

    def flow(_: float, flat: Array) -> Array:
        (gradients,) = gradient(
            lambda weights: triplets.contrastive(lambda x: x @ weights.T), tensor(flat.reshape(theta.shape))
        )
        return -gradients.numpy().ravel()

    solution = solve_ivp(flow, (0, time), theta.ravel(), method="DOP853", rtol=1e-10, atol=1e-12)
    return solution.y[:, -1].reshape(theta.shape)


def second(matrix: Array) -> float:
    """Ratio of the second singular value to the first."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[1] / values[0])


def unit(matrix: Array) -> Array:
    return matrix / np.linalg.norm(matrix)


def growing(rng: Random, largest: int) -> Checked:
    """Proposition 1 if C's smallest eigenvalue is simple and negative."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, dim)
    triplets = triplets_of(rng, symmetric(rng, negative, dim - negative))
    matrix = triplets.matrix.numpy()
    values, vectors = np.linalg.eigh(matrix)
    theta = rng.normal(size=(outputs, dim))
    short = 0.5 / np.abs(values).max()
    final_theta = theta @ expm(-2 * LONG / (values[1] - values[0]) * (matrix - values[0] * np.eye(dim)))
    # The shift by λ_1 rescales all outputs alike; without it the weights would overflow.
    output_velocity = velocity(
        linear, (tensor(final_theta),), lambda w: triplets.contrastive(lambda x: x @ w.T), triplets.x
    ).numpy()
    final_outputs = triplets.x.numpy() @ final_theta.T
    rank_one = np.outer(theta @ vectors[:, 0], vectors[:, 0])
    return Checked(
        {"samples": len(triplets.x), "inputs": dim, "outputs": outputs},
        {
            "prop1/identical": as_printed(
                relative_error(theta @ expm(-2 * short * matrix), follow(triplets, theta, short))
            ),
            "prop1/collapse": as_printed(second(final_outputs)),
            "prop1/growth": as_printed(
                max(
                    relative_error(-2 * values[0] * final_outputs, output_velocity),
                    relative_error(unit(final_theta), unit(rank_one)),
                )
            ),
        },
    )


def resting(rng: Random, largest: int) -> Checked:
    """Proposition 1 if C is positive semi-definite with a null space of two or more dimensions: the flow
    converges."""
    dim, outputs = size(rng, 3, largest), size(rng, 2, largest)
    null = size(rng, 2, dim - 1)
    vectors = orthonormal(rng, dim, dim)
    values = np.where(np.arange(dim) < null, 0.0, rng.uniform(0.5, 2, dim))
    triplets = triplets_of(rng, (vectors * values) @ vectors.T)
    theta = rng.normal(size=(outputs, dim))
    final_outputs = triplets.x.numpy() @ follow(triplets, theta, LONG / values[null:].min()).T
    predicted_outputs = triplets.x.numpy() @ (theta @ vectors[:, :null] @ vectors[:, :null].T).T
    errors = {"printed": second(final_outputs), "corrected": relative_error(final_outputs, predicted_outputs)}
    return Checked(
        {"samples": len(triplets.x), "inputs": dim, "outputs": outputs}, {"prop1-fixed-points": errors}
    )  # fmt: skip


def coupling(loss: Callable[[Tensor], Tensor], theta: Tensor) -> float:
    """Share of the loss's Hessian that couples weights of different outputs."""
    hessian = torch.func.hessian(loss)(theta)  # [output, dim, output, dim]
    diagonal = torch.einsum("lajb,lj->lajb", hessian, torch.eye(len(theta), dtype=theta.dtype))
    return float((hessian - diagonal).norm() / hessian.norm())


def other_losses(rng: Random, largest: int) -> Checked:
    """Remark 2: whether a linear model's outputs decouple (u̇_l depends on u_l only) and collapse."""
    triplets = random_triplets(rng, size(rng, 2, largest))
    dim, outputs = triplets.x.shape[1], size(rng, 2, largest)
    theta = 0.5 * normal(rng, outputs, dim)
    softmax = infonce_weights(theta, triplets).detach()

    def weighted(w: Tensor) -> Tensor:
        return (softmax * logits(w, triplets)).sum() - logits(w, triplets)[:, 0].sum()

    (fixed_gradient,), (full_gradient,) = (
        gradient(weighted, theta),
        gradient(lambda w: infonce(w, triplets), theta),
    )
    return Checked(
        {"samples": len(triplets.x), "inputs": dim, "outputs": outputs},
        {
            "remark2/decoupled": as_printed(
                coupling(lambda w: triplets.contrastive(lambda x: x @ w.T), theta)
            ),
            "remark2/infonce-collapse": as_printed(
                second(triplets.x.numpy() @ minimised(infonce, theta, triplets).T)
            ),
            "remark2-infonce": {
                "printed": coupling(lambda w: infonce(w, triplets), theta),
                "corrected": max(
                    coupling(weighted, theta), relative_error(fixed_gradient.numpy(), full_gradient.numpy())
                ),
            },
        },
    )


def spectral_loss(rng: Random, largest: int) -> Checked:
    """Remark 2's exception: how strongly the spectral contrastive loss couples the outputs."""
    triplets = random_triplets(rng, size(rng, 2, largest))
    dim, outputs = triplets.x.shape[1], size(rng, 2, largest)
    coupled = coupling(lambda w: spectral(w, triplets), 0.5 * normal(rng, outputs, dim))
    sizes = {"samples": len(triplets.x), "inputs": dim, "outputs": outputs}
    return Checked(sizes, {"remark2/spectral": as_printed(coupled)})


def minimised(loss: Callable[[Tensor, Triplets], Tensor], theta: Tensor, triplets: Triplets) -> Array:
    """Weights of a linear model that minimise a loss, after at most 200 steps of BFGS."""

    def loss_and_gradient(flat: Array) -> tuple[float, Array]:
        weights = tensor(flat.reshape(theta.shape))
        return float(loss(weights, triplets)), gradient(lambda w: loss(w, triplets), weights)[
            0
        ].numpy().ravel()

    optimum = minimize(
        loss_and_gradient, theta.numpy().ravel(), jac=True, method="BFGS", options={"maxiter": 200}
    )
    return optimum.x.reshape(theta.shape)


def logits(theta: Tensor, triplets: Triplets) -> Tensor:
    """Products of u(x_i) with u of its positive, then with u of every negative. Shape [sample, 1 +
    sample]."""
    u, plus, minus = (inputs @ theta.T for inputs in (triplets.x, triplets.positive, triplets.negative))
    return torch.cat([(u * plus).sum(1, keepdim=True), u @ minus.T], 1)


def infonce(theta: Tensor, triplets: Triplets) -> Tensor:
    return (logits(theta, triplets).logsumexp(1) - logits(theta, triplets)[:, 0]).sum()


def infonce_weights(theta: Tensor, triplets: Triplets) -> Tensor:
    """InfoNCE's derivative with respect to the logits, without the -1 of the positives."""
    return logits(theta, triplets).softmax(1)


def spectral(theta: Tensor, triplets: Triplets) -> Tensor:
    """Spectral contrastive loss (HaoChen et al. 2021): -2 E[u(x)ᵀ u(x⁺)] + E[(u(x)ᵀ u(x⁻))²]."""
    products = logits(theta, triplets)
    return -2 * products[:, 0].mean() + (products[:, 1:] ** 2).mean()


def fixed_projector(rng: Random, largest: int) -> Checked:
    """Remark 3: u(x) = A Θ x with a fixed A of r > 1 rows."""
    dim, outputs = size(rng, 2, largest), size(rng, 3, largest)
    rows = size(rng, 2, outputs - 1)
    negative = size(rng, 1, dim)
    while True:  # no two modes of nearly equal rate, which would make convergence very slow
        a = rng.normal(size=(rows, outputs))
        triplets = triplets_of(rng, symmetric(rng, negative, dim - negative))
        matrix = triplets.matrix.numpy()
        scales, values = np.linalg.eigvalsh(a @ a.T), np.linalg.eigvalsh(matrix)
        rates = np.sort(-2 * np.outer(scales, values).ravel())
        if rates[-1] - rates[-2] > 0.1 * rates[-1]:
            break
    theta = normal(rng, outputs, dim)

    def loss(w: Tensor) -> Tensor:
        return triplets.contrastive(lambda x: x @ w.T @ tensor(a).T)

    output_velocity = velocity(lambda w, x: x @ w[0].T @ tensor(a).T, (theta,), loss, triplets.x).numpy()
    x, u = triplets.x.numpy(), a @ theta.numpy()
    operator = np.kron(-2 * a @ a.T, matrix) - rates[-1] * np.eye(rows * dim)  # acts on u, flattened by rows
    final_u = (expm(2 * LONG / (rates[-1] - rates[-2]) * operator) @ u.ravel()).reshape(u.shape)
    return Checked(
        {"samples": len(triplets.x), "inputs": dim, "outputs": rows},
        {
            "remark3/collapse": as_printed(second(x @ final_u.T)),
            "remark3-identical": {
                "printed": relative_error(x @ (-2 * u @ matrix).T, output_velocity),
                "corrected": relative_error(x @ (-2 * a @ a.T @ u @ matrix).T, output_velocity),
            },
        },
    )


CHECKS = (growing, resting, other_losses, spectral_loss, fixed_projector)
