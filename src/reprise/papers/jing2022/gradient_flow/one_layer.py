"""Section 4: z = W x.

Functions that need SciPy or torch import it where they calculate, so that lists of claims do not wait for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reprise.evidence.claim import Quotation
from reprise.evidence.formula import Errors, Formula, formula
from reprise.evidence.identities import Array, Random, below_zero, orthonormal, relative_error, size
from reprise.papers.jing2022.gradient_flow import formulas
from reprise.papers.jing2022.gradient_flow.points import (
    Linear,
    augmented_at_threshold,
    distinct,
    on_random_data,
)


def one_layer(rng: Random, largest: int) -> Linear:
    """A layer of any shape."""
    return on_random_data(rng, distinct(rng, size(rng, 2, largest), size(rng, 2, largest)))


@formula(
    "eq2/inner-products",
    "For unit vectors, InfoNCE is the same with inner products for negative half squared distances.",
    at="Section 4.1, after Eq. 2",
    quotes=Quotation(
        "normalized to be unit vector, the negative distance ... can be replaced by inner products",
        at="Section 4.1, after Eq. 2",
    ),
    word="can be replaced by",
    tried_at=one_layer,
)
def inner_products(point: Linear) -> Errors:
    """The decoy has twice the inner products, for the squared distances without their half."""
    from reprise.papers.jing2022.gradient_flow import motion

    z, z_aug = (views / np.linalg.norm(views, axis=1, keepdims=True) for views in (point.z, point.z_aug))
    expected = motion.value(motion.infonce, z, z_aug)

    def loss(scale: float) -> Array:
        positives, logits = scale * np.sum(z * z_aug, 1), scale * z @ z.T
        np.fill_diagonal(logits, positives)
        return np.sum(np.log(np.exp(logits).sum(1)) - positives)

    return Errors(printed=relative_error(loss(1), expected), decoy=relative_error(loss(2), expected))


@formula(
    "lemma1/gradient-flow",
    "The weights of a linear model move by dW/dt = -G, G the sum of embedding gradients times inputs.",
    at="Lemma 1, Eq. 3, Section 4.2",
    tried_at=one_layer,
)
def eq_3(point: Linear) -> Errors:
    """The decoy leaves the second view out of G."""
    (velocity,) = point.velocities
    gradient, _ = formulas.embedding_gradients(point.z, point.z_aug)
    return Errors(
        printed=relative_error(-point.gradient_sum, velocity),
        decoy=relative_error(-gradient.T @ point.x, velocity),
    )


@formula(
    "eq4/embedding-gradients",
    "Eq. 4 gives the gradients of InfoNCE on both branches' embeddings (negatives from the same branch).",
    at="Eq. 4, Section 4.2",
    tried_at=one_layer,
)
def eq_4(point: Linear) -> Errors:
    """The decoy turns the sign of the second branch's gradient."""
    from reprise.papers.jing2022.gradient_flow import motion

    expected = np.stack(motion.gradients(motion.infonce, point.z, point.z_aug))
    first, second = formulas.embedding_gradients(point.z, point.z_aug)
    return Errors(
        printed=relative_error(np.stack([first, second]), expected),
        decoy=relative_error(np.stack([first, -second]), expected),
    )


@formula(
    "eq6",
    """Gradient flow of a linear model has G = -W X with X = Σ_i (Σ_{j≠i} α_ij (x'_i - x_j) + Σ_{j≠i} α_ji
    (x_i - x_j)) x_iᵀ - Σ_i (1 - α_ii)(x'_i - x_i) x'_iᵀ.""",
    at="Eqs. 5 and 6, Section 4.2",
    form="restated",
    reading="the sign of Eq. 6's first sum is lost in our copy; Appendix B.2 goes on from this one",
    tried_at=one_layer,
)
def eqs_5_and_6(point: Linear) -> Errors:
    """The decoy turns the sign of the first sum."""
    (w,), (velocity,) = point.layers, point.velocities
    first, second = formulas.eq6_sums(point.x, point.x_aug, point.alpha)
    return Errors(
        printed=relative_error(w @ (first - second), velocity),
        decoy=relative_error(w @ (-first - second), velocity),
    )


def x_from_flow(model: Linear) -> Array:
    """X = W⁺ dW/dt, with dW/dt from automatic differentiation."""
    return np.linalg.pinv(model.layers[0]) @ model.velocities[0]


def invertible(rng: Random, largest: int) -> Linear:
    """A layer with at least as many outputs as inputs, so that X follows from the motion of W."""
    inputs = size(rng, 2, largest)
    return on_random_data(rng, distinct(rng, size(rng, inputs, largest + 2), inputs))


@formula(
    "lemma2",
    "The matrix X in a linear model's dW/dt = W X is a difference of two positive semi-definite matrices, "
    "the weighted covariances of the data and of the augmentation.",
    at="Lemma 2, Eq. 7, Section 4.2",
    tried_at=invertible,
)
def eq_7(point: Linear) -> Errors:
    """The decoy counts each pair of samples once."""
    sigma0, sigma1, expected = point.data_covariance, point.augmentation_covariance, x_from_flow(point)
    below = (below_zero(np.linalg.eigvalsh(sigma)) for sigma in (sigma0, sigma1))
    return Errors(
        printed=max(relative_error(sigma0 - sigma1, expected), *below),
        decoy=relative_error(sigma0 / 2 - sigma1, expected),
    )


@dataclass(frozen=True)
class Amplitudes:
    """A model below and above the amplitude at which Σ1 ceases to be below Σ0."""

    below: Linear
    above: Linear

    @property
    def sizes(self) -> Mapping[str, int]:
        return self.below.sizes


def amplitudes(rng: Random, largest: int) -> Amplitudes:
    model = invertible(rng, largest)
    return Amplitudes(
        augmented_at_threshold(model, rng.uniform(0.2, 0.9)),
        augmented_at_threshold(model, rng.uniform(1.1, 3)),
    )


@formula(
    "lemma2/amplitude",
    "For data that span all inputs, the matrix X is positive definite as long as the weighted covariance of "
    "the augmentation is below that of the data in every direction, and has a negative eigenvalue beyond.",
    at="Section 4.2, after Lemma 2",
    quotes=Quotation(
        "the amplitude of augmentation determines whether X is a positive definite matrix",
        at="Section 4.2, after Lemma 2",
    ),
    word="determines whether",
    tried_at=amplitudes,
)
def amplitude_decides(point: Amplitudes) -> Errors:
    """The decoy exchanges the two sides."""
    below, above = (_smallest_eigenvalue(x_from_flow(model)) for model in (point.below, point.above))
    return Errors(printed=float(below <= 0 or above >= 0), decoy=float(above <= 0 or below >= 0))


def _smallest_eigenvalue(x: Array) -> float:
    return float(np.linalg.eigvalsh((x + x.T) / 2)[0])


@dataclass(frozen=True)
class FixedX:
    """A square W, and an X with eigenvalues of both signs."""

    w: Array
    x: Array

    @property
    def sizes(self) -> dict[str, int]:
        outputs, inputs = self.w.shape
        return {"inputs": inputs, "outputs": outputs}


def fixed_x(rng: Random, largest: int) -> FixedX:
    side = size(rng, 3, largest)
    signs = np.where(np.arange(side) < size(rng, 1, side - 1), -1, 1)
    q = orthonormal(rng, side, side)
    return FixedX(distinct(rng, side, side), (q * (rng.uniform(0.5, 1.5, side) * signs)) @ q.T)


@formula(
    "thm1/vanishing-values",
    "A linear model with a square W and a fixed X moves as W(0) exp(X t), and as many singular values of W "
    "vanish as X has negative eigenvalues.",
    at="Theorem 1, Section 4.2, and Appendix B.3",
    quotes=Quotation(
        "strong augmentation such that X has negative eigenvalues, the weight matrix W has vanishing "
        "singular values",
        at="Theorem 1, Section 4.2",
    ),
    word="has vanishing singular values",
    tried_at=fixed_x,
)
def theorem_1(point: FixedX) -> Errors:
    """The decoy is W(0) exp(-X t)."""
    from scipy.integrate import solve_ivp
    from scipy.linalg import expm

    w, x, end = point.w, point.x, 1.5

    def flow(t: float, flat: Array) -> Array:
        return (flat.reshape(w.shape) @ x).ravel()

    path = solve_ivp(flow, (0, end), w.ravel(), "DOP853", rtol=1e-12, atol=1e-13)
    expected = path.y[:, -1].reshape(w.shape)
    early, late = (np.linalg.svd(w @ expm(x * t), compute_uv=False) for t in (4, 8))
    vanishing, negative = int((late < early).sum()), int((np.linalg.eigvalsh(x) < 0).sum())
    return Errors(
        printed=max(relative_error(w @ expm(x * end), expected), abs(vanishing - negative) / negative),
        decoy=relative_error(w @ expm(-x * end), expected),
    )


FORMULAS: tuple[Formula, ...] = (inner_products, eq_3, eq_4, eqs_5_and_6, eq_7, amplitude_decides, theorem_1)
