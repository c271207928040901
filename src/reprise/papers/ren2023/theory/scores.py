"""Section 4: the alignment and balance scores, and sufficient conditions for them."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

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
from reprise.papers.ren2023.theory.population import Learners, random_scales, random_sizes, with_maps

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


def definitions(rng: Random, largest: int) -> Checked:
    """Both scores of learners that recover the latent signal, and of learners that stress one of its
    coordinates."""
    signals = size(rng, 2, largest)
    identity = orthonormal(rng, signals + 1, signals)
    ceiling = 1 - 0.5**signals
    recovering = of_maps(rng, signals, identity, identity)
    stress = np.concatenate([[1.0], rng.uniform(1e-4, 3e-4, signals - 1)])
    unbalanced = of_maps(rng, signals, identity * stress, identity * stress)
    recovered = stable_ranks(covariance(outputs(recovering)[0]))
    ranks = stable_ranks(covariance(outputs(unbalanced)[0]))
    return Checked(
        recovering.sizes,
        {
            "def41/ceiling": as_printed(abs(alignment(*outputs(recovering), recovering.pairs) - ceiling)),
            "def42/recovered": as_printed(max(abs(rank / signals - 1) for rank in recovered)),
            "sec4/example-aligned": as_printed(
                abs(alignment(*outputs(unbalanced), unbalanced.pairs) - ceiling)
            ),
            "sec4/example-unbalanced": as_printed(max(rank - 1 for rank in ranks)),
        },
    )


def lemma44(rng: Random, largest: int) -> Checked:
    """Lemma 4.4: little noise and a small K_A / N_A - K_B / N_B suffice, relative to the smallest singular
    value.

    Twice what they can add to a distance must be less than the distance of any two signals. The same noise
    and difference are too much if one column of K is a hundred times smaller.
    """
    signals, noises = random_sizes(rng, largest)
    k = with_condition(rng, signals, rng.uniform(1.5, 4))
    difference, noise_a, noise_b = (rng.normal(size=(len(k), n)) for n in (signals, noises, noises))
    amount = 1.0

    def learners(k: Array) -> Learners:
        k_a = np.hstack([k + amount * difference, amount * noise_a])
        return of_maps(rng, signals, k_a, np.hstack([k, amount * noise_b]))

    while _allowance(aligned := learners(k)) >= 1:
        amount *= 0.8
    weaker = learners(k * np.append(np.ones(signals - 1), 0.01))
    score = alignment(*outputs(aligned), aligned.pairs)
    score_among_others, weaker_score = (
        alignment(*outputs(pair), pair.pairs, negatives=of_another_signal(pair)) for pair in (aligned, weaker)
    )
    return Checked(
        aligned.sizes,
        {
            "lemma-44/sufficient": as_printed(1 - score_among_others),
            "def41/at-least": as_printed(below_zero(np.array([score - 1 + 0.5**signals, 1]))),
            "lemma-44/needs-condition": as_printed(1 - weaker_score),
        },
    )


def _allowance(learners: Learners) -> float:
    """What difference and noise can add to a distance, as a share of what is allowed."""
    r, noises = learners.signals, learners.dim - learners.signals
    f_a, f_b = (
        modality.maps.numpy() / float(learners.norm(modality, modality.w))
        for modality in (learners.a, learners.b)
    )  # fmt: skip
    addition = np.linalg.norm(f_a[:, :r] - f_b[:, :r], 2) * r**0.5
    addition += sum(np.linalg.norm(f[:, r:], 2) for f in (f_a, f_b)) * noises**0.5
    return float(addition / np.linalg.svd(f_b[:, :r])[1][-1])


def lemma45(rng: Random, largest: int) -> Checked:
    """Lemma 4.5, for aligned learners: the stable rank of C = K_A K_Aᵀ / (d N_A²) is at least r / κ⁴, or r /
    κ² in the other reading."""
    signals = size(rng, 2, largest)
    kappa = rng.uniform(1.2, 4)
    k = with_condition(rng, signals, kappa)
    learners = of_maps(rng, signals, k, k)
    output_covariance = covariance(outputs(learners)[0])
    norm2 = float(learners.norm(learners.a, learners.a.w)) ** 2
    bounds = np.array([signals / kappa**4, signals / kappa**2])
    spare = np.array(stable_ranks(output_covariance)) - bounds
    # Only the leading singular values are of comparable size.
    leading = size(rng, 1, signals)
    values = np.linalg.svd(k)[1]
    effective = leading * (values[leading - 1] / values[0]) ** np.array([4, 2])
    return Checked(
        learners.sizes,
        {
            "sec4/covariance": as_printed(
                relative_error(k @ k.T / (learners.dim * norm2), output_covariance)
            ),
            "lemma-45/bound": as_printed(below_zero(np.append(spare, signals))),
            "def42/effective-condition": as_printed(
                below_zero(np.append(np.array(stable_ranks(output_covariance)) - effective, signals))
            ),
        },
    )


CHECKS = (definitions, lemma44, lemma45)
