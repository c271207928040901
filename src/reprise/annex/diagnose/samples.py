"""Samples of embeddings as diagnostics see them: all that were gathered, or all but one random group."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray as Array
from torch import Tensor

GROUPS = 10
"""Groups of the jackknife: the variance of ten values, at the price of ten further spectra."""


class Correlation(NamedTuple):
    """Correlations of the first view's dimensions with the second's; 0 for constant ones.

    Attributes:
        same: of each dimension with itself, [dim].
        others: root mean square of those of different dimensions.
    """

    same: Float[Array, " dim"]
    others: float


@dataclass(frozen=True)
class Sample(ABC):
    """Some samples, as diagnostics read them.

    Attributes:
        count: number of samples.
        mean: of the embeddings, [view, dim].
        distance2: mean |u1 - u2|² of the two views at unit length; None for one view.
        potential: mean potential of pairs, [view].
        closer: share of negatives farther than the positive, [view]; None for one view.
    """

    count: int
    mean: Float[Array, "view dim"]
    distance2: float | None
    potential: Float[Array, " view"]
    closer: Float[Array, " view"] | None

    @abstractmethod
    def spectra(self, view: int) -> tuple[Float[Array, " rank"], Float[Array, " rank_of_moments"]]:
        """Eigenvalues of a view's covariance and of its second moments, both divided by `count`, largest
        first, without those that too few samples make 0."""

    @property
    @abstractmethod
    def discriminant(self) -> Float[Tensor, " dim"]:
        """Eigenvalues of LiDAR's matrix of the two views."""

    @property
    @abstractmethod
    def correlation(self) -> Correlation:
        """Correlations of the two views' dimensions."""

    @property
    def views(self) -> int:
        return len(self.mean)

    @property
    def dim(self) -> int:
        return self.mean.shape[1]

    @property
    def limit(self) -> int:
        """The highest rank that centred embeddings of so many samples can have."""
        return min(self.dim, self.count - 1)

    @cached_property
    def _spectra(self) -> list[Tensor]:
        each = [self.spectra(view) for view in range(self.views)]
        return [torch.from_numpy(np.stack(part)) for part in zip(*each, strict=True)]

    @property
    def eigenvalues(self) -> Float[Tensor, "view rank"]:
        """Eigenvalues of each view's covariance, largest first, as many as its rank can be."""
        return self._spectra[0]

    @property
    def singular_values(self) -> Float[Tensor, "view rank"]:
        """Singular values of each view's centred embeddings, over √count."""
        return self._spectra[0].sqrt()

    @property
    def uncentred_singular_values(self) -> Float[Tensor, "view rank"]:
        """Singular values of the embeddings as they are, over √count."""
        return self._spectra[1].sqrt()


@dataclass(frozen=True)
class Groups:
    """Sums over each group of samples, but for matrices. Embeddings are taken relative to `origin`, so that a
    small covariance keeps its digits beside a large mean.

    Attributes:
        of: each sample's group, [sample].
        origin: [view, dim].
        total: Σ (z - origin), [group, view, dim].
        distance2: Σ |u1 - u2|² of the two views at unit length, [group]; 0 for one view.
        potential: mean potential of each group's pairs, [group, view].
        closer: share of negatives farther than the positive, [group, view]; None for one view.
    """

    of: Int[Array, " sample"]
    origin: Float[Array, "view dim"]
    total: Float[Array, "group view dim"]
    distance2: Float[Array, " group"]
    potential: Float[Array, "group view"]
    closer: Float[Array, "group view"] | None

    def count(self, without: int | None) -> int:
        """Number of samples without those of a group."""
        return int((self.of != without).sum()) if without is not None else len(self.of)

    def shift(self, without: int | None) -> Float[Array, "view dim"]:
        """Mean of z - origin without a group."""
        return self._left(self.total, without).sum(0) / self.count(without)

    def statistics(self, without: int | None) -> dict:
        """The attributes of `Sample` without a group."""
        return {
            "count": self.count(without),
            "mean": self.shift(without) + self.origin,
            "distance2": None
            if self.closer is None
            else float(self._left(self.distance2, without).sum() / self.count(without)),
            "potential": self._left(self.potential, without).mean(0),
            "closer": None if self.closer is None else self._left(self.closer, without).mean(0),
        }

    @staticmethod
    def _left(values: Float[Array, "group *rest"], without: int | None) -> Float[Array, "left *rest"]:
        return values if without is None else np.delete(values, without, axis=0)


@dataclass(frozen=True)
class Gathered(ABC):
    """All samples, from which any group can be left out without reading them again."""

    groups: Groups

    @abstractmethod
    def sample(self, without: int | None = None) -> Sample:
        """All samples, or those that are not of a group."""

    @cached_property
    def whole(self) -> Sample:
        """All samples."""
        return self.sample()

    def leave_one_out(self) -> Iterator[Sample]:
        """All samples but those of one group, for each group; one at a time, as each holds large matrices."""
        for group in range(GROUPS):
            yield self.sample(group)
