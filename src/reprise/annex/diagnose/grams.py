"""Samples by their products with each other, of size sample², for fewer samples than dimensions."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray as Array
from scipy.linalg import cho_factor, cho_solve
from torch import Tensor

from reprise.annex.diagnose.samples import Correlation, Gathered, Sample
from reprise.annex.diagnose.tridiagonal import mirror, reduced, reflect
from reprise.diagnostics.discriminant import DELTA


class Rows:
    """The embeddings of a first pass, relative to the origin, [view, sample, dim]."""

    def __init__(self, views: int, samples: int, dim: int) -> None:
        self.x = np.empty((views, samples, dim))

    def add(self, start: int, x: Float[Array, "view row dim"]) -> None:
        """Adds samples from a number on."""
        self.x[:, start : start + x.shape[1]] = x


@dataclass(frozen=True)
class Grams(Gathered):
    """Samples by Gram matrices of z - origin.

    Attributes:
        x: z - origin, [view, sample, dim].
        own: x xᵀ of each view, [view, sample, sample].
        cross: x1 x2ᵀ of two views, [sample, sample]; None for one.
    """

    x: Float[Array, "view sample dim"]
    own: Float[Array, "view sample sample"] = field(init=False)
    cross: Float[Array, "sample sample"] | None = field(init=False)

    def __post_init__(self) -> None:
        own = np.stack([each @ each.T for each in self.x])  # NumPy computes half of it and mirrors it
        object.__setattr__(self, "own", own)
        object.__setattr__(self, "cross", self.x[0] @ self.x[1].T if len(self.x) == 2 else None)

    def sample(self, without: int | None = None) -> "OfGram":
        chosen = np.ones(len(self.groups.of), bool) if without is None else self.groups.of != without
        return OfGram(**self.groups.statistics(without), gathered=self, chosen=chosen)


@dataclass(frozen=True)
class OfGram(Sample):
    """Samples by a part of Gram matrices.

    Attributes:
        chosen: which samples, [sample].
    """

    gathered: Grams
    chosen: Bool[Array, " sample"]

    def spectra(self, view: int) -> tuple[Float[Array, " rank"], Float[Array, " rank_of_moments"]]:
        # In a basis whose first axis is 1/√n, the Gram matrix of z is the centred one with another first row.
        n, mean, origin = self.count, self.mean[view], self.gathered.groups.origin[view]
        matrix, one = self._part(self.gathered.own[view]), np.ones(n)
        v = mirror(one)
        reflect(matrix, v)
        along = self._x(view) @ origin
        along = (along - 2 * (v @ along) * v) * (one[0] - 2 * (v @ one) * v[0])
        matrix[0, 1:] = matrix[1:, 0] = matrix[0, 1:] + along[1:]
        matrix[0, 0] = n * (mean @ mean)
        moments = reduced(matrix)
        return moments.without_first().eigenvalues() / n, moments.eigenvalues() / n

    @cached_property
    def discriminant(self) -> Float[Tensor, " dim"]:
        # The eigenvalues of Σ_w⁻¹ Σ_b that are not 0 are those of a matrix [sample, sample]: with the centred
        # means M and the differences D over √2, M (n δ I + Dᵀ D)⁻¹ Mᵀ n / (n - 1), which is by Woodbury's
        # identity (M Mᵀ - M Dᵀ (n δ I + D Dᵀ)⁻¹ D Mᵀ) / (δ (n - 1)).
        assert self.gathered.cross is not None
        n, cross = self.count, self._part(self.gathered.cross)
        first, second = map(self._part, self.gathered.own)
        offset = self.gathered.groups.origin[0] - self.gathered.groups.origin[1]
        along = [self._x(view) @ offset for view in range(2)]
        means, differences = along[0] + along[1], along[0] - along[1]
        of_means = _centred(first + second + cross + cross.T) / 4
        of_differences = (
            first + second - cross - cross.T + differences[:, None] + differences + offset @ offset
        ) / 2
        mixed = (first - second - cross + cross.T + means[:, None]) / np.sqrt(8)
        mixed -= mixed.mean(0)
        of_differences[np.diag_indices(n)] += n * DELTA
        inner = cho_solve(cho_factor(of_differences, lower=True), mixed.T)
        values = reduced(np.ascontiguousarray(of_means - mixed @ inner)).eigenvalues()[: n - 1]
        padded = np.zeros(self.dim)
        padded[: n - 1] = values / (DELTA * (n - 1))
        return torch.from_numpy(padded)

    @cached_property
    def correlation(self) -> Correlation:
        standard = [self._standard(view) for view in range(2)]
        same = np.einsum("sd,sd->d", *standard)
        # Σ_ij C_ij² = tr(X1ᵀ X2 X2ᵀ X1) is the inner product of two Gram matrices.
        square = np.vdot(*(each @ each.T for each in standard)) - same @ same
        return Correlation(same, float(np.sqrt(max(square, 0.0) / (self.dim * (self.dim - 1)))))

    def _standard(self, view: int) -> Float[Array, "chosen dim"]:
        """Centred embeddings of unit length in each dimension; 0 in constant ones."""
        x = self._x(view)
        x = x - x.mean(0)
        length = np.sqrt(np.einsum("sd,sd->d", x, x))
        return np.divide(x, length, out=np.zeros_like(x), where=length > 0)

    def _x(self, view: int) -> Float[Array, "chosen dim"]:
        return self.gathered.x[view][self.chosen]

    def _part(self, gram: Float[Array, "sample sample"]) -> Float[Array, "chosen chosen"]:
        """A copy of the rows and columns of the chosen samples."""
        return gram[np.ix_(self.chosen, self.chosen)]


def _centred(gram: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The Gram matrix of embeddings without their mean."""
    means = gram.mean(0)
    return gram - means - means[:, None] + means.mean()
