"""Section 3: minima of the loss under constraints on the weights (Propositions 2 and 3).

Projected gradient descent from a random start looks for a minimum, which is compared with its closed form.
"""

from collections.abc import Callable, Iterable

import numpy as np
import torch

from reprise.evidence.identities import Array, Checked, Random, as_printed, relative_error, size
from reprise.papers.esser2024.theory.points import orthonormal, random_triplets, symmetric, tensor, two_layers
from reprise.papers.esser2024.theory.trace_loss import trace

Constraint = Callable[[Array, Array], tuple[Array, Array]]
"""Maps any W1 [hidden, dim] and W2 [hidden, output] to weights that satisfy a problem's constraint."""

STEPS = 1000


def descend(matrix: Array, w1: Array, w2: Array, constraint: Constraint) -> tuple[Array, Array]:
    """The weights after projected gradient descent on Tr(W2ᵀ W1 C W1ᵀ W2)."""
    w1, w2 = constraint(w1, w2)
    rate = 0.15 / (np.linalg.norm(matrix, 2) * np.linalg.norm(w1, 2) * np.linalg.norm(w2, 2))
    for _ in range(STEPS):
        product = w1.T @ w2
        w1, w2 = constraint(w1 - rate * 2 * w2 @ product.T @ matrix, w2 - rate * 2 * w1 @ matrix @ product)
    return w1, w2


def frobenius(c1: float, c2: float) -> Constraint:
    """‖W1‖_F ≤ c1, ‖W2‖_F ≤ c2."""

    def project(w1: Array, w2: Array) -> tuple[Array, Array]:
        return w1 * min(1, c1 / np.linalg.norm(w1)), w2 * min(1, c2 / np.linalg.norm(w2))

    return project


def clipped(w: Array) -> Array:
    """The nearest matrix with ‖W‖₂ ≤ 1."""
    u, values, v = np.linalg.svd(w, full_matrices=False)
    return (u * np.minimum(values, 1)) @ v


def norms(w1: Array, w2: Array) -> tuple[Array, Array]:
    """Proposition 3 (2): ‖W1‖₂ ≤ 1, ‖W2‖₂ ≤ 1."""
    return clipped(w1), clipped(w2)


def orthonormal_columns(w1: Array, w2: Array) -> tuple[Array, Array]:
    """Proposition 3 (4): W1ᵀ W1 = I, W2ᵀ W2 = I."""
    return polar_factor(w1), polar_factor(w2)


def polar_factor(w: Array) -> Array:
    """The nearest matrix with orthonormal columns."""
    u, _, v = np.linalg.svd(w, full_matrices=False)
    return u @ v


def descend_product(matrix: Array, q: Array) -> Array:
    """Projected gradient descent on Tr(Qᵀ C Q) under ‖Q‖₂ ≤ 1, which is Proposition 3 (3).

    With at least min(dim, output) hidden units, Q = W1ᵀ W2 can be any matrix.
    """
    q = clipped(q)
    for _ in range(STEPS):
        q = clipped(q - 0.3 / np.linalg.norm(matrix, 2) * matrix @ q)
    return q


def proposition2(rng: Random, largest: int) -> Checked:
    """Proposition 2, Frobenius constraints on a linear network: its solution [a(x) 0 ... 0] against
    descent."""
    dim, outputs, hidden = size(rng, 2, largest), size(rng, 2, largest), size(rng, 2, 2 * largest)
    negative = size(rng, 1, dim)
    matrix = symmetric(rng, negative, dim - negative)
    c1, c2 = rng.uniform(0.5, 2, 2)
    value, vector = (pairs[..., 0] for pairs in np.linalg.eigh(matrix))
    solution1, solution2 = np.zeros((hidden, dim)), np.zeros((hidden, outputs))
    solution1[0], solution2[0, 0] = c1 * vector, c2
    solution = trace(solution1, solution2, matrix)
    w1, w2 = descend(
        matrix, rng.normal(size=(hidden, dim)), rng.normal(size=(hidden, outputs)), frobenius(c1, c2)
    )
    values = np.linalg.svd(w1.T @ w2, compute_uv=False)
    random_losses = (
        trace(*frobenius(c1, c2)(rng.normal(size=w1.shape), rng.normal(size=w2.shape)), matrix)
        for _ in range(100)
    )
    return Checked(
        {"inputs": dim, "hidden": hidden, "outputs": outputs},
        {
            "prop2/global": as_printed(
                max(off(trace(w1, w2, matrix), solution, value), below(random_losses, solution))
            ),
            "prop2/value": as_printed(off(solution, value * c1**2 * c2**2, value)),
            "prop2/rank-one": as_printed(float(values[1] / values[0])),
        },
    )


def off(value: float, expected: float, scale: float | Array) -> float:
    """Difference of two losses, in units of the size of C's eigenvalues."""
    return float(abs(value - expected) / np.abs(scale).sum())


def below(losses: Iterable[float], minimum: float) -> float:
    """By how much the smallest of some losses undercuts the supposed minimum, relative to it."""
    return max(0.0, minimum - min(losses)) / abs(minimum)


def output_layer(rng: Random, largest: int) -> Checked:
    """Proof of Proposition 2 for a network with any φ: the best W2 at fixed W1, from an eigenvector of f(X,
    W1)."""
    outputs = size(rng, 2, largest)
    while True:  # until f has a real negative eigenvalue, so that W1 has something to gain
        triplets = random_triplets(rng, size(rng, 2, largest))
        hidden = size(rng, 3, 2 * largest)
        w1 = rng.normal(size=(hidden, triplets.x.shape[1]))
        x, plus, minus = (
            torch.tanh(inputs @ tensor(w1).T) for inputs in (triplets.x, triplets.positive, triplets.negative)
        )
        f = (x.T @ (minus - plus)).numpy()
        values, vectors = np.linalg.eig(f)
        is_real = np.abs(values.imag) < 1e-12
        if is_real.any() and values[is_real].real.min() < -0.1:
            break
    eigenvector = vectors[:, is_real][:, values[is_real].real.argmin()].real
    eigenvalues, eigenvectors = np.linalg.eigh((f + f.T) / 2)
    limit = rng.uniform(0.5, 2)

    def loss(w2: Array) -> float:
        net = two_layers(torch.tanh)
        return float(triplets.contrastive(lambda inputs: net((tensor(w1), tensor(w2)), inputs)))

    w2 = rng.normal(size=(hidden, outputs))
    for _ in range(4 * STEPS):
        w2 = w2 - 0.4 / np.abs(eigenvalues).max() * (f + f.T) / 2 @ w2
        w2 *= limit / np.linalg.norm(w2)
    minimum = loss(w2)
    forms = {"printed": eigenvector, "corrected": eigenvectors[:, 0]}
    errors = {}
    for form, vector in forms.items():
        candidate = np.zeros_like(w2)
        candidate[:, 0] = limit * vector / np.linalg.norm(vector)
        errors[form] = off(loss(candidate), minimum, minimum)
    sizes = {"samples": len(triplets.x), "inputs": triplets.x.shape[1], "hidden": hidden, "outputs": outputs}
    return Checked(sizes, {"prop2-eigenvector": errors})


def proposition3(rng: Random, largest: int) -> Checked:
    """Proposition 3: the minima of the four problems, in sufficiently wide networks."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, dim)
    matrix = symmetric(rng, negative, dim - negative)
    values = np.linalg.eigvalsh(matrix)
    rank = min(dim, outputs, negative)
    expected = values[:rank].sum()
    hidden = size(rng, dim + outputs - rank, 2 * (dim + outputs))
    start1, start2 = rng.normal(size=(hidden, dim)), rng.normal(size=(hidden, outputs))
    ends = {
        "norms": descend(matrix, start1, start2, norms),
        "product": (np.eye(dim), descend_product(matrix, start1.T @ start2)),
        "orthonormal": descend(matrix, start1, start2, orthonormal_columns),
    }
    errors = {
        f"prop3/{name}": as_printed(off(trace(*end, matrix), expected, values)) for name, end in ends.items()
    }
    rescaled = rng.uniform(0.3, 3) * ends["norms"][0], rng.uniform(0.3, 3) * ends["norms"][1]
    nearby = (_nearby(rng, *rescaled) for _ in range(300))
    errors["prop3/scaled"] = as_printed(
        max(
            off(scaled(*rescaled, matrix), expected, values),
            below((scaled(*weights, matrix) for weights in nearby), expected),
        )
    )
    return Checked({"inputs": dim, "hidden": hidden, "outputs": outputs}, errors)


def few_negative(rng: Random, largest: int) -> Checked:
    """The outputs' singular values at the minimum of (4) if C has few negative eigenvalues."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, min(dim, outputs) - 1)
    matrix = symmetric(rng, negative, dim - negative)
    hidden = size(rng, dim + outputs - negative, 2 * (dim + outputs))
    start = orthonormal(rng, hidden, dim), orthonormal(rng, hidden, outputs)
    w1, w2 = descend(matrix, *start, orthonormal_columns)
    values = np.linalg.svd(w1.T @ w2, compute_uv=False)
    expected = (np.arange(len(values)) < negative).astype(float)
    errors = as_printed(relative_error(values, expected))
    return Checked({"inputs": dim, "hidden": hidden, "outputs": outputs}, {"prop3/rank": errors})


def scaled(w1: Array, w2: Array, matrix: Array) -> float:
    """The scaled loss of Proposition 3 (1)."""
    return trace(w1, w2, matrix) / float(np.linalg.norm(w1, 2) * np.linalg.norm(w2, 2)) ** 2


def _nearby(rng: Random, w1: Array, w2: Array) -> tuple[Array, Array]:
    """Weights at a random distance, from very small to large."""
    distance = 10 ** rng.uniform(-4, 1)
    return w1 + distance * rng.normal(size=w1.shape), w2 + distance * rng.normal(size=w2.shape)


def narrow(rng: Random, largest: int) -> Checked:
    """Problem (4) in a network with too few hidden units to avoid unwanted directions."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, min(dim, outputs) - 1)
    matrix = symmetric(rng, negative, dim - negative)
    hidden = size(rng, max(dim, outputs), dim + outputs - negative - 1)
    values = np.linalg.eigvalsh(matrix)
    start = orthonormal(rng, hidden, dim), orthonormal(rng, hidden, outputs)
    minimum = trace(*descend(matrix, *start, orthonormal_columns), matrix)
    errors = {
        "printed": off(minimum, values[:negative].sum(), values),
        "corrected": off(minimum, values[: dim + outputs - hidden].sum(), values),
    }
    return Checked({"inputs": dim, "hidden": hidden, "outputs": outputs}, {"prop3-width": errors})


CHECKS = (proposition2, output_layer, proposition3, few_negative, narrow)
