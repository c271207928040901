"""Section 2: the contrastive covariance, and its limit for large batches."""

from itertools import product

import numpy as np
import torch
from scipy.special import gammaln
from scipy.stats import poisson

from reprise.evidence.identities import (
    Array,
    Checked,
    Random,
    as_printed,
    below_zero,
    orthonormal,
    relative_error,
    size,
)
from reprise.papers.tian2023.contrastive import contrastive_covariance, energy
from reprise.papers.tian2023.dynamics.points import gradient, normal, random_batch, tensor, unit


def gaussian_features(y: Array, temperature: float) -> Array:
    """φ of Eq. 22 for nonnegative y = g - v, with equal products merged.

    Each y1^a1 ... yd^ad occurs k!/(a1! ... ad!) times among the d^k products of AllChoose. One feature with
    the square root of that number as a factor gives the same inner products. The series is truncated when its
    remainder falls below 1e-14 of the whole.

    Shapes [sample, d] -> [sample, feature].
    """
    dim = y.shape[1]
    degree = int(poisson.isf(1e-14, max((y**2).sum(1).max() / temperature, 1e-3))) + 2
    powers = np.array([a for a in product(range(degree + 1), repeat=dim) if sum(a) <= degree])
    monomials = (y / np.sqrt(temperature))[:, None, :] ** powers
    features = monomials.prod(-1) * np.exp(-gammaln(powers + 1).sum(1) / 2)
    return np.exp(-(y**2).sum(1, keepdims=True) / (2 * temperature)) * features


def lemma1(rng: Random, largest: int) -> Checked:
    """Eqs. 17 to 22: a Gaussian α is an inner product of nonnegative features."""
    samples, outputs = size(rng, 3, largest + 3), size(rng, 1, 2)
    g, temperature = rng.uniform(-0.7, 0.7, (samples, outputs)), rng.uniform(0.5, 2)
    bound = g.min(0) - rng.uniform(0, 0.3, outputs)
    features = gaussian_features(g - bound, temperature)
    distances = ((g[:, None] - g[None]) ** 2).sum(-1)
    return Checked(
        {"samples": samples, "outputs": outputs},
        {
            "lemma1/kernel": as_printed(
                relative_error(features @ features.T, np.exp(-distances / (2 * temperature)))
            ),
            "lemma1/nonnegative": as_printed(below_zero(features)),
        },
    )


def infonce_weights(rng: Random, largest: int) -> Checked:
    """Descending InfoNCE with ε = 0 ascends the energy, with the α given after Eq. 3."""
    batch = random_batch(rng, size(rng, 2, largest))
    temperature, off_diagonal = rng.uniform(0.2, 1), ~torch.eye(len(batch.x), dtype=torch.bool)

    def losses(z: torch.Tensor, z_aug: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        between = 0.5 * (z[:, None] - z[None]).square().sum(-1)
        return 0.5 * (z - z_aug).square().sum(-1), between

    def infonce(z: torch.Tensor, z_aug: torch.Tensor) -> torch.Tensor:
        """Eq. 1."""
        within, between = losses(z, z_aug)
        denominators = (torch.exp(-between / temperature) * off_diagonal).sum(1)
        return -temperature * torch.log(torch.exp(-within / temperature) / denominators).sum()

    similar = torch.exp(-losses(*batch.views)[1] / temperature) * off_diagonal
    alpha = similar / similar.sum(1, keepdim=True)
    loss_gradient = torch.stack(gradient(infonce, *batch.views))
    energy_gradient = torch.stack(gradient(lambda z, z_aug: energy(alpha, z, z_aug), *batch.views))
    error = relative_error(2 * len(alpha) ** 2 * energy_gradient.numpy(), -loss_gradient.numpy())
    return Checked({"samples": len(alpha)}, {"sec2/infonce-alpha": as_printed(error)})


def eq25(rng: Random, largest: int) -> Checked:
    """Eq. 25, C = inter - intra, with the sum over j ≠ i of Eq. 24 and with the sum over all j of Eq. 3."""
    batch = random_batch(rng, size(rng, 2, largest))
    (a, a_aug), samples = batch.views, len(batch.x)
    differences = a[:, None] - a[None]
    inter = torch.einsum("ij,ijp,ijq->pq", batch.alpha, differences, differences) / (2 * samples**2)
    covariance = contrastive_covariance(batch.alpha, a, a_aug).numpy()

    def eq24(alpha: torch.Tensor) -> torch.Tensor:
        return ((a - a_aug).T * alpha.sum(1)) @ (a - a_aug) / (2 * samples**2)

    off_diagonal = batch.alpha - batch.alpha.diag().diag()
    errors = {
        "printed": relative_error((inter - eq24(off_diagonal)).numpy(), covariance),
        "corrected": relative_error((inter - eq24(batch.alpha)).numpy(), covariance),
    }
    return Checked({"samples": samples, "inputs": a.shape[1]}, {"eq25": errors})


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


def lemma2(rng: Random, largest: int) -> Checked:
    """Eq. 4: C_α[g] -> Σ_l z_l² V_{p̃_l}[E_aug g], for a kernel with a few nonnegative features."""
    samples, augmentations, outputs = size(rng, 3, 4), 2, size(rng, 1, 3)
    phi = rng.uniform(0.1, 1.5, (samples, size(rng, 1, 3)))
    g = rng.normal(size=(samples, augmentations, outputs))
    p, q, sample, view1, view2 = large_batch(rng, samples, augmentations)
    alpha = tensor((phi @ phi.T)[np.ix_(sample, sample)])
    covariance = contrastive_covariance(alpha, tensor(g[sample, view1]), tensor(g[sample, view2])).numpy()
    return Checked(
        {"samples": samples, "outputs": outputs},
        {
            "lemma2/variance": as_printed(
                relative_error(_adjusted_variance(p, phi, np.einsum("im,imo->io", q, g)), covariance)
            ),
            "lemma2/psd": as_printed(below_zero(np.linalg.eigvalsh(covariance))),
        },
    )


def corollary1(rng: Random, largest: int) -> Checked:
    """Corollary 1, without augmentation: C_α[g] -> Σ_l z_l² V_{p̃_l}[g]."""
    samples, outputs = size(rng, 3, largest + 3), size(rng, 1, 3)
    phi, g = rng.uniform(0.1, 1.5, (samples, size(rng, 1, 3))), rng.normal(size=(samples, outputs))
    p, _, sample, _, _ = large_batch(rng, samples, 1)
    alpha = tensor((phi @ phi.T)[np.ix_(sample, sample)])
    covariance = contrastive_covariance(alpha, tensor(g[sample]), tensor(g[sample])).numpy()
    error = relative_error(_adjusted_variance(p, phi, g), covariance)
    return Checked({"samples": samples, "outputs": outputs}, {"cor1/variance": as_printed(error)})


def invariance(rng: Random, largest: int) -> Checked:
    """Eqs. 107 and 108: a unit's output averaged over a group of rotations is the same for a rotated w."""
    dim, order = size(rng, 2, largest), size(rng, 3, 8)
    plane = orthonormal(rng, dim, 2)

    def rotation(turns: int) -> torch.Tensor:
        angle = 2 * np.pi * turns / order
        c, s = np.cos(angle), np.sin(angle)
        return tensor(np.eye(dim) + plane @ (np.array([[c, -s], [s, c]]) - np.eye(2)) @ plane.T)

    views = torch.stack([rotation(t) for t in range(order)]) @ normal(rng, dim, 4)  # [view, dim, sample]
    w = unit(rng, dim)

    def averaged(w: torch.Tensor) -> Array:
        return torch.relu(w @ views).mean(0).numpy()

    error = relative_error(averaged(rotation(size(rng, 1, order - 1)) @ w), averaged(w))
    return Checked({"inputs": dim}, {"appB5/invariance": as_printed(error)})


def _adjusted_variance(p: Array, phi: Array, means: Array) -> Array:
    """Σ_l z_l² V_{p̃_l}[·], p̃_l = φ_l p / z_l (Definition 2)."""
    z = p @ phi
    total = np.zeros((means.shape[1],) * 2)
    for adjusted, weight in zip((phi * p[:, None] / z).T, z**2, strict=True):
        centred = means - adjusted @ means
        total += weight * (centred.T * adjusted) @ centred
    return total


CHECKS = (lemma1, infonce_weights, eq25, lemma2, corollary1, invariance)
