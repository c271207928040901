"""Normalised linear learners of a finite width m, and Algorithm 3.1 (Sections 3 and 5.1).

f_A = W_Aᵀ x_A / N_A = K_A y_A / N_A with K_A = W_Aᵀ [A, A_ξ] of m x d, and N_A² = E|W_Aᵀ x_A|² = |K_A|_F² /
d, the exact expectation. A step of descent on W_A moves K_A by -step ∂L/∂K_A diag(σ_1² .. σ_r², σ_ξ² ..).

The columns of K_A(t) and K_B(t) stay in the span of those of K_A(0) and K_B(0), 2d vectors, on whose inner
products alone depends whatever is measured. So a learner of width m is, exactly, one of 2d outputs that
starts at a root of the 2d x 2d Gram matrix of (K_A(0), K_B(0)): a step costs the same for every m.
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
    """K_A and K_B, which take latents y to outputs before normalisation."""

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
        """H = K_Aᵀ K_B / (N_A N_B): <f_A, f_B> = y_Aᵀ H y_B."""
        n_a, n_b = self.norms
        return self.k_a.mT @ self.k_b / (n_a * n_b)

    def moved(self, by: "Learner", scale: Float[Tensor, "*replica dim"], amount: float) -> "Learner":
        """After W_A and W_B have gone `amount` along the K-gradient `by`.

        Args:
            scale: column norms of [A, A_ξ], and of [B, B_ξ].
        """
        metric = amount * scale.square()[..., None, :]
        return Learner(self.k_a + metric * by.k_a, self.k_b + metric * by.k_b)


def initial(root: Matrix, scale: Float[Tensor, "*replica dim"]) -> Learner:
    """The start: W ~ N(0, 1/m), of which `root` holds the 2d directions along A, A_ξ, B and B_ξ."""
    k_a, k_b = root.chunk(2, -1)
    return Learner(k_a * scale[..., None, :], k_b * scale[..., None, :])


def gram_root(streams: Streams, width: int, dim: int) -> Float[Tensor, "seed out columns"]:
    """Upper triangular R with Rᵀ R = Zᵀ Z / m, of columns 2d, where Z is m x 2d and standard normal; float64.

    Raises:
        ValueError: when the width is under 2d; then there is nothing to reduce.
    """
    if width < 2 * dim:
        raise ValueError(f"width {width} is less than {2 * dim} = 2d")
    z = streams.normal(width, 2 * dim).double()
    return torch.linalg.cholesky(z.mT @ z / width).mT


def reduced(learner: Learner) -> Learner:
    """The same learner with 2d outputs."""
    k = torch.cat(learner.pair, -1)
    return Learner(*torch.linalg.cholesky(k.mT @ k).mT.chunk(2, -1))


# What descends. All gradients are by hand; the tests hold them against autograd.


def gradient(learner: Learner, by_kernel: Float[Tensor, "*replica dim dim"]) -> Learner:
    """∂L/∂K_A and ∂L/∂K_B of a loss of H = K_Aᵀ K_B / (N_A N_B), the normalisation's share with them.

    Args:
        by_kernel: ∂L/∂H.
    """
    n_a, n_b = learner.norms
    inner = (by_kernel * learner.kernel).sum((-2, -1), keepdim=True) / learner.dim
    across = by_kernel / (n_a * n_b)
    return Learner(
        learner.k_b @ across.mT - inner / n_a**2 * learner.k_a,
        learner.k_a @ across - inner / n_b**2 * learner.k_b,
    )


Objective = Callable[[Float[Tensor, "*replica dim dim"]], tuple[Tensor, Tensor]]
"""From H to the loss [*replica] and its gradient by H, rescaled as Algorithm 3.1 has it."""


def contrastive(y_a: Latents, y_b: Latents, *, tau2: float, negatives: float) -> Objective:
    """Eq. 3 on a batch: pair i is positive, all other pairs of the batch are its negatives; gradient / tau².

    Args:
        tau2: inverse temperature τ².
        negatives: K, their strength: K E_- = K times the mean over them.
    """
    samples = y_a.shape[-1]
    share = negatives / (samples - 1)

    def objective(kernel: Tensor) -> tuple[Tensor, Tensor]:
        logits = y_a.mT @ (tau2 * kernel) @ y_b
        positive = logits.diagonal(dim1=-2, dim2=-1).clone()
        largest = logits.amax((-2, -1), keepdim=True)
        likeness = logits.sub_(largest).exp_()  # one exponential serves rows and columns
        of_positive = likeness.diagonal(dim1=-2, dim2=-1)
        of_positive /= share  # so that the negatives weigh K / (samples - 1) times as much
        rows, columns = likeness.sum(-1, keepdim=True), likeness.sum(-2, keepdim=True)
        loss = (rows.log().mT + columns.log() + 2 * (math.log(share) + largest)).mean((-2, -1))
        pull = likeness * (1 / rows + 1 / columns)
        pull.diagonal(dim1=-2, dim2=-1).sub_(2.0)
        return loss - 2 * positive.mean(-1), y_a @ pull @ y_b.mT / samples

    return objective


def non_contrastive(y_a: Latents, y_b: Latents) -> Objective:
    """Eq. 4 on a batch: -E<f_A, f_B> over positive pairs."""
    correlation = y_a @ y_b.mT / y_a.shape[-1]
    return lambda kernel: (-(correlation * kernel).sum((-2, -1)), -correlation.expand_as(kernel))


def population(dim: int, signals: int, *, tau2: float, negatives: float) -> Objective:
    """Eq. 3's exact expectation over all 2^d latents of each view; gradient / τ²."""
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
            missed = weight * torch.sigmoid(gap)  # 1 - S, of the positive pairs
            pull += missed.sum(axis, keepdim=True) * torch.exp(logits - total) - missed
        return loss, y @ pull @ y.T

    return objective


def exact_non_contrastive(dim: int, signals: int) -> Objective:
    """Eq. 4's exact expectation: E y_A y_Bᵀ is 1/d on the signals and 0 else."""
    correlation = torch.diag(torch.arange(dim) < signals).double() / dim
    return lambda kernel: (-(correlation * kernel).sum((-2, -1)), -correlation.expand_as(kernel))


def descended(
    learner: Learner, objective: Objective, scale: Float[Tensor, "*replica dim"], step_size: float
) -> tuple[Learner, Float[Tensor, "*replica"]]:
    """After one step of gradient descent on W_A and W_B, and the loss before it."""
    loss, by_kernel = objective(learner.kernel)
    return learner.moved(gradient(learner, by_kernel), scale, -step_size), loss


def flowed(
    learner: Learner, objective: Objective, scale: Float[Tensor, "*replica dim"], time: float
) -> Learner:
    """After that time of gradient flow, in one step of the classical Runge-Kutta method."""

    def slope(at: Learner) -> Learner:
        return gradient(at, objective(at.kernel)[1])

    first = slope(learner)
    second = slope(learner.moved(first, scale, -time / 2))
    third = slope(learner.moved(second, scale, -time / 2))
    fourth = slope(learner.moved(third, scale, -time))
    total = (
        a + 2 * b + 2 * c + d
        for a, b, c, d in zip(first.pair, second.pair, third.pair, fourth.pair, strict=True)
    )
    return learner.moved(Learner(*total), scale, -time / 6)
