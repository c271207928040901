"""Section 3: one layer, f = h(wᵀ x), with unit weights."""

import numpy as np
import torch
from scipy.integrate import solve_ivp

from reprise.evidence.identities import Array, Checked, Random, as_printed, orthonormal, relative_error, size
from reprise.papers.tian2023.contrastive import energy
from reprise.papers.tian2023.dynamics.points import (
    HOMOGENEOUS,
    Activation,
    Batch,
    gradient,
    normal,
    projected,
    random_batch,
    rank_one_distance,
    seeing,
    slope,
    tensor,
    top_eigenvector,
    unit,
    variance,
)


def gated_covariance(batch: Batch, activation: Activation, w: torch.Tensor) -> torch.Tensor:
    """A(w) = C_α[x̃] with x̃ = x h'(wᵀ x)."""
    return batch.covariance(lambda x: x * slope(activation, x @ w)[:, None])


def ascent(batch: Batch, activation: Activation, w: torch.Tensor) -> torch.Tensor:
    """The gradient of E_α with α fixed, by automatic differentiation."""
    return gradient(lambda w: energy(batch.alpha, *(activation(x @ w)[:, None] for x in batch.views)), w)[0]


def lemma3(rng: Random, largest: int) -> Checked:
    """Lemma 3 (Eq. 7) and the property after Eq. 6, for each homogeneous activation."""
    dim = size(rng, 2, largest)
    batch = random_batch(rng, dim)
    w = seeing(rng, batch.x)
    errors = {}
    for name, activation in HOMOGENEOUS.items():
        a = gated_covariance(batch, activation, w)
        velocity = projected(w, ascent(batch, activation, w))
        output = batch.covariance(lambda x, h=activation: h(x @ w)[:, None])  # type: ignore[misc]
        errors[f"lemma3/{name}"] = as_printed(relative_error(projected(w, a @ w).numpy(), velocity.numpy()))
        errors[f"eq6/{name}"] = as_printed(relative_error((w @ a @ w).numpy(), output.squeeze().numpy()))
    return Checked({"samples": len(batch.x), "inputs": dim}, errors)


def energy_factor(rng: Random, largest: int) -> Checked:
    """Lemma 3 for both of the paper's definitions of the energy: first half the trace, then the trace."""
    dim = size(rng, 2, largest)
    batch = random_batch(rng, dim)
    w = seeing(rng, batch.x)
    activation = HOMOGENEOUS["relu"]
    formula = projected(w, gated_covariance(batch, activation, w) @ w).numpy()
    velocity = projected(w, ascent(batch, activation, w)).numpy()
    errors = {
        "printed": relative_error(formula, 2 * velocity),
        "corrected": relative_error(formula, velocity),
    }
    return Checked({"samples": len(batch.x), "inputs": dim}, {"sec2-energy": errors})


def monomial(rng: Random, largest: int) -> Checked:
    """For h(x) = xᵖ, h'(x) x = p h(x), so that Eq. 7 holds with the constant 1/p."""
    dim, power = size(rng, 2, largest), size(rng, 2, 4)
    batch = random_batch(rng, dim)
    w = seeing(rng, batch.x)

    def activation(x: torch.Tensor) -> torch.Tensor:
        return x**power

    formula = projected(w, gated_covariance(batch, activation, w) @ w) / power
    error = relative_error(formula.numpy(), projected(w, ascent(batch, activation, w)).numpy())
    return Checked({"samples": len(batch.x), "inputs": dim}, {"lemma3/monomial": as_printed(error)})


def follow(velocity: object, start: Array, time: float) -> Array:
    """The end point of a flow after `time`."""
    solution = solve_ivp(velocity, (0, time), start, method="DOP853", rtol=1e-12, atol=1e-14)
    return solution.y[:, -1]


def linear_pca(rng: Random, largest: int) -> Checked:
    """With h(x) = x, Eq. 7 converges to the top eigenvector of C_α[x] from any start."""
    dim = size(rng, 2, largest)
    while True:  # no two nearly equal top eigenvalues, which would make convergence very slow
        batch = random_batch(rng, dim)
        matrix = batch.covariance(lambda x: x).numpy()
        values = np.linalg.eigvalsh(matrix)
        gap = values[-1] - values[-2]
        if gap > 0.1 * (values[-1] - values[0]):
            break

    def velocity(_: float, w: Array) -> Array:
        aw = matrix @ w
        return aw - (w @ aw) / (w @ w) * w

    limit = follow(velocity, unit(rng, dim).numpy(), 25 / gap)
    error = rank_one_distance(tensor(limit / np.linalg.norm(limit)), top_eigenvector(tensor(matrix)))
    return Checked({"samples": len(batch.x), "inputs": dim}, {"sec3/linear-pca": as_printed(error)})


def latent_categorical(rng: Random, largest: int) -> Checked:
    """Eqs. 8 and 44, with an exact expectation over the M categories."""
    categories = size(rng, 2, largest + 2)
    u = orthonormal(rng, categories + size(rng, 0, 2), categories)
    p = rng.dirichlet(np.full(categories, 3.0))
    m = size(rng, 0, categories - 1)
    computed = _relu_variance(tensor(u.T), tensor(p), tensor(u[:, m]))
    formula = p[m] * (1 - p[m]) * np.outer(u[:, m], u[:, m])
    return Checked(
        {"inputs": len(u), "classes": categories},
        {
            "eq8/matrix": as_printed(relative_error(formula, computed.numpy())),
            "eq8/lme": as_printed(rank_one_distance(top_eigenvector(computed), tensor(u[:, m]))),
        },
    )


def latent_summation(rng: Random, largest: int) -> Checked:
    """Eqs. 9 and 45, with an exact expectation over the 2^M states; each y_m has its own q_m."""
    latents = size(rng, 2, largest + 1)
    u, q = orthonormal(rng, latents, latents), rng.uniform(0.1, 0.9, latents)
    m = size(rng, 0, latents - 1)
    active = (np.arange(2**latents)[:, None] >> np.arange(latents)) & 1 == 1
    y = np.where(active, np.sqrt((1 - q) / q), -np.sqrt(q / (1 - q)))
    computed = _relu_variance(tensor(y @ u.T), tensor(np.where(active, q, 1 - q).prod(1)), tensor(u[:, m]))
    projection = np.outer(u[:, m], u[:, m])
    formula = (1 - q[m]) ** 2 * projection + q[m] * (np.eye(latents) - projection)
    error = relative_error(formula, computed.numpy())
    return Checked({"samples": len(y), "inputs": latents}, {"eq9/matrix": as_printed(error)})


def binary_decomposition(rng: Random, largest: int) -> Checked:
    """Eq. 43: V[x̃] = p0 p1 Δ Δᵀ + p0 Σ0 + p1 Σ1."""
    states, dim = size(rng, 4, 8), size(rng, 2, largest)
    x = normal(rng, states, dim)
    w = seeing(rng, x)
    gated = x * (x @ w > 0)[:, None]
    p1 = rng.uniform(0.2, 0.8)
    conditional = tensor(rng.dirichlet(np.full(states, 2.0), 2))  # P[x | z]
    delta = conditional[1] @ gated - conditional[0] @ gated
    within_classes = (1 - p1) * variance(conditional[0], gated) + p1 * variance(conditional[1], gated)
    formula = (1 - p1) * p1 * torch.outer(delta, delta) + within_classes
    total_variance = variance((1 - p1) * conditional[0] + p1 * conditional[1], gated)
    error = relative_error(formula.numpy(), total_variance.numpy())
    return Checked({"samples": states, "inputs": dim}, {"eq43/binary": as_printed(error)})


def theorem1(rng: Random, largest: int) -> Checked:
    """Theorem 1: an LME attracts Eq. 7 if its gap exceeds its roughness."""
    dim = size(rng, 2, largest)
    start, end = _around_an_lme(rng, dim, rng.uniform(0.2, 0.9))
    return Checked({"inputs": dim}, {"thm1/stable": as_printed(end / start)})


def _around_an_lme(rng: Random, dim: int, share: float) -> tuple[float, float]:
    """Distances from w*, the LME of a random smooth A(w), at a start nearby and a long time later.

    Args:
        share: ratio of roughness to gap.
    """
    basis = orthonormal(rng, dim, dim)
    w = basis[:, 0]
    values = np.concatenate([[2.0], np.sort(rng.uniform(0.2, 1.5, dim - 1))[::-1]])
    gap = values[0] - values[1]
    at_lme = (basis * values) @ basis.T
    slopes, curvature = (_symmetric(rng, dim) for _ in range(2))  # A(v) = A* + Σ_i slopes_i (v - w)_i + ...
    roughness = np.linalg.norm(np.einsum("iab,b->ai", slopes, w) @ basis[:, 1:], 2)
    slopes *= share * gap / roughness

    def velocity(_: float, v: Array) -> Array:
        v = v / np.linalg.norm(v)
        shift = v - w
        av = at_lme @ v + np.einsum("iab,i,b->a", slopes, shift, v)
        av += np.einsum("iab,i,i,b->a", curvature, shift, shift, v)
        return av - (v @ av) * v

    start = w + 1e-3 * basis[:, 1:] @ unit(rng, dim - 1).numpy()
    start /= np.linalg.norm(start)
    limit = follow(velocity, start, 20 / (abs(1 - share) * gap))
    return float(np.linalg.norm(start - w)), float(np.linalg.norm(limit / np.linalg.norm(limit) - w))


def _symmetric(rng: Random, dim: int) -> Array:
    matrices = rng.normal(size=(dim, dim, dim))
    return matrices + matrices.transpose(0, 2, 1)


def _relu_variance(x: torch.Tensor, probability: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """V[x̃] for ReLU, which is off at 0 (Appendix B.1), also at products that are 0 up to rounding."""
    return variance(probability, x * (x @ w > 1e-12)[:, None])


CHECKS = (
    lemma3,
    energy_factor,
    monomial,
    linear_pca,
    latent_categorical,
    latent_summation,
    binary_decomposition,
    theorem1,
)
