"""Samples by the sums of their products, of size dim², for as many samples as there are."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray as Array
from scipy.linalg.blas import dsyrk
from torch import Tensor

from reprise.annex.diagnose.samples import GROUPS, Correlation, Gathered, Groups, Sample
from reprise.annex.diagnose.tridiagonal import mirror, reduced, reflect
from reprise.diagnostics.discriminant import discriminant_eigenvalues


class Products:
    """The sums of a first pass.

    Attributes:
        own: Σ x xᵀ of each view, of which the upper triangle is filled, [group, view, dim, dim].
        cross: Σ x1 x2ᵀ of two views, [group, dim, dim]; None for one.
    """

    def __init__(self, views: int, dim: int) -> None:
        self.own = np.zeros((GROUPS, views, dim, dim))
        self.cross = np.zeros((GROUPS, dim, dim)) if views == 2 else None

    def add(self, group: int, x: Float[Array, "view row dim"]) -> None:
        """Adds samples of a group, relative to the origin."""
        for view, values in enumerate(x):
            # Half of the products, in place: BLAS sees the transposes, as its matrices are in columns.
            dsyrk(1.0, values.T, 1.0, self.own[group, view].T, lower=1, overwrite_c=1)
        if self.cross is not None:
            self.cross[group] += x[0].T @ x[1]


@dataclass(frozen=True)
class Covariances(Gathered):
    """Samples by sums of products.

    Attributes:
        own, cross: as in `Products`.
        all_own, all_cross: their sums over groups.
    """

    own: Float[Array, "group view dim dim"]
    cross: Float[Array, "group dim dim"] | None
    all_own: Float[Array, "view dim dim"] = field(init=False)
    all_cross: Float[Array, "dim dim"] | None = field(init=False)

    def __post_init__(self) -> None:
        # Once: a group less than all is cheaper than adding up the others.
        object.__setattr__(self, "all_own", self.own.sum(0))
        object.__setattr__(self, "all_cross", None if self.cross is None else self.cross.sum(0))

    @classmethod
    def of(cls, groups: Groups, products: Products) -> "Covariances":
        return cls(groups, products.own, products.cross)

    def sample(self, without: int | None = None) -> "OfCovariance":
        count, shift = self.groups.count(without), self.groups.shift(without)
        own = [
            _symmetric(self._less(total, self.own[:, view], without) / count) - np.outer(x, x)
            for view, (total, x) in enumerate(zip(self.all_own, shift, strict=True))
        ]
        cross = None
        if self.cross is not None and self.all_cross is not None:
            cross = self._less(self.all_cross, self.cross, without) / count - np.outer(*shift)
        return OfCovariance(**self.groups.statistics(without), covariance=own, cross_covariance=cross)

    @staticmethod
    def _less(total: Array, each: Array, without: int | None) -> Array:
        return total if without is None else total - each[without]


@dataclass(frozen=True)
class OfCovariance(Sample):
    """Samples by their covariance, divided by `count`.

    Attributes:
        covariance: of each view, [dim, dim].
        cross_covariance: of the two views; None for one.
    """

    covariance: list[Float[Array, "dim dim"]]
    cross_covariance: Float[Array, "dim dim"] | None

    def spectra(self, view: int) -> tuple[Float[Array, " rank"], Float[Array, " rank_of_moments"]]:
        # The second moments are C + m mᵀ: with the mean m along the first axis, they differ in one element.
        matrix, mean = self.covariance[view].copy(), self.mean[view]
        reflect(matrix, mirror(mean))
        centred = reduced(matrix)
        moments = centred.raised(mean @ mean)
        return centred.eigenvalues()[: self.limit], moments.eigenvalues()[: min(self.dim, self.count)]

    @cached_property
    def discriminant(self) -> Float[Tensor, " dim"]:
        assert self.cross_covariance is not None
        both = self.cross_covariance + self.cross_covariance.T
        own = self.covariance[0] + self.covariance[1]
        offset = self.mean[0] - self.mean[1]
        between = (own + both) / 4 * (self.count / (self.count - 1))
        # Σ_w of two views is the mean of (x1 - x2)(x1 - x2)ᵀ / 2, not centred.
        within = (own - both + np.outer(offset, offset)) / 2
        return discriminant_eigenvalues(torch.from_numpy(between), torch.from_numpy(within))

    @cached_property
    def correlation(self) -> Correlation:
        assert self.cross_covariance is not None
        deviations = [np.sqrt(matrix.diagonal().clip(0)) for matrix in self.covariance]
        scale = np.outer(*deviations)
        c = np.divide(self.cross_covariance, scale, out=np.zeros_like(scale), where=scale > 0)
        same = c.diagonal().copy()
        np.fill_diagonal(c, 0.0)
        return Correlation(same, float(np.linalg.norm(c) / np.sqrt(self.dim * (self.dim - 1))))


def _symmetric(upper: Float[Array, "dim dim"]) -> Float[Array, "dim dim"]:
    """The symmetric matrix of an upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T
