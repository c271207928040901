"""Random samples and matrices of a given signature, away from zero and from symmetric points."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reprise.evidence.identities import Array, Random, orthonormal, size


@dataclass(frozen=True)
class Triplets:
    """Anchors, each with a positive and a negative."""

    x: Float[Array, "sample dim"]
    positive: Float[Array, "sample dim"]
    negative: Float[Array, "sample dim"]

    @property
    def cross(self) -> Float[Array, "dim dim"]:
        """C~ of Eq. 7."""
        return self.x.T @ (self.negative - self.positive)

    @property
    def matrix(self) -> Float[Array, "dim dim"]:
        """C of Eq. 7."""
        return (self.cross + self.cross.T) / 2


def random_triplets(rng: Random, dim: int) -> Triplets:
    """Random samples, not centred."""
    samples = size(rng, dim + 2, 2 * dim + 4)
    mean = 0.5 * rng.normal(size=dim)
    x, negative = rng.normal(size=(samples, dim)) + mean, rng.normal(size=(samples, dim)) + mean
    return Triplets(x, x + 0.3 * rng.normal(size=(samples, dim)), negative)


def triplets_of(rng: Random, matrix: Array) -> Triplets:
    """Samples that span the space and have the given C."""
    dim = len(matrix)
    x = rng.normal(size=(size(rng, dim + 2, 2 * dim + 4), dim))
    positive = x + 0.3 * rng.normal(size=x.shape)
    return Triplets(x, positive, positive + x @ np.linalg.solve(x.T @ x, matrix))


def symmetric(rng: Random, negative: int, positive: int) -> Array:
    """A random symmetric matrix, with eigenvalues of size 0.5 to 2 at least 0.1 apart. Shape [dim, dim].

    Args:
        negative, positive: number of eigenvalues of each sign.
    """
    dim = negative + positive
    while True:
        values = rng.uniform(0.5, 2, dim) * np.where(np.arange(dim) < negative, -1, 1)
        if np.diff(np.sort(values)).min(initial=1) > 0.1:
            break
    vectors = orthonormal(rng, dim, dim)
    return (vectors * values) @ vectors.T
