"""Sections 3, 3.1, 4.3 and 5.2: the variance term as an entropy of eigenvalues, and its minimisers."""

import numpy as np
from torch import Tensor

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, relative_error, size
from reprise.objectives import frossl_as_given, gram_energy
from reprise.objectives.embeddings import unit_columns, unit_rows
from reprise.papers.skean2024.lineup import TOP
from reprise.papers.skean2024.theory.points import (
    against,
    embeddings,
    gradient,
    minimised,
    random_embeddings,
    rotation,
    sizes,
    tensor,
)


def spectrum(gram: Tensor) -> Array:
    """The eigenvalues of a Gram or covariance matrix, divided by their sum."""
    values = np.linalg.eigvalsh(gram.numpy()).clip(min=0)
    return values / values.sum()


def renyi(shares: Array, order: float) -> float:
    """The matrix-based entropy of order α, in nats: log Σ λ^α / (1 - α), or -Σ λ log λ for order 1."""
    positive = shares[shares > 0]
    if order == 1:
        return float(-(positive * np.log(positive)).sum())
    return float(np.log((positive**order).sum()) / (1 - order))


def collision(z: Tensor) -> float:
    """The collision entropy (order 2) of embeddings, from their Gram matrix."""
    return renyi(spectrum(z @ z.mT), 2)


def collision_entropy(rng: Random, largest: int) -> Checked:
    """The first role of the logarithm: Eq. 4 is the negative sum of two entropies."""
    z1, z2 = random_embeddings(rng, largest)
    u1, u2 = unit_columns(z1), unit_columns(z2)
    dims = z1.shape[-1]
    normalised = -collision(u1) - collision(u2) + 4 * np.log(dims)
    any_scale = -collision(z1) - collision(z2)
    any_scale += sum(2 * np.log(float(z.square().sum())) for z in (z1, z2))
    rows = unit_rows(z1)
    coincidence = float((rows @ rows.mT).square().mean())
    collapsed = tensor(np.outer(rng.uniform(0.5, 2, len(z1)), rng.normal(size=dims)))
    largest_entropy = np.log(min(z1.shape))
    room = np.array([collision(z1), largest_entropy - collision(z1), largest_entropy])
    near_one = np.mean([renyi(spectrum(z1 @ z1.mT), order) for order in (1 - 1e-4, 1 + 1e-4)])
    von_neumann = renyi(spectrum(z1 @ z1.mT), 1)

    def eq4(*views: Tensor) -> float:
        return sum(float(gram_energy(view).log()) for view in views)

    return Checked(
        sizes(z1),
        {
            "sec31/collision-entropy": against(eq4(u1, u2), normalised),
            "sec31/collision-entropy-any-scale": against(eq4(z1, z2), any_scale),
            "sec31/coincidence": against(np.exp(-collision(rows)), coincidence),
            "sec31/collapse-without-entropy": as_printed(max(abs(collision(collapsed)), below_zero(room))),
            "sec43/von-neumann": against(near_one, von_neumann),
        },
    )


def self_regulation(rng: Random, largest: int) -> Checked:
    """The second role: the gradient is divided by the term itself, so its pull is the same at any scale."""
    z, other = random_embeddings(rng, largest)
    with_log = gradient(lambda z: gram_energy(z).log(), z)
    without = gradient(gram_energy, z) / float(gram_energy(z))
    pull = float(with_log @ z.flatten().numpy())
    factor = rng.uniform(0.1, 10)
    invariance = float((z - other).square().sum()) / len(z)
    loss_before = float(frossl_as_given(z, other))
    expected = loss_before + (factor**2 - 1) * invariance + 8 * np.log(factor)
    return Checked(
        sizes(z),
        {
            "sec31/self-regulated": as_printed(relative_error(with_log, without)),
            "sec31/pull-at-any-scale": as_printed(abs(pull - 4) / 4),
            "sec3/collapse-without-normalisation": against(
                float(frossl_as_given(factor * z, factor * other)), expected
            ),
        },
    )


def equal_eigenvalues(rng: Random, largest: int) -> Checked:
    """Eq. 9: for dimensions of equal variance, it is smallest when all eigenvalues that can be nonzero are
    equal."""

    def smallest(samples: int, dims: int) -> tuple[Array, Array]:
        """The falling eigenvalues of ZᵀZ at the minimum, Z at unit length, and what they should be."""
        start = embeddings(rng, samples, dims)[:1]
        (z,) = minimised(lambda z: gram_energy(unit_columns(z)).log(), start)
        u = unit_columns(z)
        rank = min(dims, samples - 1)
        expected = np.where(np.arange(dims) < rank, dims / rank, 0)
        return np.linalg.eigvalsh((u.mT @ u).numpy())[::-1], expected

    few, many = size(rng, 3, largest), size(rng, largest + 2, 2 * largest)
    few_eigenvalues, ones = smallest(many, few)
    many_eigenvalues, expected = smallest(few, many)
    return Checked(
        {"samples": few, "dims": many},
        {
            "sec52/eigenvalues-equal": as_printed(relative_error(few_eigenvalues, ones)),
            "sec52/eigenvalues-many-dimensions": as_printed(relative_error(many_eigenvalues, expected)),
        },
    )


def spread(rng: Random, largest: int) -> Checked:
    """The metrics of Section 5.2 are best when all eigenvalues are equal; neither they nor the variance term
    depend on the eigenvectors."""
    values = rng.uniform(0.1, 1, TOP)
    shares = values / values.sum()
    equal = np.full(TOP, 1 / TOP)
    room = [renyi(equal, 1) - renyi(shares, 1), shares.max() / shares.min() - 1, 1]
    left = rotation(rng, TOP + size(rng, 1, largest))[:, :TOP]
    z, rotated = (left * tensor(values**0.5) @ rotation(rng, TOP).mT for _ in range(2))
    return Checked(
        {"samples": len(z), "dims": TOP},
        {
            "sec52/entropy-largest": against(renyi(equal, 1), np.log(TOP)),
            "sec52/metrics-best-when-equal": as_printed(below_zero(np.array(room))),
            "eq9/orientation": against(float(gram_energy(z)), float(gram_energy(rotated))),
        },
    )


CHECKS = (collision_entropy, self_regulation, equal_eigenvalues, spread)
