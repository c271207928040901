"""Five possible readings of the loss, compared by the ratio of their terms' gradients, among them the
pseudocode of Appendix A as printed."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import mse_loss

from reprise.evidence.identities import Checked, Random, as_printed, relative_error
from reprise.numerics.streams import Streams
from reprise.objectives import frossl, gram_energy
from reprise.objectives.embeddings import centred, unit_columns
from reprise.papers.skean2024.theory.experiment import Params
from reprise.papers.skean2024.theory.points import Views, gradient, random_embeddings, sizes

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
    """The same with a norm per dimension, `Z.norm(dim=0)`: each dimension has length sqrt(D)."""
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
    cases = list(product(range(params.seeds), params.decays))
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


def _norms(terms: Callable[[Tensor, Tensor], Terms], views: Views) -> Float[np.ndarray, "2"]:
    leaves = [view.detach().requires_grad_() for view in views]
    values = terms(*leaves)
    parts = [torch.autograd.grad(term, leaves, retain_graph=True) for term in values]
    return np.array([float(sum(part.square().sum() for part in pair)) ** 0.5 for pair in parts])


def appendix_a(rng: Random, largest: int) -> Checked:
    """The pseudocode against Eq. 6 for dimensions of equal variance, line by line and as a whole."""
    z1, z2 = random_embeddings(rng, largest)
    n, dims = z1.shape

    def gradient_of(terms: Callable[[Tensor, Tensor], Terms], *indices: int) -> np.ndarray:
        return gradient(lambda *views: torch.stack([terms(*views)[i] for i in indices]).sum(), z1, z2)

    expected = gradient(frossl, z1, z2)
    eq4 = gradient_of(READINGS["unit length"], 1)
    variances = {
        form: normalised(z1).var(0, correction=0).numpy()
        for form, normalised in (("printed", one_scale), ("corrected", by_dimension))
    }
    stds = by_dimension(z1).std(0, correction=0).numpy()
    return Checked(
        sizes(z1),
        {
            "appA-norm": {
                form: float(variance.std() / variance.mean()) for form, variance in variances.items()
            },
            "appA-std": {
                "printed": relative_error(stds, np.full(dims, dims**0.5)),
                "corrected": relative_error(stds, np.full(dims, (dims / n) ** 0.5)),
            },
            "appA-log": {
                "printed": relative_error(gradient_of(pseudocode(by_dimension), 1), eq4),
                "corrected": relative_error(gradient_of(pseudocode(by_dimension, 2), 1), eq4),
            },
            "appA-pseudocode": {
                "printed": relative_error(gradient_of(pseudocode(one_scale), 0, 1), expected),
                "corrected": relative_error(gradient_of(pseudocode(by_dimension, 2), 0, 1), expected),
            },
        },
    )


def weights(rng: Random, largest: int) -> Checked:
    """The weight that each reading gives to invariance, from the ratio of gradients."""
    views = random_embeddings(rng, largest)
    n, dims = views[0].shape
    ratio = {name: np.divide(*_norms(terms, views)) for name, terms in READINGS.items()}
    u1, u2 = (unit_columns(view) for view in views)
    correlation = float((u1 * u2).sum(0).mean())
    invariance = float(READINGS["unit length"](*views)[0])
    expected = 2 * dims / n * (1 - correlation)
    return Checked(
        sizes(views[0]),
        {
            "readings/unit-variance": as_printed(abs(ratio["unit variance"] / ratio["unit length"] / n - 1)),
            "readings/pseudocode-by-dimension": as_printed(
                abs(ratio["pseudocode by dimension"] / ratio["unit length"] / 2 - 1)
            ),
            "sec31/equal-weights-depend-on-batch": as_printed(abs(invariance / expected - 1)),
        },
    )


CHECKS = (appendix_a, weights)
