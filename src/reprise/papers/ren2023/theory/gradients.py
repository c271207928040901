"""Appendix A.1: gradients and dynamics of learners of finite width, at any weights."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.evidence.identities import Checked, Random, as_printed, relative_error
from reprise.papers.ren2023.theory.population import Learners, random_learners


def weights_of_pairs(learners: Learners) -> Float[Tensor, "state_a state_b"]:
    """Net attraction of each pair of states in a step.

    A positive pair with probability P attracts with P (2 - S_A - S_B). As a negative of anchors of either
    modality it repels with the expectations of K S_A exp(τ² (f_A+ · f_B- - f_A+ · f_B+)) and of the same with
    S_B.
    """
    similarity = learners.similarity(learners.a.w, learners.b.w)
    s_a, s_b = learners.softmax(similarity)
    odds = (learners.tau2 * similarity).exp()
    pull = learners.pairs * (2 - s_a - s_b)
    push_a = (learners.pairs * s_a / odds).sum(1, keepdim=True)
    push_b = (learners.pairs * s_b / odds).sum(0, keepdim=True)
    return pull - learners.negatives / len(odds) * odds * (push_a + push_b)


def similarity_gradient(learners: Learners, weights: Tensor) -> Tensor:
    """Lemma A.1, summed: Σ weights ∇_{W_A} <f_A, f_B>, with ∇ = x_A f_Bᵀ / N_A - <f_A, f_B> Σ_A W_A / N_A².

    The term with Σ_A = E[x_A x_Aᵀ] comes from the normalisation.
    """
    w, mixing = learners.a.w, learners.a.mixing
    norm = learners.norm(learners.a, w)
    covariance = mixing @ mixing.T / learners.dim
    attraction = learners.inputs(learners.a).T @ weights @ learners.outputs(learners.b, learners.b.w) / norm
    mean = (weights * learners.similarity(w, learners.b.w)).sum()
    return attraction - mean * covariance @ w / norm**2


def q_matrices(learners: Learners, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Corollary A.4: Q_0 = Σ weights <f_A, f_B>, and Q_1, Q_1,ξ and Q_2 as one matrix, d Σ weights y_B y_Aᵀ
    with y = (z, ξ)."""
    latents = learners.latents
    similarity = learners.similarity(learners.a.w, learners.b.w)
    return (weights * similarity).sum(), learners.dim * latents.T @ weights.T @ latents


def motion(learners: Learners, weights: Tensor) -> Tensor:
    """Corollary A.4: ([K_B, K_B,ξ] Q / (N_A N_B d) - Q_0 [K_A, K_A,ξ] / (N_A² d)) diag(σ², σ_ξ²)."""
    q0, q = q_matrices(learners, weights)
    n_a, n_b = (learners.norm(modality, modality.w) for modality in (learners.a, learners.b))
    scales2 = learners.a.mixing.square().sum(0)
    direction = learners.b.maps @ q / (n_a * n_b) - q0 * learners.a.maps / n_a**2
    return direction * scales2 / learners.dim


def lemma_a1(rng: Random, largest: int) -> Checked:
    """Lemma A.1, the gradient of one pair's similarity, and N_A² = (|K_A|² + |K_A,ξ|²) / d."""
    learners = random_learners(rng, largest)
    states = len(learners.latents)
    single_pair = torch.zeros(states, states, dtype=torch.float64)
    single_pair[rng.integers(states), rng.integers(states)] = 1.0
    gradient_a, _ = learners.gradients(lambda w_a, w_b: (single_pair * learners.similarity(w_a, w_b)).sum())
    norm2 = learners.norm(learners.a, learners.a.w) ** 2
    return Checked(
        learners.sizes,
        {
            "lemma-a1/similarity": as_printed(_error(similarity_gradient(learners, single_pair), gradient_a)),
            "eq2/norm": as_printed(_error(learners.a.maps.square().sum() / learners.dim, norm2)),
        },
    )


def lemma_a2(rng: Random, largest: int) -> Checked:
    """Lemma A.2: the gradient of the contrastive loss for W_A, divided by τ²."""
    learners = random_learners(rng, largest)
    gradient_a, _ = learners.gradients(learners.contrastive)
    formula = -similarity_gradient(learners, weights_of_pairs(learners))
    return Checked(learners.sizes, {"lemma-a2/gradient": as_printed(_error(formula, gradient_a))})


def lemma_a3(rng: Random, largest: int) -> Checked:
    """Lemma A.3 (Eq. 5): K̇_A = Σ weights (f_B zᵀ / N_A - <f_A, f_B> K_A / (N_A² d)) diag(σ²), and likewise
    K_A,ξ with ξ and σ_ξ²."""
    learners = random_learners(rng, largest)
    weights, maps = weights_of_pairs(learners), learners.a.maps
    f_b = learners.outputs(learners.b, learners.b.w)
    norm = learners.norm(learners.a, learners.a.w)
    mean = (weights * learners.similarity(learners.a.w, learners.b.w)).sum()
    attraction = f_b.T @ weights.T @ learners.latents / norm
    formula = (attraction - mean * maps / (norm**2 * learners.dim)) * learners.a.mixing.square().sum(0)
    velocity, r = learners.velocities(learners.contrastive)[0], learners.signals
    return Checked(
        learners.sizes,
        {
            "lemma-a3/signal": as_printed(_error(formula[:, :r], velocity[:, :r])),
            "lemma-a3/noise": as_printed(_error(formula[:, r:], velocity[:, r:])),
        },
    )


def cor_a4(rng: Random, largest: int) -> Checked:
    """Corollary A.4, the dynamics by Q-matrices, and Lemma A.5, the speeds at which a column grows and
    rotates."""
    learners = random_learners(rng, largest)
    weights, maps = weights_of_pairs(learners), learners.a.maps
    formula, velocity = motion(learners, weights), learners.velocities(learners.contrastive)[0]
    _, q = q_matrices(learners, weights)
    n_a, n_b = (learners.norm(modality, modality.w) for modality in (learners.a, learners.b))
    attraction = learners.b.maps @ q * learners.a.mixing.square().sum(0) / (n_a * n_b * learners.dim)
    lengths = maps.norm(dim=0)
    unit = maps / lengths
    # Q_0 acts along the column: it changes the length but not the direction.
    rotation = (attraction - unit * (unit * attraction).sum(0)) / lengths
    neighbours = [maps + step * velocity for step in (1e-5, -1e-5)]
    measured_rotation = (
        neighbours[0] / neighbours[0].norm(dim=0) - neighbours[1] / neighbours[1].norm(dim=0)
    ) / 2e-5
    measured_growth = (neighbours[0].square().sum(0) - neighbours[1].square().sum(0)) / 2e-5
    return Checked(
        learners.sizes,
        {
            "cor-a4/q-matrices": as_printed(_error(formula, velocity)),
            "lemma-a5/radial": as_printed(_error(2 * (maps * formula).sum(0), measured_growth)),
            "lemma-a5/tangent": as_printed(_error(rotation, measured_rotation)),
        },
    )


def lemma_a6(rng: Random, largest: int) -> Checked:
    """Lemma A.6 (Eq. 6): without negatives, K̇_A = (K_B / (N_A N_B d) - E<f_A, f_B> K_A / (N_A² d)) diag(σ²),
    and likewise K_A,ξ with the second term only."""
    learners = random_learners(rng, largest)
    velocity, r = learners.velocities(learners.noncontrastive)[0], learners.signals
    n_a, n_b = (learners.norm(modality, modality.w) for modality in (learners.a, learners.b))
    mean = -learners.noncontrastive(learners.a.w, learners.b.w)
    decay = -mean * learners.a.maps / n_a**2
    attraction = torch.cat([learners.b.maps[:, :r] / (n_a * n_b), torch.zeros_like(decay[:, r:])], 1)
    formula = (attraction + decay) * learners.a.mixing.square().sum(0) / learners.dim
    return Checked(
        learners.sizes,
        {
            "lemma-a6/signal": as_printed(_error(formula[:, :r], velocity[:, :r])),
            "lemma-a6/noise": as_printed(_error(formula[:, r:], velocity[:, r:])),
        },
    )


def lemma_b9(rng: Random, largest: int) -> Checked:
    """Lemma B.9: as τ² vanishes, all of K moves as without negatives, but 2 K / (1 + K) times as fast."""
    learners = replace(random_learners(rng, largest), tau2=1e-8)
    velocity = torch.cat(learners.velocities(learners.contrastive))
    plain_velocity = torch.cat(learners.velocities(learners.noncontrastive))
    factor = 2 * learners.negatives / (1 + learners.negatives)
    return Checked(
        learners.sizes, {"lemma-b9/small-temperature": as_printed(_error(velocity, factor * plain_velocity))}
    )


def _error(value: Tensor, expected: Tensor) -> float:
    return relative_error(value.numpy(), expected.numpy())


CHECKS = (lemma_a1, lemma_a2, lemma_a3, cor_a4, lemma_a6, lemma_b9)
