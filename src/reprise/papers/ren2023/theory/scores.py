"""Section 4: the alignment and balance scores, and what suffices for each."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from reprise.evidence.identities import Array, Checked, Random, as_printed, below_zero, relative_error, size
from reprise.papers.ren2023.theory.population import Learners, random_scales, random_sizes, with_maps

NEARLY = 1e-10
"""Distances that differ by less, relatively, are equal, and broken by rounding alone."""


def alignment(
    f_a: Float[Tensor, "state_a width"],
    f_b: Float[Tensor, "state_b width"],
    pairs: Float[Tensor, "state_a state_b"],
    *,
    negatives: Float[Tensor, "state_b state_b"] | None = None,
    ties: float = 0.0,
) -> float:
    """Definition 4.1: P(|f_A+ - f_B+| < |f_A+ - f_B-|), an exact sum over positive pairs and negatives.

    Args:
        negatives: the probability of each negative, given the positive (in rows); all alike, if left out.
        ties: how much an equality counts: 0 as in the definition, 1/2 if it is broken at random.
    """
    if negatives is None:
        negatives = torch.full_like(pairs, 1 / len(pairs))
    distances = torch.cdist(f_a, f_b, compute_mode="donot_use_mm_for_euclid_dist")
    positive, negative = distances[:, :, None], distances[:, None, :]
    tied = (positive - negative).abs() <= NEARLY * (positive + negative)
    won = ((positive < negative) & ~tied).double() + ties * tied.double()
    return float((pairs * (won * negatives).sum(2)).sum())


def of_another_signal(learners: Learners) -> Float[Tensor, "state_b state_b"]:
    """Negatives that do not share the positive's z."""
    others = (learners.pairs == 0).double()
    return others / others.sum(1, keepdim=True)


def covariance(f: Float[Tensor, "state width"]) -> Array:
    """E[f fᵀ], the mean of f being 0."""
    return (f.T @ f / len(f)).numpy()


def stable_ranks(matrix: Array) -> tuple[float, float]:
    """Definition 4.2 in its two readings: |C|_F² / |C|_2² and tr C / |C|_2."""
    values = np.linalg.eigvalsh(matrix)
    return float((values**2).sum() / values[-1] ** 2), float(values.sum() / values[-1])


def outputs(learners: Learners) -> tuple[Tensor, Tensor]:
    """f_A and f_B of every state."""
    first, second = (learners.outputs(of, of.w) for of in (learners.a, learners.b))
    return first, second


def of_maps(rng: Random, signals: int, k_a: Array, k_b: Array) -> Learners:
    """Learners of random inputs with these [K, K_ξ]."""
    scales = random_scales(rng, signals, k_a.shape[1] - signals)
    return Learners(with_maps(rng, scales, k_a), with_maps(rng, scales, k_b), signals, 1.0, 1.0)


def orthonormal(rng: Random, rows: int, columns: int) -> Array:
    return np.linalg.qr(rng.normal(size=(rows, columns)))[0]


def with_condition(rng: Random, signals: int, condition: float) -> Array:
    """A random K of this condition number, of more rows than columns, its columns not orthogonal."""
    values = np.sort(np.concatenate([[1, condition], rng.uniform(1, condition, signals - 2)]))
    right = orthonormal(rng, signals, signals)
    return (orthonormal(rng, size(rng, signals, 2 * signals), signals) * values) @ right.T


def definitions(rng: Random, largest: int) -> Checked:
    """Of a constant map; of learners that recover the latent signal; and of those that stress one of its
    coordinates."""
    signals = size(rng, 2, largest)
    identity = orthonormal(rng, signals + 1, signals)
    ceiling = 1 - 0.5**signals
    recovering = of_maps(rng, signals, identity, identity)
    constant = torch.ones(2**signals, 3, dtype=torch.float64)
    stress = np.concatenate([[1.0], rng.uniform(1e-4, 3e-4, signals - 1)])
    stressed = of_maps(rng, signals, identity * stress, identity * stress)
    recovered = stable_ranks(covariance(outputs(recovering)[0]))
    ranks = stable_ranks(covariance(outputs(stressed)[0]))
    random_ties = alignment(constant, constant, recovering.pairs, ties=0.5)
    return Checked(
        recovering.sizes,
        {
            "def41/constant-map": as_printed(alignment(constant, constant, recovering.pairs)),
            "def41/constant-map-random-ties": as_printed(abs(2 * random_ties - 1)),
            "def41/ceiling": as_printed(abs(alignment(*outputs(recovering), recovering.pairs) - ceiling)),
            "def42/recovered": as_printed(max(abs(rank / signals - 1) for rank in recovered)),
            "sec4/example-aligned": as_printed(abs(alignment(*outputs(stressed), stressed.pairs) - ceiling)),
            "sec4/example-unbalanced": as_printed(max(rank - 1 for rank in ranks)),
        },
    )


def lemma44(rng: Random, largest: int) -> Checked:
    """Little noise and a small K_A / N_A - K_B / N_B beside the smallest singular value suffice: twice what
    they can add is less than any two signals are apart.

    The same noise and difference are too much where one column of K is a hundred times as small.
    """
    signals, noises = random_sizes(rng, largest)
    k = with_condition(rng, signals, rng.uniform(1.5, 4))
    apart, noise_a, noise_b = (rng.normal(size=(len(k), n)) for n in (signals, noises, noises))
    amount = 1.0

    def learners(of: Array) -> Learners:
        k_a = np.hstack([of + amount * apart, amount * noise_a])
        return of_maps(rng, signals, k_a, np.hstack([of, amount * noise_b]))

    while _allowance(aligned := learners(k)) >= 1:
        amount *= 0.8
    weaker = learners(k * np.append(np.ones(signals - 1), 0.01))
    score = alignment(*outputs(aligned), aligned.pairs)
    among_others, when_weaker = (
        alignment(*outputs(of), of.pairs, negatives=of_another_signal(of)) for of in (aligned, weaker)
    )
    return Checked(
        aligned.sizes,
        {
            "lemma-44/sufficient": as_printed(1 - among_others),
            "def41/at-least": as_printed(below_zero(np.array([score - 1 + 0.5**signals, 1]))),
            "lemma-44/needs-condition": as_printed(1 - when_weaker),
        },
    )


def _allowance(learners: Learners) -> float:
    """What difference and noise can add to a distance, as a share of what they may."""
    r, noises = learners.signals, learners.dim - learners.signals
    f_a, f_b = (
        of.maps.numpy() / float(learners.norm(of, of.w)) for of in (learners.a, learners.b)
    )  # fmt: skip
    added = np.linalg.norm(f_a[:, :r] - f_b[:, :r], 2) * r**0.5
    added += sum(np.linalg.norm(f[:, r:], 2) for f in (f_a, f_b)) * noises**0.5
    return float(added / np.linalg.svd(f_b[:, :r])[1][-1])


def lemma45(rng: Random, largest: int) -> Checked:
    """Aligned: C = K_A K_Aᵀ / (d N_A²), whose stable rank is at least r / κ⁴ and, in the other reading,
    r / κ², and r where κ is close to 1."""
    signals = size(rng, 2, largest)
    kappa = rng.uniform(1.2, 4)
    k = with_condition(rng, signals, kappa)
    learners = of_maps(rng, signals, k, k)
    found = covariance(outputs(learners)[0])
    norm2 = float(learners.norm(learners.a, learners.a.w)) ** 2
    bounds = np.array([signals / kappa**4, signals / kappa**2])
    spare = np.array(stable_ranks(found)) - bounds
    near = with_condition(rng, signals, 1 + 1e-8)
    balanced = stable_ranks(covariance(outputs(of_maps(rng, signals, near, near))[0]))
    # Only the first cr singular values of comparable size.
    kept = size(rng, 1, signals)
    values = np.linalg.svd(k)[1]
    effective = kept * (values[kept - 1] / values[0]) ** np.array([4, 2])
    return Checked(
        learners.sizes,
        {
            "sec4/covariance": as_printed(relative_error(k @ k.T / (learners.dim * norm2), found)),
            "lemma-45/bound": as_printed(below_zero(np.append(spare, signals))),
            "lemma-45/sufficient": as_printed(max(abs(rank / signals - 1) for rank in balanced)),
            "def42/effective-condition": as_printed(
                below_zero(np.append(np.array(stable_ranks(found)) - effective, signals))
            ),
        },
    )


CHECKS = (definitions, lemma44, lemma45)
