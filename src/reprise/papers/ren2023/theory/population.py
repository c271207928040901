"""Learners with few latent coordinates, for which every expectation is an exact sum over all signs of z and
ξ.

Here and in the formulas' modules, torch and SciPy are imported where they calculate, so that lists of claims
do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from reprise.evidence.identities import Random, orthonormal, size

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from reprise.papers.ren2023.infinite_width import Moment


def tensor(values: np.ndarray) -> Tensor:
    import torch

    return torch.from_numpy(np.ascontiguousarray(values, dtype=float))


def signs(bits: int) -> Float[Tensor, "state bits"]:
    """All elements of {±1}^bits; for 0 bits, a single empty row."""
    return tensor(np.array(list(product([-1.0, 1.0], repeat=bits))).reshape(2**bits, bits))


@dataclass(frozen=True)
class Modality:
    """x = A z + A_ξ ξ and its learner f = Wᵀ x / N.

    Attributes:
        mixing: [A, A_ξ]. Shape [dim, dim].
        w: W. Shape [dim, width].
    """

    mixing: Float[Tensor, "dim dim"]
    w: Float[Tensor, "dim width"]

    @property
    def maps(self) -> Float[Tensor, "width dim"]:
        """[K, K_ξ] = Wᵀ [A, A_ξ]."""
        return self.w.T @ self.mixing


@dataclass(frozen=True)
class Learners:
    """Two modalities that share `signals` = r of their d latent coordinates.

    A state of a modality is a value of (z, ξ): 2^r signals with 2^(d - r) noises each.
    """

    a: Modality
    b: Modality
    signals: int
    negatives: float
    tau2: float

    @property
    def dim(self) -> int:
        return len(self.a.mixing)

    @property
    def latents(self) -> Float[Tensor, "state dim"]:
        """(z, ξ) of every state, with the signal changing slowest."""
        return signs(self.dim) / self.dim**0.5

    @property
    def pairs(self) -> Float[Tensor, "state_a state_b"]:
        """Probability of each positive pair, which shares z and has independent noises."""
        import torch

        noises = 2 ** (self.dim - self.signals)
        block = torch.ones(noises, noises, dtype=torch.float64)
        shared = torch.kron(torch.eye(2**self.signals, dtype=torch.float64), block)
        return shared / shared.sum()

    @property
    def sizes(self) -> dict[str, int]:
        noises = self.dim - self.signals
        return {"signals": self.signals, "noises": noises, "width": self.a.w.shape[1]}

    def inputs(self, modality: Modality) -> Float[Tensor, "state dim"]:
        return self.latents @ modality.mixing.T

    def norm(self, modality: Modality, w: Tensor) -> Tensor:
        """N = sqrt(E ||Wᵀ x||²)."""
        return (self.inputs(modality) @ w).square().sum(-1).mean().sqrt()

    def outputs(self, modality: Modality, w: Tensor) -> Float[Tensor, "state width"]:
        """f, one output per state."""
        return self.inputs(modality) @ w / self.norm(modality, w)

    def similarity(self, w_a: Tensor, w_b: Tensor) -> Float[Tensor, "state_a state_b"]:
        """<f_A, f_B> of every pair."""
        return self.outputs(self.a, w_a) @ self.outputs(self.b, w_b).T

    def softmax(self, similarity: Tensor) -> tuple[Tensor, Tensor]:
        """S_A and S_B of every pair as a positive one; its negatives are all states of the other modality."""
        odds = (self.tau2 * similarity).exp()
        return (
            odds / (odds + self.negatives * odds.mean(1, keepdim=True)),
            odds / (odds + self.negatives * odds.mean(0, keepdim=True)),
        )

    def contrastive(self, w_a: Tensor, w_b: Tensor) -> Tensor:
        """Eq. 3, divided by τ²."""
        s_a, s_b = self.softmax(self.similarity(w_a, w_b))
        return -(self.pairs * (s_a.log() + s_b.log())).sum() / self.tau2

    def noncontrastive(self, w_a: Tensor, w_b: Tensor) -> Tensor:
        """Eq. 4."""
        return -(self.pairs * self.similarity(w_a, w_b)).sum()

    def gradients(self, loss: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """Gradients for W_A and W_B, by automatic differentiation."""
        import torch

        leaves = [modality.w.detach().requires_grad_() for modality in (self.a, self.b)]
        gradient_a, gradient_b = torch.autograd.grad(loss(*leaves), leaves)
        return gradient_a, gradient_b

    def velocities(self, loss: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
        """d[K_A, K_A,ξ]/dt and d[K_B, K_B,ξ]/dt under gradient flow on the loss."""
        gradient_a, gradient_b = self.gradients(loss)
        return -gradient_a.T @ self.a.mixing, -gradient_b.T @ self.b.mixing


def random_mixing(rng: Random, scales: np.ndarray) -> Tensor:
    """[A, A_ξ] with orthogonal columns of these lengths."""
    rotation = orthonormal(rng, len(scales), len(scales))
    return tensor(rotation * scales)


def random_scales(rng: Random, signals: int, noises: int) -> np.ndarray:
    """Random σ_1 .. σ_r and σ_ξ, with all signals above the noise."""
    return np.concatenate([rng.uniform(0.8, 1.8, signals), np.full(noises, rng.uniform(0.3, 0.7))])


def random_sizes(rng: Random, largest: int) -> tuple[int, int]:
    """Random r and d - r, which sum to at most `largest`."""
    signals = size(rng, 2, largest - 1)
    return signals, size(rng, 1, largest - signals)


def random_learners(rng: Random, largest: int) -> Learners:
    """Random learners of a finite width."""
    signals, noises = random_sizes(rng, largest)
    scales, width = random_scales(rng, signals, noises), size(rng, 2, 2 * largest)
    dim = signals + noises
    modality_a, modality_b = (
        Modality(random_mixing(rng, scales), tensor(rng.normal(size=(dim, width)))) for _ in "ab"
    )
    return Learners(modality_a, modality_b, signals, rng.uniform(1, 30), rng.uniform(0.3, 3))


def with_maps(rng: Random, scales: np.ndarray, maps: np.ndarray) -> Modality:
    """A modality with random orthogonal directions and the given [K, K_ξ], of shape [width, dim]."""
    import torch

    mixing = random_mixing(rng, scales)
    return Modality(mixing, torch.linalg.solve(mixing.T, tensor(maps).T))


def random_limit(
    rng: Random, largest: int, *, noiseless: bool = False, aligned: bool = False, uneven: bool = False
) -> tuple[Learners, Moment]:
    """Learners with exactly orthogonal columns as in Eq. 7, and the equivalent moment of the limit, with
    negatives (setting 0) and without (setting 1).

    Args:
        noiseless: whether to omit noise coordinates.
        aligned: whether K_A = K_B.
        uneven: whether to have at least two noise columns of different lengths, which a moment cannot
            represent.
    """
    from reprise.papers.ren2023.infinite_width import InfiniteWidth, Moment

    signals, noises = random_sizes(rng, largest)
    noises = 0 if noiseless else max(noises, 2 * uneven)
    scales = random_scales(rng, signals, noises)
    k, v = rng.uniform(0.5, 2, signals), float(rng.uniform(0.2, 0.8))
    h = k * (1 if aligned else rng.uniform(0.1, 0.95, signals))
    dim = 2 * (signals + noises) + 1
    frame = orthonormal(rng, dim, dim)
    aligned_frame, orthogonal_frame, noise_a, noise_b = np.split(
        frame, np.cumsum([signals, signals, noises, noises]), 1
    )[:4]
    k_a = aligned_frame * np.sqrt(k)
    k_b = aligned_frame * (h / np.sqrt(k)) + orthogonal_frame * np.sqrt(np.maximum(k - h**2 / k, 0))
    lengths = np.sqrt(v) * (rng.uniform(0.5, 1.5, noises) if uneven else 1)
    learners = Learners(
        with_maps(rng, scales, np.hstack([k_a, noise_a * lengths])),
        with_maps(rng, scales, np.hstack([k_b, noise_b * lengths])),
        signals,
        rng.uniform(1, 30),
        rng.uniform(0.3, 3),
    )
    limit = InfiniteWidth.of(
        scales[:signals] ** 2,
        noise2=scales[-1] ** 2,
        noises=noises,
        negatives=learners.negatives,
        contrastive=np.array([True, False]),
    )
    ones = np.ones((2, 1))
    return learners, Moment(limit, ones * k, ones * h, np.full(2, v))
