"""Random points, away from zero and from symmetric configurations.

Functions that need SciPy or torch import it where they calculate, so that lists of claims do not wait for it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reprise.evidence.identities import Array, Random, orthonormal, size
from reprise.papers.jing2022.gradient_flow import formulas


@dataclass(frozen=True)
class Linear:
    """A linear network and the two views of its data."""

    layers: tuple[Array, ...]
    x: Array
    x_aug: Array

    @property
    def product(self) -> Array:
        return np.linalg.multi_dot(self.layers[::-1]) if len(self.layers) > 1 else self.layers[0]

    @property
    def z(self) -> Array:
        return self.x @ self.product.T

    @property
    def z_aug(self) -> Array:
        return self.x_aug @ self.product.T

    @property
    def alpha(self) -> Array:
        return formulas.softmax(self.z, self.z_aug)

    @property
    def gradient_sum(self) -> Array:
        """G of Lemma 1."""
        return formulas.embedding_gradient_sum(self.x, self.x_aug, self.z, self.z_aug)

    @property
    def data_covariance(self) -> Array:
        """Σ0 of Lemma 2."""
        return formulas.data_covariance(self.x, self.alpha)

    @property
    def augmentation_covariance(self) -> Array:
        """Σ1 of Lemma 2."""
        return formulas.augmentation_covariance(self.x, self.x_aug, self.alpha)

    @property
    def x_matrix(self) -> Array:
        """X of Eq. 7."""
        return self.data_covariance - self.augmentation_covariance

    @cached_property
    def velocities(self) -> list[Array]:
        """dW/dt of each layer, by automatic differentiation."""
        from reprise.papers.jing2022.gradient_flow.motion import gradient_flow

        return gradient_flow(self.layers, self.x, self.x_aug)

    @cached_property
    def factors(self) -> list[tuple[Array, Array, Array]]:
        """U, the singular values and Vᵀ of each layer."""
        from reprise.papers.jing2022.gradient_flow.motion import svd

        return [svd(w) for w in self.layers]

    @cached_property
    def factor_velocities(self) -> list[tuple[Array, Array, Array]]:
        """dU/dt, dS/dt and dV/dt (not of Vᵀ) of each layer."""
        from reprise.papers.jing2022.gradient_flow.motion import factors_velocity

        return [factors_velocity(w, dw) for w, dw in zip(self.layers, self.velocities, strict=True)]

    @property
    def sizes(self) -> dict[str, int]:
        hidden = {"hidden": len(self.layers[0])} if len(self.layers) > 1 else {}
        return {"samples": len(self.x), "inputs": self.x.shape[1], **hidden, "outputs": len(self.layers[-1])}


def on_random_data(rng: Random, *layers: Array) -> Linear:
    """The network on random data that span all inputs, with a moderate augmentation."""
    inputs = layers[0].shape[1]
    samples = size(rng, inputs + 2, 3 * inputs + 2)
    x = rng.normal(size=(samples, inputs)) * rng.uniform(0.5, 1.5, inputs)
    return Linear(layers, x, x + 0.5 * rng.normal(size=x.shape))


def augmented_at_threshold(model: Linear, times: float) -> Linear:
    """The network with its augmentation scaled to `times` the amplitude at which Σ1 ceases to be below Σ0."""
    from scipy.linalg import eigh
    from scipy.optimize import brentq

    shift = model.x_aug - model.x

    def scaled(amplitude: float) -> Linear:
        return Linear(model.layers, model.x, model.x + amplitude * shift)

    def log_ratio(log_amplitude: float) -> float:
        candidate = scaled(np.exp(log_amplitude))
        sigma0, sigma1 = candidate.data_covariance, candidate.augmentation_covariance
        return float(np.log(eigh(sigma1, sigma0, eigvals_only=True)[-1]))

    return scaled(times * np.exp(brentq(log_ratio, np.log(1e-3), np.log(1e3), xtol=1e-12)))


def spread_values(rng: Random, count: int) -> Array:
    """Distinct singular values, largest first, of the order of 1."""
    return (np.arange(count, 0, -1) + rng.uniform(0, 0.5, count)) / count


def distinct(rng: Random, rows: int, columns: int) -> Array:
    """A random matrix with distinct singular values."""
    rank = min(rows, columns)
    return (orthonormal(rng, rows, rank) * spread_values(rng, rank)) @ orthonormal(rng, columns, rank).T
