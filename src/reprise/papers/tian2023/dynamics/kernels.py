"""Section 2: the contrastive covariance, and its limit for large batches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.errata import Misprint, Text
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, below_zero, relative_error, size
from reprise.papers.tian2023.dynamics.points import Batch, random_batch, tensor

if TYPE_CHECKING:
    from torch import Tensor


def gaussian_features(y: Array, temperature: float) -> Array:
    """φ of Eq. 22 for nonnegative y = g - v, with equal products merged.

    Each y1^a1 ... yd^ad occurs k!/(a1! ... ad!) times among the d^k products of AllChoose. One feature with
    the square root of that number as a factor gives the same inner products. The series is truncated when its
    remainder falls below 1e-14 of the whole.

    Shapes [sample, d] -> [sample, feature].
    """
    from scipy.special import gammaln
    from scipy.stats import poisson

    dim = y.shape[1]
    degree = int(poisson.isf(1e-14, max((y**2).sum(1).max() / temperature, 1e-3))) + 2
    powers = np.array([a for a in product(range(degree + 1), repeat=dim) if sum(a) <= degree])
    monomials = (y / np.sqrt(temperature))[:, None, :] ** powers
    features = monomials.prod(-1) * np.exp(-gammaln(powers + 1).sum(1) / 2)
    return np.exp(-(y**2).sum(1, keepdims=True) / (2 * temperature)) * features


@dataclass(frozen=True)
class Outputs:
    """A function's outputs on samples, a lower bound of them, and the temperature of a Gaussian α."""

    g: Array
    temperature: float
    bound: Array

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(("samples", "outputs"), self.g.shape, strict=True))


def lemma1(rng: Random, largest: int) -> Outputs:
    samples, outputs = size(rng, 3, largest + 3), size(rng, 1, 2)
    g, temperature = rng.uniform(-0.7, 0.7, (samples, outputs)), rng.uniform(0.5, 2)
    return Outputs(g, temperature, g.min(0) - rng.uniform(0, 0.3, outputs))


@formula(
    "lemma1",
    "Gaussian α is an inner product of features φ that are nonnegative, where g is bounded below.",
    at="Lemma 1, Eqs. 17 to 22, Section 2 and Appendix A.1",
    tried_at=lemma1,
)
def gaussian_alpha_is_a_kernel(point: Outputs) -> Errors:
    """The decoy is a Gaussian without the factor 1/2 in its exponent."""
    features = gaussian_features(point.g - point.bound, point.temperature)
    distances = ((point.g[:, None] - point.g[None]) ** 2).sum(-1) / point.temperature
    products = features @ features.T
    return Errors(
        printed=max(relative_error(products, np.exp(-distances / 2)), below_zero(features)),
        decoy=relative_error(products, np.exp(-distances)),
    )


@dataclass(frozen=True)
class Views:
    """A batch of flat inputs."""

    batch: Batch

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(("samples", "inputs"), self.batch.x.shape, strict=True))


def eq25(rng: Random, largest: int) -> Views:
    return Views(random_batch(rng, size(rng, 2, largest)))


@formula(
    "eq25",
    "The contrastive covariance C_α is Eq. 23 less Eq. 24, in which {}.",
    at="Eqs. 24 and 25, Appendix A.1",
    wrong=Misprint(
        "typo",
        printed=Text(
            "the intra term sums α_ij over j ≠ i",
            r"C^{\mathrm{intra}}_{\alpha}[a]=\frac{1}{2N}\sum_{i=1}^{N}\left(\frac{1}{N}\sum_{j\neq i}"
            r"\alpha_{ij}\right)(a[i]-a[i'])(a[i]-a[i'])^{\top}",
        ),
        corrected=Text(
            "the intra term sums α_ij over all j",
            r"C^{\mathrm{intra}}_{\alpha}[a]=\frac{1}{2N}\sum_{i=1}^{N}\left(\frac{1}{N}\sum_{j}"
            r"\alpha_{ij}\right)(a[i]-a[i'])(a[i]-a[i'])^{\top}",
        ),
        note="Eq. 3 sums over all j: the two differ by α_ii terms of order 1/N. Or Eq. 3 is meant without j "
        "= i, as Eq. 1 has it",
    ),
    tried_at=eq25,
)
def inter_less_intra(point: Views) -> Errors:
    batch = point.batch
    (a, a_aug), samples = batch.views, len(batch.x)
    differences = a[:, None] - a[None]
    inter = (batch.alpha[..., None, None] * differences[..., None] * differences[:, :, None]).sum((0, 1))
    covariance = batch.covariance(lambda x: x).numpy()

    def error(alpha: Tensor) -> float:
        intra = ((a - a_aug).T * alpha.sum(1)) @ (a - a_aug)
        return relative_error(((inter - intra) / (2 * samples**2)).numpy(), covariance)

    return Errors(printed=error(batch.alpha - batch.alpha.diag().diag()), corrected=error(batch.alpha))


def large_batch(rng: Random, samples: int, augmentations: int) -> tuple[Array, Array, Array, Array, Array]:
    """A batch with exactly proportionate numbers of samples and pairs of views, as in the limit of Lemma 2.

    Returns:
        p: probability of each sample. Shape [sample].
        q: probability of each augmentation of each sample. Shape [sample, augmentation].
        rows: sample, first view and second view of each member of the batch.
    """
    copies = rng.integers(1, 3, samples)
    weights = rng.integers(1, 3, (samples, augmentations))
    pairs = weights.sum(1) ** 2
    total = int(np.lcm.reduce(pairs))
    rows = np.array(
        [
            (i, first, second)
            for i in range(samples)
            for first, second in product(range(augmentations), repeat=2)
            for _ in range(copies[i] * weights[i, first] * weights[i, second] * (total // pairs[i]))
        ]
    )
    return copies / copies.sum(), weights / weights.sum(1, keepdims=True), *rows.T


@dataclass(frozen=True)
class Limit:
    """A function's values in a large batch, and the features of its α.

    Attributes:
        p: probability of each sample.
        phi: nonnegative features. Shape [sample, feature].
        means: E_aug[g]. Shape [sample, output].
        batch: α and both views' g.
    """

    p: Array
    phi: Array
    means: Array
    batch: Batch

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(("samples", "outputs"), self.means.shape, strict=True))

    @property
    def covariance(self) -> Array:
        """C_α[g]."""
        return self.batch.covariance(lambda g: g).numpy()

    def variance(self, power: int = 2) -> Array:
        """Σ_l z_l² V_{p̃_l}[E_aug g], p̃_l = φ_l p / z_l (Definition 2).

        Args:
            power: of z_l.
        """
        z = self.p @ self.phi
        total = np.zeros((self.means.shape[1],) * 2)
        for adjusted, weight in zip((self.phi * self.p[:, None] / z).T, z**power, strict=True):
            centred = self.means - adjusted @ self.means
            total += weight * (centred.T * adjusted) @ centred
        return total


def lemma2(rng: Random, largest: int) -> Limit:
    samples, augmentations, outputs = size(rng, 3, 4), 2, size(rng, 1, 3)
    phi = rng.uniform(0.1, 1.5, (samples, size(rng, 1, 3)))
    g = rng.normal(size=(samples, augmentations, outputs))
    p, q, sample, view1, view2 = large_batch(rng, samples, augmentations)
    alpha = tensor((phi @ phi.T)[np.ix_(sample, sample)])
    batch = Batch(alpha, tensor(g[sample, view1]), tensor(g[sample, view2]))
    return Limit(p, phi, np.einsum("im,imo->io", q, g), batch)


@formula(
    "lemma2",
    "In the limit of large batches, C_α[g] is the sum over the kernel's features of z_l² times the "
    "variance of E_aug[g] under the adjusted density, and positive semi-definite.",
    at="Lemma 2, Eqs. 4 and 42, Section 2 and Appendix A.1",
    tried_at=lemma2,
)
def covariance_of_large_batches(point: Limit) -> Errors:
    """The decoy has z_l in place of z_l²."""
    covariance = point.covariance
    return Errors(
        printed=max(relative_error(point.variance(), covariance), below_zero(np.linalg.eigvalsh(covariance))),
        decoy=relative_error(point.variance(power=1), covariance),
    )


def corollary1(rng: Random, largest: int) -> Limit:
    """Large batches without augmentation."""
    samples, outputs = size(rng, 3, largest + 3), size(rng, 1, 3)
    phi, g = rng.uniform(0.1, 1.5, (samples, size(rng, 1, 3))), rng.normal(size=(samples, outputs))
    p, _, sample, _, _ = large_batch(rng, samples, 1)
    alpha = tensor((phi @ phi.T)[np.ix_(sample, sample)])
    return Limit(p, phi, g, Batch(alpha, tensor(g[sample]), tensor(g[sample])))


@formula(
    "cor1",
    "Without augmentation, in the limit of large batches, C_α[g] is the sum over the kernel's features "
    "of z_l² times the variance of g itself under the adjusted density.",
    at="Corollary 1, Section 2",
    tried_at=corollary1,
)
def covariance_without_augmentation(point: Limit) -> Errors:
    """The decoy has z_l in place of z_l²."""
    covariance = point.covariance
    return Errors(
        printed=relative_error(point.variance(), covariance),
        decoy=relative_error(point.variance(power=1), covariance),
    )


FORMULAS: tuple[Formula, ...] = (
    gaussian_alpha_is_a_kernel,
    inter_less_intra,
    covariance_of_large_batches,
    covariance_without_augmentation,
)
