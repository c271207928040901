"""Five readings of the loss, among them the pseudocode of Appendix A as printed, and Eq. 6 without its
logarithms, compared by the ratio of their terms' gradients."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import mse_loss

from reprise.numerics.streams import Streams
from reprise.objectives import gram_energy
from reprise.objectives.embeddings import centred, unit_columns
from reprise.papers.skean2024.theory.experiment import Params

Terms = tuple[Tensor, Tensor]
"""Invariance and variance terms."""
Normalisation = Callable[[Tensor], Tensor]


def eq6(normalised: Normalisation) -> Callable[[Tensor, Tensor], Terms]:
    """The two terms of Eq. 6 for normalised embeddings."""

    def terms(z1: Tensor, z2: Tensor) -> Terms:
        z1, z2 = normalised(z1), normalised(z2)
        variance = gram_energy(z1).log() + gram_energy(z2).log()
        return (z1 - z2).square().sum() / len(z1), variance

    return terms


def unit_variance(z: Tensor) -> Tensor:
    """Each dimension centred, with standard deviation 1 (the mean over the batch, not over N - 1)."""
    return len(z) ** 0.5 * unit_columns(z)


def uncentred(z: Tensor) -> Tensor:
    """Each dimension at unit length, not centred."""
    return torch.nn.functional.normalize(z, dim=0)


def one_scale(z: Tensor) -> Tensor:
    """Appendix A: `D**0.5 * (Z / Z.norm())` for centred embeddings; D, undefined there, is read as d."""
    z = centred(z)
    return z.shape[-1] ** 0.5 * z / z.norm()


def by_dimension(z: Tensor) -> Tensor:
    """Appendix A with a norm per dimension, `Z.norm(dim=0)`: each dimension has length sqrt(D)."""
    return z.shape[-1] ** 0.5 * unit_columns(z)


def pseudocode(normalised: Normalisation, power: int = 1) -> Callable[[Tensor, Tensor], Terms]:
    """The two terms of Appendix A: the squared error, also averaged over dimensions, and the logarithm of the
    norm, or with power 2, of its square."""

    def terms(z1: Tensor, z2: Tensor) -> Terms:
        z1, z2 = normalised(z1), normalised(z2)
        variance = gram_energy(z1).log() + gram_energy(z2).log()
        return mse_loss(z1, z2), power / 2 * variance

    return terms


def no_logs(z1: Tensor, z2: Tensor) -> Terms:
    """Eq. 6 for unit-length dimensions, without its logarithms."""
    invariance, _ = eq6(unit_columns)(z1, z2)
    return invariance, gram_energy(unit_columns(z1)) + gram_energy(unit_columns(z2))


READINGS = {
    "unit length": eq6(unit_columns),
    "unit variance": eq6(unit_variance),
    "not centred": eq6(uncentred),
    "pseudocode": pseudocode(one_scale),
    "pseudocode by dimension": pseudocode(by_dimension),
}
"""The first is the authors' code; the third is its later version for many views."""
COMPARED = {**READINGS, "no logarithms": no_logs}


def gradients(params: Params, progress: Callable[[int, int], None]) -> pd.DataFrame:
    """The norms of both terms' gradients for both views' embeddings, one row per reading, correlation, decay
    and seed."""
    rows = []
    cases = list(product(params.seed_range(params.seeds), params.decays))
    for done, (seed, decay) in enumerate(cases):
        progress(done, len(cases))
        first, second = _embeddings(params, seed, decay)
        for correlation in params.correlations:
            z2 = correlation * first + (1 - correlation**2) ** 0.5 * second
            for reading, terms in COMPARED.items():
                norms = _norms(terms, (first, z2))
                rows.append(
                    {
                        "reading": reading, "correlation": correlation, "decay": decay, "seed": seed,
                        "invariance": norms[0], "variance": norms[1],
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)


def _embeddings(params: Params, seed: int, decay: float) -> tuple[Tensor, Tensor]:
    """Two independent embeddings with the same covariance and a mean as large as their spread."""
    stream = Streams([seed], f"embeddings of decay {decay}")
    scale = torch.arange(1, params.dim + 1) ** -decay
    mixing, mean = scale[:, None] * stream.normal(params.dim, params.dim)[0], stream.normal(params.dim)[0]
    z1, z2 = (part @ mixing for part in stream.normal(2, params.batch, params.dim)[0])
    shift = mean * z1.std()
    return z1 + shift, z2 + shift


def _norms(terms: Callable[[Tensor, Tensor], Terms], views: tuple[Tensor, Tensor]) -> Float[np.ndarray, "2"]:
    leaves = [view.detach().requires_grad_() for view in views]
    values = terms(*leaves)
    parts = [torch.autograd.grad(term, leaves, retain_graph=True) for term in values]
    return np.array([float(sum(part.square().sum() for part in pair)) ** 0.5 for pair in parts])
