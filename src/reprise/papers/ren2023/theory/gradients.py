"""Appendix A.1: gradients and dynamics of learners of finite width, at any weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Random, relative_error
from reprise.papers.ren2023.theory.population import Learners, random_learners

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


def pulls(learners: Learners) -> Float[Tensor, "state_a state_b"]:
    """P (2 - S_A - S_B): how strongly each pair of states attracts as a positive pair."""
    s_a, s_b = learners.softmax(learners.similarity(learners.a.w, learners.b.w))
    return learners.pairs * (2 - s_a - s_b)


def weights_of_pairs(learners: Learners) -> Float[Tensor, "state_a state_b"]:
    """Net attraction of each pair of states in a step.

    As a negative of anchors of either modality a pair repels with the expectations of
    K S_A exp(τ² (f_A+ · f_B- - f_A+ · f_B+)) and of the same with S_B.
    """
    similarity = learners.similarity(learners.a.w, learners.b.w)
    s_a, s_b = learners.softmax(similarity)
    odds = (learners.tau2 * similarity).exp()
    push_a = (learners.pairs * s_a / odds).sum(1, keepdim=True)
    push_b = (learners.pairs * s_b / odds).sum(0, keepdim=True)
    return pulls(learners) - learners.negatives / len(odds) * odds * (push_a + push_b)


def norms(learners: Learners) -> tuple[Tensor, Tensor]:
    """N_A and N_B."""
    return learners.norm(learners.a, learners.a.w), learners.norm(learners.b, learners.b.w)


def scales2(learners: Learners) -> Float[Tensor, dim]:
    """σ² and σ_ξ², the squared lengths of the columns of [A, A_ξ]."""
    return learners.a.mixing.square().sum(0)


def mean_similarity(learners: Learners, weights: Tensor) -> Tensor:
    """Q_0 = Σ weights <f_A, f_B>."""
    return (weights * learners.similarity(learners.a.w, learners.b.w)).sum()


def attraction_of(learners: Learners, weights: Tensor) -> Tensor:
    """Σ weights x_A f_Bᵀ / N_A, the gradient of Σ weights <f_A, f_B> on W_A while N_A is held."""
    f_b = learners.outputs(learners.b, learners.b.w)
    return learners.inputs(learners.a).T @ weights @ f_b / norms(learners)[0]


def similarity_gradient(learners: Learners, weights: Tensor) -> Tensor:
    """Lemma A.1, summed: Σ weights ∇_{W_A} <f_A, f_B>. The term with E[x_A x_Aᵀ] is the normalisation's."""
    w, mixing = learners.a.w, learners.a.mixing
    covariance = mixing @ mixing.T / learners.dim
    decay = mean_similarity(learners, weights) * covariance @ w / norms(learners)[0] ** 2
    return attraction_of(learners, weights) - decay


def q_matrix(learners: Learners, weights: Tensor) -> Tensor:
    """Corollary A.4: Q_1, Q_1,ξ and Q_2 as one matrix, d Σ weights y_B y_Aᵀ with y = (z, ξ)."""
    return learners.dim * learners.latents.T @ weights.T @ learners.latents


def attraction_by_q(learners: Learners, weights: Tensor) -> Tensor:
    """Corollary A.4, without Q_0: [K_B, K_B,ξ] Q / (N_A N_B d) diag(σ², σ_ξ²)."""
    n_a, n_b = norms(learners)
    return learners.b.maps @ q_matrix(learners, weights) * scales2(learners) / (n_a * n_b * learners.dim)


def motion(learners: Learners, weights: Tensor) -> Tensor:
    """Corollary A.4: ([K_B, K_B,ξ] Q / (N_A N_B d) - Q_0 [K_A, K_A,ξ] / (N_A² d)) diag(σ², σ_ξ²)."""
    n_a, _ = norms(learners)
    decay = mean_similarity(learners, weights) * learners.a.maps / (n_a**2 * learners.dim)
    return attraction_by_q(learners, weights) - decay * scales2(learners)


@formula(
    "eq2/norm",
    "The normalisation of the representation is N_A² = (|K_A|² + |K_A,ξ|²) / d.",
    at="Eq. 2, Section 3",
    tried_at=random_learners,
    form="restated",
)
def normalisation(learners: Learners) -> Errors:
    """The decoy leaves out the noise part."""
    norm2, squares = norms(learners)[0] ** 2, learners.a.maps.square()
    return Errors(
        printed=error(squares.sum() / learners.dim, norm2),
        decoy=error(squares[:, : learners.signals].sum() / learners.dim, norm2),
    )


@dataclass(frozen=True)
class Pair:
    """Learners, and one pair of states."""

    learners: Learners
    a: int
    b: int

    @property
    def sizes(self) -> dict[str, int]:
        return self.learners.sizes

    @property
    def weights(self) -> Tensor:
        """1 for the pair, 0 for others."""
        import torch

        weights = torch.zeros_like(self.learners.pairs)
        weights[self.a, self.b] = 1.0
        return weights


def random_pair(rng: Random, largest: int) -> Pair:
    learners = random_learners(rng, largest)
    states = len(learners.latents)
    return Pair(learners, int(rng.integers(states)), int(rng.integers(states)))


@formula(
    "lemma-a1/similarity",
    "The gradient of <f_A, f_B> on W_A is x_A f_Bᵀ / N_A - <f_A, f_B> E[x_A x_Aᵀ] W_A / N_A².",
    at="Lemma A.1, Appendix A.1",
    tried_at=random_pair,
    form="restated",
)
def gradient_of_similarity(pair: Pair) -> Errors:
    """The decoy takes N_A to be constant."""
    learners, weights = pair.learners, pair.weights
    gradient, _ = learners.gradients(lambda w_a, w_b: (weights * learners.similarity(w_a, w_b)).sum())
    return Errors(
        printed=error(similarity_gradient(learners, weights), gradient),
        decoy=error(attraction_of(learners, weights), gradient),
    )


@formula(
    "lemma-a2/gradient",
    "The gradient of the contrastive loss pulls positive pairs by 2 - S_A - S_B and pushes negatives by "
    "their share of the softmax, each with its normalisation term.",
    at="Lemma A.2, Appendix A.1",
    tried_at=random_learners,
    form="restated",
)
def gradient_of_loss(learners: Learners) -> Errors:
    """Errors of the gradient for W_A, divided by τ². The decoy has no negatives."""
    gradient, _ = learners.gradients(learners.contrastive)
    printed, decoy = (
        error(-similarity_gradient(learners, weights), gradient)
        for weights in (weights_of_pairs(learners), pulls(learners))
    )
    return Errors(printed, decoy=decoy)


@formula(
    "lemma-a3",
    "Under the contrastive loss the signal part K_A of the representation moves by Eq. 5, and the noise part "
    "K_A,ξ by Eq. 5 with the noise ξ for the signal z.",
    at="Lemma A.3, Appendix A.1, and Eq. 5, Section 5.1",
    tried_at=random_learners,
    form="restated",
)
def motion_of_maps(learners: Learners) -> Errors:
    """Σ weights (f_B zᵀ / N_A - <f_A, f_B> K_A / (N_A² d)) diag(σ²); the decoy has σ in place of σ²."""
    weights, (norm, _) = weights_of_pairs(learners), norms(learners)
    f_b = learners.outputs(learners.b, learners.b.w)
    attraction = f_b.T @ weights.T @ learners.latents / norm
    direction = attraction - mean_similarity(learners, weights) * learners.a.maps / (norm**2 * learners.dim)
    velocity, _ = learners.velocities(learners.contrastive)
    return Errors(
        printed=largest_error(learners, direction * scales2(learners), velocity),
        decoy=largest_error(learners, direction * scales2(learners).sqrt(), velocity),
    )


@formula(
    "cor-a4/q-matrices",
    "Under the contrastive loss K̇_A = ((K_B Q_1 + K_B,ξ Q_1,ξ) / (N_A N_B d) - Q_0 K_A / (N_A² d)) diag(σ²), "
    "and K_A,ξ alike.",
    at="Corollary A.4, Appendix A.1",
    tried_at=random_learners,
    form="restated",
)
def motion_by_q_matrices(learners: Learners) -> Errors:
    """The decoy leaves out Q_0."""
    weights = weights_of_pairs(learners)
    velocity, _ = learners.velocities(learners.contrastive)
    return Errors(
        printed=error(motion(learners, weights), velocity),
        decoy=error(attraction_by_q(learners, weights), velocity),
    )


@formula(
    "lemma-a5",
    "The squared norms of the columns of K_A grow by the part of Corollary A.4's right-hand side along the "
    "columns, and the columns turn by the part across them, in which Q_0 has no share.",
    at="Lemma A.5, Appendix A.1",
    tried_at=random_learners,
    form="restated",
)
def growth_and_turning(learners: Learners) -> Errors:
    """Errors against differences along the gradient flow. The decoy turns the columns by the part along them
    too."""
    weights, maps, step = weights_of_pairs(learners), learners.a.maps, 1e-5
    velocity, _ = learners.velocities(learners.contrastive)
    lengths = maps.norm(dim=0)
    unit, attraction = maps / lengths, attraction_by_q(learners, weights)
    across = attraction - unit * (unit * attraction).sum(0)
    after, before = maps + step * velocity, maps - step * velocity
    growth = (after.square().sum(0) - before.square().sum(0)) / (2 * step)
    turning = (after / after.norm(dim=0) - before / before.norm(dim=0)) / (2 * step)
    radial = error(2 * (maps * motion(learners, weights)).sum(0), growth)
    return Errors(
        printed=max(radial, error(across / lengths, turning)), decoy=error(attraction / lengths, turning)
    )


@formula(
    "lemma-a6",
    "Without negatives, K̇_A = (K_B / (N_A N_B d) - E<f_A, f_B> K_A / (N_A² d)) diag(σ²), and the noise part "
    "K_A,ξ moves by the second term, the normalisation's, alone.",
    at="Lemma A.6, Appendix A.1, and Eq. 6, Section 5.1",
    tried_at=random_learners,
    form="restated",
)
def motion_without_negatives(learners: Learners) -> Errors:
    """The decoy has the first term for the noise as well."""
    velocity, _ = learners.velocities(learners.noncontrastive)
    n_a, n_b = norms(learners)
    decay = mean_similarity(learners, learners.pairs) * learners.a.maps / n_a**2

    def off(attracted: int) -> float:
        """Error with the first term for so many columns."""
        attraction = learners.b.maps / (n_a * n_b)
        attraction[:, attracted:] = 0
        return largest_error(learners, (attraction - decay) * scales2(learners) / learners.dim, velocity)

    return Errors(printed=off(learners.signals), decoy=off(learners.dim))


@formula(
    "lemma-b9/small-temperature",
    "As τ² vanishes, learners of any width move as without negatives, 2K / (1 + K) times as fast.",
    at="Lemma B.9, Appendix B.1, and Section 5.3",
    tried_at=random_learners,
    form="restated",
)
def motion_at_small_temperature(learners: Learners) -> Errors:
    """The decoy is twice as fast, whatever K."""
    import torch

    learners = replace(learners, tau2=1e-8)
    velocity = torch.cat(learners.velocities(learners.contrastive))
    without = torch.cat(learners.velocities(learners.noncontrastive))
    factor = 2 * learners.negatives / (1 + learners.negatives)
    return Errors(printed=error(velocity, factor * without), decoy=error(velocity, 2 * without))


def error(value: Tensor, expected: Tensor) -> float:
    return relative_error(value.numpy(), expected.numpy())


def largest_error(learners: Learners, value: Tensor, expected: Tensor) -> float:
    """The larger of the errors of the signal part and the noise part."""
    r = learners.signals
    return max(error(value[:, part], expected[:, part]) for part in (slice(r), slice(r, None)))


FORMULAS: tuple[Formula, ...] = (
    normalisation,
    gradient_of_similarity,
    gradient_of_loss,
    motion_of_maps,
    motion_by_q_matrices,
    growth_and_turning,
    motion_without_negatives,
    motion_at_small_temperature,
)
