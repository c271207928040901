"""Section 3: minima of the loss under constraints on the weights (Propositions 2 and 3).

Projected gradient descent from a random start looks for a minimum, which is compared with its closed form.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, relative_error, size
from reprise.papers.esser2024.theory.points import Triplets, random_triplets, symmetric
from reprise.papers.esser2024.theory.trace_loss import trace

Constraint = Callable[[Array, Array], tuple[Array, Array]]
"""Maps any W1 [hidden, dim] and W2 [hidden, output] to weights that satisfy a problem's constraint."""

STEPS = 1000
EQUIVALENT = Quotation(
    "Then the following optimisation problems are equivalent", at="Proposition 3, Section 3"
)


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


@dataclass(frozen=True)
class Problem:
    """C, a random start of descent, and what a supposed minimum is compared with.

    Attributes:
        norms: two positive numbers: the Frobenius norms allowed, or what weights are rescaled by.
        steps: weights of many sizes, to be compared with the minimum or added to it.
    """

    matrix: Array
    w1: Array
    w2: Array
    norms: tuple[float, float]
    steps: tuple[tuple[Array, Array], ...]

    @property
    def sizes(self) -> dict[str, int]:
        hidden, inputs = self.w1.shape
        return {"inputs": inputs, "hidden": hidden, "outputs": self.w2.shape[1]}

    @property
    def values(self) -> Array:
        return np.linalg.eigvalsh(self.matrix)

    @property
    def rank(self) -> int:
        """min(d, z, l)."""
        return min(*self.w1.shape[1:], *self.w2.shape[1:], int((self.values < 0).sum()))


def random_problem(rng: Random, matrix: Array, outputs: int, hidden: int) -> Problem:
    shapes = (hidden, len(matrix)), (hidden, outputs)
    w1, w2 = (rng.normal(size=shape) for shape in shapes)
    c1, c2 = rng.uniform(0.5, 2, 2)
    steps = []
    for _ in range(200):
        far = 10 ** rng.uniform(-4, 1)
        steps.append((far * rng.normal(size=shapes[0]), far * rng.normal(size=shapes[1])))
    return Problem(matrix, w1, w2, (float(c1), float(c2)), tuple(steps))


def any_width(rng: Random, largest: int) -> Problem:
    dim, outputs, hidden = size(rng, 2, largest), size(rng, 2, largest), size(rng, 2, 2 * largest)
    negative = size(rng, 1, dim)
    return random_problem(rng, symmetric(rng, negative, dim - negative), outputs, hidden)


def off(value: float, expected: float, scale: float | Array) -> float:
    """Difference of two losses, in units of the size of C's eigenvalues."""
    return float(abs(value - expected) / np.abs(scale).sum())


def below(losses: Iterable[float], minimum: float) -> float:
    """Shortfall of the smallest of some losses below the supposed minimum, relative to the minimum."""
    return max(0.0, minimum - min(losses)) / abs(minimum)


@formula(
    "prop2",
    "Under Frobenius constraints the least loss of a linear network is λ_1 c_1² c_2², λ_1 the smallest "
    "eigenvalue of C, and outputs [a(x) 0 ... 0] have it: descent ends there, in one dimension, and no drawn "
    "weights have less.",
    at="Proposition 2, Section 3",
    quotes=Quotation("has a global solution", at="Proposition 2, Section 3"),
    word="has a global solution",
    tried_at=any_width,
)
def proposition_2(point: Problem) -> Errors:
    """The decoy has no squares: λ_1 c_1 c_2."""
    matrix, (c1, c2) = point.matrix, point.norms
    value, vector = (pairs[..., 0] for pairs in np.linalg.eigh(matrix))
    solution1, solution2 = np.zeros_like(point.w1), np.zeros_like(point.w2)
    solution1[0], solution2[0, 0] = c1 * vector, c2
    solution = trace(solution1, solution2, matrix)
    w1, w2 = descend(matrix, point.w1, point.w2, frobenius(c1, c2))
    values = np.linalg.svd(w1.T @ w2, compute_uv=False)
    others = (trace(*frobenius(c1, c2)(*weights), matrix) for weights in point.steps)
    reached = trace(w1, w2, matrix)
    return Errors(
        printed=max(
            off(solution, value * c1**2 * c2**2, value),
            off(reached, solution, value),
            below(others, solution),
            float(values[1] / values[0]),
        ),
        decoy=off(reached, value * c1 * c2, value),
    )


@dataclass(frozen=True)
class OutputLayer:
    """Triplets, a first layer, and a start of the second one, whose Frobenius norm is limited."""

    triplets: Triplets
    w1: Array
    start: Array
    limit: float

    @property
    def sizes(self) -> dict[str, int]:
        hidden, inputs = self.w1.shape
        samples = len(self.triplets.x)
        return {"samples": samples, "inputs": inputs, "hidden": hidden, "outputs": self.start.shape[1]}

    def loss(self, w2: Array) -> float:
        """Eq. 1 of a network with tanh."""
        points = self.triplets.x, self.triplets.positive, self.triplets.negative
        u, positive, negative = (np.tanh(inputs @ self.w1.T) @ w2 for inputs in points)
        return float((u * (negative - positive)).sum())

    @property
    def f(self) -> Array:
        """f(X, W1)."""
        points = self.triplets.x, self.triplets.positive, self.triplets.negative
        x, positive, negative = (np.tanh(inputs @ self.w1.T) for inputs in points)
        return x.T @ (negative - positive)

    @property
    def real_pair(self) -> tuple[float, Array]:
        """The most negative of f's real eigenvalues, and its eigenvector; ∞ where none is real."""
        values, vectors = np.linalg.eig(self.f)
        real = np.where(np.abs(values.imag) < 1e-12, values.real, np.inf)
        return float(real.min()), vectors[:, real.argmin()].real


def output_layer(rng: Random, largest: int) -> OutputLayer:
    """A first layer for which f has a real negative eigenvalue, so that W2 has something to gain."""
    outputs = size(rng, 2, largest)
    while True:
        triplets = random_triplets(rng, size(rng, 2, largest))
        hidden = size(rng, 3, 2 * largest)
        w1, start = rng.normal(size=(hidden, triplets.x.shape[1])), rng.normal(size=(hidden, outputs))
        point = OutputLayer(triplets, w1, start, rng.uniform(0.5, 2))
        if point.real_pair[0] < -0.1:
            return point


@formula(
    "prop2-eigenvector",
    "In the proof of Proposition 2, of a network with any φ and at fixed W1, the best W2 is the eigenvector "
    "of the most negative eigenvalue of {}.",
    at="Proposition 2, proof (printed under `Proof of Proposition 1`), Appendix",
    wrong=Misprint(
        "typo",
        printed=Text("f(X, W1)", r"f(X,W_1)\,v_1=\lambda_1v_1"),
        corrected=Text("(f + fᵀ)/2", r"\frac{f+f^{\top}}{2}\,v_1=\lambda_1v_1"),
        note="f is not symmetric, and its eigenvalues may be complex; the proof's v_iᵀ f v_i has its "
        "symmetric part alone",
    ),
    tried_at=output_layer,
)
def best_output_layer(point: OutputLayer) -> Errors:
    part = (point.f + point.f.T) / 2
    values, vectors = np.linalg.eigh(part)
    w2 = point.start
    for _ in range(4 * STEPS):
        w2 = w2 - 0.4 / np.abs(values).max() * part @ w2
        w2 = w2 * point.limit / np.linalg.norm(w2)
    minimum = point.loss(w2)

    def error(vector: Array) -> float:
        candidate = np.zeros_like(w2)
        candidate[:, 0] = point.limit * vector / np.linalg.norm(vector)
        return off(point.loss(candidate), minimum, minimum)

    return Errors(printed=error(point.real_pair[1]), corrected=error(vectors[:, 0]))


def wide(rng: Random, largest: int) -> Problem:
    """A network wide enough to avoid every unwanted direction."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, dim)
    rank = min(dim, outputs, negative)
    hidden = size(rng, dim + outputs - rank, 2 * (dim + outputs))
    return random_problem(rng, symmetric(rng, negative, dim - negative), outputs, hidden)


def scaled(w1: Array, w2: Array, matrix: Array) -> float:
    """The loss of Proposition 3 (1), over the squared norms."""
    return trace(w1, w2, matrix) / float(np.linalg.norm(w1, 2) * np.linalg.norm(w2, 2)) ** 2


@formula(
    "prop3",
    "In a network wide enough the problems (1) to (4) have the same minimum: where C has l negative "
    "eigenvalues, the sum of its min(d, z, l) smallest. At the minimum of (4) the outputs have as many "
    "dimensions, those of the eigenvectors: where l and z are two or more, outputs do not collapse to one.",
    at="Proposition 3, Section 3, and its proof, Appendix",
    quotes=EQUIVALENT,
    word="are equivalent",
    reading="ours: h ≥ d + z - min(d, z, l), without which they are not (`prop3-width`)",
    tried_at=wide,
)
def proposition_3(point: Problem) -> Errors:
    """The decoy has one eigenvalue fewer."""
    matrix, rank = point.matrix, point.rank
    values, vectors = np.linalg.eigh(matrix)
    expected = values[:rank].sum()
    within_norms = descend(matrix, point.w1, point.w2, norms)
    w1, w2 = descend(matrix, point.w1, point.w2, orthonormal_columns)
    product = descend_product(matrix, point.w1.T @ point.w2)
    scaled1, scaled2 = point.norms[0] * within_norms[0], point.norms[1] * within_norms[1]
    nearby = (scaled(scaled1 + step1, scaled2 + step2, matrix) for step1, step2 in point.steps)
    reached = (
        scaled(scaled1, scaled2, matrix),
        trace(*within_norms, matrix),
        trace(np.eye(len(matrix)), product, matrix),
        trace(w1, w2, matrix),
    )
    projector = vectors[:, :rank] @ vectors[:, :rank].T
    return Errors(
        printed=max(
            *(off(loss, expected, values) for loss in reached),
            below(nearby, expected),
            relative_error(w1.T @ w2 @ w2.T @ w1, projector),
        ),
        decoy=max(off(loss, values[: rank - 1].sum(), values) for loss in reached),
    )


def narrow(rng: Random, largest: int) -> Problem:
    """A network with enough hidden units for the constraints of (4), and in part too few to avoid unwanted
    directions."""
    dim, outputs = size(rng, 2, largest), size(rng, 2, largest)
    negative = size(rng, 1, min(dim, outputs) - 1)
    hidden = size(rng, max(dim, outputs), dim + outputs)
    return random_problem(rng, symmetric(rng, negative, dim - negative), outputs, hidden)


@formula(
    "prop3-width",
    "The problems {} (tried: their minima, where max(d, z) ≤ h ≤ d + z).",
    at="Proposition 3, Section 3, and its proof of (3) ⇔ (4), Appendix",
    wrong=Misprint(
        "condition",
        printed=Text("(3), ‖W2ᵀ W1‖₂ ≤ 1, and (4), W2ᵀ W2 = I and W1ᵀ W1 = I, are equivalent"),
        corrected=Text("if h ≥ d + z - min(d, z, l), l the number of C's negative eigenvalues"),
        note="no condition on the width h is printed; in a narrower network d + z - h singular values of "
        "W2ᵀ W1 are 1, and the minimum of (4) is the sum of as many eigenvalues of C, some of them positive; "
        "the proof's U and V filled with zero rows are not orthonormal: for C = diag(-1, 2, 3), z = 2, h = 3 "
        "the minimum of (3) is -1, that of (4) is 1",
    ),
    quotes=(
        EQUIVALENT,
        Quotation("we can add a bunch of zero rows to", at="Proposition 3, proof, Appendix"),
    ),
    word="are equivalent",
    tried_at=narrow,
)
def width_of_proposition_3(point: Problem) -> Errors:
    values, (inputs, hidden, outputs) = point.values, point.sizes.values()
    w1, w2 = descend(point.matrix, polar_factor(point.w1), polar_factor(point.w2), orthonormal_columns)
    minimum = trace(w1, w2, point.matrix)
    return Errors(
        printed=off(minimum, values[: point.rank].sum(), values),
        corrected=off(minimum, values[: max(point.rank, inputs + outputs - hidden)].sum(), values),
    )


FORMULAS: tuple[Formula, ...] = (
    proposition_2,
    best_output_layer,
    proposition_3,
    width_of_proposition_3,
)
