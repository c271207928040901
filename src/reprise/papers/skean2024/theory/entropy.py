"""Sections 3.1, 4.3 and 5.2: the variance term as an entropy of eigenvalues, and its minimiser."""

from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, below_zero, size
from reprise.papers.skean2024.lineup import TOP
from reprise.papers.skean2024.theory.norms import off_by
from reprise.papers.skean2024.theory.points import (
    Embeddings,
    Views,
    energy,
    sizes,
    two_views,
    unit_columns,
    unit_rows,
    views,
)


def spectrum(gram: Array) -> Array:
    """The eigenvalues of a Gram or covariance matrix, divided by their sum."""
    values = np.linalg.eigvalsh(gram).clip(min=0)
    return values / values.sum()


def renyi(shares: Array, order: float) -> float:
    """The matrix-based entropy of order α, in nats: log Σ λ^α / (1 - α), or -Σ λ log λ for order 1."""
    positive = shares[shares > 0]
    if order == 1:
        return float(-(positive * np.log(positive)).sum())
    return float(np.log((positive**order).sum()) / (1 - order))


def entropy(z: Embeddings, order: float = 2) -> float:
    """The entropy of embeddings, from their Gram matrix; order 2 is the collision entropy."""
    return renyi(spectrum(z @ z.T), order)


@formula(
    "sec31/collision-entropy",
    "For unit-length dimensions, FroSSL's variance term (Eq. 4) is minus the collision entropies of Z1 and "
    "Z2, plus 4 log D.",
    at="Section 3.1",
    quotes=Quotation("correspond to the matrix-based negative collision entropies of", at="Section 3.1"),
    word="correspond to",
    tried_at=two_views,
)
def collision_entropy(point: Views) -> Errors:
    """The decoy has von Neumann's entropies."""
    units = [unit_columns(z) for z in (point.z1, point.z2)]
    variance, constant = sum(np.log(energy(u)) for u in units), 4 * np.log(units[0].shape[1])
    collision, von_neumann = (sum(entropy(u, order) for u in units) for order in (2, 1))
    return Errors(
        printed=off_by(constant - collision, variance), decoy=off_by(constant - von_neumann, variance)
    )


@formula(
    "sec31/coincidence",
    "A large collision entropy, which is a small Frobenius norm, keeps embeddings from collapse: where they "
    "have unit length it is minus the log of their mean squared cosine, 0 if all lie on one line, and at "
    "most log min(N, D).",
    at="Section 3.1",
    quotes=(
        Quotation(
            "By maximizing collision entropy, the coincidence of points is minimized and trivial collapse is "
            "avoided",
            at="Section 3.1",
        ),
        Quotation(
            "FroSSL works by minimizing covariance Frobenius norms for avoiding collapse", at="Abstract"
        ),
    ),
    word="is minimized",
    tried_at=two_views,
)
def coincidence(point: Views) -> Errors:
    """The decoy does not square the cosines."""
    rows = unit_rows(point.z1)
    cosines = rows @ rows.T
    collapsed = np.outer(point.z2[:, 0], point.z1[0])
    largest = np.log(min(rows.shape))
    room = np.array([entropy(rows), largest - entropy(rows), largest])
    values = np.exp(-entropy(rows))
    return Errors(
        printed=max(off_by(values, np.square(cosines).mean()), abs(entropy(collapsed)), below_zero(room)),
        decoy=off_by(values, np.abs(cosines).mean()),
    )


@formula(
    "sec43/von-neumann",
    "The matrix-based entropy of order α becomes von Neumann's as α goes to 1.",
    at="Section 4.3",
    quotes=Quotation("the von Neumann entropy which is a special case of matrix-based", at="Section 4.3"),
    word="is a special case of",
    tried_at=two_views,
)
def von_neumann(point: Views) -> Errors:
    """The decoy is the collision entropy."""
    near_one = sum(entropy(point.z1, order) for order in (1 - 1e-4, 1 + 1e-4)) / 2
    expected = entropy(point.z1, 1)
    return Errors(printed=off_by(near_one, expected), decoy=off_by(entropy(point.z1), expected))


@dataclass(frozen=True)
class Regularised:
    """Fewer embeddings than dimensions, and ε of Eq. 7."""

    z: Embeddings
    epsilon: float

    @property
    def sizes(self) -> dict[str, int]:
        return sizes(self.z)


def few_samples(rng: Random, largest: int) -> Regularised:
    samples = size(rng, 2, largest)
    return Regularised(views(rng, samples, size(rng, samples + 1, 2 * largest)).z1, rng.uniform(0.01, 0.5))


@formula(
    "sec43/determinant-of-samples",
    "If N < D, log det(ZᵀZ + ε I) is log det(ZZᵀ + ε I) + (D - N) log ε, by a Cholesky factor in O(N² D) and "
    "without an eigendecomposition.",
    at="Section 4.3",
    form="ours",
    reading="ours: the paper says that the log determinant always requires an eigendecomposition in O(d³)",
    tried_at=few_samples,
)
def determinant_of_samples(point: Regularised) -> Errors:
    """The decoy leaves out (D - N) log ε."""
    z, epsilon = point.z, point.epsilon
    samples, dims = z.shape
    expected = np.log(np.linalg.eigvalsh(z.T @ z + epsilon * np.eye(dims))).sum()
    factor = np.linalg.cholesky(z @ z.T + epsilon * np.eye(samples))
    of_samples = 2 * np.log(np.diag(factor)).sum()
    return Errors(
        printed=off_by(of_samples + (dims - samples) * np.log(epsilon), expected),
        decoy=off_by(of_samples, expected),
    )


@formula(
    "eq9/eigenvalues",
    "FroSSL's variance term (Eq. 4) is the logarithm of the sum of the covariance's squared eigenvalues, "
    "added up over both views.",
    at="Eq. 9, Section 5.2",
    tried_at=two_views,
)
def eq_9(point: Views) -> Errors:
    """The decoy does not square the eigenvalues."""
    both = point.z1, point.z2
    expected = sum(np.log(energy(z)) for z in both)
    squared, plain = (
        sum(np.log((np.linalg.eigvalsh(z.T @ z) ** power).sum()) for z in both) for power in (2, 1)
    )
    return Errors(printed=off_by(squared, expected), decoy=off_by(plain, expected))


@dataclass(frozen=True)
class Start:
    """Embeddings from which a descent starts."""

    z: Embeddings

    @property
    def sizes(self) -> dict[str, int]:
        return sizes(self.z)


def many_samples(rng: Random, largest: int) -> Start:
    return Start(views(rng, size(rng, largest + 2, 2 * largest), size(rng, 3, largest)).z1)


@formula(
    "sec52/eigenvalues-equal",
    "For dimensions of variance ρ and D < N, FroSSL's variance term (Eq. 4) is smallest when all "
    "eigenvalues of the covariance are ρ.",
    at="Section 5.2 and Section 3",
    quotes=(
        Quotation("explicitly tries to make the covariance eigenvalues approach to", at="Section 5.2"),
        Quotation("will cause the embeddings to spread out equally in all directions", at="Section 3"),
        Quotation(
            "this faster convergence is due to how FroSSL affects the eigenvalues of the embedding "
            "covariance matrices",
            at="Abstract",
        ),
    ),
    word="explicitly tries to make",
    tried_at=many_samples,
)
def equal_eigenvalues(point: Start) -> Errors:
    """Z is at unit length, so that ρ is 1. The decoy has the eigenvalues of the start."""
    from reprise.papers.skean2024.theory import minima

    end, start = minima.of_variance(point.z), unit_columns(point.z)
    found, at_first = (np.linalg.eigvalsh(u.T @ u) for u in (end, start))
    return Errors(printed=off_by(found, np.ones_like(found)), decoy=off_by(at_first, np.ones_like(at_first)))


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues that sum to 1."""

    shares: Array

    @property
    def sizes(self) -> dict[str, int]:
        return {"dims": len(self.shares)}


def random_spectrum(rng: Random, largest: int) -> Spectrum:
    values = rng.uniform(0.1, 1, TOP)
    return Spectrum(values / values.sum())


@formula(
    "sec52/metrics-best-when-equal",
    "Equal eigenvalues have the largest Shannon entropy, log 14 for 14 of them, and the smallest condition "
    "number, 1.",
    at="Section 5.2",
    quotes=(
        Quotation(
            "The optimal value here is maximum entropy, which is obtained when all eigenvalues are equal",
            at="Section 5.2",
        ),
        Quotation("because the smallest eigendirection is as relevant as the largest", at="Section 5.2"),
    ),
    word="is obtained when",
    is_bound=True,
    tried_at=random_spectrum,
)
def best_when_equal(point: Spectrum) -> Errors:
    """The decoy has log 10 for the largest entropy."""
    shares, equal = point.shares, renyi(np.full(TOP, 1 / TOP), 1)

    def violation(largest: float) -> float:
        return below_zero(np.array([largest - renyi(shares, 1), shares.max() / shares.min() - 1, 1]))

    return Errors(
        printed=max(violation(np.log(TOP)), off_by(equal, np.log(TOP))), decoy=violation(np.log(10))
    )


FORMULAS: tuple[Formula, ...] = (
    collision_entropy,
    coincidence,
    von_neumann,
    determinant_of_samples,
    eq_9,
    equal_eigenvalues,
    best_when_equal,
)
