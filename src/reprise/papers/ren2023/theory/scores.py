"""Section 4: the alignment and balance scores, and sufficient conditions for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, below_zero, orthonormal, size
from reprise.papers.ren2023.theory.population import Learners, random_scales, random_sizes, with_maps

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

NEARLY = 1e-10
"""Distances with a smaller relative difference count as equal, because rounding alone separates them."""


def alignment(
    f_a: Float[Tensor, "state_a width"],
    f_b: Float[Tensor, "state_b width"],
    pairs: Float[Tensor, "state_a state_b"],
    *,
    negatives: Float[Tensor, "state_b state_b"] | None = None,
) -> float:
    """Definition 4.1: P(|f_A+ - f_B+| < |f_A+ - f_B-|), an exact sum over positive pairs and negatives.

    Args:
        negatives: probability of each negative given the positive, in rows; uniform by default.
    """
    import torch

    if negatives is None:
        negatives = torch.full_like(pairs, 1 / len(pairs))
    distances = torch.cdist(f_a, f_b, compute_mode="donot_use_mm_for_euclid_dist")
    positive, negative = distances[:, :, None], distances[:, None, :]
    is_tie = (positive - negative).abs() <= NEARLY * (positive + negative)
    wins = ((positive < negative) & ~is_tie).double()
    return float((pairs * (wins * negatives).sum(2)).sum())


def of_another_signal(learners: Learners) -> Float[Tensor, "state_b state_b"]:
    """Negatives that do not share the positive's z."""
    different = (learners.pairs == 0).double()
    return different / different.sum(1, keepdim=True)


def covariance(f: Float[Tensor, "state width"]) -> Array:
    """Covariance E[f fᵀ], as the mean of f is 0."""
    return (f.T @ f / len(f)).numpy()


def stable_ranks(matrix: Array) -> tuple[float, float]:
    """Both readings of Definition 4.2: |C|_F² / |C|_2² and tr C / |C|_2."""
    values = np.linalg.eigvalsh(matrix)
    return float((values**2).sum() / values[-1] ** 2), float(values.sum() / values[-1])


def outputs(learners: Learners) -> tuple[Tensor, Tensor]:
    """f_A and f_B of every state."""
    f_a, f_b = (learners.outputs(modality, modality.w) for modality in (learners.a, learners.b))
    return f_a, f_b


def of_maps(rng: Random, signals: int, k_a: Array, k_b: Array) -> Learners:
    """Learners with random inputs and the given [K, K_ξ]."""
    scales = random_scales(rng, signals, k_a.shape[1] - signals)
    return Learners(with_maps(rng, scales, k_a), with_maps(rng, scales, k_b), signals, 1.0, 1.0)


def with_condition(rng: Random, signals: int, condition: float) -> Array:
    """A random K with this condition number, at least as many rows as columns, and columns that are not
    orthogonal."""
    values = np.sort(np.concatenate([[1, condition], rng.uniform(1, condition, signals - 2)]))
    right = orthonormal(rng, signals, signals)
    return (orthonormal(rng, size(rng, signals, 2 * signals), signals) * values) @ right.T


def recovering(rng: Random, largest: int) -> Learners:
    """Learners that recover the latent signal, up to a rotation."""
    signals = size(rng, 2, largest)
    k = orthonormal(rng, signals + 1, signals)
    return of_maps(rng, signals, k, k)


@formula(
    "def41/ceiling",
    "Learners that recover the latent signal have the alignment score 1 - 2^-r, and no more: a negative may "
    "share the positive's signal z.",
    at="Definition 4.1, Section 4",
    tried_at=recovering,
    form="restated",
)
def best_alignment(learners: Learners) -> Errors:
    """The decoy is 1."""
    score = alignment(*outputs(learners), learners.pairs)
    return Errors(printed=abs(score - 1 + 0.5**learners.signals), decoy=abs(score - 1))


@dataclass(frozen=True)
class Aligned:
    """Aligned learners with K_A = K_B = K and no noise.

    Attributes:
        values: the singular values of K, the largest first.
        leading: how many of the singular values of K count as large.
    """

    learners: Learners
    values: Array
    leading: int

    @property
    def sizes(self) -> dict[str, int]:
        return self.learners.sizes

    def violation(self, rank: int, condition: float) -> float:
        """Shortfall of the stable rank below rank / κ⁴, or in its other reading below rank / κ², relative to
        r."""
        spare = np.array(stable_ranks(covariance(outputs(self.learners)[0])))
        spare -= rank / condition ** np.array([4, 2])
        return below_zero(np.append(spare, self.learners.signals))


def random_aligned(rng: Random, largest: int) -> Aligned:
    signals = size(rng, 2, largest)
    k = with_condition(rng, signals, rng.uniform(1.2, 4))
    return Aligned(of_maps(rng, signals, k, k), np.linalg.svd(k)[1], size(rng, 1, signals))


@formula(
    "def42/effective-condition",
    "Where the largest cr singular values of K_A lie within a factor κ, the balance score is at least "
    "cr / κ⁴ (cr / κ² in its other reading).",
    at="Definition 4.2, Section 4",
    tried_at=random_aligned,
    is_bound=True,
    form="restated",
)
def effective_condition(point: Aligned) -> Errors:
    """The decoy leaves out κ."""
    condition = point.values[0] / point.values[point.leading - 1]
    return Errors(
        printed=point.violation(point.leading, condition), decoy=point.violation(point.leading, 1.0)
    )


@formula(
    "lemma-45/bound",
    "Of aligned learners the balance score is at least r / κ⁴ (r / κ² in its other reading), κ being the "
    "condition number.",
    at="Lemma 4.5, Section 4",
    tried_at=random_aligned,
    is_bound=True,
    form="restated",
)
def balance_by_condition(point: Aligned) -> Errors:
    """The decoy leaves out κ."""
    signals, condition = point.learners.signals, point.values[0] / point.values[-1]
    return Errors(printed=point.violation(signals, condition), decoy=point.violation(signals, 1.0))


@dataclass(frozen=True)
class Sufficient:
    """Learners that meet Lemma 4.4's conditions, and the same with one of K's columns a hundred times
    smaller."""

    learners: Learners
    weaker: Learners

    @property
    def sizes(self) -> dict[str, int]:
        return self.learners.sizes


def sufficient(rng: Random, largest: int) -> Sufficient:
    """Twice what noise and K_A / N_A - K_B / N_B can add to a distance is less than the distance of any two
    signals."""
    signals, noises = random_sizes(rng, largest)
    k = with_condition(rng, signals, rng.uniform(1.5, 4))
    difference, noise_a, noise_b = (rng.normal(size=(len(k), n)) for n in (signals, noises, noises))
    amount = 1.0

    def learners(k: Array) -> Learners:
        k_a = np.hstack([k + amount * difference, amount * noise_a])
        return of_maps(rng, signals, k_a, np.hstack([k, amount * noise_b]))

    while _allowance(aligned := learners(k)) >= 1:
        amount *= 0.8
    return Sufficient(aligned, learners(k * np.append(np.ones(signals - 1), 0.01)))


@formula(
    "lemma-44/sufficient",
    "For alignment, little noise, little difference between K_A / N_A and K_B / N_B, and a smallest singular "
    "value well above both suffice: every negative of another signal is farther off than the positive.",
    at="Lemma 4.4, Section 4",
    tried_at=sufficient,
    is_bound=True,
    form="restated",
)
def alignment_by_condition(point: Sufficient) -> Errors:
    """The share of negatives that are no farther off. The decoy does without the condition on the singular
    value."""

    def missed(learners: Learners) -> float:
        negatives = of_another_signal(learners)
        return 1 - alignment(*outputs(learners), learners.pairs, negatives=negatives)

    return Errors(printed=missed(point.learners), decoy=missed(point.weaker))


def _allowance(learners: Learners) -> float:
    """Largest addition of difference and noise to a distance, as a share of the allowed one."""
    r, noises = learners.signals, learners.dim - learners.signals
    f_a, f_b = (
        modality.maps.numpy() / float(learners.norm(modality, modality.w))
        for modality in (learners.a, learners.b)
    )  # fmt: skip
    addition = np.linalg.norm(f_a[:, :r] - f_b[:, :r], 2) * r**0.5
    addition += sum(np.linalg.norm(f[:, r:], 2) for f in (f_a, f_b)) * noises**0.5
    return float(addition / np.linalg.svd(f_b[:, :r])[1][-1])


FORMULAS: tuple[Formula, ...] = (
    best_alignment,
    effective_condition,
    alignment_by_condition,
    balance_by_condition,
)
