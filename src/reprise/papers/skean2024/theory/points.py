"""Random embeddings of two views, and what the formulas make of embeddings."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reprise.evidence.identities import Array, Random, size

Embeddings = Float[Array, "sample dim"]


@dataclass(frozen=True)
class Views:
    """Embeddings of two views, not centred, with a different scale in every dimension."""

    z1: Embeddings
    z2: Embeddings

    @property
    def sizes(self) -> dict[str, int]:
        return sizes(self.z1)


def sizes(z: Embeddings) -> dict[str, int]:
    return {"samples": z.shape[0], "dims": z.shape[1]}


def views(rng: Random, samples: int, dims: int) -> Views:
    """Two correlated views."""
    mean, scale = rng.normal(size=dims), rng.uniform(0.3, 3, dims)
    z1 = rng.normal(size=(samples, dims))
    z2 = 0.7 * z1 + 0.7 * rng.normal(size=(samples, dims))
    return Views(z1 * scale + mean, z2 * scale + mean)


def two_views(rng: Random, largest: int) -> Views:
    """Embeddings with more samples than dimensions, or fewer."""
    return views(rng, size(rng, 3, 2 * largest), size(rng, 2, 2 * largest))


def rotation(rng: Random, dims: int) -> Float[Array, "dim dim"]:
    """A uniformly random orthogonal matrix, of either sign."""
    q, r = np.linalg.qr(rng.normal(size=(dims, dims)))
    return q * np.sign(np.diag(r))


def energy(z: Embeddings) -> float:
    """|ZᵀZ|²_F."""
    return float(np.square(z.T @ z).sum())


def eq_5(z1: Embeddings, z2: Embeddings) -> float:
    """The mean-squared error between the views."""
    return float(np.square(z1 - z2).sum()) / len(z1)


def eq_6(z1: Embeddings, z2: Embeddings) -> float:
    """FroSSL of embeddings as they are."""
    return float(np.log(energy(z1)) + np.log(energy(z2))) + eq_5(z1, z2)


def unit_columns(z: Embeddings) -> Embeddings:
    """Each dimension centred and at unit length."""
    z = z - z.mean(0)
    return z / np.linalg.norm(z, axis=0)


def unit_rows(z: Embeddings) -> Embeddings:
    """Each embedding at unit length."""
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def off_dimensions(z: Embeddings) -> float:
    """L_nc of Definition 3.1: |ZᵀZ - diag(ZᵀZ)|²_F."""
    gram = z.T @ z
    return float(np.square(gram - np.diag(np.diag(gram))).sum())


def off_samples(z: Embeddings) -> float:
    """L_c of Definition 3.2: |ZZᵀ - diag(ZZᵀ)|²_F."""
    return off_dimensions(z.T)
