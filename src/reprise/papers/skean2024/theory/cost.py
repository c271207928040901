"""Sections 3 and 4.3: the cost of a variance term compared with a log determinant: operations and time."""

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

from reprise.bench.timing import seconds
from reprise.numerics.streams import Streams
from reprise.papers.skean2024.theory.experiment import Params

EPSILON = 1e-6
"""ε of Eq. 7; the value used by CorInfoMax's authors."""


def covariance_norm(z: Tensor) -> Tensor:
    """log |ZᵀZ|²_F, as in the paper's experiments."""
    return (z.mT @ z).square().sum().log()


def gram_norm(z: Tensor) -> Tensor:
    """log |ZZᵀ|²_F, equal to `covariance_norm`."""
    return (z @ z.mT).square().sum().log()


def determinant(z: Tensor, epsilon: float = EPSILON) -> Tensor:
    """log det(ZᵀZ + ε I)."""
    return torch.logdet(z.mT @ z + epsilon * torch.eye(z.shape[-1], dtype=z.dtype))


def determinant_of_samples(z: Tensor, epsilon: float = EPSILON) -> Tensor:
    """The `determinant` by the smaller matrix if N < D: log det(ZZᵀ + ε I) + (D - N) log ε."""
    n, dims = z.shape
    return determinant(z.mT, epsilon) + (dims - n) * np.log(epsilon)


TERMS: dict[str, Callable[[Tensor], Tensor]] = {
    "covariance norm": covariance_norm,
    "Gram norm": gram_norm,
    "log determinant": determinant,
    "log determinant of samples": determinant_of_samples,
}


def operations(params: Params) -> pd.DataFrame:
    """Floating-point operations of one view's term, one row per term, number of samples (half the batch to
    twice the batch) and dimension: those of the matrix products that torch is asked for, and 2/3 n³ for the
    LU decomposition of an n x n matrix. Elementwise operations are not counted. Nothing is computed."""
    rows = []
    batches = (params.batch // 2, params.batch, 2 * params.batch)
    for name, samples, dim in product(TERMS, batches, params.timed_dims):
        with FakeTensorMode(), FlopCounterMode(display=False, custom_mapping=DECOMPOSITIONS) as counter:
            TERMS[name](torch.empty(samples, dim))
        rows.append(
            {"term": name, "samples": samples, "dim": dim, "operations": float(counter.get_total_flops())}
        )
    return pd.DataFrame(rows)


def _lu(shape: torch.Size, *_: object, **__: object) -> int:
    return 2 * shape[-1] ** 3 // 3


DECOMPOSITIONS = {torch.ops.aten._linalg_slogdet: _lu}
"""Operation counts of decompositions, which torch does not have."""


def times(params: Params) -> pd.DataFrame:
    """CPU seconds of one view's term, one row per term, dimension and repeat (`seed`).

    Each repeat covers all dimensions, so that a temporary slowdown of the machine affects them alike.
    """
    rows = []
    for repeat, dim in product(params.seed_range(params.repeats), params.timed_dims):
        z = Streams([repeat], "timed embeddings").normal(params.batch, dim)[0]
        for name, term in TERMS.items():
            duration = seconds(partial(_forget, term, z))
            rows.append({"term": name, "dim": dim, "seed": repeat, "seconds": duration})
    return pd.DataFrame(rows)


def _forget(term: Callable[[Tensor], Tensor], z: Tensor) -> None:
    term(z)
