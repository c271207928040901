"""One pass over embeddings, in blocks of rows: the sums from which all diagnostics follow, for each of a few
random groups of samples, so that a diagnostic without one of the groups costs no second pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray as Array
from torch import Tensor
from torch.nn.functional import normalize

from reprise.diagnostics.balance import alignment_score
from reprise.diagnostics.discriminant import discriminant_eigenvalues
from reprise.diagnostics.hypersphere import mean_potential
from reprise.errors import RepriseError

GROUPS = 10
"""Groups of the jackknife: the variance of ten values, at the price of ten further spectra."""
LEAST = 4 * GROUPS
"""Samples needed, at least."""
MOST_DIMENSIONS = 8192
"""Ten matrices of 8192² numbers in float64 take 5.4 GB."""
PAIRED = 512
"""Rows of each group whose pairs are compared; of all pairs there are too many."""
SHIFTS = 8
"""Negatives of each sample in the alignment score."""
LARGEST = 1e30
"""Larger numbers overflow in single precision, or their products in double."""
BLOCK = 2**24
"""Numbers read at a time: 128 MiB in float64."""


@dataclass(frozen=True)
class Sums:
    """Sums over the samples of each group. Embeddings are taken relative to `origin`, so that a small
    covariance keeps its digits beside a large mean.

    Attributes:
        origin: [view, dim].
        count: [group].
        total: Σ x, [group, view, dim].
        gram: Σ x xᵀ, [group, view, dim, dim].
        cross: Σ x1 x2ᵀ of two views, [group, dim, dim]; None for one.
        distance2: Σ |u1 - u2|² at unit length, [group]; None for one view.
        potential: of each group's pairs, [group, view].
        closer: share of negatives farther than the positive, [group, view]; None for one view.
    """

    origin: Float[Tensor, "view dim"]
    count: Float[Tensor, " group"]
    total: Float[Tensor, "group view dim"]
    gram: Float[Tensor, "group view dim dim"]
    cross: Float[Tensor, "group dim dim"] | None
    distance2: Float[Tensor, " group"] | None
    potential: Float[Tensor, "group view"]
    closer: Float[Tensor, "group view"] | None


@dataclass(frozen=True)
class Sample:
    """The sums over all samples, or over all but one group, and the spectra that follow.

    Attributes:
        count: number of samples.
        mean: of the embeddings themselves, [view, dim].
        covariance: divided by `count`, [view, dim, dim].
        cross_covariance: of the two views, [dim, dim]; None for one view.
        distance2, potential, closer: as in `Sums`, averaged.
    """

    count: int
    mean: Float[Tensor, "view dim"]
    covariance: Float[Tensor, "view dim dim"]
    cross_covariance: Float[Tensor, "dim dim"] | None
    distance2: float | None
    potential: Float[Tensor, " view"]
    closer: Float[Tensor, " view"] | None

    @property
    def views(self) -> int:
        return len(self.mean)

    @property
    def limit(self) -> int:
        """The highest rank that centred embeddings of so many samples can have."""
        return min(self.mean.shape[-1], self.count - 1)

    @cached_property
    def eigenvalues(self) -> Float[Tensor, "view rank"]:
        """Eigenvalues of each view's covariance, largest first, without those that too few samples make 0."""
        return torch.stack([_eigenvalues(matrix) for matrix in self.covariance])[:, : self.limit]

    @cached_property
    def singular_values(self) -> Float[Tensor, "view rank"]:
        """Singular values of each view's centred embeddings, over sqrt(count)."""
        return self.eigenvalues.sqrt()

    @cached_property
    def uncentred_singular_values(self) -> Float[Tensor, "view rank"]:
        """Singular values of the embeddings as they are, over sqrt(count)."""
        moments = self.covariance + self.mean[:, :, None] * self.mean[:, None]
        rank = min(self.mean.shape[-1], self.count)
        return torch.stack([_eigenvalues(matrix) for matrix in moments])[:, :rank].sqrt()

    @cached_property
    def discriminant(self) -> Float[Tensor, " dim"]:
        """Eigenvalues of LiDAR's matrix of the two views."""
        assert self.cross_covariance is not None
        both = self.cross_covariance + self.cross_covariance.mT
        own = self.covariance.sum(0)
        offset = self.mean[0] - self.mean[1]
        n = self.count
        between = (own + both) / 4 * (n / (n - 1))
        # Σ_w of two views is the mean of (x1 - x2)(x1 - x2)ᵀ / 2, not centred.
        within = (own - both + offset[:, None] * offset) / 2
        return discriminant_eigenvalues(between, within)

    @cached_property
    def correlation(self) -> Float[Tensor, "dim dim"]:
        """Correlation of each dimension of the first view with each of the second; 0 for constant ones."""
        assert self.cross_covariance is not None
        deviations = self.covariance.diagonal(dim1=-2, dim2=-1).clamp_min(0).sqrt()
        scale = deviations[0][:, None] * deviations[1]
        return torch.where(scale > 0, self.cross_covariance / scale, 0.0)


def sums(views: Sequence[Float[Array, "sample dim"]], names: Sequence[str]) -> Sums:
    """Reads the embeddings once.

    Memory: (3 `GROUPS` + 10) dim² * 8 bytes for two views, a third of that for one, and a few blocks of
    `BLOCK` numbers, however many samples there are.

    Args:
        views: one or two matrices of one shape; in memory or mapped into it.
        names: of the views, for messages.

    Raises:
        RepriseError: if the shapes differ, there are fewer than `LEAST` samples or more than
            `MOST_DIMENSIONS` dimensions, or a row is not finite.
    """
    samples, dim = _shape(views, names)
    origin = torch.stack([_origin(view) for view in views])
    group = torch.from_numpy(np.random.default_rng(0).permutation(samples) % GROUPS)
    count = torch.bincount(group, minlength=GROUPS).double()
    total = torch.zeros(GROUPS, len(views), dim, dtype=torch.float64)
    gram = torch.zeros(GROUPS, len(views), dim, dim, dtype=torch.float64)
    two = len(views) == 2
    cross = torch.zeros(GROUPS, dim, dim, dtype=torch.float64) if two else None
    distance2 = torch.zeros(GROUPS, dtype=torch.float64) if two else None
    kept: list[list[Tensor]] = [[] for _ in range(GROUPS)]
    for start, rows in _blocks(views, names):
        block_group = group[start : start + rows.shape[1]]
        for index in range(GROUPS):
            part = rows[:, block_group == index]
            room = PAIRED - sum(earlier.shape[1] for earlier in kept[index])
            if room > 0:
                kept[index].append(part[:, :room].clone())
            if two and distance2 is not None:
                unit = normalize(part, dim=-1)
                distance2[index] += (unit[0] - unit[1]).square().sum()
            part = part - origin[:, None]
            total[index] += part.sum(1)
            for view, values in enumerate(part):
                array = values.numpy()
                gram[index, view] += torch.from_numpy(
                    array.T @ array
                )  # NumPy computes half of it and mirrors it
            if cross is not None:
                cross[index] += part[0].mT @ part[1]
    pairs = [torch.cat(parts, 1) for parts in kept]
    potential = torch.stack([mean_potential(each) for each in pairs])
    closer = torch.stack([_closer(each) for each in pairs]) if two else None
    return Sums(origin, count, total, gram, cross, distance2, potential, closer)


def whole(sums: Sums) -> Sample:
    """All samples."""
    return _sample(sums, torch.ones(GROUPS, dtype=torch.bool))


def leave_one_out(sums: Sums) -> Iterator[Sample]:
    """All samples but those of one group, for each group."""
    for index in range(GROUPS):
        yield _sample(sums, torch.arange(GROUPS) != index)


def _sample(sums: Sums, chosen: Tensor) -> Sample:
    left_out = (~chosen).nonzero().squeeze(1)

    def over(values: Tensor) -> Tensor:
        # One large matrix less than all: cheaper than adding up the rest.
        return values.sum(0) - values[left_out].sum(0)

    n = over(sums.count)
    mean = over(sums.total) / n
    covariance = over(sums.gram) / n - mean[:, :, None] * mean[:, None]
    cross = None if sums.cross is None else over(sums.cross) / n - mean[0][:, None] * mean[1]
    return Sample(
        int(n),
        mean + sums.origin,
        covariance,
        cross,
        None if sums.distance2 is None else float(over(sums.distance2) / n),
        sums.potential[chosen].mean(0),
        None if sums.closer is None else sums.closer[chosen].mean(0),
    )


def _eigenvalues(matrix: Float[Tensor, "dim dim"]) -> Float[Tensor, " dim"]:
    """Largest first; what rounding leaves of a 0 is 0."""
    values = torch.linalg.eigvalsh(matrix).flip(-1)
    rounding = len(values) * torch.finfo(values.dtype).eps * values[0].clamp_min(0)
    return torch.where(values > rounding, values, 0.0)


def _closer(pairs: Float[Tensor, "2 sample dim"]) -> Float[Tensor, " view"]:
    """The alignment score with negatives from the second view, and from the first."""
    first, second = pairs
    shifts = range(1, min(SHIFTS, pairs.shape[1] - 1) + 1)
    return torch.stack(
        [
            torch.stack([alignment_score(a, b, b.roll(shift, 0)) for shift in shifts]).mean()
            for a, b in ((first, second), (second, first))
        ]
    )


def _shape(views: Sequence[Array], names: Sequence[str]) -> tuple[int, int]:
    shape = views[0].shape
    for view, name in zip(views, names, strict=True):
        if view.shape != shape:
            raise RepriseError(
                f"{name}: shape {list(view.shape)}, but {names[0]} has {list(shape)}; row i of both must be "
                "two views of sample i, in as many dimensions"
            )
    samples, dim = shape
    if samples < LEAST:
        raise RepriseError(f"{names[0]}: {samples} samples; intervals need {LEAST} or more")
    if not 2 <= dim <= MOST_DIMENSIONS:
        raise RepriseError(f"{names[0]}: {dim} dimensions; expected 2 to {MOST_DIMENSIONS}")
    return samples, dim


def _origin(view: Array) -> Float[Tensor, " dim"]:
    rows = np.asarray(view[:1024], np.float64)
    rows = rows[np.isfinite(rows).all(1)]
    return torch.from_numpy(rows.mean(0) if len(rows) else np.zeros(view.shape[1]))


def _blocks(
    views: Sequence[Array], names: Sequence[str]
) -> Iterator[tuple[int, Float[Tensor, "view row dim"]]]:
    samples, dim = views[0].shape
    size = max(1, BLOCK // dim)
    for start, stop in pairwise([*range(0, samples, size), samples]):
        rows = torch.from_numpy(np.stack([np.asarray(view[start:stop], np.float64) for view in views]))
        for view, name in zip(rows, names, strict=True):
            bad = (~view.isfinite().all(1)).nonzero().squeeze(1) + start
            if len(bad):
                listed = ", ".join(map(str, bad[:5].tolist()))
                more = f" and {len(bad) - 5} more of this block" if len(bad) > 5 else ""
                raise RepriseError(
                    f"{name}: NaN or infinity in row{'s' * (len(bad) > 1)} {listed}{more} (counted from 0); "
                    "leave these samples out of all files"
                )
            if (largest := float(view.abs().max())) > LARGEST:
                raise RepriseError(
                    f"{name}: numbers up to {largest:.0e}, whose products overflow; scale the embeddings "
                    f"below {LARGEST:.0e}"
                )
        yield start, rows
