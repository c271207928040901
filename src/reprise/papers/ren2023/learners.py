"""Normalised linear learners of a finite width m, and Algorithm 3.1 (Sections 3 and 5.1).

f_A = W_Aᵀ x_A / N_A = K_A y_A / N_A, where K_A = W_Aᵀ [A, A_ξ] is m x d and N_A² = E|W_Aᵀ x_A|² = |K_A|_F² /
d is the exact expectation. A descent step on W_A changes K_A by -step ∂L/∂K_A diag(σ_1² .. σ_r², σ_ξ² ..).

The columns of K_A(t) and K_B(t) stay in the span of the 2d columns of K_A(0) and K_B(0), and everything
measured depends on their inner products only. So a learner of width m is equivalent to one with 2d outputs
that starts at a root of the 2d x 2d Gram matrix of (K_A(0), K_B(0)), and a step costs the same for every m.

Source: Ren and Li 2023, "On the Importance of Contrastive Loss in Multimodal Learning"; no public code was
found.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from reprise.numerics.streams import Streams
from reprise.papers.ren2023.model import Latents, hypercube

Matrix = Float[Tensor, "*replica out dim"]
Similarities = Float[Tensor, "*replica sample_a sample_b"]


@dataclass(frozen=True)
class Learner:
    """K_A and K_B, which map latents y to outputs before normalisation."""

    k_a: Matrix
    k_b: Matrix

    @property
    def dim(self) -> int:
        return self.k_a.shape[-1]

    @property
    def norms(self) -> tuple[Float[Tensor, "*replica 1 1"], Float[Tensor, "*replica 1 1"]]:
        """N_A and N_B."""
        return self._norm(self.k_a), self._norm(self.k_b)

    def _norm(self, k: Matrix) -> Float[Tensor, "*replica 1 1"]:
        return torch.linalg.matrix_norm(k, keepdim=True) / math.sqrt(self.dim)

    @property
    def pair(self) -> tuple[Matrix, Matrix]:
        return self.k_a, self.k_b

    @property
    def kernel(self) -> Float[Tensor, "*replica dim dim"]:
        """H = K_Aᵀ K_B / (N_A N_B), for which <f_A, f_B> = y_Aᵀ H y_B."""
        n_a, n_b = self.norms
        return self.k_a.mT @ self.k_b / (n_a * n_b)

    def moved(self, direction: "Learner", scale: Float[Tensor, "*replica dim"], amount: float) -> "Learner":
        """The learner after a step on W_A and W_B.

        Args:
            direction: a gradient with respect to K_A and K_B.
            scale: column norms of [A, A_ξ], which are also those of [B, B_ξ].
            amount: step size.
        """
        metric = amount * scale.square()[..., None, :]
        return Learner(self.k_a + metric * direction.k_a, self.k_b + metric * direction.k_b)


def initial(root: Matrix, scale: Float[Tensor, "*replica dim"]) -> Learner:
    """The initial learner, W ~ N(0, 1/m); `root` holds the 2d directions along A, A_ξ, B and B_ξ."""
    k_a, k_b = root.chunk(2, -1)
    return Learner(k_a * scale[..., None, :], k_b * scale[..., None, :])


def gram_root(streams: Streams, width: int, dim: int) -> Float[Tensor, "seed out columns"]:
    """Upper triangular R with 2d columns and Rᵀ R = Zᵀ Z / m, where Z is m x 2d and standard normal, in
    float64.

    Raises:
        ValueError: if the width is below 2d, so that there is nothing to reduce.
    """
    if width < 2 * dim:
        raise ValueError(f"width {width} is less than {2 * dim} = 2d")
    z = streams.normal(width, 2 * dim).double()
    return torch.linalg.cholesky(z.mT @ z / width).mT


def reduced(learner: Learner) -> Learner:
    """An equivalent learner with 2d outputs."""
    k = torch.cat(learner.pair, -1)
    return Learner(*torch.linalg.cholesky(k.mT @ k).mT.chunk(2, -1))


# Objectives. All gradients are written by hand; the tests compare them with autograd.


def gradient(learner: Learner, kernel_gradient: Float[Tensor, "*replica dim dim"]) -> Learner:
    """∂L/∂K_A and ∂L/∂K_B, for a loss of H = K_Aᵀ K_B / (N_A N_B), including the normalisation's part.

    Args:
        kernel_gradient: ∂L/∂H.
    """
    n_a, n_b = learner.norms
    normalisation_term = (kernel_gradient * learner.kernel).sum((-2, -1), keepdim=True) / learner.dim
    cross_term = kernel_gradient / (n_a * n_b)
    return Learner(
        learner.k_b @ cross_term.mT - normalisation_term / n_a**2 * learner.k_a,
        learner.k_a @ cross_term - normalisation_term / n_b**2 * learner.k_b,
    )


Objective = Callable[[Float[Tensor, "*replica dim dim"]], tuple[Tensor, Tensor]]
"""Maps H to the loss [*replica] and its gradient with respect to H, rescaled as in Algorithm 3.1."""


def contrastive(y_a: Latents, y_b: Latents, *, tau2: float, negatives: float) -> Objective:
    """Contrastive loss on a batch (Eq. 3), with its gradient divided by τ².

    Pair i is positive; all other samples of the batch give its negatives.

    Args:
        tau2: inverse temperature τ².
        negatives: K, the strength of the negatives, which multiplies the mean over them.
    """
    samples = y_a.shape[-1]
    share = negatives / (samples - 1)

    def objective(kernel: Tensor) -> tuple[Tensor, Tensor]:
        logits = y_a.mT @ (tau2 * kernel) @ y_b
        positive = logits.diagonal(dim1=-2, dim2=-1).clone()
        largest = logits.amax((-2, -1), keepdim=True)
        odds = logits.sub_(largest).exp_()  # rows and columns share one exponential
        positive_odds = odds.diagonal(dim1=-2, dim2=-1)
        positive_odds /= share  # gives the negatives a relative weight of K / (samples - 1)
        rows, columns = odds.sum(-1, keepdim=True), odds.sum(-2, keepdim=True)
        loss = (rows.log().mT + columns.log() + 2 * (math.log(share) + largest)).mean((-2, -1))
        pull = odds * (1 / rows + 1 / columns)
        pull.diagonal(dim1=-2, dim2=-1).sub_(2.0)
        return loss - 2 * positive.mean(-1), y_a @ pull @ y_b.mT / samples

    return objective


def non_contrastive(y_a: Latents, y_b: Latents) -> Objective:
    """Non-contrastive loss on a batch (Eq. 4): -E<f_A, f_B> over positive pairs."""
    correlation = y_a @ y_b.mT / y_a.shape[-1]
    return lambda kernel: (-(correlation * kernel).sum((-2, -1)), -correlation.expand_as(kernel))


def population(dim: int, signals: int, *, tau2: float, negatives: float) -> Objective:
    """Exact expectation of Eq. 3 over all 2^d latents of each view, with its gradient divided by τ²."""
    y = hypercube(dim) / math.sqrt(dim)
    same = (y[:signals, :, None] == y[:signals, None]).all(0).double()
    weight = same / same.sum()
    log_weight = math.log(negatives) - dim * math.log(2.0)

    def objective(kernel: Tensor) -> tuple[Tensor, Tensor]:
        logits = tau2 * y.mT @ kernel @ y
        loss, pull = torch.zeros(kernel.shape[:-2], dtype=kernel.dtype), torch.zeros_like(logits)
        for axis in (-1, -2):
            total = torch.logsumexp(logits, axis, keepdim=True)
            gap = total + log_weight - logits
            loss = loss + (weight * torch.nn.functional.softplus(gap)).sum((-2, -1))
            weighted_miss = weight * torch.sigmoid(gap)  # 1 - S of the positive pairs
            pull += weighted_miss.sum(axis, keepdim=True) * torch.exp(logits - total) - weighted_miss
        return loss, y @ pull @ y.T

    return objective


def exact_non_contrastive(dim: int, signals: int) -> Objective:
    """Exact expectation of Eq. 4: E y_A y_Bᵀ is 1/d on the signals' diagonal and 0 elsewhere."""
    correlation = torch.diag(torch.arange(dim) < signals).double() / dim
    return lambda kernel: (-(correlation * kernel).sum((-2, -1)), -correlation.expand_as(kernel))


def descended(
    learner: Learner, objective: Objective, scale: Float[Tensor, "*replica dim"], step_size: float
) -> tuple[Learner, Float[Tensor, "*replica"]]:
    """The learner after one step of gradient descent on W_A and W_B, and the loss before the step."""
    loss, kernel_gradient = objective(learner.kernel)
    return learner.moved(gradient(learner, kernel_gradient), scale, -step_size), loss


def flowed(
    learner: Learner, objective: Objective, scale: Float[Tensor, "*replica dim"], time: float
) -> Learner:
    """The learner after `time` of gradient flow, by one step of the classical Runge-Kutta method."""

    def slope(state: Learner) -> Learner:
        return gradient(state, objective(state.kernel)[1])

    slope1 = slope(learner)
    slope2 = slope(learner.moved(slope1, scale, -time / 2))
    slope3 = slope(learner.moved(slope2, scale, -time / 2))
    slope4 = slope(learner.moved(slope3, scale, -time))
    total = (
        a + 2 * b + 2 * c + d
        for a, b, c, d in zip(slope1.pair, slope2.pair, slope3.pair, slope4.pair, strict=True)
    )
    return learner.moved(Learner(*total), scale, -time / 6)
