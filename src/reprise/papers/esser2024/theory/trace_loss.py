"""Section 5: a linear network's losses as Tr(W2ᵀ W1 C W1ᵀ W2), and the expectation of C."""

from itertools import product

import numpy as np
from torch import Tensor

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error, size
from reprise.papers.esser2024.theory.points import random_triplets, tensor, two_layers

NETWORK = two_layers(lambda hidden: hidden)


def trace(w1: Array, w2: Array, matrix: Array) -> float:
    """Tr(W2ᵀ W1 C W1ᵀ W2). Shapes [hidden, dim], [hidden, output], [dim, dim]."""
    return float(np.trace(w2.T @ w1 @ matrix @ w1.T @ w2))


def off(value: float, expected: float) -> float:
    return abs(value - expected) / abs(expected)


def losses_as_traces(rng: Random, largest: int) -> Checked:
    """Eqs. 1 and 2 in terms of C, as printed and as corrected, at any weights."""
    triplets = random_triplets(rng, size(rng, 2, largest))
    dim, outputs, hidden = triplets.x.shape[1], size(rng, 2, largest), size(rng, 3, 3 * largest)
    w1, w2 = rng.normal(size=(hidden, dim)), rng.normal(size=(hidden, outputs))

    def u(inputs: Tensor) -> Tensor:
        return NETWORK((tensor(w1), tensor(w2)), inputs)

    contrastive, non_contrastive = float(triplets.contrastive(u)), float(triplets.non_contrastive(u))
    x, plus, minus = (points.numpy() for points in (triplets.x, triplets.positive, triplets.negative))
    one_sided = x.T @ (minus - plus)
    inner = w2.T @ w1 @ triplets.matrix.numpy() @ w1.T @ w2
    q = w1.T @ w2
    errors = {
        "eq7/loss": as_printed(off(trace(w1, w2, triplets.matrix.numpy()), contrastive)),
        "eq7/one-sided": as_printed(off(trace(w1, w2, one_sided), contrastive)),
        "eq7-sum": {
            "printed": off(trace(w1, w2, np.outer(x[-1], minus[-1] - plus[-1])), contrastive),
            "corrected": off(trace(w1, w2, one_sided), contrastive),
        },
        "sec5-non-contrastive": {
            "printed": off(trace(w1, w2, x.T @ plus), non_contrastive),
            "corrected": off(trace(w1, w2, -x.T @ plus), non_contrastive),
        },
        "prop3-loss": {
            "printed": off(float(np.linalg.norm(inner, 2)) ** 2, contrastive),
            "corrected": off(np.trace(inner), contrastive),
        },
        "conjecture1-objective": {
            "printed": off(np.trace(q.T @ q), contrastive),
            "corrected": off(np.trace(q.T @ triplets.matrix.numpy() @ q), contrastive),
        },
    }
    return Checked({"samples": len(x), "inputs": dim, "hidden": hidden, "outputs": outputs}, errors)


def many_samples(rng: Random, largest: int) -> Checked:
    """p positives and q negatives per anchor; the printed x_j, in place of x_ij, shares the first anchors'
    ones."""
    dim, outputs, hidden = size(rng, 2, largest), size(rng, 2, largest), size(rng, 3, 3 * largest)
    p, q, samples = size(rng, 1, 4), size(rng, 1, 4), size(rng, 5, 9)
    x = rng.normal(size=(samples, dim)) + 0.5
    plus = x[:, None] + 0.3 * rng.normal(size=(samples, p, dim))
    minus = rng.normal(size=(samples, q, dim)) + 0.5
    w1, w2 = rng.normal(size=(hidden, dim)), rng.normal(size=(hidden, outputs))
    u, u_plus, u_minus = (inputs @ w1.T @ w2 for inputs in (x, plus, minus))
    loss = np.einsum("io,ijo->", u, u_minus) - np.einsum("io,ijo->", u, u_plus)
    shared = np.outer(x.sum(0), minus[:q, 0].sum(0) - plus[:p, 0].sum(0))
    separate = x.T @ (minus.sum(1) - plus.sum(1))
    errors = {"printed": off(trace(w1, w2, shared), loss), "corrected": off(trace(w1, w2, separate), loss)}
    sizes = {"samples": samples, "inputs": dim, "hidden": hidden, "outputs": outputs}
    return Checked(sizes, {"sec5-many-samples": errors})


def expectation(rng: Random, largest: int) -> Checked:
    """E[C~] by enumeration of finitely many states of x and x⁻, and of ε = ±√σ in each coordinate."""
    dim, states, anchors = size(rng, 2, 4), size(rng, 5, 8), size(rng, 2, 9)
    probability, sigma = rng.dirichlet(np.full(states, 3.0)), rng.uniform(0.05, 0.5)
    x = rng.normal(size=(states, dim)) + np.sign(rng.normal(size=dim))
    centred = x - probability @ x
    noise = np.sqrt(sigma) * np.array(list(product([-1.0, 1.0], repeat=dim)))
    mean, centred_mean = (_expectation(values, probability, noise, anchors) for values in (x, centred))
    second_moment, covariance = (
        anchors * (values * probability[:, None]).T @ values for values in (x, centred)
    )
    largest_eigenvalue = np.linalg.eigvalsh(mean)[-1]
    return Checked(
        {"samples": anchors, "inputs": dim},
        {
            "sec5-expectation": {
                "printed": relative_error(-second_moment, mean),
                "corrected": relative_error(-covariance, mean),
            },
            "sec5/expectation-centred": as_printed(relative_error(-covariance, centred_mean)),
            "sec5/negative-definite": as_printed(float(largest_eigenvalue >= 0)),
            "appendix-expectation": {
                "printed": relative_error(-covariance / anchors, centred_mean),
                "corrected": relative_error(-covariance, centred_mean),
            },
        },
    )


def _expectation(x: Array, probability: Array, noise: Array, anchors: int) -> Array:
    """E[Σ_i x_i (x_i⁻ - x_i⁺)ᵀ] for identically distributed anchors."""
    total = np.zeros((x.shape[1], x.shape[1]))
    for first, second in product(range(len(x)), repeat=2):
        for step in noise:
            share = probability[first] * probability[second] / len(noise)
            total += share * np.outer(x[first], x[second] - x[first] - step)
    return anchors * total


CHECKS = (losses_as_traces, many_samples, expectation)
