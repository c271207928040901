"""One pass over embeddings, in blocks of rows: the sums from which all diagnostics follow, for each of a few
random groups of samples, so that a diagnostic without one of the groups costs no second pass."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray as Array
from torch import Tensor

from reprise.annex.diagnose.covariances import Covariances, Products
from reprise.annex.diagnose.grams import Grams, Rows
from reprise.annex.diagnose.samples import GROUPS, Gathered, Groups
from reprise.diagnostics.balance import alignment_score
from reprise.diagnostics.hypersphere import mean_potential
from reprise.errors import RepriseError

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
PRODUCTS, REDUCTIONS = 3e10, 1.2e10
"""Multiplications a second of one core, in matrix products and in reductions to tridiagonal form."""
BLOCK = 2**24
"""Numbers read at a time: 128 MiB in float64."""


def gather(
    views: Sequence[Float[Array, "sample dim"]],
    names: Sequence[str],
    progress: Callable[[float], None] = lambda share: None,
) -> Gathered:
    """Reads the embeddings once.

    Memory, in numbers of 8 bytes, besides a few blocks of `BLOCK`: of fewer samples than dimensions, all
    embeddings and 7 sample² for two views; otherwise (3 `GROUPS` + 10) dim², however many samples there are;
    for one view a third of either.

    Args:
        views: one or two matrices of one shape; in memory or mapped into it.
        names: of the views, for messages.
        progress: called with the share that is read.

    Raises:
        RepriseError: if the shapes differ, there are fewer than `LEAST` samples or more than
            `MOST_DIMENSIONS` dimensions, or a row is not finite.
    """
    samples, dim = _shape(views, names)
    group = np.random.default_rng(0).permutation(samples) % GROUPS
    origin = np.stack([_origin(view) for view in views])
    total, distance2 = np.zeros((GROUPS, len(views), dim)), np.zeros(GROUPS)
    matrices = Rows(len(views), samples, dim) if samples < dim else Products(len(views), dim)
    pairs: list[list[Array]] = [[] for _ in range(GROUPS)]
    for start, rows in _blocks(views, names):
        of_block = group[start : start + rows.shape[1]]
        for index in range(GROUPS):
            part = rows.compress(of_block == index, axis=1)
            if not part.shape[1]:
                continue
            room = PAIRED - sum(earlier.shape[1] for earlier in pairs[index])
            pairs[index].append(part[:, : max(room, 0)].copy())
            if len(views) == 2:
                unit = part / np.linalg.norm(part, axis=-1, keepdims=True).clip(1e-12)
                distance2[index] += np.square(unit[0] - unit[1]).sum()
            part -= origin[:, None]
            total[index] += part.sum(1)
            if isinstance(matrices, Products):
                matrices.add(index, part)
        if isinstance(matrices, Rows):
            matrices.add(start, rows - origin[:, None])
        progress((start + len(of_block)) / samples)
    compared = [torch.from_numpy(np.concatenate(parts, 1)) for parts in pairs]
    groups = Groups(
        group,
        origin,
        total,
        distance2,
        torch.stack([mean_potential(each) for each in compared]).numpy(),
        torch.stack([_closer(each) for each in compared]).numpy() if len(views) == 2 else None,
    )
    return Grams(groups, matrices.x) if isinstance(matrices, Rows) else Covariances.of(groups, matrices)


def expected_seconds(samples: int, dim: int, views: int) -> dict[str, float]:
    """The seconds that gathering and observing embeddings of these sizes take on one core, by name."""
    size, two = min(samples, dim), views == 2
    products = (4 if two else 1) * samples * dim * size
    # With two views LiDAR's matrix is formed and reduced, too; with few samples, so are correlations.
    reductions = (3 if two else 1) * size**3
    further = 2 * size**3 + (2 * size**2 * dim if samples < dim else 0) if two else 0
    each = reductions / REDUCTIONS + further / PRODUCTS
    return {"reading": products / PRODUCTS, "spectra": (GROUPS + 1) * each}


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
        hint = "; pool feature maps over pixels" if dim > 1 else ""
        raise RepriseError(f"{names[0]}: {dim} dimensions; expected 2 to {MOST_DIMENSIONS}{hint}")
    return samples, dim


def _origin(view: Array) -> Float[Array, " dim"]:
    rows = np.asarray(view[:1024], np.float64)
    rows = rows[np.isfinite(rows).all(1)]
    # The mean of equal numbers is rounded; of their differences, it is exact: constant dimensions become 0.
    return rows[0] + (rows - rows[0]).mean(0) if len(rows) else np.zeros(view.shape[1])


def _blocks(
    views: Sequence[Array], names: Sequence[str]
) -> Iterator[tuple[int, Float[Array, "view row dim"]]]:
    samples, dim = views[0].shape
    size = max(1, BLOCK // dim)
    for start, stop in pairwise([*range(0, samples, size), samples]):
        rows = np.stack([np.asarray(view[start:stop], np.float64) for view in views])
        for view, name in zip(rows, names, strict=True):
            bad = np.flatnonzero(~np.isfinite(view).all(1)) + start
            if len(bad):
                listed = ", ".join(map(str, bad[:5].tolist()))
                more = f" and {len(bad) - 5} more of this block" if len(bad) > 5 else ""
                raise RepriseError(
                    f"{name}: NaN or infinity in row{'s' * (len(bad) > 1)} {listed}{more} (counted from 0); "
                    "leave these samples out of all files"
                )
            if (largest := float(np.abs(view).max())) > LARGEST:
                raise RepriseError(
                    f"{name}: numbers up to {largest:.0e}, whose products overflow; scale the embeddings "
                    f"below {LARGEST:.0e}"
                )
        yield start, rows
