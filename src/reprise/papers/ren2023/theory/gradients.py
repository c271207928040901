"""Appendix A.1: gradients and dynamics of learners of finite width, from any weights."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.evidence.identities import Checked, Random, as_printed, relative_error
from reprise.papers.ren2023.theory.population import Learners, random_learners


def weights_of_pairs(learners: Learners) -> Float[Tensor, "state_a state_b"]:
    """How strongly a step pulls each pair of states together, less how strongly it pushes it apart.

    As positive pair P (2 - S_A - S_B), P its probability; as negative one of anchors of either modality,
    K S_A exp(τ² (f_A+ · f_B- - f_A+ · f_B+)) and the same with S_B, both in expectation.
    """
    similarity = learners.similarity(learners.a.w, learners.b.w)
    s_a, s_b = learners.softmax(similarity)
    odds = (learners.tau2 * similarity).exp()
    pull = learners.pairs * (2 - s_a - s_b)
    of_anchor_a = (learners.pairs * s_a / odds).sum(1, keepdim=True)
    of_anchor_b = (learners.pairs * s_b / odds).sum(0, keepdim=True)
    return pull - learners.negatives / len(odds) * odds * (of_anchor_a + of_anchor_b)


def similarity_gradient(learners: Learners, weights: Tensor) -> Tensor:
    """Lemma A.1, summed: Σ weights ∇_{W_A} <f_A, f_B>, with ∇ = x_A f_Bᵀ / N_A - <f_A, f_B> Σ_A W_A / N_A².

    Σ_A = E[x_A x_Aᵀ]; its term comes from the normalisation.
    """
    w, mixing = learners.a.w, learners.a.mixing
    norm = learners.norm(learners.a, w)
    covariance = mixing @ mixing.T / learners.dim
    pulled = learners.inputs(learners.a).T @ weights @ learners.outputs(learners.b, learners.b.w) / norm
    mean = (weights * learners.similarity(w, learners.b.w)).sum()
    return pulled - mean * covariance @ w / norm**2


def q_matrices(learners: Learners, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Corollary A.4: Q_0 = Σ weights <f_A, f_B>, and all Q_1, Q_1,ξ, Q_2 in one, d Σ weights y_B y_Aᵀ with
    y = (z, ξ)."""
    latents = learners.latents
    similarity = learners.similarity(learners.a.w, learners.b.w)
    return (weights * similarity).sum(), learners.dim * latents.T @ weights.T @ latents


def motion(learners: Learners, weights: Tensor) -> Tensor:
    """Corollary A.4: ([K_B, K_B,ξ] Q / (N_A N_B d) - Q_0 [K_A, K_A,ξ] / (N_A² d)) diag(σ², σ_ξ²)."""
    q0, q = q_matrices(learners, weights)
    n_a, n_b = (learners.norm(of, of.w) for of in (learners.a, learners.b))
    scales2 = learners.a.mixing.square().sum(0)
    moved = learners.b.maps @ q / (n_a * n_b) - q0 * learners.a.maps / n_a**2
    return moved * scales2 / learners.dim


def lemma_a1(rng: Random, largest: int) -> Checked:
    """The gradient of one pair's similarity, and N_A² = (|K_A|² + |K_A,ξ|²) / d."""
    learners = random_learners(rng, largest)
    states = len(learners.latents)
    one = torch.zeros(states, states, dtype=torch.float64)
    one[rng.integers(states), rng.integers(states)] = 1.0
    of_a, _ = learners.gradients(lambda w_a, w_b: (one * learners.similarity(w_a, w_b)).sum())
    norm2 = learners.norm(learners.a, learners.a.w) ** 2
    f_a = learners.outputs(learners.a, learners.a.w)
    return Checked(
        learners.sizes,
        {
            "lemma-a1/similarity": as_printed(_error(similarity_gradient(learners, one), of_a)),
            "eq2/norm": as_printed(_error(learners.a.maps.square().sum() / learners.dim, norm2)),
            "eq2/unit-outputs": as_printed(abs(float(f_a.square().sum(-1).mean()) - 1)),
        },
    )


def lemma_a2(rng: Random, largest: int) -> Checked:
    """The gradient of the contrastive loss on W_A, divided by τ²."""
    learners = random_learners(rng, largest)
    of_a, _ = learners.gradients(learners.contrastive)
    found = -similarity_gradient(learners, weights_of_pairs(learners))
    return Checked(learners.sizes, {"lemma-a2/gradient": as_printed(_error(found, of_a))})


def lemma_a3(rng: Random, largest: int) -> Checked:
    """Eq. 5: K̇_A = Σ weights (f_B zᵀ / N_A - <f_A, f_B> K_A / (N_A² d)) diag(σ²), and K_A,ξ with ξ and
    σ_ξ²."""
    learners = random_learners(rng, largest)
    weights, maps = weights_of_pairs(learners), learners.a.maps
    f_b = learners.outputs(learners.b, learners.b.w)
    norm = learners.norm(learners.a, learners.a.w)
    mean = (weights * learners.similarity(learners.a.w, learners.b.w)).sum()
    pulled = f_b.T @ weights.T @ learners.latents / norm
    found = (pulled - mean * maps / (norm**2 * learners.dim)) * learners.a.mixing.square().sum(0)
    expected, r = learners.velocities(learners.contrastive)[0], learners.signals
    return Checked(
        learners.sizes,
        {
            "lemma-a3/signal": as_printed(_error(found[:, :r], expected[:, :r])),
            "lemma-a3/noise": as_printed(_error(found[:, r:], expected[:, r:])),
        },
    )


def cor_a4(rng: Random, largest: int) -> Checked:
    """The same with the Q-matrices, and Lemma A.5: how fast a column grows, and how fast it turns."""
    learners = random_learners(rng, largest)
    weights, maps = weights_of_pairs(learners), learners.a.maps
    found, expected = motion(learners, weights), learners.velocities(learners.contrastive)[0]
    _, q = q_matrices(learners, weights)
    n_a, n_b = (learners.norm(of, of.w) for of in (learners.a, learners.b))
    pulled = learners.b.maps @ q * learners.a.mixing.square().sum(0) / (n_a * n_b * learners.dim)
    lengths = maps.norm(dim=0)
    unit = maps / lengths
    # Q_0 pulls along the column: it changes a length and turns nothing.
    turned = (pulled - unit * (unit * pulled).sum(0)) / lengths
    moved = [maps + step * expected for step in (1e-5, -1e-5)]
    turning = (moved[0] / moved[0].norm(dim=0) - moved[1] / moved[1].norm(dim=0)) / 2e-5
    growing = (moved[0].square().sum(0) - moved[1].square().sum(0)) / 2e-5
    return Checked(
        learners.sizes,
        {
            "cor-a4/q-matrices": as_printed(_error(found, expected)),
            "lemma-a5/radial": as_printed(_error(2 * (maps * found).sum(0), growing)),
            "lemma-a5/tangent": as_printed(_error(turned, turning)),
        },
    )


def lemma_a6(rng: Random, largest: int) -> Checked:
    """Eq. 6: without negatives, K̇_A = (K_B / (N_A N_B d) - E<f_A, f_B> K_A / (N_A² d)) diag(σ²), and K_A,ξ
    with the second term alone."""
    learners = random_learners(rng, largest)
    expected, r = learners.velocities(learners.noncontrastive)[0], learners.signals
    n_a, n_b = (learners.norm(of, of.w) for of in (learners.a, learners.b))
    mean = -learners.noncontrastive(learners.a.w, learners.b.w)
    shrunk = -mean * learners.a.maps / n_a**2
    pulled = torch.cat([learners.b.maps[:, :r] / (n_a * n_b), torch.zeros_like(shrunk[:, r:])], 1)
    found = (pulled + shrunk) * learners.a.mixing.square().sum(0) / learners.dim
    return Checked(
        learners.sizes,
        {
            "lemma-a6/signal": as_printed(_error(found[:, :r], expected[:, :r])),
            "lemma-a6/noise": as_printed(_error(found[:, r:], expected[:, r:])),
        },
    )


def lemma_b9(rng: Random, largest: int) -> Checked:
    """As τ² vanishes, all of K moves as without negatives, 2 K / (1 + K) times as fast."""
    learners = replace(random_learners(rng, largest), tau2=1e-8)
    found = torch.cat(learners.velocities(learners.contrastive))
    expected = torch.cat(learners.velocities(learners.noncontrastive))
    factor = 2 * learners.negatives / (1 + learners.negatives)
    return Checked(
        learners.sizes, {"lemma-b9/small-temperature": as_printed(_error(found, factor * expected))}
    )


def _error(found: Tensor, expected: Tensor) -> float:
    return relative_error(found.numpy(), expected.numpy())


CHECKS = (lemma_a1, lemma_a2, lemma_a3, cor_a4, lemma_a6, lemma_b9)
