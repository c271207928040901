"""Section 3.2, Appendices E.1 and E.2: FroSSL as a dimension-contrastive and as a sample-contrastive loss."""

import numpy as np
from torch import Tensor

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, size
from reprise.objectives import frossl, frossl_as_given, gram_energy
from reprise.objectives.embeddings import unit_columns, unit_rows
from reprise.papers.skean2024.theory.points import (
    against,
    embeddings,
    gradient,
    minimised,
    norm2,
    off_dimensions,
    off_samples,
    random_embeddings,
    sizes,
    tensor,
)

STARTS = 3
"""Descents, of which the one that ends lowest finds FroSSL's minimum: with 3 samples of 2 dimensions, or 4 of
3, about a tenth of them end in a local minimum that is higher, in which the views differ."""


def definitions(rng: Random, largest: int) -> Checked:
    """Definitions 3.1 and 3.2 as sums over pairs, and their difference."""
    z, _ = random_embeddings(rng, largest)

    def pairs(vectors: Tensor) -> float:
        """Sum of the squared inner products of distinct vectors."""
        return sum(
            float(first @ second) ** 2
            for i, first in enumerate(vectors)
            for j, second in enumerate(vectors)
            if i != j
        )

    fourth = [float(z.square().sum(axis).square().sum()) for axis in (0, 1)]
    nc, c = off_dimensions(z), off_samples(z)
    return Checked(
        sizes(z),
        {
            "def31/off-diagonal": against(nc, pairs(z.mT)),
            "def32/pairs": against(c, pairs(z)),
            "sec32/duality": against(nc + fourth[0], c + fourth[1]),
        },
    )


def welch(vectors: int, room: int) -> float:
    """Smallest sum of squared inner products of `vectors` distinct unit vectors in `room` dimensions."""
    return max(0.0, vectors**2 / room - vectors)


def proposition31(rng: Random, largest: int) -> Checked:
    """For unit-length dimensions, the variance term is log(L_nc + D), and FroSSL's minimum minimises L_nc."""
    z1, z2 = random_embeddings(rng, largest)
    u1, u2 = unit_columns(z1), unit_columns(z2)
    n, dims = z1.shape
    expected = (off_dimensions(u1) + dims).log() + (off_dimensions(u2) + dims).log()
    expected = expected + (u1 - u2).square().sum() / n
    loss_gradient = gradient(lambda z: gram_energy(unit_columns(z)).log(), z1)
    criterion_gradient = gradient(lambda z: off_dimensions(unit_columns(z)), z1)
    # Embeddings are centred, so columns lie in N - 1 dimensions.
    descents = (minimised(frossl, embeddings(rng, n, dims)) for _ in range(STARTS))
    ends = [unit_columns(z) for z in min(descents, key=lambda views: float(frossl(*views)))]
    gaps = [abs(float(off_dimensions(z)) - welch(dims, n - 1)) / dims for z in ends]
    unit_variance = [n**0.5 * z for z in (u1, u2)]
    diagonals = sum(norm2(z) - float(off_dimensions(z)) for z in unit_variance)
    return Checked(
        sizes(z1),
        {
            "prop31/criterion": against(frossl(z1, z2), expected),
            "prop31/gradient": against(loss_gradient, criterion_gradient / float(off_dimensions(u1) + dims)),
            "prop31/minimum": as_printed(max(gaps)),
            "prop31/views-agree": as_printed(float((ends[0] - ends[1]).norm() / dims**0.5)),
            "appE1-constant": {
                "printed": abs(2 * dims - diagonals) / diagonals,
                "corrected": abs(2 * dims * n**2 - diagonals) / diagonals,
            },
        },
    )


def proposition32(rng: Random, largest: int) -> Checked:
    """For unit-length embeddings, the variance term is log(L_c + N), and FroSSL's minimum minimises L_c."""
    z1, z2 = random_embeddings(rng, largest)
    n, dims = z1.shape

    def loss(z1: Tensor, z2: Tensor) -> Tensor:
        return frossl_as_given(unit_rows(z1), unit_rows(z2))

    u1, u2 = unit_rows(z1), unit_rows(z2)
    expected = (off_samples(u1) + n).log() + (off_samples(u2) + n).log() + (u1 - u2).square().sum() / n
    ends = [unit_rows(z) for z in minimised(loss, embeddings(rng, n, dims))]
    gaps = [abs(float(off_samples(z)) - welch(n, dims)) / n for z in ends]
    return Checked(
        sizes(z1),
        {
            "prop32/criterion": against(loss(z1, z2), expected),
            "prop32/minimum": as_printed(max(gaps)),
        },
    )


def scaled(values: Array, rows: float, columns: float) -> Array:
    """Sinkhorn's iteration to equal row sums and equal column sums."""
    for _ in range(300):
        values = values * (columns / values.sum(0))
        values = values * (rows / values.sum(1))[:, None]
    return values


def proposition33(rng: Random, largest: int) -> Checked:
    """Doubly stochastic matrices, against matrices with equal row norms and equal column norms.

    Among the former, |ZᵀZ|²_F is smallest when all entries are equal, since 1 is a singular value of each:
    all embeddings coincide. There L_nc and L_c are larger than for a permutation.
    """
    n, dims = size(rng, 3, 2 * largest), size(rng, 2, largest)
    eye = np.eye(n)
    stochastic = [
        tensor(z)
        for z in (
            np.full((n, n), 1 / n),
            eye[rng.permutation(n)],
            *(scaled(rng.uniform(0.05, 1, (n, n)), 1, 1) for _ in range(3)),
        )
    ]
    signs = rng.choice([-1, 1], (4, n, dims))
    squares = (scaled(rng.uniform(0.05, 1, (n, dims)), 1, n / dims) for _ in signs)
    equal_norms = [tensor(sign * square**0.5) for sign, square in zip(signs, squares, strict=True)]

    def missed(candidates: list[Tensor]) -> float:
        """Excess of L_nc and L_c, at the candidate with the smallest |ZᵀZ|², over their own minima."""
        best = min(candidates, key=norm2)
        excess = 0.0
        for criterion in (off_dimensions, off_samples):
            values = [float(criterion(z)) for z in candidates]
            excess = max(excess, (float(criterion(best)) - min(values)) / max(values))
        return excess

    z = equal_norms[0]
    constants = [norm2(z) - n**2 / dims, norm2(z) - n]
    return Checked(
        {"samples": n, "dims": dims},
        {
            "prop33-doubly-stochastic": {"printed": missed(stochastic), "corrected": missed(equal_norms)},
            "prop33/equal-norms": against(constants, [float(off_dimensions(z)), float(off_samples(z))]),
            "prop33/doubly-stochastic-collapse": as_printed(
                below_zero(np.array([norm2(z) - norm2(stochastic[0]) for z in stochastic] + [n]))
            ),
        },
    )


CHECKS = (definitions, proposition31, proposition32, proposition33)
